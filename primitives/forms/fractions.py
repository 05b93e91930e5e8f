"""Fractions of polynomials of degree at most two, in one variable whose uses are collected.

Programs do not call these functions: the algebra of the planner makes the relations from several
statements that share a variable.
"""

from __future__ import annotations

import cmath
import math

from primitives.domains import Bool, Complex, Real
from primitives.errors import NoSolution
from primitives.floats.tolerance import finite, matches
from primitives.relation import Parametric, Relation, Solver, parametric, relation

__all__ = ["COMPLEX_FRACTIONS", "FRACTIONS", "fraction"]

ALMOST_NOTHING = 1e-12
"""The largest rounding error of a difference, relative to its operands."""
BESIDE = 1e-9
"""Relative tolerance at the turning point, for a value just beyond it; the answer is checked."""


def value_of(x: float, c2: float, c1: float, c0: float, d2: float, d1: float, d0: float) -> float:
    """The fraction of two polynomials, from their coefficients."""
    bottom = d0 + x * (d1 + x * d2)
    if bottom == 0:
        raise NoSolution("a quotient has no value where the divisor is 0")
    return (c0 + x * (c1 + x * c2)) / bottom


def roots_of(c: float, b: float, a: float) -> tuple[float, float]:
    """The real roots of c + b * x + a * x**2, the smaller one first, for a != 0."""
    product = 4 * a * c
    discriminant = b * b - product
    if discriminant < 0:
        if discriminant < -BESIDE * max(b * b, abs(product)):
            raise NoSolution("the quadratic equation has no real root")
        discriminant = 0.0
    # the sum without cancellation
    part = -(b + math.copysign(math.sqrt(discriminant), b)) / 2
    one, other = part / a, c / part if part != 0 else 0.0
    return min(one, other), max(one, other)


def cancels(difference: float, of: float) -> bool:
    """Return whether a difference is 0, up to rounding."""
    return abs(difference) <= ALMOST_NOTHING * abs(of)


def is_pole(x: float, d0: float, d1: float, d2: float) -> bool:
    """Return whether the divisor is 0 at x, up to rounding."""
    size = max(abs(d0), abs(d1 * x), abs(d2 * x * x))
    return abs(d0 + x * (d1 + x * d2)) <= ALMOST_NOTHING * size


def single(c: float, b: float, free: float) -> float:
    """The root of c + b * x; ``free`` if both are 0."""
    if b == 0:
        if c != 0:
            raise NoSolution("the unknown cancels, and the remaining terms are not equal")
        return free
    return finite(-c / b)


def is_smaller(ret: float, x: float, c1: float, c2: float, d1: float, d2: float) -> bool:
    """Return whether x is the smaller one of two solutions."""
    a = c2 - ret * d2
    return a != 0 and x < -(c1 - ret * d1) / (2 * a)


def solved(
    ret: float,
    c0: float,
    c1: float,
    c2: float,
    d0: float,
    d1: float,
    d2: float,
    negative: bool,
    free: float,
) -> float:
    """The argument for which a fraction has a value: the smaller one of two if ``negative``;
    ``free`` if it is a solution to the last digits, or if every number is.
    """
    bottom = d0 + free * (d1 + free * d2)
    is_there = bottom != 0 and matches((c0 + free * (c1 + free * c2)) / bottom, ret)
    if is_there and is_smaller(ret, free, c1, c2, d1, d2) == negative:
        return free
    c, b, a = c0 - ret * d0, c1 - ret * d1, c2 - ret * d2
    if cancels(c, c0) and cancels(b, c1) and cancels(a, c2):
        x = free
    elif a == 0:
        x = single(c, b, free)
    else:
        low, high = roots_of(c, b, a)
        x, other = (low, high) if negative else (high, low)
        if is_pole(x, d0, d1, d2):
            x = other
    if is_pole(x, d0, d1, d2):
        raise NoSolution("the only root is where the divisor is 0")
    return x


def relation_with(mode: Solver | Parametric) -> Relation:
    """The relation between a variable, the axis x, and its fraction."""
    return relation(
        value_of, float, float, float, float, float, float, float,
        "return = (x**2 * c2 + x * c1 + c0) / (x**2 * d2 + x * d1 + d0)", x=mode,
        incomplete="digits are lost where terms cancel",
    )  # fmt: skip


ONE_ROOT = relation_with(
    lambda ret, c0, c1, c2, d0, d1, d2: solved(ret, c0, c1, c2, d0, d1, d2, False, 0.0)
)
ONE_ROOT_OR_ALL = relation_with(
    parametric(
        lambda ret, c0, c1, c2, d0, d1, d2, free: solved(
            ret, c0, c1, c2, d0, d1, d2, False, free
        ),
        free=Real, all_or_nothing=True, recover=lambda x: (x,),
    )
)  # fmt: skip
TWO_ROOTS = relation_with(
    parametric(
        lambda ret, c0, c1, c2, d0, d1, d2, negative: solved(
            ret, c0, c1, c2, d0, d1, d2, negative, 0.0
        ),
        negative=Bool,
        recover=lambda ret, x, c0, c1, c2, d0, d1, d2: (is_smaller(ret, x, c1, c2, d1, d2),),
    )
)  # fmt: skip
TWO_ROOTS_OR_ALL = relation_with(
    parametric(
        solved, negative=Bool, free=Real, all_or_nothing=True,
        recover=lambda ret, x, c0, c1, c2, d0, d1, d2: (is_smaller(ret, x, c1, c2, d1, d2), x),
    )
)  # fmt: skip


# ---- of complex numbers -------------------------------------------------------------------


def complex_value(
    x: complex, c2: complex, c1: complex, c0: complex, d2: complex, d1: complex, d0: complex
) -> complex:
    """The fraction of two polynomials of a complex number, from their coefficients."""
    bottom = d0 + x * (d1 + x * d2)
    if bottom == 0:
        raise NoSolution("a quotient has no value where the divisor is 0")
    return (c0 + x * (c1 + x * c2)) / bottom


def complex_roots(c: complex, b: complex, a: complex) -> tuple[complex, complex]:
    """The roots of c + b * x + a * x**2, for a != 0, ordered by their real parts, then by their
    imaginary parts.
    """
    half = cmath.sqrt(b * b - 4 * a * c)
    # the sum without cancellation
    part = -(b + half) / 2 if (b.conjugate() * half).real >= 0 else -(b - half) / 2
    one, other = part / a, c / part if part != 0 else 0j
    return (one, other) if is_before(one, other) else (other, one)


def is_before(x: complex, y: complex) -> bool:
    """Return whether x has the smaller real part, or the same and the smaller imaginary part."""
    apart = x - y
    size = 1e-9 * max(abs(x), abs(y))
    return apart.imag < 0 if abs(apart.real) <= size else apart.real < 0


def complex_solved(
    ret: complex,
    c0: complex,
    c1: complex,
    c2: complex,
    d0: complex,
    d1: complex,
    d2: complex,
    first: bool,
    free: complex,
) -> complex:
    """The argument for which a fraction has a value: the first one of two if ``first``; ``free``
    if every number is.
    """
    c, b, a = c0 - ret * d0, c1 - ret * d1, c2 - ret * d2
    if cancels_of(c, c0) and cancels_of(b, c1) and cancels_of(a, c2):
        x = free
    elif a == 0 or (cancels_of(a, c2) and c2 != 0):
        if b == 0:
            raise NoSolution("the unknown cancels, and the remaining terms are not equal")
        x = -c / b
    else:
        low, high = complex_roots(c, b, a)
        x, other = (low, high) if first else (high, low)
        if is_complex_pole(x, d0, d1, d2):
            x = other
    if is_complex_pole(x, d0, d1, d2):
        raise NoSolution("the only root is where the divisor is 0")
    return x


def cancels_of(difference: complex, of: complex) -> bool:
    """Return whether a difference of complex numbers is 0, up to rounding."""
    return abs(difference) <= ALMOST_NOTHING * abs(of)


def is_complex_pole(x: complex, d0: complex, d1: complex, d2: complex) -> bool:
    """Return whether the divisor is 0 at x, up to rounding."""
    size = max(abs(d0), abs(d1 * x), abs(d2 * x * x))
    return abs(d0 + x * (d1 + x * d2)) <= ALMOST_NOTHING * size


def is_first(
    ret: complex,
    x: complex,
    c0: complex,
    c1: complex,
    c2: complex,
    d0: complex,
    d1: complex,
    d2: complex,
) -> bool:
    """Return whether x is the first one of two solutions."""
    b, a = c1 - ret * d1, c2 - ret * d2
    return a != 0 and is_before(x, -b / a - x)  # the sum of both is -b / a


def complex_relation(mode: Solver | Parametric) -> Relation:
    """The relation between a complex variable, the axis x, and its fraction."""
    return relation(
        complex_value, complex, complex, complex, complex, complex, complex, complex,
        "return = (x**2 * c2 + x * c1 + c0) / (x**2 * d2 + x * d1 + d0)", x=mode,
        incomplete="digits are lost where terms cancel",
    )  # fmt: skip


COMPLEX_ROOT = complex_relation(
    lambda ret, c0, c1, c2, d0, d1, d2: complex_solved(
        ret, c0, c1, c2, d0, d1, d2, False, 0j
    )
)  # fmt: skip
COMPLEX_ROOT_OR_ALL = complex_relation(
    parametric(
        lambda ret, c0, c1, c2, d0, d1, d2, free: complex_solved(
            ret, c0, c1, c2, d0, d1, d2, False, free
        ),
        free=Complex, all_or_nothing=True, recover=lambda x: (x,),
    )
)  # fmt: skip
COMPLEX_ROOTS = complex_relation(
    parametric(
        lambda ret, c0, c1, c2, d0, d1, d2, first: complex_solved(
            ret, c0, c1, c2, d0, d1, d2, first, 0j
        ),
        first=Bool, recover=lambda ret, x, c0, c1, c2, d0, d1, d2: (
            is_first(ret, x, c0, c1, c2, d0, d1, d2),
        ),
    )
)  # fmt: skip
COMPLEX_ROOTS_OR_ALL = complex_relation(
    parametric(
        complex_solved, first=Bool, free=Complex, all_or_nothing=True,
        recover=lambda ret, x, c0, c1, c2, d0, d1, d2: (
            is_first(ret, x, c0, c1, c2, d0, d1, d2), x,
        ),
    )
)  # fmt: skip


def fraction(kind: type, *, quadratic: bool, free: bool) -> Relation:
    """The relation between a variable and a fraction of it, with all coefficients known.

    kind: float or complex. quadratic: whether there may be two roots. free: whether everything may
    cancel, so that any number is a root. The mode has a coordinate for each of these that holds.
    """
    if kind is complex:
        if quadratic:
            return COMPLEX_ROOTS_OR_ALL if free else COMPLEX_ROOTS
        return COMPLEX_ROOT_OR_ALL if free else COMPLEX_ROOT
    if quadratic:
        return TWO_ROOTS_OR_ALL if free else TWO_ROOTS
    return ONE_ROOT_OR_ALL if free else ONE_ROOT


FRACTIONS = (ONE_ROOT, ONE_ROOT_OR_ALL, TWO_ROOTS, TWO_ROOTS_OR_ALL)
COMPLEX_FRACTIONS = (COMPLEX_ROOT, COMPLEX_ROOT_OR_ALL, COMPLEX_ROOTS, COMPLEX_ROOTS_OR_ALL)
