"""The preimage of a value: all solutions, branch by branch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from inversion.contraction import (
    Box,
    Nothing,
    Values,
    around,
    contracted,
    first_box,
    narrowed,
    point,
)
from inversion.errors import NoSolution, WrongArguments
from inversion.parameters import Parameter, ParameterSpace
from inversion.program import Program, Variable
from inversion.search import Frame, Search, State
from inversion.trees import axis_of, leaves, taken_apart
from overlay.location import caller
from primitives.relation import RETURN

if TYPE_CHECKING:
    from inversion.inverse import Inverse

__all__ = ["SolutionBranch", "branches", "infeasible"]

SOLVED, SEARCHED = 1e-12, 1e-7  # relative: nearer solutions, and nearer roots, are one


class SolutionBranch:
    """One branch of a preimage: a single solution, or a family of them.

    chosen: the coordinates of θ that are settled, by name. parameters: those that are left, whose
    domains are narrowed to where solutions may lie; there are none where it is a single solution.

    A family may hold no solution at all: it is what could not be ruled out. Families with other
    choices may overlap.
    """

    def __init__(
        self,
        inverse: Inverse,
        known: tuple[Any, ...],
        chosen: Mapping[str, Any],
        parameters: ParameterSpace,
        answer: tuple[Any, ...] | None,
    ) -> None:
        self._inverse = inverse
        self._known = known
        self.chosen = dict(chosen)
        self.parameters = parameters
        self._answer = answer

    @property
    def is_point(self) -> bool:
        """Whether it is a single solution."""
        return self._answer is not None

    @property
    def point(self) -> tuple[Any, ...]:
        """The single solution, as a call of the inverse answers it.

        Raises WrongArguments where it is a family.
        """
        if self._answer is None:
            raise WrongArguments(
                f"{self!r} is a family, not a single solution",
                where=caller(),
                notes=[("parameter", str(parameter)) for parameter in self.parameters],
                help="call it with values of these, or draw one with .sample(rng)",
            )
        return self._answer

    def theta(self, rest: Any = ()) -> tuple[Any, ...]:
        """The whole θ: what is chosen, and values for ``parameters``, a tuple or a record."""
        open_ = dict(zip(self.parameters.names, self.parameters.normal(rest), strict=True))
        given = {**self.chosen, **open_}
        return tuple(given[name] for name in self._inverse.parameters.names)

    def __call__(self, rest: Any = ()) -> tuple[Any, ...]:
        """The solution for values of ``parameters``. Raises NoSolution where there is none."""
        theta = self.theta(rest)
        return solved(self._inverse, self._known, theta) if self._answer is None else self._answer

    def sample(self, rng: np.random.Generator, tries: int = 100) -> tuple[Any, ...]:
        """A random solution. Raises NoSolution where so many tries lead to none."""
        for _ in range(tries - 1):
            try:
                return self(self.parameters.sample(rng))
            except NoSolution:
                continue
        return self(self.parameters.sample(rng))

    def contains(self, *args: Any) -> bool:
        """Whether these arguments of the function are a solution on this branch."""
        try:
            found = dict(
                zip(self._inverse.parameters.names, self._inverse.recover(*args), strict=True)
            )
            answers = self(tuple(found[name] for name in self.parameters.names))
        except (NoSolution, ValueError):
            return False
        return self._inverse.agrees(answers, args)

    def __repr__(self) -> str:
        chosen = ", ".join(f"{name}={value!r}" for name, value in self.chosen.items())
        if self._answer is not None:
            return f"<SolutionBranch {self._answer!r}>"
        return f"<SolutionBranch {chosen or 'nothing chosen'}; open {self.parameters!r}>"


def solved(inverse: Inverse, known: Sequence[Any], theta: tuple[Any, ...]) -> tuple[Any, ...]:
    """What the inverse answers. Raises NoSolution."""
    return inverse(*known, theta) if theta else inverse(*known)


# ---- sets ---------------------------------------------------------------------------------


def _allowed(inverse: Inverse, known: Sequence[Any]) -> dict[str, Values]:
    """Where the known axes of the program lie: of results, what is accepted as equal."""
    found: dict[str, Values] = {}
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
    inverse: Inverse, known: Sequence[Any], within: Mapping[str, Values] | None = None
) -> Box:
    """Where the variables of the function's program lie for known values, and inputs within sets.

    Raises Nothing where that is nowhere.
    """
    program = inverse.origin
    box = narrowed(program, first_box(program, inverse.domains), within or {})
    return contracted(program, narrowed(program, box, _allowed(inverse, known)))


def infeasible(inverse: Inverse, known: Sequence[Any]) -> NoSolution | None:
    """The error that proves that known values have no solution at all, if that can be proven."""
    try:
        box_of(inverse, known)
    except Nothing as nothing:
        pairs = zip(inverse.known, known, strict=True)
        shown = ", ".join(f"{axis} = {value!r}" for axis, value in pairs)
        return NoSolution(
            f"{inverse.origin.name} has no solution at {shown}, whatever θ: {nothing.why}",
            where=nothing.where,
            notes=[("proof", "sets of all values, pushed backwards through the program")],
            help="no arguments of the function lead to this value",
        )
    return None


# ---- branches -----------------------------------------------------------------------------


def states(
    inverse: Inverse,
    known: Sequence[Any],
    starts: Mapping[str, Any],
    within: Mapping[str, Values] | None = None,
) -> Iterator[State | None]:
    """The ends of all ways through the plan; None for each step that has found nothing."""
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
    frame = Frame(plan, program, names)
    yield from Search(starts).run(frame, State(values, box, {}, {}))


def branch_of(inverse: Inverse, known: tuple[Any, ...], state: State) -> SolutionBranch | None:
    """The branch that a state is; None where its only candidate is no solution."""
    kept = [
        Parameter(p.name, state.kept[p.name], p.line, p.spare)
        for p in inverse.parameters
        if p.name in state.kept
    ]
    chosen = {
        p.name: state.theta.get(p.name, p.domain.default)
        for p in inverse.parameters
        if p.name not in state.kept
    }
    answer: tuple[Any, ...] | None = None
    if not kept:
        try:
            answer = solved(inverse, known, tuple(chosen[n] for n in inverse.parameters.names))
        except (NoSolution, ValueError):
            return None
    return SolutionBranch(inverse, known, chosen, ParameterSpace(kept), answer)


def branches(inverse: Inverse, known: tuple[Any, ...]) -> Iterator[SolutionBranch]:
    """The branches of the solution, each single solution once."""
    seen = _Seen(inverse)
    for state in states(inverse, known, {}):
        branch = None if state is None else branch_of(inverse, known, state)
        if state is None or branch is None:
            continue
        if not branch.is_point or seen.is_new(branch.point, SEARCHED if state.searched else SOLVED):
            yield branch


class _Seen:
    """Single solutions that have been given."""

    def __init__(self, inverse: Inverse) -> None:
        self.inverse = inverse
        # by what is exact in them, what is not, and how large the numbers get
        self.points: dict[tuple[Any, ...], list[tuple[complex, ...]]] = {}
        self.size = 0.0

    def is_new(self, answers: tuple[Any, ...], apart: float) -> bool:
        """Whether no solution was as near as this, relative to it; then it is seen."""
        parts: list[Any] = []
        for axis, answer in zip(self.inverse.unknown, answers, strict=True):
            parts += taken_apart(self.inverse.axes.trees[axis], answer)
        others = (part for part in parts if not isinstance(part, (float, complex)))
        exact = tuple(tuple(part) if isinstance(part, list) else part for part in others)
        rounded = tuple(complex(part) for part in parts if isinstance(part, (float, complex)))
        self.size = max(self.size, *map(abs, rounded), 0.0)
        seen = self.points.setdefault(exact, [])
        if any(self._is_same(rounded, other, apart) for other in seen):
            return False
        seen.append(rounded)
        return True

    def _is_same(self, one: tuple[complex, ...], other: tuple[complex, ...], apart: float) -> bool:
        rounding = SOLVED * min(self.size, 1.0)
        return all(
            abs(a - b) <= apart * max(abs(a), abs(b)) + rounding
            for a, b in zip(one, other, strict=True)
        )
