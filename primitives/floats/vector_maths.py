"""Elementary functions that LLVM can vectorise: without branches, calls or tables.

For arguments outside their range (infinite, subnormal, near overflow) they return NaN; use the
functions of ``math`` there. Elsewhere the error is at most 3 ulp.

``exp`` reduces its argument by multiples of log 2 in two parts (Cody and Waite, 1980). ``log``
removes the exponent and sums the series of atanh with the coefficients of fdlibm (Sun Microsystems,
1993). The other functions are composed of these two.
"""

from __future__ import annotations

import math
from math import copysign, nan

import numpy as np

__all__ = ["VECTORISED", "atanh", "exp", "expm1", "log", "log1p", "tanh"]

LOG2_E = 1.4426950408889634
LOG_2_HIGH, LOG_2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
ROUNDING = 6755399441055744.0  # 1.5 * 2**52: adding it to a number rounds the number to an integer
TWO_52 = 4503599627370496.0
FRACTION = np.uint64(52)  # bits
BIAS = 1024
BIASED = np.uint64(BIAS << 52)
# for the bits of sqrt(1/2) and above, the exponent is 0
ROOT_HALF = np.uint64((BIAS << 52) - 0x3FE6A09E667F3BCD)
BITS_OF_TWO_52 = np.uint64(0x4330000000000000)


def reduced(x: float) -> tuple[float, float]:
    """A whole number n, shifted by ``ROUNDING``, and the small rest x - n * log(2)."""
    shifted = x * LOG2_E + ROUNDING
    n = shifted - ROUNDING
    return shifted, (x - n * LOG_2_HIGH) - n * LOG_2_LOW


def expm1_near_0(r: float) -> float:
    """exp(r) - 1 for \\|r\\| <= log(2) / 2, by its series."""
    p = 1 / 6227020800
    p = p * r + 1 / 479001600
    p = p * r + 1 / 39916800
    p = p * r + 1 / 3628800
    p = p * r + 1 / 362880
    p = p * r + 1 / 40320
    p = p * r + 1 / 5040
    p = p * r + 1 / 720
    p = p * r + 1 / 120
    p = p * r + 1 / 24
    p = p * r + 1 / 6
    p = p * r + 0.5
    return r + r * r * p


def times_power(value: float, shifted: float) -> float:
    """``value`` times 2**n, for the shifted n of ``reduced`` and a normal result."""
    exponent = np.uint64(np.float64(shifted).view(np.uint64) << FRACTION)
    bits = np.uint64(np.float64(value).view(np.uint64) + exponent)
    return bits.view(np.float64)


def exp(x: float) -> float:
    """e to the power of x."""
    shifted, r = reduced(x)
    found = times_power(1.0 + expm1_near_0(r), shifted)
    return found if abs(x) <= 708.0 else nan


def expm1(x: float) -> float:
    """e to the power of x, less 1."""
    shifted, r = reduced(x)
    power = times_power(1.0, shifted)
    found = power * expm1_near_0(r) + (power - 1.0)
    return found if abs(x) <= 708.0 else nan


def log_parts(x: float) -> tuple[float, float]:
    """The exponent e of x, and x / 2**e, which is near 1."""
    bits = np.float64(x).view(np.uint64)
    biased = np.uint64((bits + ROOT_HALF) >> FRACTION)
    near_1 = np.uint64(bits - np.uint64(biased << FRACTION) + BIASED).view(np.float64)
    exponent = np.uint64(biased | BITS_OF_TWO_52).view(np.float64) - (TWO_52 + BIAS)
    return exponent, near_1


def log_of(exponent: float, f: float, missing: float) -> float:
    """exponent * log(2) + log(1 + f) + missing, for 1 + f near 1."""
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (
        3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01)
    )
    odd = z * (
        6.666666666666735130e-01
        + w
        * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01))
    )
    half = 0.5 * f * f
    return exponent * LOG_2_HIGH - (
        (half - (s * (half + (even + odd)) + (exponent * LOG_2_LOW + missing))) - f
    )


def log(x: float) -> float:
    """The natural logarithm of x."""
    exponent, near_1 = log_parts(x)
    found = log_of(exponent, near_1 - 1.0, 0.0)
    return found if 2.3e-308 <= x <= 1.7e308 else nan


def log1p(x: float) -> float:
    """The natural logarithm of 1 + x."""
    whole = 1.0 + x
    exponent, near_1 = log_parts(whole)
    # the relative rounding error of the sum
    lost = x - (whole - 1.0) if x < 1.0 else 1.0 - (whole - x)
    found = log_of(exponent, near_1 - 1.0, lost / whole)
    return found if -0.9999999999999 <= x <= 1.7e308 else nan


def tanh(x: float) -> float:
    """The hyperbolic tangent of x."""
    size = min(abs(x), 22.0)  # above this argument, the result is 1
    e = expm1(-2.0 * size)
    found = copysign(-e / (e + 2.0), x)
    return found if abs(x) <= 1.7e308 else nan


def atanh(x: float) -> float:
    """The inverse hyperbolic tangent of x."""
    size = abs(x)
    return copysign(0.5 * log1p(2.0 * size / (1.0 - size)), x)


VECTORISED = {
    math.atanh: atanh,
    math.exp: exp,
    math.expm1: expm1,
    math.log: log,
    math.log1p: log1p,
    math.tanh: tanh,
}
