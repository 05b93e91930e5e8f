"""The start of a search: the sets of variables for known values, and the initial state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from inversion.contraction.contracted_programs import Box, Nothing, contracted, first_box, narrowed
from inversion.contraction.variable_sets import around
from inversion.errors import NoSolution
from inversion.program.statements import Program, Variable
from inversion.program.trees import axis_of, leaves, taken_apart
from inversion.solving.branch_search import Search
from inversion.solving.negative_powers import negative_powers
from inversion.solving.search_state import SearchFrame, SearchState
from inversion.solving.unproved import Unproved
from overlay.sets import NumberSet, point
from primitives.relation import RETURN

if TYPE_CHECKING:
    from inversion.inverse import Inverse

__all__ = ["box_of", "infeasible", "states"]


def _allowed(inverse: Inverse, known: Sequence[Any]) -> dict[str, NumberSet]:
    """The sets of the known axes of the program; for results, the values that count as equal."""
    found: dict[str, NumberSet] = {}
    rtol, atol = inverse.tolerance
    for axis, value in zip(inverse.known, known, strict=True):
        tree = inverse.axes.trees[axis]
        for leaf, part in zip(leaves(tree), taken_apart(tree, value), strict=True):
            is_float = isinstance(part, float)
            allowed = (
                around(part, rtol, atol) if is_float and axis_of(axis)[0] == RETURN else point(part)
            )
            if allowed is not None and leaf in found:
                allowed = allowed.meet(found[leaf])
            if allowed is not None:
                found[leaf] = allowed
    return found


def box_of(
    inverse: Inverse, known: Sequence[Any], within: Mapping[str, NumberSet] | None = None
) -> Box:
    """The sets of the program's variables for known values, with inputs in given sets.

    Raises Nothing if one is empty.
    """
    program = inverse.origin
    box = narrowed(program, first_box(program, inverse.domains), within or {})
    if any(negative_powers(program.statements, inverse.domains)):
        return box
    return contracted(program, narrowed(program, box, _allowed(inverse, known)))


def infeasible(inverse: Inverse, known: Sequence[Any]) -> NoSolution | None:
    """The error that proves that known values have no solution, if there is a proof."""
    try:
        box_of(inverse, known)
    except Nothing as nothing:
        pairs = zip(inverse.known, known, strict=True)
        shown = ", ".join(f"{axis} = {value!r}" for axis, value in pairs)
        return NoSolution(
            f"{inverse.origin.name} has no solution at {shown}, whatever θ: {nothing.why}",
            where=nothing.where,
            notes=[("proof", "constraint propagation backwards through the program")],
            help="no arguments of the function lead to this value",
        )
    return None


def states(
    inverse: Inverse,
    known: Sequence[Any],
    starts: Mapping[str, Any],
    within: Mapping[str, NumberSet] | None = None,
    fixed: Mapping[str, Any] | None = None,
    unproved: Unproved | None = None,
) -> Iterator[SearchState | None]:
    """The states at the ends of all paths through the plan; None for each step without a result.

    starts: coordinates from which choices are tried outwards. within: sets of inputs. fixed: given
    coordinates. unproved: receives the cases that the search could not exhaust.
    """
    try:
        box = box_of(inverse, known, within)
    except Nothing:
        return
    plan = inverse.program
    values: dict[Variable, Any] = {}
    for axis, value in zip(inverse.known, known, strict=True):
        tree = inverse.axes.trees[axis]
        for leaf, part in zip(leaves(tree), taken_apart(tree, value), strict=True):
            operand = plan.operand(leaf)
            if isinstance(operand, Variable):
                values.setdefault(operand, part)
    names = {parameter.name: parameter for parameter in plan.parameters}
    program: Program = inverse.origin
    search = Search(starts, fixed or {}, Unproved() if unproved is None else unproved)
    yield from search.run(
        SearchFrame(plan, program, names), SearchState(values, box, dict(fixed or {}), {})
    )
