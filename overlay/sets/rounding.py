"""Directed rounding: lower and upper bounds of the exact result of an operation on floats.

Each function takes and returns floats; the result is infinite where there is no bound. A bound is
the rounded result where that is exact, and its neighbour elsewhere (T. J. Dekker, A floating-point
technique for extending the available precision, 1971; S. M. Rump and others, Computing predecessor
and successor in rounding to nearest, 2009). numba compiles all of them.
"""

import math
import sys

__all__ = [
    "above",
    "add_down",
    "add_up",
    "below",
    "div_down",
    "div_up",
    "mul_down",
    "mul_up",
    "nearest_finite",
    "sqrt_down",
    "sqrt_up",
]

INF = math.inf
LARGEST = sys.float_info.max
TINY = 5e-324
HALF_ULP = 2.0**-53 * (1 + 2.0**-52)
SPLIT = 2.0**27 + 1
# between these, a product is split into two floats exactly
SMALL, LARGE = 2.0**-900, 2.0**900


def nearest_finite(number: float) -> float:
    """The nearest finite float, also of an integer beyond all floats."""
    return float(min(max(number, -LARGEST), LARGEST))


def below(x: float, ulps: float = 0.5) -> float:
    """A float below x, by at least this many units in its last place."""
    if x == INF:
        return LARGEST
    return x - (2 * ulps * HALF_ULP * abs(x) + math.ceil(ulps) * TINY)


def above(x: float, ulps: float = 0.5) -> float:
    """A float above x, by at least this many units in its last place."""
    return -below(-x, ulps)


def _sum_error(a: float, b: float, total: float) -> float:
    """The rounding error ``(a + b) - total`` of a sum; NaN where the sum overflows."""
    part = total - a
    return (a - (total - part)) + (b - part)


def add_down(a: float, b: float) -> float:
    """A lower bound of a + b."""
    total = a + b
    if total != total:
        return -INF
    if abs(total) == INF:
        return total if max(abs(a), abs(b)) == INF else below(total)
    return total if _sum_error(a, b, total) >= 0 else below(total)


def add_up(a: float, b: float) -> float:
    """An upper bound of a + b."""
    return 0.0 - add_down(-a, -b)


def _product_error(a: float, b: float, product: float) -> float:
    """The rounding error ``a * b - product`` of a product; NaN where it cannot be computed."""
    if not (SMALL < abs(product) < LARGE and abs(a) < LARGE and abs(b) < LARGE):
        return math.nan
    high_a = SPLIT * a
    high_a = high_a - (high_a - a)
    high_b = SPLIT * b
    high_b = high_b - (high_b - b)
    low_a, low_b = a - high_a, b - high_b
    error = high_a * high_b - product
    return ((error + high_a * low_b) + low_a * high_b) + low_a * low_b


def mul_down(a: float, b: float) -> float:
    """A lower bound of a * b, where 0 times an infinite bound is 0."""
    if a == 0 or b == 0:
        return 0.0
    product = a * b
    if product == 0:
        return 0.0 if (a > 0) == (b > 0) else -TINY
    if abs(product) == INF:
        return product if max(abs(a), abs(b)) == INF else below(product)
    return product if _product_error(a, b, product) >= 0 else below(product)


def mul_up(a: float, b: float) -> float:
    """An upper bound of a * b, where 0 times an infinite bound is 0."""
    return 0.0 - mul_down(-a, b)


def div_down(a: float, b: float) -> float:
    """A lower bound of a / b, for b other than 0; it is 0 for an infinite b."""
    if a == 0 or abs(b) == INF:
        return 0.0
    quotient = a / b
    if quotient == 0:
        return 0.0 if (a > 0) == (b > 0) else -TINY
    if abs(quotient) == INF:
        return quotient if abs(a) == INF else below(quotient)
    back = quotient * b
    rest = (a - back) - _product_error(quotient, b, back)
    exact = rest >= 0 if b > 0 else rest <= 0
    return quotient if exact else below(quotient)


def div_up(a: float, b: float) -> float:
    """An upper bound of a / b, for b other than 0; it is 0 for an infinite b."""
    return 0.0 - div_down(-a, b)


def sqrt_down(a: float) -> float:
    """A lower bound of the square root of a number that is not negative."""
    root = math.sqrt(a)
    if a == 0 or a == INF:
        return root
    square = root * root
    return root if (a - square) - _product_error(root, root, square) >= 0 else below(root)


def sqrt_up(a: float) -> float:
    """An upper bound of the square root of a number that is not negative."""
    root = math.sqrt(a)
    if a == 0 or a == INF:
        return root
    square = root * root
    return root if (a - square) - _product_error(root, root, square) <= 0 else above(root)
