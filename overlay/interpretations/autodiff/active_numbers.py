"""Methods of a level for functions that have a rule, for comparisons and for conversions."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from numbers import Number
from types import FunctionType
from typing import Any, Literal, NamedTuple

import numpy as np

from overlay import Context, MethodTable, call_next, nonoverlay, tables_in_force
from overlay.contexts.rules_alone import used_by
from overlay.core.jitted import give_options, mark_rule
from overlay.core.target import with_code
from overlay.interpretations.autodiff.applying import applied
from overlay.interpretations.autodiff.duals import Active, ActiveArray, ActiveNumber, primal
from overlay.interpretations.autodiff.errors import (
    NotDifferentiable,
    refuse_by,
    refuse_call,
    refuse_part,
    refuse_parts,
    refuse_shape,
)
from overlay.interpretations.autodiff.levels import (
    Level,
    LevelTable,
    declare,
    outside_level,
    refuse,
    written,
)
from overlay.interpretations.autodiff.partial_derivatives import (
    PartialsOf,
    broadcasts,
    counted_lines,
)
from overlay.interpretations.autodiff.rules import BY_NUMPY, RULES, Rule
from overlay.interpretations.autodiff.rules.array_rules import array_rule_of
from overlay.interpretations.autodiff.rules.rule import takes_result
from overlay.interpretations.autodiff.rules.tables.complex_parts import OF_COMPLEX

__all__ = ["declare_numbers", "declare_rules", "declare_users", "is_outside", "plain_zeros"]

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
    np.isscalar, np.isreal, np.isrealobj, np.iscomplex, np.iscomplexobj, type,
)
"""Functions whose results have no derivative: integers, booleans, text, classes."""
# fmt: on
FORMATTED = 1
"""The precedence of ``%`` of text before the rule of remainders."""
PRINTED = 6
"""The maximal number of arguments of ``print`` and ``np.result_type`` that are stripped of
tangents."""


def plain_zeros(like: Any) -> Any:
    """Zeros in the shape of an array, active or not."""
    return 0.0 * nonoverlay(np.zeros_like)(primal(like))


def declare_rules(level: Level, rules: Iterable[Rule]) -> None:
    """Declare the methods for functions of numbers, and of arrays element by element."""
    for rule in rules:
        for function in rule.spellings:
            level.later(function, _declare_rule, rule, function)


def declare_numbers(level: Level) -> None:
    """Declare the methods for numbers, and for arrays element by element."""
    later = level.later
    declare_rules(level, RULES)
    compared = [
        types
        for active in _activities(2)
        for types in _own(level, [Active if one else Any for one in active])
    ]
    for function in COMPARISONS:
        later(function, _declare_stripped, function, compared)
    for function in LEVEL:
        later(function, _declare_stripped, function, [(level.number,), (level.array,)])
    printed = [(Any,) * count for count in range(1, PRINTED + 1)]
    for function in (print, np.result_type):
        later(function, _declare_stripped, function, printed)
    for target, kinds in FORMATTING:
        level.later(target, _declare_formatting, target, kinds)
    _declare_conversions(level)
    for function, method in ((isinstance, _of_class), (hasattr, _has)):
        later(function, _declare_question, function, method)
    _declare_refusals(level)


def _declare_question(level: Level, function: Any, method: Callable[..., Any]) -> None:
    for kind in (level.number, level.array):
        declare(level.table, function, _own_copy(method), (kind, Any), constant=True)


def _activities(arity: int) -> Iterator[tuple[bool, ...]]:
    """The combinations of active arguments, at least one each, as booleans."""
    return filter(any, itertools.product((True, False), repeat=arity))


def _own(level: Level, kinds: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The combinations of argument types, with the level's classes in place of ``Active``."""
    choices = [(level.number, level.array) if kind is Active else (kind,) for kind in kinds]
    return list(itertools.product(*choices))


def _declare_rule(level: Level, rule: Rule, function: Callable[..., Any]) -> None:
    """Declare the methods of a function that has a rule, for all argument types."""
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
        if any(active[place] for place in rule.constant):
            why = functools.partial(refuse_by, function, sorted(rule.constant))
            refuse(level.table, function, why, types)
            continue
        whole = any(kind in (level.array, np.ndarray, ActiveArray) for kind in types)
        if rule.function is operator.pow and rule.arrays and not whole:
            continue  # numbers have another rule
        spread = whole and not all(kind is level.array for kind in types)
        method = _of_rule(
            level, rule.partials, active, whole=whole, spread=spread, function=function
        )
        declare(level.table, function, method, types)


class UsersChecks(NamedTuple):
    """The lines that check what a user's rule gave, ``p``, in each engine, and the functions that
    they call."""

    compiled: list[str]
    interpreted: list[str]
    space: dict[str, Any]


_NO_CHECKS = UsersChecks([], [], {})


def _of_rule(
    level: Level,
    partials: Callable[..., Any],
    active: Sequence[bool],
    *,
    whole: bool | None,
    spread: bool,
    function: Any = None,
    checks: UsersChecks = _NO_CHECKS,
) -> Callable[..., Any]:
    """The method that applies the chain rule if some arguments are active.

    whole: whether the result is an array; None: its type decides. spread: whether tangents may have
    to be broadcast to the shape of the result. function: if it is one in Python, plain values leave
    the level, in which its own arrays would be active; its rule for arrays, if it has one, holds
    for complex numbers. checks: of what a user's rule gave.
    """
    names = [f"a{i}" for i in range(len(active))]
    values = ", ".join(f"{n}.value" if on else n for n, on in zip(names, active, strict=True))
    terms = [f"p[{i}] * a{i}.tangents[#]" for i, on in enumerate(active) if on]
    if spread:
        terms.append("zeros")
    made = "pack" if whole is None else "array" if whole else "number"
    given = f"({values}{', value' * takes_result(partials)})"
    called = f"call_next({values})"
    apart = f"function({values}) if is_outside({values}) else strip({called})"
    last = [
        *(["    zeros = plain_zeros(value)"] if spread else []),
        f"    return {made}(value, <<{' + '.join(terms)}>>)",
    ]
    in_python = _in_python(function)
    rule, head = f"    p = partials{given}", f"def method({', '.join(names)}):"
    of_complex = OF_COMPLEX.get(function)
    by_kind = f"    p = (of_complex if has_complex({values}) else partials){given}"
    guarded = [
        head,
        *(_of_complex(names) if array_rule_of(function) is not None else []),
        f"    value = {called if in_python is None else apart}",
        "    try:",
        f"    {rule if of_complex is None else by_kind}",
        "    except ArithmeticError:",
        f"        p = at_the_edge{given}",
    ]
    space = {
        "call_next": call_next,
        "partials": _own_copy(partials),
        "at_the_edge": nonoverlay(functools.partial(_at_the_edge, partials)),
        "pack": level.pack,
        "strip": level.strip,
        "is_outside": is_outside,
        "function": None if in_python is None else nonoverlay(in_python),
        "plain_zeros": plain_zeros,
        "has_complex": nonoverlay(_has_complex),
        "of_complex": of_complex,
        "by_rule": functools.partial(applied, function),
        "NotDifferentiable": NotDifferentiable,
        **checks.space,
    }
    give_options(space["partials"], error_model="numpy")
    method = written(
        "\n".join([head, f"    value = {called}", rule, *checks.compiled, *last]), level, **space
    )
    level.table.uses[method] = (operator.mul, operator.add, *used_by(partials))
    level.table.guarded[method] = written(
        "\n".join([*guarded, *checks.interpreted, *last]), level, **space
    )
    return method


def _of_complex(names: Sequence[str]) -> list[str]:
    """The lines of a method that pass complex numbers to the rule of arrays."""
    given = ", ".join(names)
    return [f"    if has_complex({given}):", f"        return by_rule(({given},), {{}})"]


def is_outside(*args: Any) -> bool:
    """Whether a call with these arguments concerns no table: they are plain, and all tables in
    force are of levels.
    """
    return not any(isinstance(arg, Active) for arg in args) and all(
        isinstance(table, LevelTable) for table in tables_in_force()
    )


def _in_python(function: Callable[..., Any]) -> Callable[..., Any] | None:
    is_in_python = hasattr(function, "__code__") or hasattr(function, "__wrapped__")
    return function if is_in_python else None


def _has_complex(*values: Any) -> bool:
    """Whether one of some values, active or not, is complex."""
    for value in values:
        while isinstance(value, Active):
            value = value.value
        if np.iscomplexobj(value):
            return True
    return False


def _at_the_edge(partials: Callable[..., Any], *values: Any) -> tuple[Any, ...]:
    """The partial derivatives where a rule divides by zero or overflows: infinite or nan, as in
    compiled code. The program itself has raised no error, and would catch this one as its own."""
    if all(type(value) in (float, int, np.float64) for value in values):
        with np.errstate(all="ignore"), contextlib.suppress(ArithmeticError, ValueError):
            found = BY_NUMPY.get(partials, partials)(*map(np.float64, values))
            return tuple(map(float, found))
    # nested derivatives: the values may themselves be active
    return tuple(math.nan * value for value in values)


def _own_copy(function: Any) -> Any:
    """A copy of a rule for one level. The sine of one level calls that of another; with one shared
    function, a compiler would see recursion."""
    if type(function) is not FunctionType:
        return function
    return mark_rule(with_code(function, function.__code__))


def _declare_stripped(level: Level, function: Any, signatures: Sequence[tuple[Any, ...]]) -> None:
    """Declare a method that goes on to the next one with values without tangents."""
    for types in signatures:
        names = [f"a{i}" for i in range(len(types))]
        given = ", ".join(f"strip({name})" for name in names)
        method = written(
            f"def method({', '.join(names)}):\n    return call_next({given})",
            level,
            strip=level.strip,
            call_next=call_next,
        )
        declare(level.table, function, method, types, constant=True)


TEXTS = (str, bytes, bytearray)
FORMATTING = ((operator.mod, TEXTS), *((kind.__mod__, (kind,)) for kind in TEXTS))
"""Spellings of ``%`` of text, with the types of their left operands."""


def _declare_formatting(level: Level, target: Any, kinds: Sequence[type]) -> None:
    """Declare ``%`` of text, which formats values without tangents."""
    source = "def method(form, values): return call_next(form, shown(form, values))"
    shown = nonoverlay(functools.partial(_shown, level.depth))
    for kind in kinds:
        method = written(source, level, shown=shown, call_next=call_next)
        types = (kind, Any)
        declare(level.table, target, method, types, constant=True, precedence=FORMATTED)


def _shown(depth: int, form: Any, values: Any) -> Any:
    """The right operand of ``%`` of text without the tangents of a level: a value, a tuple of
    values, or a mapping of them."""
    if isinstance(values, Active):
        return outside_level(depth, values)
    if isinstance(values, tuple):
        return tuple(outside_level(depth, value) for value in values)
    named: Any = "%(" if isinstance(form, str) else b"%("
    if named not in form or isinstance(values, Number):
        return values
    return _Shown(depth, values)


class _Shown:
    """A mapping whose values are read without the tangents of a level. It is shown as itself."""

    def __init__(self, depth: int, values: Any) -> None:
        self.depth, self.values = depth, values

    def __getitem__(self, key: Any) -> Any:
        return outside_level(self.depth, self.values[key])

    def __repr__(self) -> str:
        return repr(self.values)

    def __str__(self) -> str:
        return str(self.values)


CONVERSIONS = (
    (float, "a"),
    (np.float64, "a"),
    (round, "call_next(a.value)"),
    (primal, "primal(a.value)"),
)
PARTS = (np.real, np.imag, np.conjugate)


# literal exponents, for which compiled code multiplies
SMALL = (2, 3, 4)


def _of_class(x: Any, classes: Any) -> bool:
    """``isinstance`` of an active value: by its own class for classes of this module, else by its
    value's class."""
    wanted = classes if nonoverlay(isinstance)(classes, tuple) else (classes,)
    kinds = (Active, ActiveNumber, ActiveArray, nonoverlay(type)(x))
    ours = tuple(one for one in wanted if one in kinds)
    return nonoverlay(isinstance)(x, ours) or call_next(x.value, classes)


def _has(x: Any, name: str) -> bool:
    """``hasattr`` of an active value, by its value."""
    return call_next(x.value, name)


# functions expressed by others, with their arity
BY_OTHERS = (
    (math.log, 2, "math.log(a) / math.log(b)"),
    (math.hypot, 3, "math.sqrt(a * a + b * b + c * c)"),
    (divmod, 2, "(a // b, a % b)"),
)
# functions with an integer as second argument
WITH_WHOLE = (
    (round, "number(call_next(a.value, b), <<0.0 * a.tangents[#]>>)"),
    (math.ldexp, "number(call_next(a.value, b), <<a.tangents[#] * math.ldexp(1.0, b)>>)"),
)


def _declare_conversions(level: Level) -> None:
    for target, result in CONVERSIONS:
        level.later(target, _declare_conversion, target, result)
    if not level.is_taped:  # numpy passes them to their rules
        for target in PARTS:
            level.later(target, _declare_part, target)
    for target, arity, body in BY_OTHERS:
        level.later(target, _declare_by_others, target, arity, body)
    for target in (operator.pow, pow):
        level.later(target, _declare_powers, target)
    for target, result in WITH_WHOLE:
        level.later(target, _declare_with_whole, target, result)


def _declare_conversion(level: Level, target: Any, result: str) -> None:
    for kind in (level.number, level.array):
        method = written(
            f"def method(a): return {result}", level, primal=primal, call_next=call_next
        )
        declare(level.table, target, method, (kind,))


def _declare_part(level: Level, target: Any) -> None:
    source = "def method(a): return pack(call_next(a.value), <<part(a.tangents[#])>>)"
    space = {"part": target, "pack": level.pack, "call_next": call_next}
    for kind in (level.number, level.array):
        method = written(source, level, **space)
        declare(level.table, target, method, (kind,), expressed=True)


def _declare_by_others(level: Level, target: Any, arity: int, body: str) -> None:
    names = ", ".join("abc"[:arity])
    for active in _activities(arity):
        kinds = [level.number if one else Any for one in active]
        wanted = [Active if one else Any for one in active]
        for types in _own(level, wanted) if target is divmod else [kinds]:
            method = written(f"def method({names}): return {body}", level, math=math)
            declare(level.table, target, method, types, expressed=True)


def _declare_powers(level: Level, target: Any) -> None:
    for exponent in SMALL:
        powers = (
            f"number(a.value**{exponent}, <<{exponent} * a.value**{exponent - 1} * a.tangents[#]>>)"
        )
        method = written(f"def method(a, b): return {powers}", level)
        types = (level.number, Literal[exponent])
        declare(level.table, target, method, types, expressed=True)


def _declare_with_whole(level: Level, target: Any, result: str) -> None:
    method = written(f"def method(a, b): return {result}", level, math=math, call_next=call_next)
    declare(level.table, target, method, (level.number, int), expressed=True)


def _declare_refusals(level: Level) -> None:
    """Declare methods that raise for the functions of ``math`` that have no rule."""
    known = level.table.targets()
    for function in vars(math).values():
        if callable(function) and not any(function is each for each in known):
            level.later(function, _declare_refusal, function)


def _declare_refusal(level: Level, function: Any) -> None:
    for active in _activities(_arity(function)):
        kinds = [level.number if one else Any for one in active]
        refuse(level.table, function, functools.partial(refuse_call, function), kinds)


def _arity(function: Any) -> int:
    """The number of positional arguments of a function of ``math``; 0 if it is unknown."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return 0
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)


def declare_users(level: Level) -> None:
    """Declare the rules of the user's tables, methods of ``partials_of(f)``."""
    for table in level.rules:
        for target in table.targets():
            if isinstance(target, PartialsOf):
                level.later(target.function, _declare_users_rule, table, target)


def _declare_users_rule(level: Level, table: MethodTable, target: PartialsOf) -> None:
    for arity in {len(m.parameters.positional) for m in table.methods(target)}:
        found = Context(table).method(target, *[float] * arity)
        if found is None:
            continue  # no method for floats
        for active in _activities(arity):
            checks = _checks_of_rule(level, target, found.function, active)
            method = _of_rule(
                level, found.function, active, whole=None, spread=False, checks=checks
            )
            for types in _own(level, [Active if one else Any for one in active]):
                declare(level.table, target.function, method, types)


# What a derivative never is.
NO_DERIVATIVES = (type(None), str, tuple, list, dict)


def _checks_of_rule(
    level: Level, target: PartialsOf, rule: Any, active: Sequence[bool]
) -> UsersChecks:
    """The checks of a user's rule; those of compiled code refuse types when it is compiled."""
    same, count = "def method(p): return p", len(active)
    parts = written(same, level)
    why = functools.partial(refuse_parts, target, rule, count)
    refuse(level.table, parts, why, (Any,))
    refuse(level.table, parts, why, (ActiveNumber,), precedence=1)  # these are tuples, too
    for kind in (tuple, list, np.ndarray):
        declare(level.table, parts, written(same, level), (kind,))
    fitted = broadcasts(target, rule)
    source = "def method(p, value): return fitted(p, value)"
    part = written(source, level, fitted=fitted)
    for kind in NO_DERIVATIVES:
        no_part = functools.partial(refuse_part, target, rule, kind)
        refuse(level.table, part, no_part, (kind, Any))
    for kind in (float, int, np.floating, np.integer):
        # kernels have no np.shape
        declare(level.table, part, written("def method(p, value): return p", level), (kind, Any))
    for kind in (ActiveNumber, ActiveArray):
        method = written(source, level, fitted=fitted)
        declare(level.table, part, method, (kind, Any), precedence=1)  # these are tuples, too
    taken = ", ".join(f"part(p[{i}], value)" if on else f"p[{i}]" for i, on in enumerate(active))
    checked = nonoverlay(functools.partial(_checked, target, rule, tuple(active)))
    return UsersChecks(
        ["    p = parts(p)", *counted_lines(target, rule, count), f"    p = ({taken},)"],
        ["    p = checked(p, value)"],
        {"parts": parts, "part": part, "checked": checked},
    )


def _checked(target: PartialsOf, rule: Any, active: tuple[bool, ...], p: Any, value: Any) -> Any:
    """The derivatives that a user's rule gave, in interpreted code; refused if they are none of
    ``value``."""
    several = issubclass(type(p), (tuple, list, np.ndarray, ActiveArray))
    if not several or issubclass(type(p), ActiveNumber) or len(p) != len(active):
        refuse_parts(target, rule, len(active))
    for part in (p[i] for i, on in enumerate(active) if on):
        if issubclass(type(part), NO_DERIVATIVES) and not issubclass(type(part), Active):
            refuse_part(target, rule, type(part))
        if _dimensions(part) > _dimensions(value) or _has_complex(part) > _has_complex(value):
            refuse_shape(target, rule)
    return p


def _dimensions(x: Any) -> int:
    while isinstance(x, Active):
        x = x.value
    return np.ndim(x)
