"""Quadratic polynomials of one integer whose uses are collected.

As for the fractions of floats, algebra makes them from several statements that share a variable.
"""

from __future__ import annotations

from primitives.domains import Bool, Integer
from primitives.errors import NoSolution
from primitives.integers.exact import minus, plus, times
from primitives.integers.integer_arithmetic import whole_root
from primitives.relation import parametric, relation

__all__ = ["MAYBE_LINEAR", "QUADRATIC"]


def value_of(x: int, c2: int, c1: int, c0: int) -> int:
    """The polynomial with these coefficients."""
    return plus(times(plus(times(c2, x), c1), x), c0)


def linear(c1: int, c0: int, free: int) -> int:
    """The root of c0 + c1 * x; ``free`` if both are 0."""
    if c1 == 0:
        if c0 != 0:
            raise NoSolution("the unknown cancels, and the remaining terms are not equal")
        return free
    if c0 % c1 != 0:
        raise NoSolution("no integer solves the equation")
    return minus(0, c0 // c1)


def solved(ret: int, c2: int, c1: int, c0: int, negative: bool, free: int) -> int:
    """The integer at which a polynomial has a value: the smaller one of two if ``negative``."""
    c = minus(c0, ret)
    if c2 == 0:
        return linear(c1, c, free)
    discriminant = minus(times(c1, c1), times(4, times(c2, c)))
    if discriminant < 0:
        raise NoSolution("the quadratic equation has no real root")
    size, bottom = whole_root(discriminant, False), times(2, c2)
    step = minus(0, size) if (c2 > 0) == negative else size
    for top in (minus(step, c1), minus(minus(0, step), c1)):
        if top % bottom == 0:
            return top // bottom
    raise NoSolution("no integer solves the quadratic equation")


def is_smaller(x: int, c2: int, c1: int) -> bool:
    """Return whether x is the smaller one of two solutions."""
    slope = plus(times(2, times(c2, x)), c1)
    return slope < 0 if c2 > 0 else slope > 0


EQUATION = "return = x**2 * c2 + x * c1 + c0"

QUADRATIC = relation(
    value_of,
    int,
    int,
    int,
    int,
    EQUATION,
    x=parametric(
        lambda ret, c2, c1, c0, negative: solved(ret, c2, c1, c0, negative, 0),
        negative=Bool,
        recover=lambda x, c2, c1: (is_smaller(x, c2, c1),),
    ),
    incomplete="c2 is not 0",
)
"""The relation for c2 != 0."""
MAYBE_LINEAR = relation(
    value_of, int, int, int, int, EQUATION,
    x=parametric(
        solved, negative=Bool, free=Integer,
        recover=lambda x, c2, c1: (is_smaller(x, c2, c1), x),
    ),
)  # fmt: skip
