"""Interval arithmetic on real numbers: the tightest bounds of each operation.

An interval is a pair of floats ``(low, high)``, both included, infinite where there is no bound;
``(nan, nan)`` is the empty one. Points where an operation is undefined, such as division by 0,
add nothing to the result. numba compiles all functions.
"""

import math

from overlay.sets.rounding import (
    LARGEST,
    above,
    add_down,
    add_up,
    below,
    div_down,
    div_up,
    mul_down,
    mul_up,
    sqrt_down,
    sqrt_up,
)

__all__ = [
    "EMPTY",
    "ENTIRE",
    "Bounds",
    "add",
    "ceil",
    "copysign",
    "divide",
    "even_round",
    "floor",
    "floor_divide",
    "hull",
    "integer_power",
    "intersection",
    "is_empty",
    "magnitude",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "of_integer",
    "power",
    "reciprocal",
    "remainder",
    "root",
    "scaled",
    "square",
    "subtract",
    "truncate",
    "truncated_remainder",
]

Bounds = tuple[float, float]
INF = math.inf
EMPTY: Bounds = (math.nan, math.nan)
ENTIRE: Bounds = (-INF, INF)
WHOLE = 2.0**52  # from here on all floats are whole
EXACT = 2**53
POWERS = 64  # exponents up to which powers are multiplied
SLACK = 4  # units in the last place by which math.pow may be off


# ---- sets ---------------------------------------------------------------------------------


def is_empty(a: Bounds) -> bool:
    """Whether an interval contains no number."""
    return not a[0] <= a[1]


def hull(a: Bounds, b: Bounds) -> Bounds:
    """The smallest interval that contains both."""
    if is_empty(a):
        return b
    return a if is_empty(b) else (min(a[0], b[0]), max(a[1], b[1]))


def intersection(a: Bounds, b: Bounds) -> Bounds:
    """The intersection of two intervals, or ``EMPTY``."""
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high and not is_empty(a) and not is_empty(b) else EMPTY


def of_integer(a: int) -> Bounds:
    """The smallest interval that contains an integer, also one that no float equals."""
    near = float(a)
    return (near, near) if -EXACT <= a <= EXACT else (below(near), above(near))


# ---- sums and products --------------------------------------------------------------------


def add(a: Bounds, b: Bounds) -> Bounds:
    """Bounds of ``x + y``, for x in ``a`` and y in ``b``."""
    if is_empty(a) or is_empty(b):
        return EMPTY
    return add_down(a[0], b[0]), add_up(a[1], b[1])


def subtract(a: Bounds, b: Bounds) -> Bounds:
    """Bounds of ``x - y``, for x in ``a`` and y in ``b``."""
    return add(a, negative(b))


def negative(a: Bounds) -> Bounds:
    """Bounds of ``-x``, for x in ``a``."""
    return 0.0 - a[1], 0.0 - a[0]


def multiply(a: Bounds, b: Bounds) -> Bounds:
    """Bounds of ``x * y``, for x in ``a`` and y in ``b``."""
    if is_empty(a) or is_empty(b):
        return EMPTY
    if a[0] >= 0 and b[0] >= 0:
        return mul_down(a[0], b[0]), mul_up(a[1], b[1])
    low = min(
        min(mul_down(a[0], b[0]), mul_down(a[0], b[1])),
        min(mul_down(a[1], b[0]), mul_down(a[1], b[1])),
    )
    high = max(
        max(mul_up(a[0], b[0]), mul_up(a[0], b[1])),
        max(mul_up(a[1], b[0]), mul_up(a[1], b[1])),
    )
    return low, high


def _by_positive(a: Bounds, b: Bounds) -> Bounds:
    """Bounds of ``x / y`` for positive y; 0 may be the lower bound of ``b``."""
    if b[0] == 0:
        low = 0.0 if a[0] == 0 else div_down(a[0], b[1]) if a[0] > 0 else -INF
        high = 0.0 if a[1] == 0 else div_up(a[1], b[1]) if a[1] < 0 else INF
        return low, high
    low = div_down(a[0], b[1] if a[0] >= 0 else b[0])
    high = div_up(a[1], b[0] if a[1] >= 0 else b[1])
    return low, high


def divide(a: Bounds, b: Bounds) -> Bounds:
    """Bounds of ``x / y``, for x in ``a`` and y in ``b`` other than 0."""
    if is_empty(a) or is_empty(b) or (b[0] == 0 and b[1] == 0):
        return EMPTY
    if b[0] >= 0:
        return _by_positive(a, b)
    if b[1] <= 0:
        return _by_positive((-a[1], -a[0]), (0.0 - b[1], -b[0]))
    return (0.0, 0.0) if a[0] == 0 and a[1] == 0 else ENTIRE


def reciprocal(a: Bounds) -> Bounds:
    """Bounds of ``1 / x``, for x in ``a`` other than 0."""
    return divide((1.0, 1.0), a)


def magnitude(a: Bounds) -> Bounds:
    """Bounds of ``abs(x)``, for x in ``a``."""
    if a[0] >= 0:
        return a
    return (-a[1], -a[0]) if a[1] <= 0 else (0.0, max(-a[0], a[1]))


def copysign(a: Bounds, b: Bounds) -> Bounds:
    """Bounds of ``copysign(x, y)``, for x in ``a`` and y in ``b``; 0 may have either sign."""
    size = magnitude(a)
    if is_empty(a) or is_empty(b):
        return EMPTY
    low = size[0] if b[0] > 0 else -size[1]
    high = -size[0] if b[1] < 0 else size[1]
    return low, high


def minimum(a: Bounds, b: Bounds) -> Bounds:
    """Bounds of ``min(x, y)``, for x in ``a`` and y in ``b``."""
    if is_empty(a) or is_empty(b):
        return EMPTY
    return min(a[0], b[0]), min(a[1], b[1])


def maximum(a: Bounds, b: Bounds) -> Bounds:
    """Bounds of ``max(x, y)``, for x in ``a`` and y in ``b``."""
    if is_empty(a) or is_empty(b):
        return EMPTY
    return max(a[0], b[0]), max(a[1], b[1])


def scaled(a: Bounds, exponent: int) -> Bounds:
    """Bounds of ``x * 2**exponent``, for x in ``a``."""
    return multiply(a, power((2.0, 2.0), (float(exponent), float(exponent))))


# ---- powers and roots ---------------------------------------------------------------------


def square(a: Bounds) -> Bounds:
    """Bounds of ``x * x``, for x in ``a``."""
    size = magnitude(a)
    return mul_down(size[0], size[0]), mul_up(size[1], size[1])


def root(a: Bounds) -> Bounds:
    """Bounds of ``sqrt(x)``, for x in ``a`` that are not negative."""
    if not a[1] >= 0:
        return EMPTY
    return (sqrt_down(a[0]) if a[0] > 0 else 0.0), sqrt_up(a[1])


def _size_to_integer(low: float, high: float, n: int) -> Bounds:
    """Bounds of ``x**n`` for x from ``low`` to ``high``, none negative, and n >= 1, by repeated
    squaring."""
    down, up = 1.0, 1.0
    while n > 0:
        if n % 2 == 1:
            down, up = mul_down(down, low), mul_up(up, high)
        low, high = mul_down(low, low), mul_up(high, high)
        n //= 2
    return down, up


def _raised(a: float, b: float) -> Bounds:
    """Bounds of ``a**b`` for one a that is not negative."""
    if a == 0 or a == INF:
        if b == 0:
            return (1.0, 1.0)
        return (0.0, 0.0) if (a == 0) == (b > 0) else (INF, INF)
    if abs(b) == INF:
        if a == 1:
            return (1.0, 1.0)
        return (0.0, 0.0) if (a < 1) == (b > 0) else (INF, INF)
    exponent = b * math.log2(a)
    if exponent > 1023.9:
        return (LARGEST if exponent > 1024.1 else below(math.pow(2.0, 1023.8)), INF)
    if exponent < -1073:
        return (0.0, 5e-323)
    found = math.pow(a, b)
    return max(below(found, SLACK), 0.0), above(found, SLACK)


def _size_to_power(a: Bounds, b: Bounds) -> Bounds:
    """Bounds of ``x**y`` for x that are not negative: monotone in the base and the exponent."""
    one, two = _raised(a[0], b[0]), _raised(a[0], b[1])
    three, four = _raised(a[1], b[0]), _raised(a[1], b[1])
    low = min(min(one[0], two[0]), min(three[0], four[0]))
    high = max(max(one[1], two[1]), max(three[1], four[1]))
    return low, high


def integer_power(a: Bounds, n: int) -> Bounds:
    """Bounds of ``x**n``, for x in ``a``, other than 0 where n is negative."""
    if is_empty(a):
        return EMPTY
    if n == 0:
        return (1.0, 1.0)
    found = _even_power(a, abs(n)) if n % 2 == 0 else _odd_power(a, abs(n))
    return reciprocal(found) if n < 0 else found


def _even_power(a: Bounds, n: int) -> Bounds:
    return _size_to_exponent(magnitude(a), n)


def _odd_power(a: Bounds, n: int) -> Bounds:
    if a[0] >= 0:
        return _size_to_exponent(a, n)
    if a[1] <= 0:
        return negative(_size_to_exponent(negative(a), n))
    left, right = _size_to_exponent((0.0, -a[0]), n), _size_to_exponent((0.0, a[1]), n)
    return -left[1], right[1]


def _size_to_exponent(a: Bounds, n: int) -> Bounds:
    if n <= POWERS:
        return _size_to_integer(a[0], a[1], n)
    return _size_to_power(a, (float(n), float(n)))


def power(a: Bounds, b: Bounds) -> Bounds:
    """Bounds of ``x**y``, for x in ``a`` and y in ``b``; negative x only to integers y."""
    if is_empty(a) or is_empty(b):
        return EMPTY
    if b[0] == b[1] and abs(b[0]) < EXACT and b[0] == math.floor(b[0]):
        return integer_power(a, int(b[0]))
    found = _size_to_power((max(a[0], 0.0), a[1]), b) if a[1] >= 0 else EMPTY
    if a[0] >= 0 or (b[1] - b[0] < 1 and _floor(b[0]) == _floor(b[1]) < b[0]):
        return found
    left = _size_to_power((max(-a[1], 0.0), -a[0]), b)
    return hull(found, hull(left, negative(left)))


# ---- rounding and remainders --------------------------------------------------------------


def _floor(x: float) -> float:
    return x if abs(x) >= WHOLE else float(math.floor(x))


def floor(a: Bounds) -> Bounds:
    """Bounds of ``floor(x)``, for x in ``a``."""
    return EMPTY if is_empty(a) else (_floor(a[0]), _floor(a[1]))


def ceil(a: Bounds) -> Bounds:
    """Bounds of ``ceil(x)``, for x in ``a``."""
    return negative(floor(negative(a)))


def truncate(a: Bounds) -> Bounds:
    """Bounds of ``trunc(x)``, for x in ``a``: rounded towards 0."""
    if is_empty(a):
        return EMPTY
    low, high = (ceil(a) if a[0] < 0 else floor(a)), (ceil(a) if a[1] < 0 else floor(a))
    return low[0], high[1]


def _even(x: float) -> float:
    return x if abs(x) >= WHOLE else float(round(x))


def even_round(a: Bounds) -> Bounds:
    """Bounds of ``round(x)``, for x in ``a``: to the nearest integer, ties to even."""
    return EMPTY if is_empty(a) else (_even(a[0]), _even(a[1]))


def floor_divide(a: Bounds, b: Bounds) -> Bounds:
    """Bounds of ``x // y``, for x in ``a`` and y in ``b`` other than 0."""
    return floor(divide(a, b))


def remainder(a: Bounds, b: Bounds) -> Bounds:
    """Bounds of ``x % y``, for x in ``a`` and y in ``b`` other than 0: of the sign of y."""
    turns = floor_divide(a, b)
    if is_empty(turns):
        return EMPTY
    within = min(b[0], 0.0), max(b[1], 0.0)
    if turns[0] == turns[1] and max(abs(turns[0]), within[1] - within[0]) < INF:
        return intersection(subtract(a, multiply(turns, b)), within)
    return within


def truncated_remainder(a: Bounds, b: Bounds) -> Bounds:
    """Bounds of ``fmod(x, y)``, for x in ``a`` and y in ``b`` other than 0: of the sign of x."""
    size = magnitude(b)
    if is_empty(a) or is_empty(b) or size[1] == 0:
        return EMPTY
    if a[0] >= 0:
        return intersection(remainder(a, size), (0.0, a[1]))
    if a[1] <= 0:
        return negative(intersection(remainder(negative(a), size), (0.0, -a[0])))
    return max(a[0], -size[1]), min(a[1], size[1])
