"""All roots of a system of equations: boxes are contracted, tested and bisected.

The test is that of R. Krawczyk (Newton-Algorithmen zur Bestimmung von Nullstellen mit
Fehlerschranken, Computing 4, 1969): if his operator maps a box into itself, the box has exactly one
root; if box and image are disjoint, it has none.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from inversion.deadline import check_deadline
from inversion.solving.unproved import Unproved
from overlay.core.short_repr import counted
from overlay.sets import Bounds
from overlay.sets.rounding import LARGEST

__all__ = ["Box", "roots_of_system"]

MOST_BOXES = 2_000
SMALLEST = 1e-9
"""Relative: narrower boxes are not bisected."""
ENOUGH = 0.7  # of the widest side: a box is tested again if a test leaves at most this
ROUNDING = 1e-15

Numbers = NDArray[np.float64]
Box = tuple[Bounds, ...]
Prune = Callable[[Box], Box | None]
"""The part of a box that may contain roots, or None."""
Residuals = Callable[[Box], Sequence[Bounds] | None]
Slopes = Callable[[Box], Sequence[Sequence[Bounds]] | None]
"""For a box bounds of all residuals, and of their derivatives; None if these are not known."""


def roots_of_system(
    whole: Box, prune: Prune, residuals: Residuals, slopes: Slopes, unproved: Unproved
) -> Iterator[tuple[float, ...] | None]:
    """A point near each root in a box; None for a box without one.

    unproved: receives the reason why roots may have been missed.
    """
    waiting: list[tuple[int, int, Box]] = [(0, 0, whole)]
    count = 1
    while waiting and count < MOST_BOXES:
        check_deadline()
        depth, _, box = heapq.heappop(waiting)
        left, is_root = _narrowed(box, prune, residuals, slopes)
        if left is None or is_root:
            yield None if left is None else _middle(left)
            continue
        widths = [_size(side) for side in left]
        if max(widths) <= SMALLEST:
            unproved.add(
                "interval", f"whether there is a root around {_middle(left)!r} could not be decided"
            )
            yield _middle(left)
            continue
        yield None
        at = widths.index(max(widths))
        cut = _cut(*left[at])
        for side in ((left[at][0], cut), (cut, left[at][1])):
            count += 1
            heapq.heappush(waiting, (depth + 1, count, (*left[:at], side, *left[at + 1 :])))
    if waiting:
        unproved.add(
            "pieces",
            f"{counted(len(waiting), 'box', 'boxes')} that may contain roots not searched, "
            f"after {count}",
        )


def _narrowed(
    box: Box, prune: Prune, residuals: Residuals, slopes: Slopes
) -> tuple[Box | None, bool]:
    """The part of a box that may contain roots, and whether it is proved to contain exactly one."""
    is_root = False
    for _ in range(40):
        pruned = prune(box)
        if pruned is None:
            return None, False
        if not all(-LARGEST < low <= high < LARGEST for low, high in pruned):
            return pruned, False
        middle = _middle(pruned)
        by, off = slopes(pruned), residuals(tuple((x, x) for x in middle))
        mapped = None if by is None or off is None else _mapped(pruned, middle, off, by)
        if mapped is None:
            return pruned, False
        met = tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(pruned, mapped, strict=True))
        if any(low > high for low, high in met):
            return None, False
        is_root = is_root or all(
            a < c and d < b for (a, b), (c, d) in zip(pruned, mapped, strict=True)
        )
        before, after = max(map(_size, pruned)), max(map(_size, met))
        box = met
        if after <= SMALLEST * 1e-3 or after > ENOUGH * before:
            break
    return box, is_root


def _mapped(
    box: Box, middle: tuple[float, ...], off: Sequence[Bounds], by: Sequence[Sequence[Bounds]]
) -> Box | None:
    """The image of a box under Krawczyk's operator, rounded outwards; None if it has none."""
    low, high = (np.array([[one[i] for one in row] for row in by]) for i in (0, 1))
    least, most = np.array(off, dtype=np.float64).T
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        return None
    if not (np.isfinite(least).all() and np.isfinite(most).all()):
        return None
    try:
        inverse = np.asarray(np.linalg.pinv(low + (high - low) / 2, rcond=1e-13), np.float64)
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(inverse).all():
        return None
    count = inverse.shape[1] + 2
    # inverse @ off, and I - inverse @ by
    f_low, f_high = _times(inverse, least[:, None], most[:, None], count)
    m_low, m_high = _times(inverse, low, high, count)
    unit = np.eye(len(middle))
    r_low, r_high = unit - m_high, unit - m_low
    r_low, r_high = r_low - ROUNDING, r_high + ROUNDING
    centre = np.array(middle)
    sides = np.array(box, dtype=np.float64)
    away = np.maximum(sides[:, 1] - centre, centre - sides[:, 0]) * (1 + ROUNDING)
    reach = (np.maximum(np.abs(r_low), np.abs(r_high)) @ away) * (1 + count * ROUNDING)
    rounding = ROUNDING * np.abs(centre) + 1e-300
    lows, highs = centre - f_high[:, 0] - reach, centre - f_low[:, 0] + reach
    margin = rounding + ROUNDING * np.maximum(np.abs(lows), np.abs(highs))
    return tuple(zip((lows - margin).tolist(), (highs + margin).tolist(), strict=True))


def _times(factor: Numbers, low: Numbers, high: Numbers, count: int) -> tuple[Numbers, Numbers]:
    """Bounds of the product of a matrix with one whose elements are between bounds."""
    one, other = factor[:, :, None] * low[None], factor[:, :, None] * high[None]
    size = np.maximum(np.abs(one), np.abs(other)).sum(axis=1) * (count * ROUNDING) + 1e-300
    return np.minimum(one, other).sum(axis=1) - size, np.maximum(one, other).sum(axis=1) + size


def _middle(box: Box) -> tuple[float, ...]:
    return tuple(min(max(_cut(low, high), low), high) for low, high in box)


def _size(side: Bounds) -> float:
    """The width of a side, relative to its numbers, or to 1."""
    low, high = side
    return (high - low) / max(1.0, min(abs(low), abs(high)))


def _cut(low: float, high: float) -> float:
    """The point of bisection: 0, or far from it the geometric mean."""
    if low < 0 < high and (math.isinf(high - low) or high - low > 1e6):
        return 0.0
    if high <= 0 or (low < 0 and high - low <= 1e6):
        return -_cut(-high, -low) if high <= 0 and low < 0 else low + (high - low) / 2
    if high > 4 * max(low, 1.0):
        return max(math.sqrt(max(low, 1e-3)) * math.sqrt(min(high, 1e300)), low)
    return low + (high - low) / 2
