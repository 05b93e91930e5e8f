"""What a level does with functions that have a rule, with comparisons and with conversions."""

from __future__ import annotations

import functools
import inspect
import itertools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np

from overlay import Context, call_next, nonoverlay
from overlay.interpretations.autodiff.duals import Active, ActiveArray, ActiveNumber
from overlay.interpretations.autodiff.errors import refuse_call
from overlay.interpretations.autodiff.levels import Level, declare, refuse, written
from overlay.interpretations.autodiff.partials import PartialsOf
from overlay.interpretations.autodiff.rules import RULES, Rule
from overlay.interpretations.autodiff.rules.rule import takes_result

__all__ = ["declare_numbers", "declare_users", "plain_zeros", "primal"]

# fmt: off
COMPARISONS = (
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
    np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
    math.isclose,
)
LEVEL = (
    bool, operator.not_, operator.truth, int, math.floor, math.ceil, math.trunc,
    math.isnan, math.isinf, math.isfinite, np.isnan, np.isinf, np.isfinite, np.signbit,
    np.argmax, np.argmin, np.argsort, np.shape, np.size, np.ndim, str, repr, format,
)
"""Functions of which the result has no derivative: whole numbers, truth values, text."""
# fmt: on
PRINTED = 6
"""How many arguments of ``print`` are taken for what they are."""


def primal(x: Any) -> Any:
    """A value without the tangents of any level."""
    return x


def plain_zeros(like: Any) -> Any:
    """Zeros in the shape of an array, active or not."""
    return 0.0 * nonoverlay(np.zeros_like)(primal(like))


def declare_numbers(level: Level) -> None:
    """The methods for numbers, and for arrays element by element."""
    for rule in RULES:
        for function in rule.spellings:
            _declare_rule(level, rule, function)
    for function in COMPARISONS:
        for active in _activities(2):
            kinds = [Active if one else Any for one in active]
            _declare_stripped(level, function, _own(level, kinds))
    for function in LEVEL:
        _declare_stripped(level, function, [(level.number,), (level.array,)])
    for count in range(1, PRINTED + 1):
        _declare_stripped(level, print, [(Any,) * count], through="call_next")
    _declare_conversions(level)
    for kind in (level.number, level.array):
        declare(level.table, isinstance, _of_class, (kind, Any))
    _declare_refusals(level)


def _activities(arity: int) -> Iterator[tuple[bool, ...]]:
    """Which arguments are active, for each choice of at least one."""
    return filter(any, itertools.product((True, False), repeat=arity))


def _own(level: Level, kinds: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Types of arguments, with the level's classes for ``Active``."""
    choices = [(level.number, level.array) if kind is Active else (kind,) for kind in kinds]
    return list(itertools.product(*choices))


def _declare_rule(level: Level, rule: Rule, function: Callable[..., Any]) -> None:
    """The methods of a function that has a rule, for all kinds of arguments."""
    arity = len(rule.domain)
    kinds: tuple[Any, ...] = (level.number, Any)
    if rule.arrays:
        kinds = (level.number, level.array, Any)
        if arity == 2:
            kinds = (*kinds, np.ndarray, ActiveArray)
    for types in itertools.product(kinds, repeat=arity):
        active = [kind in (level.number, level.array) for kind in types]
        if not any(active):
            continue
        whole = any(kind in (level.array, np.ndarray, ActiveArray) for kind in types)
        if rule.function is operator.pow and rule.arrays and not whole:
            continue  # numbers have a rule of their own
        spread = whole and not all(kind is level.array for kind in types)
        method = _of_rule(level, rule.partials, function, active, whole=whole, spread=spread)
        declare(level.table, function, method, types)


def _of_rule(
    level: Level,
    partials: Callable[..., Any],
    function: Callable[..., Any],
    active: Sequence[bool],
    *,
    whole: bool | None,
    spread: bool,
) -> Callable[..., Any]:
    """The chain rule for arguments of which some are active.

    whole: whether the result is an array; None: its type tells. spread: whether tangents may
    have to be brought into the shape of the result.
    """
    names = [f"a{i}" for i in range(len(active))]
    values = ", ".join(f"{n}.value" if on else n for n, on in zip(names, active, strict=True))
    terms = [f"p[{i}] * a{i}.tangents[#]" for i, on in enumerate(active) if on]
    if spread:
        terms.append("zeros")
    made = "pack" if whole is None else "array" if whole else "number"
    lines = [
        f"def method({', '.join(names)}):",
        f"    value = function({values})",
        f"    p = partials({values}{', value' * takes_result(partials)})",
        *(["    zeros = plain_zeros(value)"] if spread else []),
        f"    return {made}(value, <<{' + '.join(terms)}>>)",
    ]
    return written(
        "\n".join(lines),
        level,
        function=function,
        partials=partials,
        pack=level.pack,
        plain_zeros=plain_zeros,
    )


def _declare_stripped(
    level: Level,
    function: Any,
    signatures: Sequence[tuple[Any, ...]],
    through: str = "function",
) -> None:
    """A function that sees values alone."""
    for types in signatures:
        names = [f"a{i}" for i in range(len(types))]
        given = ", ".join(f"strip({name})" for name in names)
        method = written(
            f"def method({', '.join(names)}):\n    return {through}({given})",
            level,
            function=function,
            strip=level.strip,
            call_next=call_next,
        )
        declare(level.table, function, method, types)


CONVERSIONS = (
    (float, "a"),
    (np.float64, "a"),
    (round, "round(a.value)"),
    (primal, "primal(a.value)"),
    (np.real, "a"),
)


# exponents that compiled code knows, and multiplies for
SMALL = (2, 3, 4)


def _of_class(x: Any, classes: Any) -> bool:
    """Of which class an active value is: of ours, where that is asked, else as its value is."""
    wanted = classes if nonoverlay(isinstance)(classes, tuple) else (classes,)
    ours = tuple(one for one in wanted if one in (Active, ActiveNumber, ActiveArray, type(x)))
    return nonoverlay(isinstance)(x, ours) or isinstance(x.value, classes)


# by what other functions they are
BY_OTHERS = (
    (math.log, 2, "math.log(a) / math.log(b)"),
    (math.hypot, 3, "math.sqrt(a * a + b * b + c * c)"),
    (divmod, 2, "(a // b, a % b)"),
)
# of a whole number
WITH_WHOLE = (
    (round, "number(round(a.value, b), <<0.0 * a.tangents[#]>>)"),
    (math.ldexp, "a * math.ldexp(1.0, b)"),
)


def _declare_conversions(level: Level) -> None:
    for target, result in CONVERSIONS:
        for kind in (level.number, level.array):
            method = written(f"def method(a): return {result}", level, primal=primal)
            declare(level.table, target, method, (kind,))
    for target, arity, body in BY_OTHERS:
        names = ", ".join("abc"[:arity])
        for active in _activities(arity):
            kinds = [level.number if one else Any for one in active]
            method = written(f"def method({names}): return {body}", level, math=math)
            declare(level.table, target, method, kinds)
    for exponent in SMALL:
        powers = (
            f"number(a.value**{exponent}, <<{exponent} * a.value**{exponent - 1} * a.tangents[#]>>)"
        )
        for target in (operator.pow, pow):
            method = written(f"def method(a, b): return {powers}", level)
            declare(level.table, target, method, (level.number, Literal[exponent]))
    for target, result in WITH_WHOLE:
        method = written(f"def method(a, b): return {result}", level, math=math)
        declare(level.table, target, method, (level.number, int))


def _declare_refusals(level: Level) -> None:
    """The functions of ``math`` that have no rule say so."""
    for function in vars(math).values():
        if not callable(function) or function in level.table:
            continue
        count = _arity(function)
        for active in _activities(count):
            kinds = [level.number if one else Any for one in active]
            refuse(level.table, function, functools.partial(refuse_call, function), kinds)


def _arity(function: Any) -> int:
    """How many positional arguments a function of ``math`` takes; 0 where that cannot be read."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return 0
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)


def declare_users(level: Level) -> None:
    """The rules of the user's tables, methods of ``partials_of(f)``."""
    for table in level.rules:
        for target in table.targets():
            if not isinstance(target, PartialsOf):
                continue
            function = target.function
            for arity in {len(m.parameters.positional) for m in table.methods(target)}:
                found = Context(table).method(target, *[float] * arity)
                if found is None:
                    continue  # of other types than numbers
                for active in _activities(arity):
                    method = _of_rule(
                        level, found.function, function, active, whole=None, spread=False
                    )
                    kinds = [Active if one else Any for one in active]
                    for types in _own(level, kinds):
                        declare(level.table, function, method, types)
