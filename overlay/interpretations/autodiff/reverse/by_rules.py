"""Lifting of calls of functions of whole arrays, by their rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

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
from overlay.interpretations.autodiff.rules.array_rule import ArrayRule

if TYPE_CHECKING:
    from overlay.interpretations.autodiff.reverse.calling import Calling

__all__ = ["by_rule"]


def by_rule(
    lifter: Calling, rule: ArrayRule, function: Any, args: Sequence[Any], named: dict[str, Any]
) -> Any:
    """The result of a call, by the rule of its function; None if it is of no known kind."""
    call = _call_of(lifter, rule, function, args, named)
    result = None if call is None else kinds_of_results(function, args, named)
    if call is None or result is None:
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
    """A call, with its arguments as leaves: numbers and arrays. text: its template. data: the
    leaves of each data parameter, and the text of the leaf in the parameter's cotangent."""

    lifter: Calling
    rule: ArrayRule
    function: Any
    shape: list[tuple[str, Any]]
    leaves: list[Any]
    is_complex: bool
    data: list[tuple[int, int, str]]  # the leaf, the number of its parameter, the part of it

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
        for leaf, place, part in self.data:
            given = kind_of(self.leaves[leaf])
            if not isinstance(self.leaves[leaf], ReverseValue) or given is None:
                continue
            if given.dtype != "f":
                continue
            if self.rule.kind == "constant":
                continue
            if self.rule.kind == "rearranging":
                lines[leaf] = self._moved_back(leaf, d, kind, part_of_result)
                continue
            vjp = self.rule.vjp[place]
            if vjp is None:
                return None
            line = self.with_leaves({}, vjp, f"{d}, {ret}, ") + part
            lines[leaf] = f"np.real({line})" if self.is_complex else line
        return tuple(lines)

    def _moved_back(self, leaf: int, d: str, kind: NumberKind, part_of_result: str) -> str:
        name = self.lifter.name
        others = {other: f"{name(no_places)}({{{other}}})" for other, _, _ in self.data}
        others |= {other: "0" for other, _, _ in self.data if not _is_array(self.leaves[other])}
        own = f"{name(places_of)}({{{leaf}}})" if _is_array(self.leaves[leaf]) else "1"
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
        owners = _owners(rule, len(args), named)
    except TypeError:
        return None
    if "out" in named:
        return None
    leaves: list[Any] = []
    data: list[tuple[int, int, str]] = []

    def added(operand: Any, place: int | None, part: str) -> Any:
        if isinstance(operand, tuple):
            return tuple(added(each, place, f"{part}[{i}]") for i, each in enumerate(operand))
        leaves.append(_written(lifter, operand))
        if place is not None:
            data.append((len(leaves) - 1, place, part))
        elif rule.kind != "constant" and not is_constant(operand):
            leaves[-1] = None  # it may be active, and there is no derivative by it
        return len(leaves) - 1

    none = None, ""
    shape = [("", added(x, *owners.get(i, none))) for i, x in enumerate(args)]
    shape += [(f"{name}=", added(x, *owners.get(name, none))) for name, x in named.items()]
    if any(leaf is None for leaf in leaves):
        return None
    is_complex = rule.vjp != () and _gives_complex(rule, function, args, named)
    return _Call(lifter, rule, function, shape, leaves, is_complex, data)


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


def _owners(rule: ArrayRule, count: int, named: dict[str, Any]) -> dict[int | str, tuple[int, str]]:
    """For each argument in a data parameter, by its place or name, the number of that parameter,
    and its part of the parameter's cotangent. Raises TypeError for a call that does not fit."""
    # not by the arguments themselves: one may be given twice
    bound = rule.signature.bind(*range(count), **{name: name for name in named}).arguments
    owners: dict[int | str, tuple[int, str]] = {}
    for place, name in enumerate(rule.data):
        given = bound.get(name)
        if isinstance(given, tuple):
            owners |= {each: (place, f"[{i}]") for i, each in enumerate(given)}
        elif given is not None:
            owners[given] = place, ""
    return owners


def _written(lifter: Calling, operand: Any) -> Any:
    """A leaf as the generated source can name it; None if it cannot."""
    if isinstance(operand, ReverseValue):
        return operand
    if not isinstance(operand, KnownBefore):
        return None
    if isinstance(operand.value, (bool, int, float, str, type(None))):
        return operand
    return ReverseValue(lifter.hold(operand.value, "constant"), NumberKind("o"))
