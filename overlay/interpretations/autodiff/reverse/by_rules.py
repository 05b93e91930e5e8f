"""Lifting of calls of functions of whole arrays, by their rules."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from overlay.core.target import describe
from overlay.interpretations.autodiff.reverse.pullbacks import Pullback, is_constant, kind_of
from overlay.interpretations.autodiff.reverse.reverse_program import (
    KnownBefore,
    NumberKind,
    ReverseValue,
)
from overlay.interpretations.autodiff.reverse.running import (
    element_moved_back,
    moved_back,
    moved_back_to_number,
    no_places,
    places_of,
)
from overlay.interpretations.autodiff.reverse.sampled_kinds import (
    RESULTS,
    kinds_of_results,
    sampled,
)
from overlay.interpretations.autodiff.reverse.structure import Unreadable
from overlay.interpretations.autodiff.rules.array_rule import ArrayRule

if TYPE_CHECKING:
    from overlay.interpretations.autodiff.reverse.calling import Calling

__all__ = ["by_rule", "refuse_compiled"]


def by_rule(
    lifter: Calling, rule: ArrayRule, function: Any, args: Sequence[Any], named: dict[str, Any]
) -> Any:
    """The result of a call, by the rule of its function; None if it is of no known kind, or another
    function defines the rule."""
    call = _call_of(lifter, rule, function, args, named)
    if call is None:
        return None
    result = kinds_of_results(call.tried, args, named)
    if result is None:
        return None
    lifter.reads_attributes = True  # compiled code runs the adjoint, not the program with duals
    if not isinstance(result, tuple):
        back = call.back_lines("{d}", "{r}", result)
        if back is None:
            return None
        return lifter.emit(Pullback(function, result, call.text, back), call.leaves)
    nothing = (None,) * len(call.leaves)
    whole = lifter.emit(Pullback(function, RESULTS, call.text, nothing), call.leaves)
    at = len(call.leaves)
    parts = []
    for i, kind in enumerate(result):
        d = "".join(
            f"{_zero(f'{{{at}}}[{k}]', each, '{d}' if k == i else None)}, "
            for k, each in enumerate(result)
        )
        given = "{d}" if rule.kind == "rearranging" else f"({d})"
        back = call.back_lines(given, f"{{{at}}}", kind, f"[{i}]")
        if back is None:
            return None
        taken = f"np.copy({{{at}}}[{i}])" if kind.ndim else f"{{{at}}}[{i}]"
        pullback = Pullback((function, i), kind, taken, (*back, None))
        parts.append(lifter.emit(pullback, (*call.leaves, whole)))
    return tuple(parts)


def _zero(part: str, kind: NumberKind, d: str | None) -> str:
    """The cotangent of one of several results."""
    if d is not None:
        return d
    if kind.dtype != "f":
        return part
    return f"np.zeros_like({part})" if kind.ndim else "0.0"


@dataclass
class _Call:
    """A call, with its arguments as leaves: numbers and arrays. tried: the function that is called
    with samples of these. text: its template. data: the leaves of each data parameter, with its map
    of cotangents, and the text of the leaf in the parameter's cotangent."""

    lifter: Calling
    rule: ArrayRule
    function: Any
    tried: Any
    shape: list[tuple[str, Any]]
    leaves: list[Any]
    is_complex: bool
    data: list[tuple[int, Callable[..., Any] | None, str]]

    @property
    def text(self) -> str:
        return self.with_leaves({})

    def with_leaves(self, changed: dict[int, str], function: Any = None, before: str = "") -> str:
        """The template of a call with some leaves replaced; of a map of cotangents if ``function``
        is one, which takes arrays for lists."""
        owned = {leaf for leaf, _, _ in self.data} if function and self.rule.lists else set()

        def shown(part: Any, is_outer: bool = True) -> str:
            if isinstance(part, tuple):
                if is_outer and not owned.isdisjoint(_leaves_of(part)):
                    return f"{self.lifter.name(np.array)}({shown(part, False)})"
                return "(" + "".join(f"{shown(each, is_outer)}, " for each in part) + ")"
            return changed.get(part, f"{{{part}}}") if isinstance(part, int) else part

        given = ", ".join(f"{name}{shown(part)}" for name, part in self.shape)
        name = self.lifter.name(function or self.function)
        return f"{name}({before}{given})"

    def back_lines(
        self, d: str, ret: str, kind: NumberKind, part_of_result: str = ""
    ) -> tuple[str | None, ...] | None:
        """The line of each leaf's cotangent; None if one is not known. part_of_result: the index of
        this part of the result, if there are several."""
        lines: list[str | None] = [None] * len(self.leaves)
        if kind.dtype != "f":
            return tuple(lines)
        for leaf, vjp, part in self.data:
            given = kind_of(self.leaves[leaf])
            if not isinstance(self.leaves[leaf], ReverseValue) or given is None:
                continue
            if given.dtype != "f":
                continue
            if self.rule.kind == "constant":
                continue
            if vjp is None and self.rule.kind == "rearranging":
                lines[leaf] = self._moved_back(leaf, d, kind, part_of_result)
                continue
            if vjp is None:
                return None
            line = self.with_leaves({}, vjp, f"{d}, {ret}, ") + part
            lines[leaf] = f"np.real({line})" if self.is_complex else line
        return tuple(lines)

    def _moved_back(self, leaf: int, d: str, kind: NumberKind, part_of_result: str) -> str:
        name = self.lifter.name
        others = {other: f"{name(no_places)}({{{other}}})" for other, _, _ in self.data}
        others |= {other: "0.0" for other, _, _ in self.data if not _is_array(self.leaves[other])}
        own = f"{name(places_of)}({{{leaf}}})" if _is_array(self.leaves[leaf]) else "1.0"
        places = self.with_leaves({**others, leaf: own}) + part_of_result
        if not _is_array(self.leaves[leaf]):
            return f"{name(moved_back_to_number)}({d}, {places})"
        back = name(moved_back if kind.ndim else element_moved_back)
        return f"{back}({d}, {places}, {{{leaf}}})"


def _leaves_of(part: Any) -> Iterator[int]:
    if isinstance(part, tuple):
        for each in part:
            yield from _leaves_of(each)
    else:
        yield part


def _is_array(leaf: Any) -> bool:
    kind = kind_of(leaf)
    return kind is not None and kind.ndim > 0


def _call_of(
    lifter: Calling, rule: ArrayRule, function: Any, args: Sequence[Any], named: dict[str, Any]
) -> _Call | None:
    try:
        bound = rule.signature.bind(*args, **named).arguments
    except TypeError:
        return None
    if "out" in named:
        return None
    maps: dict[str, Any] = dict(zip_longest(rule.data, rule.vjp))
    tried = function
    if lifter.is_compiled and rule.vjp_compiled:
        floats = [n for n, x in bound.items() if isinstance(x, ReverseValue) and x.is_float]
        maps = {name: rule.vjp_compiled[name] for name in floats if name in rule.vjp_compiled}
        tried = _tried(function, maps)
        if len(maps) < len(floats) or kinds_of_results(tried, args, named) is None:
            refuse_compiled(function, args, named)
    elif rule.by is not None:
        return None
    is_complex = tried is function and rule.vjp != ()
    is_complex = is_complex and _gives_complex(rule, function, args, named)
    leaves: list[Any] = []
    data: list[tuple[int, Callable[..., Any] | None, str]] = []

    def added(operand: Any, name: str, part: str) -> Any:
        if isinstance(operand, tuple):
            return tuple(added(each, name, f"{part}[{i}]") for i, each in enumerate(operand))
        leaves.append(_written(lifter, operand))
        if name in maps:
            data.append((len(leaves) - 1, maps[name], part))
        elif rule.kind != "constant" and not is_constant(operand):
            leaves[-1] = None  # it may be active, and there is no derivative by it
        return len(leaves) - 1

    shape = [("", added(x, *_owner(rule, i))) for i, x in enumerate(args)]
    shape += [(f"{name}=", added(x, *_owner(rule, name))) for name, x in named.items()]
    if any(leaf is None for leaf in leaves):
        return None
    return _Call(lifter, rule, function, tried, shape, leaves, is_complex, data)


def _gives_complex(
    rule: ArrayRule, function: Any, args: Sequence[Any], named: dict[str, Any]
) -> bool:
    """Whether a cotangent of the real arguments is complex, so that its real part is theirs."""

    def back(*given: Any, **more: Any) -> bool:
        ret = function(*given, **more)
        d = ret if isinstance(ret, (tuple, list)) else np.ones_like(ret)
        found = [vjp(d, ret, *given, **more) for vjp in rule.vjp if vjp is not None]
        return any(np.iscomplexobj(part) for part in found if not isinstance(part, (list, tuple)))

    return any(sampled(back, args, named))


def _owner(rule: ArrayRule, argument: int | str) -> tuple[str, str]:
    """The parameter of an argument, from its position or its name, and its part of that
    parameter's cotangent.
    """
    if isinstance(argument, str):
        return argument, ""
    parameters = list(rule.signature.parameters.values())
    kinds = [each.kind for each in parameters]
    several = inspect.Parameter.VAR_POSITIONAL
    rest = kinds.index(several) if several in kinds else len(kinds)
    part = f"[{argument - rest}]" if argument >= rest else ""
    return parameters[min(argument, rest)].name, part


def refuse_compiled(function: Any, args: Sequence[Any], named: dict[str, Any]) -> NoReturn:
    """Refuse a form of a call that has no derivative in compiled code."""
    given = ", ".join(
        [*map(_shown, args), *(f"{name}={_shown(operand)}" for name, operand in named.items())]
    )
    raise Unreadable(
        f"compiled code has no derivative of {describe(function)}({given})",
        help="call it in a form that numba has, mostly without an axis and other options; or take "
        "the derivative outside of compiled code",
    )


def _shown(operand: Any) -> str:
    """An operand in a message."""
    if isinstance(operand, KnownBefore):
        return repr(operand.value)
    kind = kind_of(operand)
    if kind is None:
        return "..."
    return f"<array of {kind.ndim} dimensions>" if kind.ndim else "<number>"


def _tried(function: Any, maps: dict[str, Any]) -> Callable[..., Any]:
    """A function that raises errors for calls that the maps for compiled code do not take, and
    where its result would be complex, as numba does."""

    def tried(*given: Any, **more: Any) -> Any:
        ret = function(*given, **more)
        parts = ret if isinstance(ret, tuple) else (ret,)
        if any(map(np.iscomplexobj, parts)):
            raise TypeError
        ds = tuple(map(np.ones_like, parts))
        for vjp in maps.values():
            vjp(ds if isinstance(ret, tuple) else ds[0], ret, *given, **more)
        return ret

    return tried


def _written(lifter: Calling, operand: Any) -> Any:
    """A leaf as the generated source can name it; None if it cannot."""
    if isinstance(operand, ReverseValue):
        return operand
    if not isinstance(operand, KnownBefore):
        return None
    if isinstance(operand.value, (bool, int, float, str, type(None))):
        return operand
    return ReverseValue(lifter.hold(operand.value, "constant"), NumberKind("o"))
