"""The state of a search: choices and values so far, and the sets of all variables."""

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

NARROW = 1e-3  # relative: the widest set that counts as one solution
NOTHING_BESIDE_ZERO = 1e-100
EFFORT = 1_500  # the largest number of statements to contract after each choice


@dataclass(frozen=True)
class SearchState:
    """The choices and values so far.

    values: the known values of variables. box: the sets of all variables. theta: the chosen
    coordinates. kept: the open ones, with their domains. searched: whether root finding was used.
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
        """A copy with more coordinates chosen."""
        return replace(self, theta={**self.theta, **theta})


@dataclass(frozen=True)
class SearchFrame:
    """A plan, the program for its sets, and the names of its parameters in θ."""

    plan: Plan
    program: Program
    names: Mapping[str, Parameter]


def boxed(
    frame: SearchFrame, state: SearchState, sets: Mapping[Variable, NumberSet | None]
) -> Box | None:
    """The box with variables restricted to these sets; None if a set becomes empty."""
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
    """The known value of an operand, or None."""
    return operand.value if isinstance(operand, Constant) else state.values.get(operand)


def known_axes(state: SearchState, statement: Statement) -> dict[str, Any]:
    """The axes of a statement with known values."""
    found = {axis: value_of(state, operand) for axis, operand in statement.bindings()}
    return {axis: value for axis, value in found.items() if value is not None}


def known_for(
    state: SearchState, statement: Statement, takes: Sequence[str]
) -> dict[str, Any] | None:
    """The axes of the mode's parameters; None if one of them is still open."""
    axes = [axis for axis, _ in statement.bindings() if axis in takes]
    found = known_axes(state, statement)
    return {a: found[a] for a in axes} if all(a in found for a in axes) else None


def keeping(state: SearchState, parameters: Any) -> SearchState:
    """The state in which these coordinates stay open, except chosen ones."""
    left = {p.name: p.domain for p in parameters if p.name not in state.theta}
    return state.having(kept={**state.kept, **left})


def is_narrow(low: float, high: float) -> bool:
    """Return whether an interval of solutions counts as one solution."""
    limit = max(NARROW * max(abs(low), abs(high)), NOTHING_BESIDE_ZERO)
    return math.isfinite(limit) and high - low <= limit
