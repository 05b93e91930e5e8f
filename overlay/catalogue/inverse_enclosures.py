"""Enclosures of the inverses of monotone and even functions."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from overlay.catalogue.elementary import FUNCTIONS
from overlay.catalogue.math_function import MathFunction
from overlay.sets import EMPTY, Bounds, is_empty

__all__ = ["inverse_enclosure"]

INF = math.inf
_FLOAT, _BITS = struct.Struct("<d"), struct.Struct("<q")


def inverse_enclosure(f: MathFunction) -> Callable[[Bounds], Bounds]:
    """The enclosure of the inverse of a monotone or even function: from the bounds of its result to
    those of its argument, or of the argument's absolute value where the function is even."""
    inverse = f.inverse
    if inverse is None:
        return _by_trying(f)
    if isinstance(inverse, str):
        return next(other.enclosure for other in FUNCTIONS if other.name == inverse)
    return inverse


def _by_trying(f: MathFunction) -> Callable[[Bounds], Bounds]:
    """The enclosure of the inverse, by bisection. A bound is an argument at which the function's
    own enclosure lies outside of the results; the function is monotone, so it does beyond, too."""
    first, last = f.reach
    falls = f.shape == "falling"

    def lies_above(x: float, results: Bounds) -> bool:
        return f.enclosure((x, x))[0] > results[1]

    def lies_below(x: float, results: Bounds) -> bool:
        return f.enclosure((x, x))[1] < results[0]

    lies_left, lies_right = (lies_above, lies_below) if falls else (lies_below, lies_above)

    def enclosure(results: Bounds) -> Bounds:
        if is_empty(results):
            return EMPTY
        left, right = (results[1], results[0]) if falls else results
        low, high = f.domain
        if lies_left(first, results):
            low, steps = _crossing(f, left, falls), 1
            while not lies_left(low, results):
                low, steps = max(math.nextafter(low, -INF, steps=steps), first), 2 * steps
        if lies_right(last, results):
            high, steps = _crossing(f, right, falls), 1
            while not lies_right(high, results):
                high, steps = min(math.nextafter(high, INF, steps=steps), last), 2 * steps
        return low, high

    return enclosure


def _crossing(f: MathFunction, wanted: float, falls: bool) -> float:
    """The float at which a monotone function about equals ``wanted``."""
    low, high = map(_place, f.reach)
    while high - low > 1:
        middle = (low + high) // 2
        if (f.function(_float_at(middle)) < wanted) != falls:
            low = middle
        else:
            high = middle
    return _float_at(high)


def _place(x: float) -> int:
    """The index of a float in the ordered sequence of all floats; that of 0.0 is 0."""
    (bits,) = _BITS.unpack(_FLOAT.pack(x))
    return bits if bits >= 0 else -(bits + 2**63)


def _float_at(place: int) -> float:
    (size,) = _FLOAT.unpack(_BITS.pack(abs(place)))
    return math.copysign(size, place)
