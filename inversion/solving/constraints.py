"""Constraints on arguments and results: contracted boxes, and covers of all solutions."""

from __future__ import annotations

import functools
import heapq
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from inversion.contraction.contracted_programs import Box, Nothing, contracted, first_box, narrowed
from inversion.errors import NoSolution, NotInvertible, WrongArguments
from inversion.lifting.inputs import inputs_of
from inversion.lifting.lifter import lift
from inversion.passes.all_passes import SIMPLIFY, rewritten
from inversion.passes.simplifying import fold
from inversion.program.statements import Program, Variable
from inversion.program.trees import Node, Tree
from inversion.solving.negative_powers import REMEDY, negative_powers
from overlay import Context
from overlay.core.location import caller
from overlay.core.short_repr import short_repr
from overlay.core.target import describe
from overlay.interpretations.intervals import Interval, Undecided, enclose
from overlay.sets import NumberSet, point
from primitives import Domain, Integers
from primitives.relation import RETURN

__all__ = ["Paving", "contract", "pave", "solve"]

INF = math.inf
ROUNDS = 30
# constants are enclosed too: functions of them may be rounded in several ways
PASSES = tuple(rewrite for rewrite in SIMPLIFY if rewrite is not fold)
GAIN = 0.05  # relative to a width: a smaller gain does not justify another round
Arguments = tuple[Any, ...]


class Paving(NamedTuple):
    """Boxes that cover all solutions of a constraint.

    Attributes
    ----------
    inner
        Boxes all of whose points are solutions.
    boundary
        Boxes that may contain solutions.
    """

    inner: list[Arguments]
    boundary: list[Arguments]

    def __repr__(self) -> str:
        boxes = f"{len(self.inner)} inner boxes, {len(self.boundary)} on the boundary"
        return short_repr("Paving", boxes)


def contract(
    f: Callable[..., Any], *boxes: Any, returns: Any, context: Context | None = None
) -> Arguments:
    """The boxes of f's arguments, without values that cannot lead to a result in ``returns``.

    The primitives of f are evaluated forwards and backwards, until no set gets narrower (hull
    consistency, HC4). Removed values contain no solution; the rest may contain none.

    Parameters
    ----------
    f
        A function composed of primitives.
    boxes
        For each argument an ``Interval`` of floats, a domain such as ``Integers(0, 9)``, or a
        number.
    returns
        The same for the result, a tuple of them where f returns a tuple; True where f is a
        condition.
    context
        The context in which calls in f are resolved.

    Raises
    ------
    NoSolution
        Nothing is left, which proves that there is no solution; the error has the line.
    NotInvertible
        f is not composed of primitives.

    Examples
    --------
    >>> from inversion import contract
    >>> from overlay.interpretations.intervals import Interval
    >>> boxes = Interval(2, 9), Interval(0, 5)
    >>> x, y = contract(lambda x, y: x * y, *boxes, returns=Interval(30, 40))
    >>> print(f"{x:.6f} {y:.6f}")
    [6.000000, 9.000000] [3.333333, 5.000000]
    """
    problem = _problem(f, boxes, returns, context)
    return problem.shown(problem.contracted(problem.first))


def pave(
    f: Callable[..., Any],
    *boxes: Any,
    returns: Any,
    tolerance: float = 1e-2,
    max_boxes: int = 2000,
    context: Context | None = None,
) -> Paving:
    """Boxes that cover all arguments in ``boxes`` for which f gives a result in ``returns``.

    Boxes are contracted as by ``contract``, and cut in two, until they contain only solutions, or
    are not wider than ``tolerance``, or there are ``max_boxes`` of them.

    Parameters
    ----------
    f, boxes, returns, context
        As for ``contract``.
    tolerance
        The width up to which boxes are not cut.
    max_boxes
        The largest number of boxes.

    Returns
    -------
    Paving
        Both lists are empty if there is proved to be no solution.

    Raises
    ------
    NotInvertible
        f is not composed of primitives.

    Examples
    --------
    >>> from inversion import pave
    >>> from overlay.interpretations.intervals import Interval
    >>> found = pave(lambda x: x * x, Interval(-9, 9), returns=Interval(1, 4), tolerance=0.1)
    >>> len(found.inner) > 0, len(found.boundary) <= 4
    (True, True)
    """
    problem = _problem(f, boxes, returns, context)
    inner: list[Box] = []
    boundary: list[Box] = []
    for found, is_inner in _paved(problem, tolerance, max_boxes):
        (inner if is_inner else boundary).append(found)
    return Paving([problem.shown(one) for one in inner], [problem.shown(one) for one in boundary])


def solve(
    f: Callable[..., Any],
    *boxes: Any,
    returns: Any,
    tolerance: float = 1e-9,
    max_boxes: int = 2000,
    context: Context | None = None,
) -> list[Arguments]:
    """Disjoint boxes that cover all solutions; isolated solutions usually have a box each.

    Parameters
    ----------
    f, boxes, returns, tolerance, max_boxes, context
        As for ``pave``.

    Returns
    -------
    list
        For each box a tuple of the arguments' sets, in ascending order. An empty list proves that
        there is no solution.

    Raises
    ------
    NotInvertible
        f is not composed of primitives.

    Examples
    --------
    >>> from inversion import solve
    >>> from overlay.interpretations.intervals import Interval
    >>> roots = solve(lambda x: x**3 - 2 * x, Interval(-5, 5), returns=0.0)
    >>> [round(root.middle, 6) for (root,) in roots]
    [-1.414214, 0.0, 1.414214]
    """
    problem = _problem(f, boxes, returns, context)
    inputs = problem.program.inputs
    found = [{v: box[v] for v in inputs} for box, _ in _paved(problem, tolerance, max_boxes)]
    apart = sorted(_joined(found), key=lambda box: [box[v].low for v in inputs])
    return [problem.shown(box) for box in apart]


# ---- problems -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Problem:
    """A program, with sets of its inputs and results. first: the initial box."""

    function: Callable[..., Any]
    program: Program
    first: Box
    results: Mapping[str, NumberSet]

    def contracted(self, box: Box) -> dict[Variable, NumberSet]:
        """Contract a box until that gains nothing. Raises NoSolution."""
        found = dict(box)
        try:
            for _ in range(ROUNDS):
                before = found
                found = contracted(self.program, found)
                if not any(_gained(before[v], found[v]) for v in self.program.inputs):
                    break
        except Nothing as nothing:
            raise NoSolution(
                f"no arguments in these boxes lead {describe(self.function)} there: {nothing.why}",
                where=nothing.where,
                help="give wider boxes, or a wider result",
            ) from None
        return found

    def shown(self, box: Box) -> Arguments:
        """The inputs as the user's types."""
        return tuple(_shown(box[v], v.kind) for v in self.program.inputs)

    def with_inputs(self, inputs: Mapping[Variable, NumberSet]) -> dict[Variable, NumberSet]:
        """The first box with these sets of inputs; other variables are not contracted yet."""
        return {**self.first, **inputs}

    @functools.cached_property
    def _bounds(self) -> list[Interval] | None:
        """The bounds of the results, if all numbers are floats."""
        kinds = [v.kind for v in self.program.inputs]
        if any(kind is not float for kind in kinds) or any(
            one.whole or len(one.pieces) != 1 for one in self.results.values()
        ):
            return None
        return [Interval(one.low, one.high) for one in self.results.values()]

    def holds_everywhere(self, box: Box) -> bool:
        """Whether all points of a box are proved, by interval evaluation, to be solutions."""
        if self._bounds is None or any(one.low == one.high for one in self._bounds):
            return False
        try:
            found = enclose(self.function, *self.shown(box))
        except (Undecided, ArithmeticError, ValueError):
            return False
        parts = list(_parts(found))
        return len(parts) == len(self._bounds) and all(
            isinstance(part, Interval) and part.within(allowed)
            for part, allowed in zip(parts, self._bounds, strict=True)
        )


def _problem(
    f: Callable[..., Any], boxes: Sequence[Any], returns: Any, context: Context | None
) -> _Problem:
    given = [_set(f, f"argument {i + 1}", box) for i, box in enumerate(boxes)]
    inputs, _ = inputs_of(f, [kind for _, kind in given])
    lifted = lift(f, inputs, context, root_finding=False, folds=False)
    program = rewritten(lifted.program, passes=PASSES)
    for power in negative_powers(program.statements, _declared(program, given)):
        raise NotInvertible(
            f"{power} of {describe(f)} is no integer where the exponent is negative",
            where=power.where,
            help=REMEDY,
        )
    results = dict(_results(f, lifted.axes[RETURN], returns))
    box = first_box(program, {})
    for variable, (allowed, _) in zip(program.inputs, given, strict=True):
        box[variable] = box[variable].meet(allowed)
    try:
        first = narrowed(program, box, results)
    except Nothing as nothing:
        raise NoSolution(
            f"{describe(f)} gives nothing in {returns!r}: {nothing.why}", where=nothing.where
        ) from None
    return _Problem(f if context is None else context.wrap(f), program, first, results)


def _declared(program: Program, given: Sequence[tuple[NumberSet, Any]]) -> dict[str, Domain]:
    """The domains of integer inputs, from their boxes."""
    found: dict[str, Domain] = {}
    for variable, (allowed, kind) in zip(program.inputs, given, strict=True):
        if kind is int and allowed.pieces:
            low, high = (
                int(end) if abs(end) < math.inf else None for end in (allowed.low, allowed.high)
            )
            found[variable.name] = Integers(low, high)
    return found


def _set(f: Callable[..., Any], name: str, given: Any) -> tuple[NumberSet, Any]:
    """A set of numbers, and their type."""
    if isinstance(given, Interval) and not given.is_empty:
        return NumberSet(((given.low, given.high),)), float
    found = given.closure if isinstance(given, Domain) else point(given)
    if found is None:
        raise WrongArguments(
            f"the box for {name} of {describe(f)} is {given!r}",
            where=caller(),
            help="give an Interval(low, high) that is not empty, a domain of numbers, or a number",
        )
    return found, given.kind if isinstance(given, Domain) else type(given)


def _results(f: Callable[..., Any], tree: Tree, returns: Any) -> Iterator[tuple[str, NumberSet]]:
    """The sets of results, by axis."""
    if not isinstance(tree, Node):
        yield tree, _set(f, "the result", returns)[0]
        return
    is_tuple = isinstance(returns, tuple) and not isinstance(returns, Interval)
    if not is_tuple or len(returns) != len(tree.items):
        raise WrongArguments(
            f"{describe(f)} gives {len(tree.items)} results, and returns is {returns!r}",
            where=caller(),
            help="give a tuple with an interval or a number for each of them",
        )
    for item, part in zip(tree.items, returns, strict=True):
        yield from _results(f, item, part)


def _shown(found: NumberSet, kind: Any) -> Any:
    if kind is float:
        return Interval(float(found.low), float(found.high))
    if kind is bool:
        return bool(found.low) if found.low == found.high else Integers(0, 1)
    low, high = (None if abs(end) == INF else int(end) for end in (found.low, found.high))
    return Integers(low, high)


def _parts(found: Any) -> Iterator[Any]:
    if isinstance(found, tuple) and not isinstance(found, Interval):
        for part in found:
            yield from _parts(part)
    else:
        yield found


def _gained(before: NumberSet, after: NumberSet) -> bool:
    """Whether a set has shrunk enough for another round."""
    if before == after:
        return False
    return not after.width > (1 - GAIN) * before.width or len(after.pieces) > len(before.pieces)


# ---- branch and prune ---------------------------------------------------------------------


def _paved(problem: _Problem, tolerance: float, max_boxes: int) -> Iterator[tuple[Box, bool]]:
    """Boxes that cover the solutions, each with whether it contains only solutions."""
    order = itertools.count()
    waiting: list[tuple[float, int, Box]] = []
    done = 0

    def add(box: Box) -> None:
        try:
            found = problem.contracted(box)
        except NoSolution:
            return
        size = max((found[v].width for v in problem.program.inputs), default=0)
        heapq.heappush(waiting, (-size, next(order), found))

    add(problem.first)
    while waiting:
        size, _, box = heapq.heappop(waiting)
        if problem.holds_everywhere(box):
            yield box, True
            done += 1
            continue
        halves = (
            _cut(problem, box) if -size > tolerance and done + len(waiting) < max_boxes else None
        )
        if halves is None:
            yield box, False
            done += 1
            continue
        for half in halves:
            add(problem.with_inputs(half))


def _cut(problem: _Problem, box: Box) -> list[dict[Variable, NumberSet]] | None:
    """The sets of the inputs, with the widest cut in two; None if it cannot be cut."""
    inputs = {v: box[v] for v in problem.program.inputs}
    widest = max(inputs, key=lambda v: inputs[v].width)
    halves = _halves(inputs[widest])
    return None if halves is None else [{**inputs, widest: half} for half in halves]


def _halves(found: NumberSet) -> tuple[NumberSet, NumberSet] | None:
    if len(found.pieces) > 1:
        middle = len(found.pieces) // 2
        parts = found.pieces[:middle], found.pieces[middle:]
        return NumberSet(parts[0], found.whole), NumberSet(parts[1], found.whole)
    low, high = found.low, found.high
    if found.whole and max(abs(low), abs(high)) < INF:
        at = (int(low) + int(high)) // 2
        parts = ((low, at), (at + 1, high))
    else:
        at = Interval(float(low), float(high)).middle
        parts = ((low, at), (at, high))
    halves = tuple(NumberSet((part,), found.whole) for part in parts)
    return (halves[0], halves[1]) if found not in halves and low < high else None


def _joined(boxes: list[dict[Variable, NumberSet]]) -> list[dict[Variable, NumberSet]]:
    """Merge boxes that touch each other."""
    apart: list[dict[Variable, NumberSet]] = []
    for box in boxes:
        current = box
        while True:
            touching = [one for one in apart if _touch(one, current)]
            if not touching:
                break
            apart = [one for one in apart if one not in touching]
            for one in touching:
                current = {v: _hull(current[v], one[v]) for v in current}
        apart.append(current)
    return apart


def _touch(one: Box, other: Box) -> bool:
    return all(one[v].low <= other[v].high and other[v].low <= one[v].high for v in one)


def _hull(one: NumberSet, other: NumberSet) -> NumberSet:
    both = (min(one.low, other.low), max(one.high, other.high))
    return NumberSet((both,), one.whole and other.whole)
