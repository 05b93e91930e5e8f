"""Roots of several equations in several unknowns, searched for from several starts.

The equations are given as a function from the unknowns, one array, to an array of results, which
have the wanted values at a root. Where it raises or gives NaN, it is undefined. It is plain Python
that numba compiles.

From each start Newton's method descends; a full step that increases the residual is damped as by D.
W. Marquardt (SIAM J. Appl. Math. 11, 1963). The starts are the given one, and then points around it
that fill wider and wider boxes evenly: multiples of the inverse powers of the root of x**(n + 1) =
x + 1 (M. Roberts, The unreasonable effectiveness of quasirandom sequences, 2018).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from primitives.errors import NoSolution

__all__ = ["as_reals", "complex_part", "find_roots"]

System = Callable[..., Any]

STARTS = 32
"""The number of starts, including the given one."""
TRIED = 7
"""The number of points of which each later start is the best."""
DESCENTS = 50
SHORTENED = 9
"""The largest number of times that a step is shortened."""
DIFFERENCE = 1.5e-8
"""The step of difference quotients, relative to an unknown."""
SCALES = (1.0, 0.25, 4.0, 1.0, 16.0, 100.0, 1.0, 1e4)
"""The sizes of the boxes of starts, relative to the given one."""
ORDERS = 15
"""The orders of magnitude of starts."""
WITHIN, AT_ZERO = 2e-10, 2e-13
"""Tolerances of results: a fifth of those of an inverse."""
ALMOST = 1e-6
"""Relative: a residual up to this may be that of a root with lost digits; the check decides."""


def as_reals(values: Any) -> Any:
    """The real and imaginary parts of all elements, alternately."""
    flat = values.ravel()
    found = np.empty(2 * flat.size)
    found[0::2] = flat.real
    found[1::2] = flat.imag
    return found


def complex_part(point: Any, start: int, stop: int) -> Any:
    """The complex numbers whose parts are the elements from ``start`` to ``stop``."""
    return point[start:stop:2] + 1j * point[start + 1 : stop : 2]


def results_at(sides: System, x: Any, given: tuple[Any, ...]) -> Any:
    """The results for these unknowns."""
    return sides(x, *given)


def residual(sides: System, wanted: Any, scale: Any, x: Any, given: tuple[Any, ...]) -> Any:
    """The scaled differences from the wanted results; NaN where the results are undefined."""
    try:
        off = (results_at(sides, x, given) - wanted) / scale
    except Exception:
        off = np.full(wanted.size, np.nan)
    return off


def length(values: Any) -> float:
    """The Euclidean norm; infinite if a number is not finite."""
    total = 0.0
    for value in values:
        total += value * value
    return math.sqrt(total) if total < math.inf else math.inf


def slopes_at(
    sides: System, wanted: Any, scale: Any, x: Any, off: Any, given: tuple[Any, ...]
) -> Any:
    """The derivatives of the residuals, as difference quotients; 0 where they are unknown."""
    slopes = np.zeros((wanted.size, x.size))
    for j in range(x.size):
        step = DIFFERENCE * max(abs(x[j]), 1e-4)
        for side in (step, -step):
            there = x.copy()
            there[j] += side
            beside = residual(sides, wanted, scale, there, given)
            if length(beside) < math.inf:
                slopes[:, j] = (beside - off) / (there[j] - x[j])
                break
    return slopes


def step_down(slopes: Any, off: Any, damping: float) -> Any:
    """The step to the least-squares solution of the linearised equations, shortened by damping."""
    high, wide = slopes.shape
    widths = np.ones(wide)
    for j in range(wide):
        size = length(slopes[:, j])
        if 0 < size < math.inf:
            widths[j] = size
    whole = np.zeros((high + wide, wide)) if damping > 0 else np.zeros((high, wide))
    right = np.zeros(whole.shape[0])
    whole[:high] = slopes / widths
    right[:high] = off
    for j in range(wide if damping > 0 else 0):
        whole[high + j, j] = math.sqrt(damping)
    return np.linalg.lstsq(whole, right)[0] / widths


def descended(
    sides: System,
    wanted: Any,
    scale: Any,
    x: Any,
    low: Any,
    high: Any,
    given: tuple[Any, ...],
    bounded: bool,
) -> tuple[Any, float]:
    """The point of least residuals that Newton's method reaches from x, and their norm; infinite if
    the start is undefined.
    """
    off = residual(sides, wanted, scale, x, given)
    size = length(off)
    damping = 0.0
    for _ in range(DESCENTS):
        if not 0 < size < math.inf:
            break
        slopes = slopes_at(sides, wanted, scale, x, off, given)
        before = size
        for turn in range(1 if size <= 1e-13 else SHORTENED):
            there = x - step_down(slopes, off, damping)
            if np.all(there == x):  # no result depends on the unknowns at this point
                break
            if bounded:
                there = np.minimum(np.maximum(there, low), high)
            beside = residual(sides, wanted, scale, there, given)
            reached = length(beside)
            if reached < size:
                x, off, size = there, beside, reached
                damping = 0.0 if turn == 0 and damping < 1e-3 else damping * 0.1
                break
            damping = max(damping * 6.0, 1e-3)
        if size > before * (1 - 1e-6):  # no step decreases the residual
            break
    return x, size


def is_solved(sides: System, wanted: Any, x: Any, given: tuple[Any, ...]) -> bool:
    """Return whether all results have the wanted values, within the tolerances."""
    off = np.abs(residual(sides, wanted, np.ones(wanted.size), x, given))
    solved = True
    for i in range(wanted.size):
        if not off[i] <= max(WITHIN * abs(wanted[i]), AT_ZERO):
            solved = False
    return solved


def place(number: int, unit: float, near: float, low: float, high: float) -> float:
    """The start of one unknown, for a number in (0, 1): within its bounds; without bounds, around
    the given start or 0, or of any order of magnitude.
    """
    if high - low <= 1e9:
        if low > 0 and high > 1e3 * low:
            return low * (high / low) ** unit
        return low + unit * (high - low)
    size = max(1.0, abs(near))
    scale = SCALES[number % len(SCALES)]
    odds = math.log(unit / (1 - unit))
    if number % 3 == 1:
        sign = -1.0 if (near < 0) != (number % 12 == 10) else 1.0
        return sign * size * 10.0 ** (ORDERS * unit - 0.6 * ORDERS)
    return (near if number % 3 == 0 else 0.0) + scale * size * odds


def spread(number: int, count: int, near: Any, low: Any, high: Any) -> Any:
    """The start with a given number, inside the bounds."""
    root = 2.0
    for _ in range(40):
        root = (1.0 + root) ** (1.0 / (count + 1))
    x = near.copy()
    for j in range(count):
        unit = (0.5 + number * root ** -(j + 1.0)) % 1.0
        unit = min(max(unit, 1e-9), 1 - 1e-9)
        x[j] = place(number, unit, near[j], low[j], high[j])
        x[j] = min(max(x[j], low[j]), high[j])
    return x


def is_inside(x: Any, low: Any, high: Any) -> bool:
    """Return whether all unknowns are within their bounds."""
    inside = True
    for j in range(x.size):
        if not low[j] <= x[j] <= high[j]:
            inside = False
    return inside


def wrapped(x: Any, low: Any, high: Any) -> Any:
    """The point with unknowns outside their bounds moved inside by multiples of the width, which
    keeps an angle equivalent.
    """
    x = x.copy()
    for j in range(x.size):
        if not low[j] <= x[j] <= high[j]:
            width = high[j] - low[j]
            if width < math.inf:
                x[j] = low[j] + (x[j] - low[j]) % width
            else:
                x[j] = min(max(x[j], low[j]), high[j])
    return x


def least_of(
    sides: System,
    wanted: Any,
    scale: Any,
    number: int,
    near: Any,
    low: Any,
    high: Any,
    given: tuple[Any, ...],
) -> Any:
    """The point with the least residuals among several spread starts."""
    best, least = near, math.inf
    for one in range(TRIED):
        x = spread(number * TRIED + one, near.size, near, low, high)
        size = length(residual(sides, wanted, scale, x, given))
        if size < least:
            best, least = x, size
    return best


def find_roots(
    sides: System, wanted: Any, near: Any, low: Any, high: Any, given: tuple[Any, ...]
) -> Any:
    """The unknowns for which the results have the wanted values: the start if it is a solution,
    else the first solution reached from it or from the starts around it.

    sides: maps the unknowns and ``given`` to the results. low, high: the bounds of the unknowns.
    Raises NoSolution if no solution is found.
    """
    largest = np.abs(wanted).max()
    scale = np.empty(wanted.size)
    for i in range(wanted.size):
        scale[i] = max(abs(wanted[i]), 1e-3 * largest)
        if scale[i] == 0:
            scale[i] = 1.0
    start = np.minimum(np.maximum(near, low), high)
    if is_solved(sides, wanted, start, given):
        return start
    best, least = start, math.inf
    for number in range(STARTS):
        x = start
        if number > 0:
            x = least_of(sides, wanted, scale, number, start, low, high, given)
        is_free = number % 2 == 1
        found, size = descended(sides, wanted, scale, x, low, high, given, not is_free)
        if is_free and not is_inside(found, low, high):
            found, size = descended(
                sides, wanted, scale, wrapped(found, low, high), low, high, given, True
            )
        if size < math.inf and is_solved(sides, wanted, found, given):
            return found
        if size < least:
            best, least = found, size
    if not least <= ALMOST:
        raise NoSolution("no solution of these equations was found from any start")
    return best
