"""The solution that is closest to given arguments.

The distance is a scaled Euclidean norm: the distance of a number x from a guess g is ``|x - g| /
max(1, |g|)``. Truth values count as 0 and 1.

Discrete choices are searched exhaustively by branch and bound: a first solution bounds the distance
of closer ones, and the search continues within these bounds. Along continuous parameters the method
of Levenberg and Marquardt minimises the distance, from the parameters of the guess: the result is a
local minimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from inversion.contraction.variable_sets import every
from inversion.deadline import OutOfTime, check_deadline, limited
from inversion.errors import NoSolution
from inversion.program.trees import leaves, taken_apart
from inversion.solving.solutions import SolutionBranch, branch_of, solved
from inversion.solving.starting import states
from overlay.sets import NumberSet, number_set
from primitives import Reals
from primitives.relation import RETURN

if TYPE_CHECKING:
    from inversion.inverse import Inverse

__all__ = ["nearest"]

MOST_STEPS = 4_000  # of the search through discrete choices
MOST_FAMILIES = 32  # in which the distance is minimised
DESCENTS = 40
GAIN = 0.02  # of a distance: a gain that justifies a new search
DIFFERENCE = 1e-6  # relative step of difference quotients

Answer = tuple[Any, ...]


class _Guess:
    """The guess: the arguments to which a solution should be close."""

    def __init__(self, inverse: Inverse, guess: Sequence[Any]) -> None:
        self.inverse = inverse
        self.parts = self.apart(guess)
        self.scales = [max(1.0, abs(part)) for part in self.parts]

    def apart(self, answers: Sequence[Any]) -> list[Any]:
        trees = self.inverse.axes.trees
        pairs = zip(self.inverse.unknown, answers, strict=True)
        return [part for axis, answer in pairs for part in taken_apart(trees[axis], answer)]

    def offsets(self, answers: Answer) -> list[float]:
        """The scaled differences between answers and the guess, number by number."""
        found: list[float] = []
        triples = zip(self.apart(answers), self.parts, self.scales, strict=True)
        for part, wanted, scale in triples:
            if isinstance(wanted, complex):
                off = complex(part) - wanted
                found += [off.real / scale, off.imag / scale]
            else:
                found.append(_difference(part, wanted) / scale)
        return found

    def distance(self, answers: Answer) -> float:
        return math.hypot(*self.offsets(answers))

    def ball(self, radius: float) -> dict[str, NumberSet]:
        """The sets of inputs within this distance."""
        axes = [axis for axis in self.inverse.unknown if axis != RETURN]
        names = [leaf for axis in axes for leaf in leaves(self.inverse.axes.trees[axis])]
        found: dict[str, NumberSet] = {}
        for name, part, scale in zip(names, self.parts, self.scales, strict=False):
            whole = every(self.inverse.program.operand(name).kind)
            if whole is None or not math.isfinite(radius):
                continue
            reach = radius * scale * (1 + 1e-9)
            middle = float(part)
            bounds = (
                math.nextafter(middle - reach, -math.inf),
                math.nextafter(middle + reach, math.inf),
            )
            found[name] = number_set([bounds], whole=whole.whole)
        return found


def _difference(part: Any, wanted: Any) -> float:
    if isinstance(wanted, float):
        return float(part) - wanted
    return float(int(part) - int(wanted))


def nearest(
    inverse: Inverse, known: tuple[Any, ...], guess: Sequence[Any], timeout: float | None = None
) -> Answer:
    """The solution closest to a guess of the unknown axes. Raises NoSolution if none is found, and
    at the time limit, with the closest one as ``best``.
    """
    search = _Nearest(inverse, known, guess)
    try:
        limited(math.inf if timeout is None else timeout, search.run)
    except OutOfTime:
        raise search.timed_out(timeout) from None
    if search.best is None:
        raise search.refusal or NoSolution(
            f"no solution near {tuple(guess)!r} was found",
            where=inverse.origin.where,
            help="try another guess; inv.solutions(value) enumerates all branches",
        )
    return search.best


class _Nearest:
    """A search for the closest solution.

    best: the closest one so far. refusal: the reason why the coordinates of the guess have no
    answer.
    """

    def __init__(self, inverse: Inverse, known: tuple[Any, ...], guess: Sequence[Any]) -> None:
        self.inverse = inverse
        self.known = known
        self.guess = guess
        self.wanted = _Guess(inverse, guess)
        self.best: Answer | None = None
        self.refusal: NoSolution | None = None

    def run(self) -> None:
        """Search within the distance of the closest solution so far, repeatedly."""
        inverse, known, wanted = self.inverse, self.known, self.wanted
        starts = _starts(inverse, known, self.guess)
        self.best, self.refusal = _of_guess(inverse, known, starts)
        if self.best is None:
            self.best = next(_found(inverse, known, wanted, starts, math.inf), None)
        while self.best is not None:
            radius = wanted.distance(self.best)
            closer = (
                found
                for found in _found(inverse, known, wanted, starts, radius)
                if wanted.distance(found) < radius
            )
            found = next(closer, None)
            if found is None:
                return
            self.best = found
            if wanted.distance(found) > (1 - GAIN) * radius:  # a smaller ball is not worth a search
                self.best = min([found, *closer], key=wanted.distance)
                return

    def timed_out(self, timeout: float | None) -> NoSolution:
        """The error for a search that exceeded its time limit."""
        if self.best is None:
            found = "no solution was found"
        else:
            found = f"the closest found is {self.best!r}"
        error = NoSolution(
            f"the solution nearest to {tuple(self.guess)!r} was not found in {timeout} s: {found}",
            where=self.inverse.origin.where,
            help="give more seconds, or a smaller domain=; error.best is the closest found",
        )
        error.best = self.best
        return error


def _found(
    inverse: Inverse,
    known: tuple[Any, ...],
    wanted: _Guess,
    starts: Mapping[str, Any],
    radius: float,
) -> Iterator[Answer]:
    """Solutions on branches within this distance; of families, the closest one found."""
    families = 0
    for state in _limited(states(inverse, known, starts, wanted.ball(radius))):
        branch = branch_of(inverse, known, state)
        if branch is None or families == MOST_FAMILIES:
            continue
        families += not branch.is_point
        found = branch.point if branch.is_point else _closest_in(branch, wanted, starts)
        if found is not None:
            yield found


def _limited(found: Iterator[Any]) -> Iterator[Any]:
    """The states among the first steps of a search."""
    for _, state in zip(range(MOST_STEPS), found, strict=False):
        if state is not None:
            yield state


def _starts(inverse: Inverse, known: tuple[Any, ...], guess: Sequence[Any]) -> Mapping[str, Any]:
    """The coordinates of the guess, for its own result."""
    given = dict(zip(inverse.known, known, strict=True))
    given.update(zip(inverse.unknown, guess, strict=True))
    theta = inverse.coordinates_of([given[axis] for axis in inverse.axes.inputs])
    return {} if theta is None else dict(zip(inverse.parameters.names, theta, strict=True))


def _of_guess(
    inverse: Inverse, known: tuple[Any, ...], starts: Mapping[str, Any]
) -> tuple[Answer | None, NoSolution | None]:
    """The solution for the coordinates of the guess, or the reason why there is none."""
    theta = tuple(starts.get(p.name, p.domain.default) for p in inverse.parameters)
    try:
        return solved(inverse, known, theta), None
    except NoSolution as error:
        return None, error


# ---- continuous coordinates ---------------------------------------------------------------


def _closest_in(branch: SolutionBranch, wanted: _Guess, starts: Mapping[str, Any]) -> Answer | None:
    """The closest solution of a family, found by descent from the coordinates of the guess."""
    domains = [p.domain for p in branch.parameters]
    if not all(isinstance(domain, Reals) for domain in domains):
        start = tuple(starts.get(p.name, p.domain.default) for p in branch.parameters)
        return _tried(branch, start)

    def answer(x: NDArray[np.float64]) -> Answer | None:
        inside = [_moved_inside(v, d) for v, d in zip(x.tolist(), domains, strict=True)]
        return _tried(branch, tuple(inside))

    defaults = [p.domain.default for p in branch.parameters]
    at_guess = [starts.get(p.name, p.domain.default) for p in branch.parameters]
    best: Answer | None = None
    for start in (at_guess, defaults):
        found = _descended(answer, wanted, np.array(start, dtype=np.float64))
        if found is not None and (best is None or wanted.distance(found) < wanted.distance(best)):
            best = found
    return best


def _tried(branch: SolutionBranch, rest: tuple[Any, ...]) -> Answer | None:
    check_deadline()
    try:
        return branch(rest)
    except (NoSolution, ValueError):
        return None


def _moved_inside(value: float, domain: Any) -> float:
    low, high = domain.ends
    return min(max(value, low), high)


def _descended(
    answer: Callable[[NDArray[np.float64]], Answer | None],
    wanted: _Guess,
    x: NDArray[np.float64],
) -> Answer | None:
    """The local minimum of the distance, by the method of Levenberg and Marquardt."""
    best = answer(x)
    if best is None:
        return None
    damping = 1e-3
    for _ in range(DESCENTS):
        off = np.array(wanted.offsets(best))
        slopes = _slopes(answer, wanted, x, off)
        if slopes is None:
            return best
        normal = slopes.T @ slopes
        for _ in range(12):
            step = np.linalg.lstsq(
                normal + damping * (np.diag(np.diag(normal)) + 1e-12 * np.eye(len(x))),
                -slopes.T @ off,
                rcond=None,
            )[0]
            found = answer(x + step)
            if found is not None and wanted.distance(found) < float(np.linalg.norm(off)):
                break
            damping *= 8
        else:
            return best
        gained = float(np.linalg.norm(off)) - wanted.distance(found)
        x, best, damping = x + step, found, damping / 8
        if gained <= 1e-15 * float(np.linalg.norm(off)):
            return best
    return best


def _slopes(
    answer: Callable[[NDArray[np.float64]], Answer | None],
    wanted: _Guess,
    x: NDArray[np.float64],
    off: NDArray[np.float64],
) -> NDArray[np.float64] | None:
    """The derivatives of the offsets by each coordinate, as difference quotients."""
    columns: list[NDArray[np.float64]] = []
    for i in range(len(x)):
        step = DIFFERENCE * max(1.0, abs(float(x[i])))
        ends: list[NDArray[np.float64]] = []
        for side in (step, -step):
            there = x.copy()
            there[i] += side
            found = answer(there)
            ends.append(off if found is None else np.array(wanted.offsets(found)))
        columns.append((ends[0] - ends[1]) / (2 * step))
    slopes = np.array(columns).T
    return slopes if np.all(np.isfinite(slopes)) else None
