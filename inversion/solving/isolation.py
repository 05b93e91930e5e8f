"""Isolation of all roots of an equation: intervals are bisected, and those without a root are
discarded.

Branch and prune, as in interval constraint programming, with the interval Newton method (R. E.
Moore, R. B. Kearfott, M. J. Cloud, Introduction to Interval Analysis, 2009): an interval on which
the derivative is not 0 has at most one root. Intervals with close roots, or where the function
touches 0, cannot be resolved: one root represents all numbers within the tolerances.
"""

from __future__ import annotations

import functools
import heapq
import math
from collections.abc import Callable, Iterator

from inversion.deadline import check_deadline
from inversion.errors import NoSolution
from inversion.intrinsics.roots import closed, gap, touching
from inversion.solving.unproved import Unproved
from overlay.core.short_repr import counted
from overlay.sets import Bounds, NumberSet, number_set
from overlay.sets.rounding import nearest_finite

__all__ = ["roots_of"]

APART = 1e-7  # relative: closer roots are not distinguished
TINY = 1e-300
SMALL = 1e-6  # relative to the largest candidate, or 1: counts as 0
WIDE = 1e-2  # relative: a wider interval of roots is not one root
FINE = 4e-6  # relative: the widest interval that may count as one root as a whole
MOST_PIECES = 1_500  # without derivatives, where intervals may never be pruned
MOST_PIECES_WITH_SLOPES = 30_000
FEW = 16  # floats that are tried one by one
ENOUGH = 0.6  # of an interval: Newton's method is repeated if a step leaves at most this
RTOL, ATOL = 4e-9, 4e-12  # within the tolerances of an inverse, and a margin of sets
PLACES = (0.0, 0.137, 0.381, 0.618, 0.871, 1.0)

Equation = Callable[[float], tuple[float, float]]
Prune = Callable[[NumberSet], NumberSet | None]
Slopes = Callable[[float, float], tuple[Bounds, Bounds] | None]
"""For an interval, bounds of the residual at its middle, and of the derivative on the whole
interval; bounded only if there is no pole and no step. None if they are not known.
"""


def roots_of(
    equation: Equation,
    prune: Prune,
    slopes: Slopes,
    allowed: NumberSet,
    start: float,
    unproved: Unproved,
) -> Iterator[float | tuple[float, float] | None]:
    """The roots in a set, those near ``start`` first among equals, and at the end the bounds of
    intervals of roots; None for an interval without a root.

    prune: the part of a set that may contain roots, or None. The widest intervals come first:
    without pruning, all sizes are still covered. unproved: receives the reason why roots may have
    been missed.
    """
    bounded = prune(allowed)
    if bounded is not None:
        small = max(SMALL * min(max(-bounded.low, bounded.high), 1.0), TINY)
        yield from _Roots(equation, prune, slopes, start, small, unproved).of(bounded)


class _Roots:
    """A search for roots.

    small: the magnitude of numbers that count as 0. level: intervals on which the equation holds
    within the tolerances, such as those around a double root.
    """

    def __init__(
        self,
        equation: Equation,
        prune: Prune,
        slopes: Slopes,
        start: float,
        small: float,
        unproved: Unproved,
    ) -> None:
        self.equation = equation
        self.prune = prune
        self.slopes = slopes
        self.start = start
        self.small = small
        self.unproved = unproved
        self.waiting: list[tuple[int, float, int, float, float]] = []
        self.level: list[tuple[float, float]] = []
        self.found: list[float] = []
        self.count = 0
        self.most = MOST_PIECES

    def of(self, bounded: NumberSet) -> Iterator[float | tuple[float, float] | None]:
        """The roots in a set, intervals of roots, and None for each interval without a root."""
        for low, high in bounded.pieces:
            self.wait(0, *_finite(low, high))
        while self.waiting and self.count < self.most:
            depth, _, _, low, high = heapq.heappop(self.waiting)
            left = self.prune(number_set([(low, high)]))
            for piece in () if left is None else left.pieces:
                yield from self.within(depth, *_finite(*piece))
            yield None
        if self.waiting:
            self.unproved.add(
                "pieces",
                f"{counted(len(self.waiting), 'interval')} that may contain roots not searched, "
                f"after {self.count}",
            )
        yield from self.levels()

    def levels(self) -> Iterator[float | tuple[float, float]]:
        """The wide intervals on which the equation holds; for each narrow one a root."""
        beside = [_finite(x - self.apart(x), x + self.apart(x)) for x in self.found]
        near = self.level
        # adjacent intervals are merged, including those around known roots
        for low, high in _merged([*near, *beside]) if near else ():
            if high - low > WIDE * max(abs(low), abs(high), self.small / SMALL):
                yield low, high
                continue
            off = high - low
            if any(low - off <= root <= high + off for root in self.found):
                continue
            root = _polished(self.defined, _touching(self.defined, low, high))
            if _fits(self.defined, root):
                yield root
            else:
                self.unproved.add(
                    "interval",
                    f"whether there is a root between {low!r} and {high!r} could not be decided",
                )

    def apart(self, x: float) -> float:
        """The distance from a root at which others are distinguished."""
        return APART * max(abs(x), self.small)

    def wait(self, depth: int, low: float, high: float) -> None:
        if low <= high:
            self.count += 1
            away = max(low - self.start, self.start - high, 0.0)
            heapq.heappush(self.waiting, (depth, away, self.count, low, high))

    def within(self, depth: int, low: float, high: float) -> Iterator[float]:
        """Search an interval for a root, and queue the rest."""
        pieces, at_most_one = self.narrowed(low, high)
        for piece in pieces:
            yield from self.searched(depth, *piece, at_most_one=at_most_one)

    def searched(
        self, depth: int, low: float, high: float, *, at_most_one: bool
    ) -> Iterator[float]:
        near = [root for root in self.found if low <= root <= high]
        if at_most_one and near:
            return
        changes_sign = gap(self.defined, low, ()) * gap(self.defined, high, ()) < 0
        if not (at_most_one and changes_sign) and self.is_level(low, high):
            self.level.append((low, high))
            return
        x = _root(self.defined, low, high, self.small)
        if x is not None and not any(_same(x, root, self.small) for root in self.found):
            self.found.append(x)
            near.append(x)
            yield x
        if at_most_one and near:
            return
        halves = _halves(low, high, near, self.small)
        if not halves and not near:
            if _has_few_floats(low, high):
                yield from self.one_by_one(low, high)
                return
            middle = _middle(low, high)
            halves = [(low, middle), (middle, high)]
        for a, b in halves:
            self.wait(depth + 1, a, b)

    def one_by_one(self, low: float, high: float) -> Iterator[float]:
        """A root among a few adjacent floats."""
        x, fitting = low, list[float]()
        while x <= high:
            if _fits(self.defined, x):
                fitting.append(x)
            x = math.nextafter(x, math.inf)
        if fitting and not any(_same(fitting[0], root, self.small) for root in self.found):
            best = min(fitting, key=lambda x: abs(gap(self.defined, x, ())))
            self.found.append(best)
            yield best

    def narrowed(self, low: float, high: float) -> tuple[list[tuple[float, float]], bool]:
        """The rest of an interval after Newton's method, and whether it has at most one root."""
        at_most_one = False
        while low < high:
            check_deadline()
            known = self.slopes(low, high)
            if known is None:
                break
            self.most = MOST_PIECES_WITH_SLOPES
            (off_low, off_high), (least, most) = known
            middle = low + (high - low) / 2
            if least <= 0 <= most:
                return _around_zero(low, high, middle, known), at_most_one
            at_most_one = True
            steps = [off / by for off in (off_low, off_high) for by in (least, most)]
            rounding = 4e-16 * max(abs(low), abs(high))
            left = max(low, middle - max(steps) - rounding)
            right = min(high, middle - min(steps) + rounding)
            if left > right:
                return [], True
            if right - left > ENOUGH * (high - low):
                break
            low, high = left, right
        return [(low, high)], at_most_one

    def is_level(self, low: float, high: float) -> bool:
        """Return whether a whole interval satisfies the equation within the tolerances of an
        inverse.
        """
        if all(gap(self.defined, x, ()) == 0 for x in _places(low, high)):
            return True
        is_fine = high - low <= FINE * max(abs(low), abs(high), self.small / SMALL)
        return is_fine and all(_fits(self.defined, x) for x in _places(low, high))

    def defined(self, x: float) -> tuple[float, float]:
        """Both sides at x. Raises NoSolution if they are not finite."""
        sides = self.equation(x)
        if not (math.isfinite(sides[0]) and math.isfinite(sides[1])):
            raise NoSolution("overflow")
        return sides


def _merged(pieces: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The union of intervals, as disjoint ones."""
    merged: list[tuple[float, float]] = []
    for low, high in sorted(pieces):
        if merged and low <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    return merged


def _has_few_floats(low: float, high: float) -> bool:
    return high - low <= FEW * math.ulp(max(abs(low), abs(high)))


def _around_zero(
    low: float, high: float, middle: float, known: tuple[Bounds, Bounds]
) -> list[tuple[float, float]]:
    """The rest of an interval on which the derivative may be 0: without a neighbourhood of its
    middle, if the sides differ there.
    """
    (off_low, off_high), (least, most) = known
    if off_low <= 0 <= off_high:
        return [(low, high)]
    off = min(abs(off_low), abs(off_high))
    down, up = (least, most) if off_low > 0 else (-most, -least)
    # towards the right a positive residual decreases no faster than the most negative derivative
    right = middle + off / -down * (1 - 1e-12) if down < 0 else math.inf
    left = middle - off / up * (1 - 1e-12) if up > 0 else -math.inf
    parts = [(low, left), (right, high)]
    return [(a, b) for a, b in parts if a <= b]


def _places(low: float, high: float) -> Iterator[float]:
    return (low + part * (high - low) for part in PLACES)


def _touching(equation: Equation, low: float, high: float) -> float:
    """The point of an interval where the sides of an equation are closest."""
    sign = math.copysign(1.0, gap(equation, low, ()))
    found = touching(equation, low, high, sign, ())
    return low + (high - low) / 2 if math.isnan(found) else found


def _finite(low: float, high: float) -> tuple[float, float]:
    return nearest_finite(low), nearest_finite(high)


def _same(x: float, y: float, small: float) -> bool:
    return abs(x - y) <= APART * max(abs(x), abs(y), small)


def _root(equation: Equation, low: float, high: float, small: float) -> float | None:
    """A root in an interval, if a simple method finds one."""
    middle = low + (high - low) / 2
    if _same(low, high, small) and gap(equation, middle, ()) == 0:
        return middle
    first, last = gap(equation, low, ()), gap(equation, high, ())
    if first == 0 or last == 0:
        return _polished(equation, low if first == 0 else high)
    if first * last < 0:
        found = closed(equation, low, first, high, last, ())
        # the interval is too small to distinguish a root from a pole: the inverse decides
        if math.isnan(found):
            return _polished(equation, middle) if _same(low, high, small) else None
        return _polished(equation, found)
    return None


def _fits(equation: Equation, x: float) -> bool:
    try:
        found, wanted = equation(x)
    except (NoSolution, ValueError, ArithmeticError, LookupError):
        return False
    return abs(found - wanted) <= ATOL + RTOL * max(abs(found), abs(wanted))


def _polished(equation: Equation, x: float) -> float:
    """The float near a root where both sides are closest."""
    near = [x]
    below = above = x
    for _ in range(FEW):
        below, above = math.nextafter(below, -math.inf), math.nextafter(above, math.inf)
        near += [below, above]
    return min(near, key=functools.partial(_off, equation))


def _off(equation: Equation, x: float) -> float:
    """The distance between both sides; infinite if there is no value."""
    try:
        found, wanted = equation(x)
    except (NoSolution, ValueError, ArithmeticError, LookupError):
        return math.inf
    return math.inf if math.isnan(found - wanted) else abs(found - wanted)


def _halves(low: float, high: float, roots: list[float], small: float) -> list[tuple[float, float]]:
    """The halves of an interval without its roots; none if it is too small."""
    if _same(low, high, small):
        return []
    parts = [(low, high)]
    if roots:
        off = APART * max(abs(roots[0]), small)
        parts = [(low, roots[0] - off), (roots[0] + off, high)]
    return [half for a, b in parts if a < b for half in ((a, _middle(a, b)), (_middle(a, b), b))]


def _middle(low: float, high: float) -> float:
    """The point at which to bisect an interval: the geometric mean if the exponents differ much."""
    if low < 0 < high:
        return 0.0
    if low < 0:
        return -_middle(-high, -low)
    if high <= 4 * low:
        return low + (high - low) / 2
    small, large = max(low, TINY), min(high, 1e300)
    return math.sqrt(small) * math.sqrt(large) if small < large else low + (high - low) / 2
