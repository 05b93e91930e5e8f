"""Derivatives of the program's functions that the program itself takes: their adjoints are
generated, and inlined as part of the program.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from overlay.core.target import describe
from overlay.interpretations.autodiff.reverse.compiled_pullback import adjoint_source
from overlay.interpretations.autodiff.reverse.defining import defined
from overlay.interpretations.autodiff.reverse.needs import every, inner_regions, operands_of
from overlay.interpretations.autodiff.reverse.operands import LiftedFunction, copied, is_same
from overlay.interpretations.autodiff.reverse.pullbacks import kind_of
from overlay.interpretations.autodiff.reverse.reverse_program import (
    KnownBefore,
    Local,
    Memory,
    NumberKind,
    ReverseValue,
    StatementRegion,
    Write,
)
from overlay.interpretations.autodiff.reverse.source_text import RETURNS
from overlay.interpretations.autodiff.reverse.structure import Unreadable

if TYPE_CHECKING:
    from overlay.interpretations.autodiff.reverse.lifted_bodies import ReverseLifter

__all__ = ["inner_derivative"]


def inner_derivative(lifter: ReverseLifter, f: Any, *args: Any) -> Any:
    """Lift ``autodiff(f, *args)``."""
    active = [_argument(lifter, arg) for arg in args]
    given = [lifter.call(float, [a], {}) if _is_number(a) else a for a in args]
    region, result = _apart(lifter, lambda: lifter.call_in_force(f, list(active), {}))
    if isinstance(result, KnownBefore) and kind_of(result) is not None:
        return _one_or_all([lifter.call(operator.mul, [x, KnownBefore(0.0)], {}) for x in given])
    if not isinstance(result, ReverseValue) or result.kind.ndim:
        raise Unreadable(
            "it takes the derivative of a function that does not return one number",
            help="sum what it gives",
        )
    outer = _from_outside(lifter, region, result, active)
    lifted = LiftedFunction((*active, *outer), region, result)
    name = lifter.fresh(f"adjoint_of_{_name_of(f)}")
    source, names, _ = adjoint_source(name, lifted, active, RETURNS)
    for value in (*outer, result):
        value.is_active = value.is_useful = False
    function = defined(name, source, {**lifter.space, **names, **lifter.captured})
    lifter.generated.add(function.__code__)
    where = lifter.where
    try:
        found = lifter.enter_own(function, [*given, *outer, KnownBefore(1.0)], {})
    except Unreadable as error:
        raise Unreadable(
            f"it differentiates {_name_of(f)}, whose loops store values; their number is not known "
            "before the run",
            where=where,
            help="loop over a range in it; or use forward mode for the outer derivative",
        ) from error
    return _one_or_all(list(found))


def _is_number(operand: Any) -> bool:
    kind = kind_of(operand)
    return kind is not None and not kind.ndim


def _argument(lifter: ReverseLifter, operand: Any) -> ReverseValue:
    """The variable, in the function, of an argument by which it is differentiated."""
    kind = kind_of(operand)
    if kind is None or kind.dtype in ("b", "c") or (kind.ndim and kind.dtype != "f"):
        raise Unreadable("it takes a derivative by a value that is no number or array of floats")
    value = ReverseValue(lifter.fresh("x"), NumberKind("f", kind.ndim))
    if kind.ndim:
        value.memory = Memory((), is_own=False)
    return value


def _apart(lifter: ReverseLifter, lift: Callable[[], Any]) -> tuple[StatementRegion, Any]:
    """A separate region with the statements that are lifted in it, and the result."""
    env, region, loops, starts = lifter.env, lifter.region, lifter.loops, lifter.starts
    lifter.env, lifter.region = copied(env), StatementRegion(None)
    lifter.loops, lifter.starts = (), []
    try:
        result = lift()
        changed = [k for k, v in env.items() if not is_same(v, lifter.env.get(k))]
        if any(not isinstance(key, str) for key in changed):
            raise Unreadable("a function that it differentiates changes a list or an object")
        return lifter.region, result
    finally:
        lifter.env, lifter.region = env, region
        lifter.loops, lifter.starts = loops, starts


def _from_outside(
    lifter: ReverseLifter, region: StatementRegion, result: Any, own: list[ReverseValue]
) -> list[ReverseValue]:
    """The variables of the program that a region reads. Refuses writes to their elements."""
    regions = {region}
    for op in every(region):
        regions.update(inner_regions(op))
        is_own = not isinstance(op, Write) or op.array.owner in regions
        if not is_own:
            raise Unreadable("a function that it differentiates writes to an array from outside")
    found = dict.fromkeys(v for op in every(region) for v in operands_of(op))
    found[result] = None
    held = set(lifter.captured)
    return [
        value
        for value in found
        if value not in own and value.owner not in regions and value.name not in held
    ]


def _one_or_all(found: list[Any]) -> Any:
    return found[0] if len(found) == 1 else tuple(found)


def _name_of(f: Any) -> str:
    if isinstance(f, Local):
        return f.code.co_name.strip("<>")
    return describe(f.value).rpartition(".")[2] if isinstance(f, KnownBefore) else "function"
