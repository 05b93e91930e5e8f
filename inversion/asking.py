"""The search for a solution where parameters are not given: in a fixed order, with a fixed end.

1. The default θ.
2. The solutions, discrete choices outwards from their defaults, as ``solutions`` goes through them:
   single ones as they come, of families the default and then points of a fixed sequence.
3. Points of the same sequence in the space of all parameters.
4. The arguments themselves: from some starts, the difference between what the function gives and
   what is known goes down to nothing by the method of Levenberg and Marquardt.

The sequence is that of J. H. Halton (1960), which fills a cube evenly. How far is looked is counted
in steps, so that the answer is the same every time, on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from inversion.arguments import STARTS, from_arguments, has_numbers
from inversion.arrays.limits import has_arrays
from inversion.errors import NoSolution, NotInvertible, OutsideDomain
from inversion.finite import is_by_trial
from inversion.parameters import ParameterSpace
from inversion.plan import Root
from inversion.preimage import SolutionBranch, branch_of, infeasible, states
from inversion.sequence import point_of
from inversion.structured import Structured

if TYPE_CHECKING:
    from inversion.inverse import Inverse

__all__ = ["FAMILIES", "FAMILY_POINTS", "SEARCH_STEPS", "SPACE_POINTS", "asked", "working_theta"]

SEARCH_STEPS = 1_000
"""So many steps through the solutions are gone, of which each finds one, a family, or nothing."""
FAMILIES = 16
"""In so many families of solutions points are tried."""
FAMILY_POINTS = 16
"""So many points are tried of each family, after its default."""
SPACE_POINTS = 64
"""So many points are tried of the space of all parameters."""
HINT_STEPS = 100
"""The same as SEARCH_STEPS, for a note in an error."""

EXACT = (int, bool, str, np.int64, np.uint64)

REFUSED = (NoSolution, OutsideDomain, ValueError, ArithmeticError, RecursionError)
Answer = tuple[Any, ...]
Solve = Callable[[tuple[Any, ...]], Answer]


def asked(
    inverse: Inverse,
    known: tuple[Any, ...],
    given: Mapping[str, Any],
    solve: Solve,
    refused: NoSolution,
    steps: int = SEARCH_STEPS,
) -> Answer:
    """The first solution that the search finds after the default θ.

    known: values of the known axes, in their types. given: the coordinates of θ that are fixed.
    solve: the answer for a whole θ. refused: why the default θ has none. steps: how many are gone
    through the solutions, at most.
    Raises NoSolution, which says whether there is none at all, or how far was looked.
    """
    search = _Search(inverse, known, given, solve)
    proof = None if search.has_arrays else infeasible(inverse, known)
    if proof is not None:
        proof.proved = True
        raise proof
    found = next(search.run(steps), None)
    if found is None:
        raise search.error(refused)
    return found


def working_theta(inverse: Inverse, known: tuple[Any, ...], solve: Solve) -> list[tuple[str, str]]:
    """Notes for the error of a θ that was given and has no answer: one that has, if a short search
    finds it, or that there is none at all."""
    search = _Search(inverse, known, {}, solve)
    space = inverse.parameters
    try:
        proof = None if search.has_arrays else infeasible(inverse, known)
        if proof is not None:
            return [("proof", "this value has no solution, whatever θ")]
        default = search.tried(space.default())
        if default is not None or next(search.run(HINT_STEPS), None) is not None:
            assert search.theta is not None
            shown = ", ".join(f"{n}={v!r}" for n, v in zip(space.names, search.theta, strict=True))
            return [("with an answer", f"θ: {shown}")]
    except NotInvertible:
        pass
    return [("searched", "a short search has found no other θ for this value either")]


class _Search:
    """One search. theta: that of what was found last."""

    def __init__(
        self,
        inverse: Inverse,
        known: tuple[Any, ...],
        given: Mapping[str, Any],
        solve: Solve,
    ) -> None:
        self.inverse = inverse
        self.known = known
        self.given = dict(given)
        self.solve = solve
        self.theta: tuple[Any, ...] | None = None
        self.has_arrays = has_arrays(inverse.origin)
        self.looked: list[str] = []
        self.ended = False  # whether the ways through the plan have come to an end
        self.met = False  # whether one of them led to something

    def tried(self, theta: tuple[Any, ...]) -> Answer | None:
        """The answer for a θ, less what is given; None where there is none."""
        names = self.inverse.parameters.names
        theta = tuple(self.given.get(n, v) for n, v in zip(names, theta, strict=True))
        try:
            answer = self.solve(theta)
        except REFUSED:
            return None
        self.theta = theta
        return answer

    def run(self, steps: int) -> Iterator[Answer]:
        """The solutions, in the order in which they are found."""
        if is_by_trial(self.inverse.origin):
            self.ended = True  # the default θ goes through all values
            return
        open_ = [p for p in self.inverse.parameters if p.name not in self.given]
        self.looked.append("the default θ")
        if not self.has_arrays:
            yield from self.through_solutions(steps)
        if not self.is_exhausted and open_:
            yield from self.points(self.inverse.parameters, self.tried, SPACE_POINTS)
            self.looked.append(f"{SPACE_POINTS} points of the parameters")
        if not self.is_exhausted and has_numbers(self.inverse):
            yield from self.from_arguments()
            self.looked.append(f"{STARTS} starts of the arguments")

    @property
    def is_exhausted(self) -> bool:
        """Whether all that is possible has been tried, exactly: then there is no solution."""
        return self.ended and not self.met and is_exact(self.inverse)

    # ---- the ways to look ----

    def through_solutions(self, steps: int) -> Iterator[Answer]:
        families: list[SolutionBranch] = []
        count = 0
        for state in states(self.inverse, self.known, {}, fixed=self.given):
            count += 1
            if state is not None:
                self.met = True
                branch = branch_of(self.inverse, self.known, state)
                if branch is not None and branch.is_point:
                    self.theta = branch.theta()
                    yield branch.point
                elif branch is not None and len(families) < FAMILIES:
                    families.append(branch)
                    yield from self.of_family(branch, range(1))
            if count >= steps:
                break
        else:
            self.ended = True
        for branch in families:
            yield from self.of_family(branch, range(1, FAMILY_POINTS + 1))
        end = "which is all there are" if self.ended else "where the search stops"
        self.looked.append(f"{count} steps through the solutions, {end}")

    def of_family(self, branch: SolutionBranch, numbers: range) -> Iterator[Answer]:
        """What points of a family lead to: number 0 is its default."""
        space = branch.parameters
        for number in numbers:
            rest = space.default() if number == 0 else _point(space, number)
            answer = self.tried(branch.theta(rest))
            if answer is not None:
                yield answer

    def points(
        self, space: ParameterSpace, tried: Callable[[tuple[Any, ...]], Answer | None], most: int
    ) -> Iterator[Answer]:
        for number in range(1, most + 1):
            answer = tried(_point(space, number))
            if answer is not None:
                yield answer

    def from_arguments(self) -> Iterator[Answer]:
        names = self.inverse.parameters.names
        for found, args in from_arguments(self.inverse, self.known, self.given):
            theta = self.inverse.coordinates_of(args)
            if theta is not None:
                answer = self.tried(theta)
                if answer is not None:
                    yield answer
                    continue
            if theta is None and not self.given:
                yield found
            elif theta is not None and all(
                self.given.get(n, v) == v for n, v in zip(names, theta, strict=True)
            ):
                self.theta = theta
                yield found

    # ---- what is said where there is none ----

    def error(self, refused: NoSolution) -> NoSolution:
        """The error where nothing was found; refused: that of the default θ."""
        inverse = self.inverse
        pairs = zip(inverse.known, self.known, strict=True)
        shown = ", ".join(f"{axis} = {value!r}" for axis, value in pairs)
        kept = ", ".join(f"{name}={value!r}" for name, value in self.given.items())
        where = f" with {kept}" if kept else ""
        notes = [("with the default θ", refused.asked), *refused.notes]
        if self.is_exhausted:
            return NoSolution(
                f"{inverse.origin.name} has no solution at {shown}{where}: none of its choices "
                "leads there",
                where=refused.where or inverse.origin.where,
                notes=[("proof", "all choices were tried"), *notes],
                help="no arguments of the function lead to this value"
                if not kept
                else "leave these coordinates out: others may lead there",
                proved=not kept,
            )
        searched = "; ".join(self.looked)
        return NoSolution(
            f"no solution of {inverse.origin.name} was found at {shown}{where}",
            where=refused.where or inverse.origin.where,
            notes=[("searched", searched), *notes],
            help=_further(self.has_arrays, bool(kept)),
            searched=searched,
        )


def is_exact(inverse: Inverse) -> bool:
    """Whether trying all choices proves something: no floats, no roots that are looked for, no
    loops that may be longer, no statements that are not solved in every way."""
    return (
        all(v.kind in EXACT for v in inverse.origin.variables)
        and not any(isinstance(s.relation, Structured) for s in inverse.origin.statements)
        and not any(
            isinstance(step, Root) or step.solved.mode.incomplete for step in inverse.program.steps
        )
    )


def _further(has_arrays: bool, is_given: bool) -> str:
    if is_given:
        return "leave coordinates out, so that they are searched for too"
    if has_arrays:
        return "this proves nothing: recover(...) of arguments near the solution gives a θ to try"
    return (
        "this proves nothing: inv.preimage(value) goes on, inv.nearest(value, guess) looks "
        "near a guess, and declared domains narrow the search"
    )


def _point(space: ParameterSpace, number: int) -> tuple[Any, ...]:
    return space.from_unit(point_of(number, space.dimensions))
