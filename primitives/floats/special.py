"""The error functions."""

from __future__ import annotations

import math

from overlay.catalogue.elementary import ERF_SLOPE
from primitives.domains import Real, Reals
from primitives.floats.tolerance import matches
from primitives.relation import parametric, relation

__all__ = ["erf", "erfc"]


def small_erf_argument(ret: float) -> float:
    """The argument of erf for a result of at most 0.5 in absolute value, by Halley's method."""
    found = ret / ERF_SLOPE * (1 + math.pi / 12 * ret * ret)
    for _ in range(3):
        step = (math.erf(found) - ret) / (ERF_SLOPE * math.exp(-found * found))
        found -= step / (1 + found * step)
    return found


def erfc_argument(ret: float) -> float:
    """The argument of erfc for a positive result of at most 1, by Halley's method."""
    if ret > 0.5:
        return small_erf_argument(1 - ret)
    root = math.sqrt(-2 * math.log(ret / 2))
    found = root - (2.30753 + root * 0.27061) / (1 + root * (0.99229 + root * 0.04481))
    found /= math.sqrt(2.0)
    for _ in range(3):
        slope = ERF_SLOPE * math.exp(-found * found)
        if slope == 0:  # the result is subnormal
            return found
        step = (math.erfc(found) - ret) / slope
        found += step / (1 - found * step)
    return found


def erf_argument(ret: float, near: float) -> float:
    """The argument of erf; ``near`` if rounding maps several arguments to one result."""
    size = abs(ret)
    if size <= 0.5:
        return small_erf_argument(ret)
    if size > 0.99 and matches(math.erf(near), ret):
        return near
    return math.copysign(6.0 if size == 1 else erfc_argument(1 - size), ret)


def any_erfc_argument(ret: float, near: float) -> float:
    """The argument of erfc; ``near`` if rounding maps several arguments to one result."""
    if (ret > 1.99 or ret < 1e-290) and matches(math.erfc(near), ret):
        return near
    if ret == 0:
        return 28.0
    if ret > 1:
        return -6.0 if ret == 2 else -erfc_argument(2 - ret)
    return erfc_argument(ret)


erf = relation(
    math.erf, float, "return = erf(a)", codomain=Reals(-1, 1),
    edges="near matters if ret is within 0.01 of 1 or -1. By rounding, all arguments from 5.93 on "
    "have the result 1 or -1; the answer is then near, or 6 if near is not a solution",
    ret=lambda a: math.erf(a),
    a=parametric(erf_argument, near=Real, recover=lambda a: (a,), rounding_only=True),
)  # fmt: skip
erfc = relation(
    math.erfc, float, "return = erfc(a)", codomain=Reals(0, 2),
    edges="near matters if ret is within 0.01 of 2, or below 1e-290. For the rounded results 2 and "
    "0 the answers are -6 and 28 if near is not a solution",
    ret=lambda a: math.erfc(a),
    a=parametric(any_erfc_argument, near=Real, recover=lambda a: (a,), rounding_only=True),
)  # fmt: skip
