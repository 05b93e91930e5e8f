"""Interval arithmetic on integers: the tightest bounds of each operation.

An interval is a pair ``(low, high)`` of integers, both included, infinite where there is no bound.
It is never empty. ``negative`` and ``magnitude`` are exact, and serve floats as well.
"""

import math
import operator
from collections.abc import Callable

__all__ = [
    "Bound",
    "Piece",
    "add",
    "floor_divide",
    "inner",
    "magnitude",
    "multiply",
    "negative",
    "remainder",
    "subtract",
]

INF = math.inf
Bound = int | float
Piece = tuple[Bound, Bound]
ALL: Piece = (-INF, INF)


def inner(low: Bound, high: Bound) -> Piece:
    """Bounds of the integers between two numbers; the first is above the last if there are none."""
    return (
        low if low in (INF, -INF) else math.ceil(low),
        high if high in (INF, -INF) else math.floor(high),
    )


def _corners(operation: Callable[[Bound, Bound], Bound], a: Piece, b: Piece) -> Piece:
    """Bounds of an operation that is monotone in each argument, from its values at the bounds.
    Infinite where these cannot be computed."""
    try:
        found = [operation(x, y) for x in a for y in b]
    except OverflowError:  # an integer beyond all floats meets an infinity
        return ALL
    if any(math.isnan(x) for x in found if isinstance(x, float)):
        return ALL
    return min(found), max(found)


def add(a: Piece, b: Piece) -> Piece:
    """Bounds of ``x + y``, for x in ``a`` and y in ``b``."""
    return _corners(operator.add, a, b)


def subtract(a: Piece, b: Piece) -> Piece:
    """Bounds of ``x - y``, for x in ``a`` and y in ``b``."""
    return _corners(operator.sub, a, b)


def multiply(a: Piece, b: Piece) -> Piece:
    """Bounds of ``x * y``, for x in ``a`` and y in ``b``."""
    return _corners(_product, a, b)


def _product(x: Bound, y: Bound) -> Bound:
    # an infinite bound stands for any large integer
    return 0 if x == 0 or y == 0 else x * y


def floor_divide(a: Piece, b: Piece) -> Piece:
    """Bounds of ``x // y``, for x in ``a`` and y in ``b`` other than 0."""
    if b[0] >= 0:
        return _corners(_quotient, a, (max(b[0], 1), max(b[1], 1)))
    if b[1] <= 0:
        return floor_divide(negative(a), negative(b))
    size = max(abs(a[0]), abs(a[1]))
    return -size, size


def _quotient(x: Bound, y: Bound) -> Bound:
    if y == INF:
        return -1 if x < 0 else 0
    return x if x in (INF, -INF) else x // y


def remainder(a: Piece, b: Piece) -> Piece:
    """Bounds of ``x % y``, for x in ``a`` and y in ``b`` other than 0: of the sign of y."""
    low = b[0] + 1 if b[0] < 0 else 0
    high = b[1] - 1 if b[1] > 0 else 0
    if a[0] >= 0 and b[0] >= 0:
        return 0, max(min(high, a[1]), 0)
    return min(low, 0), max(high, 0)


def negative(a: Piece) -> Piece:
    """Bounds of ``-x``, for x in ``a``."""
    return -a[1], -a[0]


def magnitude(a: Piece) -> Piece:
    """Bounds of ``abs(x)``, for x in ``a``."""
    if a[0] >= 0:
        return a
    return (-a[1] if a[1] < 0 else 0), max(-a[0], a[1])
