"""The search for a solution if θ is not given, or only in part: in a fixed order, with a fixed end.

1. The default θ. (If a plan has roots among arrays or lists, which is slow, 3 is first.)
2. The first solutions, with discrete choices outwards from their defaults, in the order of
   ``solutions``: single solutions as they are; of a family the default, then points of a fixed
   sequence.
3. The arguments themselves: from several starts, the method of Levenberg and Marquardt minimises
   the difference between the function's result and the known one. (This precedes 2 if known numbers
   are in lists: there are mostly more of them than unknowns, and a choice for one misses the
   others.)
4. Boxes of arguments, contracted and bisected.
5. Trials: numbers and characters are changed if that brings the result nearer to the known one.
6. The solutions after the first ones.
7. Points of the same sequence in the space of all parameters.

The sequence is that of J. H. Halton (1960), which fills a cube evenly. The search is limited by
steps, not by time, so that the answer is the same every time, on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from inversion.errors import NoSolution, NotInvertible, OutsideDomain
from inversion.planning.parameters import ParameterSpace
from inversion.planning.plan import Root
from inversion.planning.repeated import Repeated, size_of
from inversion.program.limits import has_arrays
from inversion.program.structured import Structured
from inversion.program.trees import leaves
from inversion.solving.argument_search import (
    STARTS,
    from_arguments,
    goes_on,
    has_lists,
    has_more_results,
    has_numbers,
)
from inversion.solving.boxes import BOXES, from_boxes, has_boxes
from inversion.solving.even_points import point_of
from inversion.solving.finite import is_decided
from inversion.solving.negative_powers import negative_powers
from inversion.solving.smt import PROOF, task_of
from inversion.solving.solutions import SolutionBranch, search
from inversion.solving.starting import infeasible
from inversion.solving.trials import RUNS, arguments_by_trials, has_trials
from inversion.solving.unproved import Unproved
from overlay.core.logs import timed
from overlay.core.short_repr import counted
from primitives.relation import RETURN

if TYPE_CHECKING:
    from inversion.inverse import Inverse

__all__ = [
    "FAMILIES",
    "FAMILY_POINTS",
    "SEARCH_STEPS",
    "SPACE_POINTS",
    "asked",
    "asked_first",
    "is_slow",
    "working_theta",
]

FIT = "; inv.fit(value) fits the arguments by least squares, if more is known than unknown"
NONE_EXISTS = "no arguments of the function lead to this value"

SEARCH_STEPS = 500
"""The largest number of steps through the solutions; each step finds a solution, a family, or
nothing.
"""
FIRST_STEPS = 100
"""The number of these steps that precede the search for arguments; the others follow it."""
FAMILIES = 16
"""The largest number of families of solutions in which points are tried, in each of both parts of
the search.
"""
FAMILY_POINTS = 16
"""The number of points of each family that are tried after its default."""
SPACE_POINTS = 64
"""The number of points in the space of all parameters that are tried."""
MOST_OF_ONE = 64
"""The largest number of values of one coordinate that differ between points; the others have their
defaults.
"""
FEW_POINTS = 4
"""The number of points in each case, if every point needs root finding, which is slow."""
HINT_STEPS = 100
"""Steps of the short search for the note of an error."""

EXACT = (int, bool, str, np.int64, np.uint64)

REFUSED = (
    NoSolution, OutsideDomain, ValueError, ArithmeticError, LookupError, RecursionError,
)  # fmt: skip
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
    solve: returns the answer for a complete θ. refused: the error of the default θ. steps: the
    largest number of steps through the solutions.

    Raises NoSolution, which says whether it is proved that there is no solution, or what was
    searched.
    """
    search = _Search(inverse, known, given, solve)
    proof = None if search.has_arrays else infeasible(inverse, known)
    if not len(inverse.parameters):
        raise _without_choice(inverse, refused, proof)
    if proof is not None:
        proof.proved, proof.help = True, _none_exists(inverse)
        proof.notes = (("with the default θ", refused.asked), *proof.notes)
        raise proof
    with timed("inversion", f"searching a solution of {inverse!r}"):
        found = next(search.run(steps), None)
    if found is None:
        raise search.error(refused)
    return found


def _without_choice(inverse: Inverse, refused: NoSolution, proof: NoSolution | None) -> NoSolution:
    """The error of an inverse without parameters: the reason, and whether it proves that there is
    no solution.
    """
    if proof is not None:
        refused.proved, note = True, proof.notes
    elif is_exact(inverse) or is_decided(inverse.origin):
        refused.proved, note = True, (("proof", "nothing is left to choose, and all is exact"),)
    else:
        if has_more_results(inverse) and refused.help is not None:
            refused.help += FIT
        return refused
    refused.notes = (*refused.notes, *note)
    refused.help = _none_exists(inverse)
    return refused


def _none_exists(inverse: Inverse) -> str:
    may_fit = has_more_results(inverse) and not is_exact(inverse)
    return NONE_EXISTS + FIT if may_fit else NONE_EXISTS


def is_slow(inverse: Inverse) -> bool:
    """Return whether each θ takes long and arguments can be searched for instead: if a plan has
    roots among arrays, or of lists.
    """
    if not has_roots(inverse) or not has_numbers(inverse):
        return False
    return has_arrays(inverse.origin) or has_lists(inverse)


def asked_first(
    inverse: Inverse, known: tuple[Any, ...], given: Mapping[str, Any], solve: Solve
) -> Answer | None:
    """The solution found by the search for arguments, which precedes the default θ if ``is_slow``;
    None if there is none.
    """
    search = _Search(inverse, known, given, solve)
    with timed("inversion", f"searching arguments of {inverse!r}"):
        return next(search.of_arguments(from_arguments(inverse, known, search.fixed)), None)


def working_theta(inverse: Inverse, known: tuple[Any, ...], solve: Solve) -> list[tuple[str, str]]:
    """Notes for the error of a given θ without an answer: another θ that has one, if a short search
    finds it, or that there is none.
    """
    search = _Search(inverse, known, {}, solve)
    space = inverse.parameters
    try:
        proof = None if search.has_arrays else infeasible(inverse, known)
        if proof is not None:
            return [("proof", "this value has no solution, whatever θ")]
        default = search.tried(space.default())
        if default is not None or next(search.run(HINT_STEPS), None) is not None:
            if search.theta is None:
                return [
                    ("with an answer", "another θ, which the search for arguments does not tell")
                ]
            shown = ", ".join(f"{n}={v!r}" for n, v in zip(space.names, search.theta, strict=True))
            return [("with an answer", f"θ: {shown}")]
    except NotInvertible:
        pass
    return [("searched", "a short search has found no other θ for this value either")]


class _Search:
    """One search. theta: the θ of the last solution."""

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
        self.steps = 0
        self.ended = False  # whether the paths through the plan are exhausted
        self.unproved = Unproved()  # reasons why they may have missed solutions
        self.may_go_on = goes_on(inverse)
        self.is_ruled_out = False  # whether no box of arguments is left
        self.met = False  # whether one of the paths led to a solution

    def tried(self, theta: tuple[Any, ...]) -> Answer | None:
        """The answer for a θ in which the given coordinates are replaced; None if there is none."""
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
        if is_decided(self.inverse.origin):
            self.ended = True  # the default θ enumerates all values
            return
        open_ = [p for p in self.inverse.parameters if p.name not in self.given]
        self.looked.append("the default θ")
        is_first = has_numbers(self.inverse) and has_lists(self.inverse)
        if is_first:
            yield from self.of_starts()
        by_trials = has_trials(self.inverse) and self._tells_floats_in_text
        if by_trials:  # roots take long, and few of them give the wanted text
            yield from self.of_trials(steps)
        through = iter(()) if self.has_arrays else self.through_solutions(steps)
        for answer in through:
            if answer is None:
                break
            yield answer
        if not self.is_exhausted and has_numbers(self.inverse) and not is_first:
            yield from self.of_starts()
        if not self.is_exhausted and has_boxes(self.inverse):
            yield from self.of_arguments(from_boxes(self.inverse, self.known, self.fixed))
            self.looked.append(f"up to {BOXES} boxes of the arguments")
        if not self.is_exhausted and has_trials(self.inverse) and not by_trials:
            yield from self.of_trials(steps)
        if not self.is_exhausted:
            yield from (answer for answer in through if answer is not None)
        if not self.is_exhausted and open_:
            most = FEW_POINTS if has_roots(self.inverse) else SPACE_POINTS
            yield from self.points(self.inverse.parameters, self.tried, most)
            self.looked.append(f"{most} points of the parameters")

    @property
    def is_exhausted(self) -> bool:
        """Whether all possibilities were tried, exactly: then there is no solution."""
        return self.is_ruled_out or (self.ended and not self.met and not self.unproved)

    # ---- search methods ----

    def through_solutions(self, steps: int) -> Iterator[Answer | None]:
        """The solutions, and one None after the first steps."""
        families: list[SolutionBranch] = []
        found = search(self.inverse, self.known, self.given, unproved=self.unproved)
        is_slow = has_roots(self.inverse)  # families are then postponed
        for count in range(1, steps + 1):
            try:
                branch = next(found)
            except StopIteration:
                self.ended = True
                break
            self.steps = count
            if branch is not None:
                self.met = True
                if branch.is_point:
                    self.theta = branch.theta() if branch.chosen else None
                    yield branch.point
                elif len(families) < FAMILIES:
                    families.append(branch)
                    yield from self.of_family(branch, range(0 if is_slow else 1))
            if count == FIRST_STEPS:
                if not is_slow:
                    yield from self.of_families(families)
                    families = []
                yield None
        if is_slow:
            yield None
        yield from self.of_families(families)
        end = "which is all there are" if self.ended else "where the search stops"
        if self.ended and self.unproved:
            end = f"which may miss some: {self.unproved}"
        self.looked.append(f"{counted(self.steps, 'step')} through the solutions, {end}")

    def of_families(self, families: Sequence[SolutionBranch]) -> Iterator[Answer]:
        most = FEW_POINTS if has_roots(self.inverse) else FAMILY_POINTS
        for branch in families:
            yield from self.of_family(branch, range(1, most + 1))

    def of_family(self, branch: SolutionBranch, numbers: range) -> Iterator[Answer]:
        """Answers at points of a family; number 0 is its default."""
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

    @property
    def fixed(self) -> dict[str, Any]:
        """The program's inputs that are given as coordinates."""
        inverse = self.inverse
        free = {v.name: p.name for v, p in inverse.program.free.items()}
        return {v: self.given[n] for v, n in free.items() if n in self.given}

    def of_starts(self) -> Iterator[Answer]:
        yield from self.of_arguments(from_arguments(self.inverse, self.known, self.fixed))
        self.looked.append(f"{STARTS} starts of the arguments")

    def of_trials(self, steps: int) -> Iterator[Answer]:
        most = RUNS * steps // SEARCH_STEPS
        yield from self.of_arguments(
            arguments_by_trials(self.inverse, self.known, self.fixed, most)
        )
        self.looked.append(f"up to {most} trials of the arguments")

    @property
    def _tells_floats_in_text(self) -> bool:
        """Whether a result is a string, and an unknown is a float."""
        trees, program = self.inverse.axes.trees, self.inverse.origin
        texts = [program.operand(name).kind is str for name in leaves(trees[RETURN])]
        sought = [leaf for axis in self.inverse.unknown for leaf in leaves(trees[axis])]
        return any(texts) and any(program.operand(name).kind is float for name in sought)

    def of_arguments(self, found: Iterator[list[Any] | None]) -> Iterator[Answer]:
        """Answers among these arguments; an item None means that there are no others."""
        for args in found:
            if args is None:
                self.is_ruled_out = True
                return
            answer = self.of_these(args)
            if answer is not None:
                yield answer

    def of_these(self, args: list[Any]) -> Answer | None:
        inverse, names = self.inverse, self.inverse.parameters.names
        # a function that may not terminate runs only if its inverse shows that it does
        theta = inverse.coordinates_of(args) if self.may_go_on else ()
        if theta is None or not self.is_solution(args):
            return None
        theta = theta or inverse.coordinates_of(args)
        if theta is not None:
            answer = self.tried(theta)
            if answer is not None:
                return answer
        if self.given and (
            theta is None
            or any(self.given.get(n, v) != v for n, v in zip(names, theta, strict=True))
        ):
            return None
        self.theta = theta
        values = dict(zip(inverse.axes.inputs, args, strict=True))
        return tuple(values[axis] for axis in inverse.unknown)

    def is_solution(self, args: list[Any]) -> bool:
        inverse = self.inverse
        wanted = dict(zip(inverse.known, self.known, strict=True))
        if RETURN not in wanted:
            return True
        try:
            return inverse.is_result(inverse.result_of(args), wanted[RETURN])
        except Exception:  # of the function
            return False

    # ---- errors ----

    def error(self, refused: NoSolution) -> NoSolution:
        """The error if no solution was found. refused: the error of the default θ."""
        inverse = self.inverse
        pairs = zip(inverse.known, self.known, strict=True)
        shown = ", ".join(f"{axis} = {value!r}" for axis, value in pairs)
        kept = ", ".join(f"{name}={value!r}" for name, value in self.given.items())
        where = f" with {kept}" if kept else ""
        notes = [("with the default θ", refused.asked), *refused.notes]
        if self.is_exhausted:
            is_formula = task_of(inverse.origin) is not None
            proof = PROOF if is_formula else "all choices were tried"
            why = "no arguments lead there" if is_formula else "none of its choices leads there"
            return NoSolution(
                f"{inverse.origin.name} has no solution at {shown}{where}: {why}",
                where=refused.where or inverse.origin.where,
                notes=[("proof", proof)] if is_formula else [("proof", proof), *notes],
                help=NONE_EXISTS
                if not kept
                else "leave these coordinates out: others may lead there",
                proved=not kept,
            )
        searched = "; ".join(self.looked)
        return NoSolution(
            f"no solution of {inverse.origin.name} was found at {shown}{where}",
            where=refused.where or inverse.origin.where,
            notes=[("searched", searched), *notes],
            help=_further(self.has_arrays, bool(kept)) + (FIT if has_more_results(inverse) else ""),
            searched=searched,
        )


def is_exact(inverse: Inverse) -> bool:
    """Return whether trying all choices is a proof: no floats, roots, loops with an unknown number
    of iterations, or statements with incomplete modes.
    """
    return (
        all(v.kind in EXACT for v in inverse.origin.variables)
        and not any(isinstance(s.relation, Structured) for s in inverse.origin.statements)
        and not any(
            isinstance(step, Root) or step.solved.mode.incomplete for step in inverse.program.steps
        )
        and not any(negative_powers(inverse.origin.statements, inverse.domains))
    )


def has_roots(inverse: Inverse) -> bool:
    """Return whether a plan uses root finding."""
    return any(isinstance(step, Root) for step in inverse.program.steps)


def _further(has_arrays: bool, is_given: bool) -> str:
    if is_given:
        return "leave coordinates out, so that they are searched for too"
    if has_arrays:
        return "this is not proved: inv.recover(...) of arguments near the solution gives a θ"
    return (
        "this is not proved: inv.solutions(value) searches further, inv.nearest(value, guess) "
        "searches near a guess, and declared domains narrow the search"
    )


def _point(space: ParameterSpace, number: int) -> tuple[Any, ...]:
    """A point of the space; repeated choices have their defaults after the first iterations."""
    sizes = [min(size_of(p.domain), MOST_OF_ONE) for p in space]
    units = iter(point_of(number, sum(sizes)))
    found: list[Any] = []
    for parameter, size in zip(space, sizes, strict=True):
        domain, own = parameter.domain, [next(units) for _ in range(size)]
        if isinstance(domain, Repeated):
            inner = size_of(domain.each)
            turns = Repeated(domain.each, min(domain.most, size // inner))
            found.append(turns.from_unit(own[: turns.size]) if turns.most else ())
        elif size < size_of(domain):
            found.append(domain.default)
        else:
            found.append(domain.from_unit(own if domain.dtype.shape else own[0]))
    return tuple(found)
