"""Enclosures of elementary functions: what they give on an interval of real numbers.

Each is made of the function of ``math``, which may be off by as many units in the last place as
its line says (4 where it says nothing); of what is known of the function: where it is defined,
where it grows, between which bounds it lies; and of where a float of it is finite. All compile.
"""

import math
from collections.abc import Callable

import numpy as np

from overlay.sets.bounds import EMPTY, ENTIRE, Bounds, is_empty, magnitude, negative
from overlay.sets.rounding import LARGEST, TINY, above, below

__all__ = [
    "Enclosure",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "cos",
    "cosh",
    "degrees",
    "erf",
    "erfc",
    "even",
    "exp",
    "exp2",
    "expm1",
    "falling",
    "gamma",
    "growing",
    "hypot",
    "lgamma",
    "log",
    "log1p",
    "log2",
    "log10",
    "radians",
    "sin",
    "sinh",
    "tan",
    "tanh",
]

INF = math.inf
PI_ABOVE = 3.1415926535897936
HALF_PI_ABOVE = 1.5707963267948968
ULPS = 4

Real = Callable[[float], float]
Enclosure = Callable[[Bounds], Bounds]


# ---- monotone functions -------------------------------------------------------------------


def growing(
    function: Real,
    reach: Bounds,
    results: Bounds = (-INF, INF),
    domain: Bounds = (-INF, INF),
    ulps: int = ULPS,
) -> Enclosure:
    """The enclosure of a function that grows on its domain.

    reach: between which floats it is called; beyond them it lies between what it gives there
    and ``results``, the bounds of all that it gives.
    """
    first, last = reach
    least, most = results
    start, end = domain
    largest = max(least, min(below(function(last), ulps), most))
    smallest = min(most, max(above(function(first), ulps), least))

    def enclosure(a: Bounds) -> Bounds:
        if is_empty(a) or a[1] < start or a[0] > end:
            return EMPTY
        low, high = a
        if low > last:
            down = largest
        else:
            down = max(below(function(low), ulps), least) if low >= first else least
        if high < first:
            up = smallest
        else:
            up = min(above(function(high), ulps), most) if high <= last else most
        return min(down, most), max(up, least)

    return enclosure


def falling(enclosure: Enclosure) -> Enclosure:
    """The enclosure of a function that falls, of that of its negative, which grows."""

    def mirrored(a: Bounds) -> Bounds:
        return negative(enclosure(a))

    return mirrored


def even(enclosure: Enclosure) -> Enclosure:
    """The enclosure of a function of the size of its argument, of that for sizes."""

    def of_size(a: Bounds) -> Bounds:
        return enclosure(magnitude(a))

    return of_size


def _minus_acos(x: float) -> float:
    return -math.acos(x)


def _minus_erfc(x: float) -> float:
    return -math.erfc(x)


def _cbrt(x: float) -> float:
    return float(np.cbrt(x))  # numba has no math.cbrt


ALL, ABOVE_0 = (-LARGEST, LARGEST), (0.0, INF)

# fmt: off
exp = growing(math.exp, (-745.0, 709.7), results=ABOVE_0)
exp2 = growing(math.exp2, (-1074.0, 1023.9), results=ABOVE_0)
expm1 = growing(math.expm1, (-745.0, 709.7), results=(-1.0, INF))
log = growing(math.log, (TINY, LARGEST), domain=ABOVE_0)
log2 = growing(math.log2, (TINY, LARGEST), domain=ABOVE_0)
log10 = growing(math.log10, (TINY, LARGEST), domain=ABOVE_0)
log1p = growing(math.log1p, (-1.0 + 2.0**-53, LARGEST), domain=(-1.0, INF))
cbrt = growing(_cbrt, ALL)
sinh = growing(math.sinh, (-710.4, 710.4))
cosh = even(growing(math.cosh, (0.0, 710.4), results=(1.0, INF)))
tanh = growing(math.tanh, ALL, results=(-1.0, 1.0))
asinh = growing(math.asinh, ALL)
acosh = growing(math.acosh, (1.0, LARGEST), results=ABOVE_0, domain=(1.0, INF))
atanh = growing(math.atanh, (-1.0 + 2.0**-53, 1.0 - 2.0**-53), domain=(-1.0, 1.0))
asin = growing(math.asin, (-1.0, 1.0), (-HALF_PI_ABOVE, HALF_PI_ABOVE), domain=(-1.0, 1.0))
acos = falling(growing(_minus_acos, (-1.0, 1.0), (-PI_ABOVE, 0.0), domain=(-1.0, 1.0)))
atan = growing(math.atan, ALL, (-HALF_PI_ABOVE, HALF_PI_ABOVE))
erf = growing(math.erf, ALL, results=(-1.0, 1.0))
erfc = falling(growing(_minus_erfc, (-LARGEST, 26.5), results=(-2.0, 0.0), ulps=16))
degrees = growing(math.degrees, (-1e306, 1e306))
radians = growing(math.radians, ALL)
# fmt: on


# ---- functions of angles ------------------------------------------------------------------


def _passes(a: Bounds, start: float) -> bool:
    """Whether an interval may contain ``start`` and some whole turns, of 2 pi each. start: in
    turns."""
    low, high = a[0] / (2 * math.pi) - start, a[1] / (2 * math.pi) - start
    slack = (max(abs(low), abs(high)) + 1) * 2.0**-50
    return math.floor(high + slack) >= math.ceil(low - slack)


def _wave(function: Real, top: float) -> Enclosure:
    """The enclosure of sine or cosine, of which one maximum is at ``top``, in turns."""

    def enclosure(a: Bounds) -> Bounds:
        if is_empty(a):
            return EMPTY
        if not (a[1] - a[0] < 6.3 and max(abs(a[0]), abs(a[1])) < 1e15):
            return (-1.0, 1.0)
        first, last = function(a[0]), function(a[1])
        low = -1.0 if _passes(a, top + 0.5) else below(min(first, last), ULPS)
        high = 1.0 if _passes(a, top) else above(max(first, last), ULPS)
        return max(low, -1.0), min(high, 1.0)

    return enclosure


sin, cos = _wave(math.sin, 0.25), _wave(math.cos, 0.0)


def tan(a: Bounds) -> Bounds:
    """Tangents, of which there are none at odd multiples of pi / 2."""
    if is_empty(a):
        return EMPTY
    if not (a[1] - a[0] < 3.2 and max(abs(a[0]), abs(a[1])) < 1e15):
        return ENTIRE
    if _passes(a, 0.25) or _passes(a, 0.75):
        return ENTIRE
    return below(math.tan(a[0]), ULPS), above(math.tan(a[1]), ULPS)


def atan2(y: Bounds, x: Bounds) -> Bounds:
    """Angles of the points (x, y), from -pi to pi; of (0, 0) the angle is 0, as of (1, 0)."""
    if is_empty(y) or is_empty(x):
        return EMPTY
    if x[0] < 0 and y[0] < 0 <= y[1]:
        return (-PI_ABOVE, PI_ABOVE)
    # without the sign that a zero may have
    bottom, top, left, right = y[0] + 0.0, y[1] + 0.0, x[0] + 0.0, x[1] + 0.0
    one, two = math.atan2(bottom, left), math.atan2(bottom, right)
    three, four = math.atan2(top, left), math.atan2(top, right)
    low = min(min(one, two), min(three, four))
    high = max(max(one, two), max(three, four))
    return max(below(low, ULPS), -PI_ABOVE), min(above(high, ULPS), PI_ABOVE)


def hypot(a: Bounds, b: Bounds) -> Bounds:
    """Lengths of the vectors (a, b)."""
    if is_empty(a) or is_empty(b):
        return EMPTY
    one, two = magnitude(a), magnitude(b)
    low = below(math.hypot(one[0], two[0]), ULPS)
    return max(low, 0.0), above(math.hypot(one[1], two[1]), ULPS)


# ---- the gamma function -------------------------------------------------------------------

LEAST_AT = 1.4616321449683623  # where it is smallest, for positive arguments
GAMMA_ULPS, LGAMMA_OFF = 64, 1e-13


def _valley(
    function: Real, least: float, reach: Bounds, slack: Callable[[float], Bounds]
) -> Enclosure:
    """The enclosure of a function of positive numbers that falls to ``least``, then grows.

    reach: between which floats it is called; beyond them it is larger than there. slack: gives
    what may lie by a value of it.
    """
    first, last = reach

    def enclosure(a: Bounds) -> Bounds:
        if is_empty(a):
            return EMPTY
        if a[0] < 0:
            return ENTIRE
        left = function(min(max(a[0], first), last))
        right = function(min(max(a[1], first), last))
        turn = a[0] <= LEAST_AT <= a[1]
        high = INF if a[0] < first or a[1] > last else max(left, right)
        return slack(least if turn else min(left, right))[0], slack(high)[1]

    return enclosure


def _near_gamma(x: float) -> Bounds:
    return below(x, GAMMA_ULPS), above(x, GAMMA_ULPS)


def _near_lgamma(x: float) -> Bounds:
    off = LGAMMA_OFF * (1 + abs(x))
    return x - off, x + off


gamma = _valley(math.gamma, 0.8856031944108886, (1e-300, 171.6), _near_gamma)
lgamma = _valley(math.lgamma, -0.12148629053584961, (1e-300, 2.5e305), _near_lgamma)
