"""Enclosures of elementary functions: bounds of their values on an interval of real numbers.

Each is built from the function of ``math``, whose error is some units in the last place (``ULPS``
by default), and from facts about the function: its domain, where it grows, the bounds of its
results, where its result is a finite float. Those of monotone functions are built from the rows
of ``overlay.catalogue``. numba compiles all of them.
"""

import math
from collections.abc import Callable

from overlay.sets.bounds import EMPTY, ENTIRE, Bounds, is_empty, magnitude, negative
from overlay.sets.rounding import above, below

__all__ = [
    "Enclosure",
    "atan2",
    "cos",
    "even",
    "falling",
    "gamma",
    "growing",
    "hypot",
    "lgamma",
    "sin",
    "tan",
]

INF = math.inf
PI_ABOVE = 3.1415926535897936
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
    """The enclosure of a function that increases on its domain.

    reach: the floats between which the function is called. Outside of them its values lie between
    its value at the end of ``reach`` and the bound of ``results``. results: the bounds of all its
    values. ulps: the error of the function, in units in the last place.

    >>> import math
    >>> from overlay.sets import growing
    >>> low, high = growing(math.atan, (-1e6, 1e6))((0.0, 1.0))
    >>> low <= 0.0 < math.pi / 4 <= high < 0.79
    True
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
    """The enclosure of a decreasing function, from that of its negative, which increases."""

    def mirrored(a: Bounds) -> Bounds:
        return negative(enclosure(a))

    return mirrored


def even(enclosure: Enclosure) -> Enclosure:
    """The enclosure of an even function, from its enclosure for arguments that are not negative."""

    def of_size(a: Bounds) -> Bounds:
        return enclosure(magnitude(a))

    return of_size


# ---- functions of angles ------------------------------------------------------------------


def _passes(a: Bounds, start: float) -> bool:
    """Whether an interval may contain ``2 pi (start + n)`` for an integer n."""
    low, high = a[0] / (2 * math.pi) - start, a[1] / (2 * math.pi) - start
    slack = (max(abs(low), abs(high)) + 1) * 2.0**-50
    return math.floor(high + slack) >= math.ceil(low - slack)


def _wave(function: Real, top: float) -> Enclosure:
    """The enclosure of sine or cosine, with a maximum at ``2 pi top``."""

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
    """Bounds of ``tan(x)``, for x in ``a`` other than odd multiples of pi / 2."""
    if is_empty(a):
        return EMPTY
    if not (a[1] - a[0] < 3.2 and max(abs(a[0]), abs(a[1])) < 1e15):
        return ENTIRE
    if _passes(a, 0.25) or _passes(a, 0.75):
        return ENTIRE
    return below(math.tan(a[0]), ULPS), above(math.tan(a[1]), ULPS)


def atan2(y: Bounds, x: Bounds) -> Bounds:
    """Bounds of the angles of the points (x, y), from -pi to pi; the angle of (0, 0) is 0."""
    if is_empty(y) or is_empty(x):
        return EMPTY
    if x[0] < 0 and y[0] < 0 <= y[1]:
        return (-PI_ABOVE, PI_ABOVE)
    # remove the sign of a zero
    bottom, top, left, right = y[0] + 0.0, y[1] + 0.0, x[0] + 0.0, x[1] + 0.0
    one, two = math.atan2(bottom, left), math.atan2(bottom, right)
    three, four = math.atan2(top, left), math.atan2(top, right)
    low = min(min(one, two), min(three, four))
    high = max(max(one, two), max(three, four))
    return max(below(low, ULPS), -PI_ABOVE), min(above(high, ULPS), PI_ABOVE)


def hypot(a: Bounds, b: Bounds) -> Bounds:
    """Bounds of the length of the vector (x, y), for x in ``a`` and y in ``b``."""
    if is_empty(a) or is_empty(b):
        return EMPTY
    one, two = magnitude(a), magnitude(b)
    low = below(math.hypot(one[0], two[0]), ULPS)
    return max(low, 0.0), above(math.hypot(one[1], two[1]), ULPS)


# ---- the gamma function -------------------------------------------------------------------

LEAST_AT = 1.4616321449683623  # the minimum for positive arguments
GAMMA_ULPS, LGAMMA_OFF = 64, 1e-13


def _valley(
    function: Real, least: float, reach: Bounds, slack: Callable[[float], Bounds]
) -> Enclosure:
    """The enclosure of a function of positive numbers that decreases to ``least``, then increases.

    reach: the floats between which the function is called; its values outside are larger. slack:
    maps a computed value to bounds of the exact one.
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
