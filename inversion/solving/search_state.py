"""What a search has chosen and found so far, and where all variables may lie."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from inversion.contraction.contracted_programs import Box, Nothing, contracted
from inversion.planning.parameters import Parameter
from inversion.planning.plan import Plan
from inversion.program.statements import Constant, Operand, Program, Statement, Variable
from overlay.sets import NumberSet
from primitives import Domain

__all__ = [
    "SearchFrame",
    "SearchState",
    "boxed",
    "is_narrow",
    "keeping",
    "known_axes",
    "known_for",
    "value_of",
]

NARROW = 1e-3  # relative: a set of solutions so narrow is one
NOTHING_BESIDE_ZERO = 1e-100
EFFORT = 1_500  # in contracting sets after each choice


@dataclass(frozen=True)
class SearchState:
    """What is chosen and known so far.

    values: of variables that are numbers by now. box: where all variables lie. theta: coordinates
    that are chosen. kept: those that stay open, with their domains. searched: whether a root was
    looked for.
    """

    values: Mapping[Variable, Any]
    box: Box
    theta: Mapping[str, Any]
    kept: Mapping[str, Domain]
    searched: bool = False

    def having(self, **changes: Any) -> SearchState:
        """A changed copy."""
        return replace(self, **changes)

    def choosing(self, **theta: Any) -> SearchState:
        """With more coordinates chosen."""
        return replace(self, theta={**self.theta, **theta})


@dataclass(frozen=True)
class SearchFrame:
    """A plan, the program for its sets, and what its parameters are called in θ."""

    plan: Plan
    program: Program
    names: Mapping[str, Parameter]


def boxed(
    frame: SearchFrame, state: SearchState, sets: Mapping[Variable, NumberSet | None]
) -> Box | None:
    """The box where variables are in these sets; None where nothing is left."""
    box = dict(state.box)
    for variable, found in sets.items():
        if variable in box and found is not None:
            box[variable] = box[variable].meet(found)
            if not box[variable]:
                return None
    try:
        return contracted(frame.program, box, EFFORT)
    except Nothing:
        return None


def value_of(state: SearchState, operand: Operand) -> Any:
    """The number that an operand is by now, or None."""
    return operand.value if isinstance(operand, Constant) else state.values.get(operand)


def known_axes(state: SearchState, statement: Statement) -> dict[str, Any]:
    """The axes of a statement that are numbers by now."""
    found = {axis: value_of(state, operand) for axis, operand in statement.bindings()}
    return {axis: value for axis, value in found.items() if value is not None}


def known_for(
    state: SearchState, statement: Statement, takes: Sequence[str]
) -> dict[str, Any] | None:
    """The axes that a mode takes; None where one of them is still open."""
    axes = [axis for axis, _ in statement.bindings() if axis in takes]
    found = known_axes(state, statement)
    return {a: found[a] for a in axes} if all(a in found for a in axes) else None


def keeping(state: SearchState, parameters: Any) -> SearchState:
    """The state with these coordinates left open, but those that are chosen."""
    left = {p.name: p.domain for p in parameters if p.name not in state.theta}
    return state.having(kept={**state.kept, **left})


def is_narrow(low: float, high: float) -> bool:
    """Whether an interval of solutions is one solution."""
    limit = max(NARROW * max(abs(low), abs(high)), NOTHING_BESIDE_ZERO)
    return math.isfinite(limit) and high - low <= limit
