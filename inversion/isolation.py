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
from inversion.roots import closed, find_root, gap

__all__ = ["roots_of"]

APART = 1e-7  # relative: closer roots are not told apart
TINY = 1e-300
SMALL = 1e-6  # beside the largest number that may be a root, or 1: as good as 0
MOST_PIECES = 4_000

Equation = Callable[[float], tuple[float, float]]
Prune = Callable[[Values], Values | None]


def roots_of(
    equation: Equation, prune: Prune, allowed: Values, start: float
) -> Iterator[float | None]:
    """The roots in a set, of those found alike the one near ``start`` first; None for an interval
    without one.

    prune: from a set to what of it may be a root, or None where nothing may. The widest
    intervals come first: where nothing is ever pruned, they still cover all sizes.
    """

    def defined(x: float) -> tuple[float, float]:
        sides = equation(x)
        if not (math.isfinite(sides[0]) and math.isfinite(sides[1])):
            raise NoSolution("overflow")
        return sides

    waiting: list[tuple[int, float, int, float, float]] = []
    found: list[float] = []
    count = 0

    def wait(depth: int, low: float, high: float) -> None:
        nonlocal count
        if low <= high:
            count += 1
            away = max(low - start, start - high, 0.0)
            heapq.heappush(waiting, (depth, away, count, low, high))

    bounded = prune(allowed)
    if bounded is None:
        return
    small = max(SMALL * min(max(-bounded.low, bounded.high), 1.0), TINY)
    for low, high in bounded.pieces:
        wait(0, *_finite(low, high))
    while waiting and count < MOST_PIECES:
        depth, _, _, low, high = heapq.heappop(waiting)
        left = prune(values([(low, high)]))
        if left is None:
            yield None
            continue
        for piece in left.pieces:
            low, high = _finite(*piece)
            x = _root(defined, low, high, small)
            near = [r for r in found if low <= r <= high]
            if x is not None and not any(_same(x, r, small) for r in found):
                found.append(x)
                near.append(x)
                yield x
            for a, b in _halves(low, high, near, small):
                wait(depth + 1, a, b)
        yield None


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
        return None if math.isnan(found) else found
    if not _same(low, high, small):
        return None
    try:
        return find_root(equation, middle, low, high, ())
    except NoSolution:
        return None


def _halves(low: float, high: float, roots: list[float], small: float) -> list[tuple[float, float]]:
    """What is left of an interval without its roots, in two; nothing where it is too small."""
    if _same(low, high, small):
        return []
    if roots:
        off = APART * max(abs(roots[0]), small)
        return [(low, roots[0] - off), (roots[0] + off, high)]
    middle = _middle(low, high)
    return [(low, middle), (middle, high)] if low < middle < high else []


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
