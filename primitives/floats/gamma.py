"""The gamma function and its log-absolute value, solved numerically on every branch.

Between adjacent poles, 0, -1, -2, ..., and right of 0, the absolute value of the gamma function has
one minimum. ``k`` numbers the branches next to these minima: 0 extends right from 1.46, 1 lies
between 0 and 1.46; between -n - 1 and -n the right branch is 2n + 2 and the left one 2n + 3.
"""

from __future__ import annotations

import math

from overlay.catalogue.elementary import digamma
from primitives.domains import Integers
from primitives.errors import NoSolution
from primitives.floats.tolerance import agrees, floor_of
from primitives.relation import parametric, relation

__all__ = ["gamma", "lgamma"]

MINIMUM = 1.4616321449683623
"""The positive argument where the gamma function is smallest."""
LARGEST_LOG = 2.5e305
"""lgamma overflows above about this argument."""
INTERVALS = 10**6
"""The number of intervals between poles in which solutions are searched."""
STEPS = 2200
"""An upper limit: bisection of floats, by exponents and then by digits, ends earlier."""


def minimum(n: int) -> float:
    """The argument between -n - 1 and -n where the absolute value of the gamma function is
    smallest.
    """
    low, high = math.nextafter(-n - 1.0, 0.0), math.nextafter(-float(n), -n - 1.0)
    for _ in range(100):
        middle = low + (high - low) / 2
        if middle <= low or middle >= high:
            break
        # the absolute value grows towards both poles
        if digamma(middle) < 0:
            low = middle
        else:
            high = middle
    return low


def size(x: float, log: bool) -> float:
    """The absolute value of the gamma function, or its logarithm; infinite on overflow."""
    if x >= LARGEST_LOG:
        return math.inf
    logarithm = math.lgamma(x)
    if log:
        return logarithm
    return math.inf if logarithm > 709.7827 else abs(math.gamma(x))


def far_end(k: int, log: bool) -> float:
    """The end of a branch at which the function is unbounded."""
    if k == 0:
        return LARGEST_LOG if log else 171.7
    if k == 1:
        return 5e-324 if log else 5.6e-309
    n = (k - 2) // 2
    pole = -float(n) if k % 2 == 0 else -n - 1.0
    if pole == 0:
        return -5e-324 if log else -5.6e-309
    return math.nextafter(pole, -n - 0.5)


def bisected(wanted: float, near: float, far: float, log: bool) -> float:
    """The argument between two points where the absolute value is ``wanted``; it grows towards
    ``far``.
    """
    for _ in range(STEPS):
        middle = near + (far - near) / 2
        larger, smaller = max(abs(near), abs(far)), min(abs(near), abs(far))
        if larger > 8 * smaller:
            middle = math.copysign(math.sqrt(larger) * math.sqrt(smaller), near)
        if not min(near, far) < middle < max(near, far):
            break
        if size(middle, log) < wanted:
            near = middle
        else:
            far = middle
    closer = abs(size(near, log) - wanted) <= abs(size(far, log) - wanted)
    return near if closer else far


def branch_root(wanted: float, k: int, log: bool) -> float:
    """The argument on this branch whose absolute value, or its logarithm, is ``wanted``."""
    n = (k - 2) // 2
    if n >= INTERVALS:
        raise NoSolution("solutions so far from 0 are not searched for")
    near = MINIMUM if k < 2 else minimum(n)
    found = bisected(wanted, near, far_end(k, log), log)
    value = size(found, log)
    # values far below 1 are compared by ratio
    if not (agrees(value, wanted) if log else agrees(value / wanted, 1.0)):
        raise NoSolution("the branch does not reach this value")
    return found


def gamma_argument(ret: float, k: int) -> float:
    """The argument of gamma on a branch."""
    negative = k >= 2 and (k - 2) // 2 % 2 == 0
    if ret == 0 or (ret < 0) != negative:
        raise NoSolution("on this branch the gamma function has the other sign, and it is never 0")
    return branch_root(abs(ret), k, False)


def branch_of(a: float) -> int:
    """The number of the branch of an argument."""
    if a > 0:
        return 0 if a >= MINIMUM else 1
    n = int(-floor_of(a)) - 1
    if n >= INTERVALS:
        return 2 * INTERVALS + 2
    return 2 * n + 2 if a > minimum(n) else 2 * n + 3


BRANCHES = Integers(0, None)
FAR = "arguments below -10**6 are not found"

gamma = relation(
    math.gamma, float, "return = gamma(a)",
    edges="ret = 0, by underflow below -170, is refused; digits of a are lost near the extrema",
    ret=lambda a: math.gamma(a),
    a=parametric(gamma_argument, k=BRANCHES, recover=lambda a: (branch_of(a),)),
)  # fmt: skip
lgamma = relation(
    math.lgamma, float, "return = lgamma(a)", incomplete=FAR,
    edges="digits of a are lost near the minima",
    ret=lambda a: math.lgamma(a),
    a=parametric(
        lambda ret, k: branch_root(ret, k, True), k=BRANCHES, recover=lambda a: (branch_of(a),)
    ),
)  # fmt: skip
