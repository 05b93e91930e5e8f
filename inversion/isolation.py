"""All roots of an equation: intervals are halved, those that cannot have one are put aside.

Branch and prune, as in interval constraint programming. Roots closer to one another than one
part in 10**7, or very small beside the others, count as one. So many intervals are tried at most
that roots can be missed only where the sets of an equation tell next to nothing.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator

from inversion.contraction import Values
from inversion.contraction.values import LARGEST, values
from inversion.errors import NoSolution
from inversion.roots import closed, gap, touching

__all__ = ["roots_of"]

APART = 1e-7  # relative: closer roots are not told apart
TINY = 1e-300
SMALL = 1e-6  # beside the largest number that may be a root, or 1: as good as 0
WIDE = 1e-2  # relative: so wide an interval of roots is not one root
MOST_PIECES = 1_500
RTOL, ATOL = 1e-9, 1e-12
PLACES = (0.0, 0.137, 0.381, 0.618, 0.871, 1.0)

Equation = Callable[[float], tuple[float, float]]
Prune = Callable[[Values], Values | None]


def roots_of(
    equation: Equation, prune: Prune, allowed: Values, start: float
) -> Iterator[float | tuple[float, float] | None]:
    """The roots in a set, of those found alike the one near ``start`` first, and at last both ends
    of intervals that consist of roots; None for an interval without one.

    prune: from a set to what of it may be a root, or None where nothing may. The widest
    intervals come first: where nothing is ever pruned, they still cover all sizes.
    """
    bounded = prune(allowed)
    if bounded is not None:
        small = max(SMALL * min(max(-bounded.low, bounded.high), 1.0), TINY)
        yield from _Roots(equation, prune, start, small).of(bounded)


class _Roots:
    """A search for roots. small: numbers as good as 0. level: intervals on which the equation holds
    within the tolerances, such as those around a double root."""

    def __init__(self, equation: Equation, prune: Prune, start: float, small: float) -> None:
        self.equation = equation
        self.prune = prune
        self.start = start
        self.small = small
        self.waiting: list[tuple[int, float, int, float, float]] = []
        self.level: list[tuple[float, float]] = []
        self.found: list[float] = []
        self.count = 0

    def of(self, bounded: Values) -> Iterator[float | tuple[float, float] | None]:
        """The roots in a set, intervals of roots, and None for each interval without one."""
        for low, high in bounded.pieces:
            self.wait(0, *_finite(low, high))
        while self.waiting and self.count < MOST_PIECES:
            depth, _, _, low, high = heapq.heappop(self.waiting)
            left = self.prune(values([(low, high)]))
            for piece in () if left is None else left.pieces:
                yield from self.within(depth, *_finite(*piece))
            yield None
        yield from self.levels()

    def levels(self) -> Iterator[float | tuple[float, float]]:
        """Of intervals on which the equation holds the wide ones, and of others one root each."""
        beside = [(x - self.apart(x), x + self.apart(x)) for x in self.found]
        # those side by side are one, and those around a root that has been found
        for piece in values([*self.level, *beside] if self.level else []).pieces:
            low, high = _finite(*piece)
            if high - low > WIDE * max(abs(low), abs(high), self.small / SMALL):
                yield low, high
                continue
            off = high - low
            if not any(low - off <= root <= high + off for root in self.found):
                yield _touching(self.defined, low, high)

    def apart(self, x: float) -> float:
        """How far from a root others are told apart."""
        return APART * max(abs(x), self.small)

    def wait(self, depth: int, low: float, high: float) -> None:
        if low <= high:
            self.count += 1
            away = max(low - self.start, self.start - high, 0.0)
            heapq.heappush(self.waiting, (depth, away, self.count, low, high))

    def within(self, depth: int, low: float, high: float) -> Iterator[float]:
        """A root in an interval, if there is one at hand; what is left of it waits."""
        if _is_level(self.defined, low, high):
            self.level.append((low, high))
            return
        x = _root(self.defined, low, high, self.small)
        near = [root for root in self.found if low <= root <= high]
        if x is not None and not any(_same(x, root, self.small) for root in self.found):
            self.found.append(x)
            near.append(x)
            yield x
        for a, b in _halves(low, high, near, self.small):
            self.wait(depth + 1, a, b)

    def defined(self, x: float) -> tuple[float, float]:
        """Both sides at x. Raises NoSolution where they are not finite."""
        sides = self.equation(x)
        if not (math.isfinite(sides[0]) and math.isfinite(sides[1])):
            raise NoSolution("overflow")
        return sides


def _touching(equation: Equation, low: float, high: float) -> float:
    """Where in an interval the sides of an equation are closest."""
    sign = math.copysign(1.0, gap(equation, low, ()))
    found = touching(equation, low, high, sign, ())
    return low + (high - low) / 2 if math.isnan(found) else found


def _finite(low: float, high: float) -> tuple[float, float]:
    return max(float(low), -LARGEST), min(float(high), LARGEST)


def _same(x: float, y: float, small: float) -> bool:
    return abs(x - y) <= APART * max(abs(x), abs(y), small)


def _root(equation: Equation, low: float, high: float, small: float) -> float | None:
    """A root in an interval, if one is easily found."""
    middle = low + (high - low) / 2
    if _same(low, high, small) and gap(equation, middle, ()) == 0:
        return middle
    first, last = gap(equation, low, ()), gap(equation, high, ())
    if first == 0 or last == 0:
        return low if first == 0 else high
    if first * last < 0:
        found = closed(equation, low, first, high, last, ())
        # too small an interval to tell a root from a pole: the inverse says which it is
        return (middle if _same(low, high, small) else None) if math.isnan(found) else found
    return None


def _is_level(equation: Equation, low: float, high: float) -> bool:
    """Whether all of an interval is as good as a root, beside the tolerances of an inverse."""
    return all(_fits(equation, low + part * (high - low)) for part in PLACES)


def _fits(equation: Equation, x: float) -> bool:
    try:
        found, wanted = equation(x)
    except (NoSolution, ValueError, ArithmeticError):
        return False
    return abs(found - wanted) <= ATOL + RTOL * max(abs(found), abs(wanted))


def _halves(low: float, high: float, roots: list[float], small: float) -> list[tuple[float, float]]:
    """What is left of an interval without its roots, in two; nothing where it is too small."""
    if _same(low, high, small):
        return []
    parts = [(low, high)]
    if roots:
        off = APART * max(abs(roots[0]), small)
        parts = [(low, roots[0] - off), (roots[0] + off, high)]
    return [half for a, b in parts if a < b for half in ((a, _middle(a, b)), (_middle(a, b), b))]


def _middle(low: float, high: float) -> float:
    """Where to halve an interval: in the middle of its exponents, where these differ much."""
    if low < 0 < high:
        return 0.0
    if low < 0:
        return -_middle(-high, -low)
    if high <= 4 * low:
        return low + (high - low) / 2
    small, large = max(low, TINY), min(high, 1e300)
    return math.sqrt(small) * math.sqrt(large) if small < large else low + (high - low) / 2
