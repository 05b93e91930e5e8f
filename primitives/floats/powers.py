"""Powers and roots of floats, reciprocals, and scaling by powers of two."""

from __future__ import annotations

import math
import operator

import numpy as np

from primitives.domains import Integer, NonZero, Real
from primitives.errors import NoSolution
from primitives.floats.tolerance import agrees, finite, floor_of, matches
from primitives.relation import parametric, relation

__all__ = ["cbrt", "ldexp", "power", "power_int", "reciprocal"]


def bounded_power(a: float, b: float) -> float:
    """a ** b; infinite on overflow, NaN if it is not a real number."""
    if a == 0 and b < 0:
        return math.inf
    if a < 0 and b != floor_of(b):
        return math.nan
    if a != 0 and abs(a) != 1 and b * math.log2(abs(a)) >= 1023.999:
        return math.inf
    return math.pow(a, b)


def positive_root(value: float, b: float) -> float:
    """The positive number whose power with the exponent ``b`` is ``value``."""
    found = finite(math.pow(value, 1 / b))
    if found == 0:
        raise NoSolution("the base is too small for a float")
    if 1 < b <= 64:  # a step of Newton's method makes roots of perfect powers exact
        found -= (found - value / math.pow(found, b - 1)) / b
    return found


def root(ret: float, b: float, near: float) -> float:
    """The base of a power: of the two for an even exponent, the one with the sign of ``near``;
    ``near`` itself if the exponent is 0, or so small that the powers of all bases agree.
    """
    if abs(b) < 0.01 and matches(bounded_power(near, b), ret):
        return near
    if b == 0:
        if not agrees(ret, 1.0):
            raise NoSolution("a power with the exponent 0 is 1")
        return near
    if ret == 0:
        if b < 0:
            raise NoSolution("a power is 0 only if its base is 0 and its exponent is positive")
        return 0.0
    whole = floor_of(b) == b
    odd = whole and b % 2 == 1
    if ret < 0 and not odd:
        raise NoSolution("a negative power has an odd exponent")
    size = positive_root(abs(ret), b)
    return -size if (ret < 0 if odd else whole and near < 0) else size


def whole_exponent(ret: float, a: float) -> float:
    """The integer exponent, as a float, for which the power of ``a`` is ``ret``."""
    if a == 0 or ret == 0:
        if a != 0 or (ret != 0 and ret != 1):
            raise NoSolution("a power is 0 only of 0, and one of 0 is 0 or 1")
        return 1.0 if ret == 0 else 0.0
    if abs(a) == 1:
        found = 1.0 if ret < 0 else 0.0
    else:
        found = floor_of(math.log(abs(ret)) / math.log(abs(a)) + 0.5)
    if not agrees(bounded_power(a, found) / ret, 1.0):
        raise NoSolution("it is not a whole power of the known base")
    return found


def exponent(ret: float, a: float, near: float) -> float:
    """The exponent of a power; ``near`` if several exponents give the result."""
    several = a <= 0 or abs(a - 1) < 1e-3
    if several and matches(bounded_power(a, near), ret):
        return near
    if a <= 0:
        return whole_exponent(ret, a)
    if a == 1:
        if not agrees(ret, 1.0):
            raise NoSolution("a power of 1 is 1")
        return near
    if ret <= 0:
        raise NoSolution("a power of a positive number is positive")
    return math.log(ret) / math.log(a)


def exponent_int(ret: float, a: float, near: int) -> int:
    """The integer exponent of a power; ``near`` if several give the result."""
    if matches(bounded_power(a, float(near)), ret):
        return near
    return int(whole_exponent(ret, a))


def odd_or_fraction(b: float) -> bool:
    """Return whether an exponent determines the base."""
    return floor_of(b) != b or b % 2 == 1


POWERS = (
    "b = 0: ret is 1, a is near; an even whole b: a has the sign of near; a fractional b: a is at "
    "least 0. "
)

power = relation(
    operator.pow, float, float, "return = a ** b",
    incomplete={"ret": "a negative base with a fractional exponent gives a complex number"},
    edges=POWERS
    + "If a = 1, ret is 1 and b is near; a = 0: b is near, else 1 or 0; a < 0: b is whole",
    ret=lambda a, b: math.pow(a, b),
    a=parametric(
        lambda ret, b, near: root(ret, b, near), near=Real,
        recover=lambda a: (a,), determined_if=lambda b: odd_or_fraction(b),
    ),
    b=parametric(
        lambda ret, a, near: exponent(ret, a, near), near=Real,
        recover=lambda b: (b,), determined_if=lambda a: a > 0 and a != 1,
    ),
    ab=parametric(
        lambda ret, near, v: (root(ret, v, near), v), near=Real, v=Real,
        recover=lambda a, b: (a, b),
    ),
)  # fmt: skip
power_int = relation(
    operator.pow, float, int, "return = a ** b", returns=float,
    edges=POWERS
    + "The answer b is near if that is a solution, else the exponent nearest to the logarithm",
    ret=lambda a, b: math.pow(a, float(b)),
    a=parametric(
        lambda ret, b, near: root(ret, float(b), near), near=Real,
        recover=lambda a: (a,), determined_if=lambda b: b % 2 == 1,
    ),
    b=parametric(exponent_int, near=Integer, recover=lambda b: (b,)),
    ab=parametric(
        lambda ret, near, v: (root(ret, float(v), near), v), near=Real, v=Integer,
        recover=lambda a, b: (a, b),
    ),
)  # fmt: skip
cbrt = relation(
    math.cbrt, float, "return = cbrt(a)",
    ret=lambda a: float(np.cbrt(a)),
    a=lambda ret: ret * ret * ret,
)  # fmt: skip
reciprocal = relation(
    np.reciprocal, float, "return = 1 / a", domain=NonZero, codomain=NonZero,
    edges="below 5.6e-309 ret is not the reciprocal of a float, and is refused",
    ret=lambda a: 1.0 / a,
    a=lambda ret: finite(1.0 / ret),
)  # fmt: skip

# ---- powers of two ------------------------------------------------------------------------

SCALES = 2200
"""The largest power of two between any two floats."""


def within_scales(b: int) -> int:
    """The exponent, clamped to the range in which it makes a difference."""
    return min(max(b, -SCALES), SCALES)


def scaled(a: float, b: int) -> float:
    """a * 2 ** b; infinite on overflow."""
    b = within_scales(b)
    if a != 0 and math.frexp(a)[1] + b > 1024:
        return math.copysign(math.inf, a)
    return math.ldexp(a, b)


def significand(ret: float, b: int) -> float:
    """The number that, scaled by 2 ** b, is ``ret``."""
    found = finite(scaled(ret, -within_scales(b)))
    if found == 0 and ret != 0:
        raise NoSolution("the significand is too small for a float")
    return found


def scale(ret: float, a: float, near: int) -> int:
    """The exponent of the power of two between two floats; ``near`` if several fit."""
    if matches(scaled(a, near), ret):
        return near
    if a == 0 or ret == 0:
        raise NoSolution("a scaled number is 0 exactly if the number is 0")
    fraction, high = math.frexp(ret)
    other, low = math.frexp(a)
    ratio, found = fraction / other, high - low
    if abs(ratio) > 1.4:
        ratio, found = ratio / 2, found + 1
    elif abs(ratio) < 0.7:
        ratio, found = ratio * 2, found - 1
    if not agrees(ratio, 1.0):
        raise NoSolution("the quotient of the two is not a power of two")
    return found


ldexp = relation(
    math.ldexp, float, int, "return = ldexp(a, b)", returns=float,
    edges="exact, except for subnormal numbers; ret = a = 0: b is near",
    ret=lambda a, b: finite(scaled(a, b)),
    a=lambda ret, b: significand(ret, b),
    b=parametric(scale, near=Integer, recover=lambda b: (b,), determined_if=lambda a: a != 0),
    ab=parametric(
        lambda ret, v: (significand(ret, v), v), v=Integer, recover=lambda a, b: (b,)
    ),
)  # fmt: skip
