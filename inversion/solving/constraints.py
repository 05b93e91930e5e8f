"""Constraints on arguments and results: contracted boxes, and boxes that cover all solutions."""

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
from inversion.program.shown import html_of
from inversion.program.statements import Program, Variable
from inversion.program.trees import Node, Tree
from inversion.solving.negative_powers import REMEDY, negative_powers
from overlay import Context
from overlay.core.location import caller
from overlay.core.short_repr import counted, short_repr
from overlay.core.target import describe, refuse_values
from overlay.interpretations.intervals import Interval, Undecided, enclose
from overlay.sets import NumberSet, point
from primitives import Domain, Integers
from primitives.relation import RETURN

__all__ = ["Paving", "contract", "pave", "solve"]

INF = math.inf
ROUNDS = 30
# no folding: a function of constants is enclosed, because its rounding may differ
PASSES = tuple(rewrite for rewrite in SIMPLIFY if rewrite is not fold)
GAIN = 0.05  # relative to a width: after a smaller gain the rounds end
Arguments = tuple[Any, ...]


class Paving(NamedTuple):
    """Boxes that cover all solutions of a constraint, made by ``pave``.

    A box is a tuple with a set for each argument: an ``Interval``, an ``Integers`` domain, or a
    bool.

    Attributes
    ----------
    inner : list of tuple
        Boxes in which every point is a solution.
    boundary : list of tuple
        Boxes that may contain solutions.

    Examples
    --------
    >>> from inversion import pave
    >>> from overlay.interpretations.intervals import Interval
    >>> found = pave(lambda x: x * x, Interval(2, 3), returns=Interval(0, 1))
    >>> found.inner, found.boundary
    ([], [])
    """

    inner: list[Arguments]
    boundary: list[Arguments]

    def __repr__(self) -> str:
        inner = counted(len(self.inner), "inner box", "inner boxes")
        return short_repr("Paving", f"{inner}, {len(self.boundary)} on the boundary")

    def _repr_html_(self) -> str:
        return html_of(self)


def contract(
    f: Callable[..., Any], *boxes: Any, returns: Any, context: Context | None = None
) -> Arguments:
    """Remove argument values that cannot give a result in ``returns`` (interval contraction).

    The primitives of f are evaluated forwards and backwards on sets until no set gets narrower
    (hull consistency, the algorithm HC4). The removed values contain no solution; the remaining
    values may contain none either.

    Parameters
    ----------
    f : callable
        A function composed of primitives.
    *boxes : Interval, Domain or number
        A set for each argument, in order: an ``Interval`` of
        ``overlay.interpretations.intervals``, a domain such as ``Integers(0, 9)``, or a number.
    returns : Interval, Domain, number or tuple
        The set of allowed results; a tuple of sets if f returns a tuple; True if f is a condition.
    context : Context, optional
        The context in which calls in f are resolved.

    Returns
    -------
    tuple
        The contracted set of each argument.

    Raises
    ------
    NoSolution
        No value is left, which proves that there is no solution; the error has the line.
    NotInvertible
        f is not composed of primitives.
    WrongArguments
        There is not a set for each argument and each result.

    References
    ----------
    F. Benhamou, F. Goualard, L. Granvilliers, J.-F. Puget, Revising hull and box consistency,
    ICLP 1999.

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
    """Cover all arguments in ``boxes`` for which f gives a result in ``returns`` with boxes.

    Each box is contracted, as by ``contract``, and bisected, until it contains only solutions, or
    is at most ``tolerance`` wide, or there are ``max_boxes`` boxes (branch and prune).

    Parameters
    ----------
    f, *boxes, returns, context
        As in ``contract``.
    tolerance : float
        The width at which boxes are not bisected further.
    max_boxes : int
        The largest number of boxes.

    Returns
    -------
    Paving
        The boxes. If both lists are empty, it is proved that there is no solution.

    Raises
    ------
    NoSolution
        The result has no value in ``returns`` for any argument.
    NotInvertible
        f is not composed of primitives.
    WrongArguments
        There is not a set for each argument and each result.

    References
    ----------
    L. Jaulin, E. Walter, Set inversion via interval analysis, Automatica 29, 1993.

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
    """Cover all solutions with disjoint boxes; an isolated solution usually has its own box.

    Parameters
    ----------
    f, *boxes, returns, tolerance, max_boxes, context
        As in ``pave``.

    Returns
    -------
    list of tuple
        The boxes in ascending order, each a tuple with a set for each argument. An empty list
        proves that there is no solution.

    Raises
    ------
    NoSolution
        The result has no value in ``returns`` for any argument.
    NotInvertible
        f is not composed of primitives.
    WrongArguments
        There is not a set for each argument and each result.

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
        """Contract a box until its sets no longer shrink. Raises NoSolution if it gets empty."""
        found = dict(box)
        try:
            for _ in range(ROUNDS):
                before = found
                found = contracted(self.program, found)
                if not any(_gained(before[v], found[v]) for v in self.program.inputs):
                    break
        except Nothing as nothing:
            raise NoSolution(
                f"no arguments of {describe(self.function)} in these boxes give such a result: "
                f"{nothing.why}",
                where=nothing.where,
                help="give wider boxes, or a wider result",
            ) from None
        return found

    def shown(self, box: Box) -> Arguments:
        """The sets of the inputs, as public types."""
        return tuple(_shown(box[v], v.kind) for v in self.program.inputs)

    def with_inputs(self, inputs: Mapping[Variable, NumberSet]) -> dict[Variable, NumberSet]:
        """The initial box with these sets of inputs; other variables are not contracted yet."""
        return {**self.first, **inputs}

    @functools.cached_property
    def _bounds(self) -> list[Interval] | None:
        """The bounds of the results; None unless all numbers are floats."""
        kinds = [v.kind for v in self.program.inputs]
        if any(kind is not float for kind in kinds) or any(
            one.whole or len(one.pieces) != 1 for one in self.results.values()
        ):
            return None
        return [Interval(one.low, one.high) for one in self.results.values()]

    def holds_everywhere(self, box: Box) -> bool:
        """Return whether interval evaluation proves that all points of a box are solutions."""
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
    help = "give the function first, as in contract(f, Interval(0, 1), returns=2.0)"
    refuse_values(f, "solve", help, WrongArguments)
    given = [_set(f, f"argument {i + 1}", box) for i, box in enumerate(boxes)]
    inputs, _ = inputs_of(f, [kind for _, kind in given])
    if len(given) < len(inputs):
        names = ", ".join(name for name, _ in inputs[len(given) :])
        raise WrongArguments(
            f"{describe(f)} takes {counted(len(inputs), 'argument')}, and "
            f"{counted(len(given), 'set')} {'is' if len(given) == 1 else 'are'} given",
            where=caller(),
            notes=[("missing", names)],
            help="give a set for each argument, such as Interval(-math.inf, math.inf), or a number",
        )
    lifted = lift(f, inputs, context, root_finding=False, folds=False)
    program = rewritten(lifted.program, passes=PASSES)
    for power in negative_powers(program.statements, _declared(program, given)):
        raise NotInvertible(
            f"{power} of {describe(f)} is not an integer if the exponent is negative",
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
            f"{describe(f)} has no result in {returns!r}: {nothing.why}", where=nothing.where
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
            f"the box for {name} of {describe(f)} is not a set of numbers: {given!r}",
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
            f"{describe(f)} gives {counted(len(tree.items), 'result')}, and returns is {returns!r}",
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
    """Return whether a set has shrunk enough for another round."""
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
    """The sets of the inputs, with the widest bisected; None if it cannot be bisected."""
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
