"""Sums, products and quotients of floats, and float()."""

from __future__ import annotations

import math
import operator
from typing import Any

from primitives.domains import Bool, Integer, NonNegative, NonZero, Real
from primitives.errors import NoSolution
from primitives.floats.tolerance import whole
from primitives.relation import parametric, relation
from primitives.solver_forms import compiled_forms

__all__ = [
    "add",
    "clipped",
    "div",
    "float_of_float",
    "float_of_int",
    "mul",
    "neg",
    "square",
    "squared",
    "sub",
]


def clipped(value: float, low: float, high: float) -> float:
    """``value``, clamped to [low, high] if only rounding has put it outside."""
    if low <= value <= high:
        return value
    if value > high and value <= high + 1e-9 * max(1.0, abs(high)):
        return high
    if value < low and value >= low - 1e-9 * max(1.0, abs(low)):
        return low
    raise NoSolution("the value is outside the range of the function")


# ---- floats -------------------------------------------------------------------------------

add = relation(
    operator.add, float, float, "return = a + b",
    ret=lambda a, b: a + b,
    a=lambda ret, b: ret - b,
    b=lambda ret, a: ret - a,
    ab=parametric(lambda ret, v: (ret - v, v), v=Real, recover=lambda a, b: (b,)),
)  # fmt: skip
sub = relation(
    operator.sub, float, float, "return = a - b",
    ret=lambda a, b: a - b,
    a=lambda ret, b: ret + b,
    b=lambda ret, a: a - ret,
    ab=parametric(lambda ret, v: (ret + v, v), v=Real, recover=lambda a, b: (b,)),
)  # fmt: skip
neg = relation(
    operator.neg, float, "return = -a",
    ret=lambda a: -a,
    a=lambda ret: -ret,
)  # fmt: skip


def factor(ret: float, other: float, free: float) -> float:
    """The factor whose product with ``other`` is ``ret``; ``free`` if both are 0."""
    if other != 0:
        return ret / other
    if ret != 0:
        raise NoSolution("a product with 0 is 0")
    return free


def factors(ret: float, v: float, left: bool) -> tuple[float, float]:
    """A pair with this product. If the product is 0, v is the first factor if ``left``, else the
    second.
    """
    if ret == 0:
        return (v, 0.0) if left else (0.0, v)
    if v == 0:
        raise NoSolution("a product with 0 is 0")
    return ret / v, v


def divisor(ret: float, a: float, free: float) -> float:
    """The divisor that gives ``ret`` from ``a``; ``free`` if both are 0."""
    if ret == 0 and a == 0:
        return free
    if ret == 0 or a == 0:
        raise NoSolution("a quotient is 0 exactly if its numerator is 0")
    found = a / ret
    if found == 0:
        raise NoSolution("the divisor is too small for a float")
    return found


mul = relation(
    operator.mul, float, float, "return = a * b",
    ret=lambda a, b: a * b,
    a=parametric(  # the coordinate matters if b is 0
        lambda ret, b, free: factor(ret, b, free), free=Real,
        recover=lambda a: (a,), determined_if=lambda b: b != 0,
    ),
    b=parametric(
        lambda ret, a, free: factor(ret, a, free), free=Real,
        recover=lambda b: (b,), determined_if=lambda a: a != 0,
    ),
    ab=parametric(
        factors, v=Real, left=Bool,
        recover=lambda a, b: (a, True) if b == 0 else (b, False),
    ),
)  # fmt: skip
div = relation(
    operator.truediv, float, float, "return = a / b", domain={"b": NonZero},
    ret=lambda a, b: a / b,
    a=lambda ret, b: ret * b,
    b=parametric(  # the coordinate matters if a is 0
        divisor, free=NonZero, recover=lambda b: (b,), determined_if=lambda a: a != 0,
    ),
    ab=parametric(lambda ret, v: (ret * v, v), v=NonZero, recover=lambda a, b: (b,)),
)  # fmt: skip


def squared(a: float) -> float:
    """The square of a."""
    return a * a


square = relation(
    squared, float, "return = a * a", codomain=NonNegative,
    ret=lambda a: a * a,
    a=parametric(
        lambda ret, negative: -math.sqrt(ret) if negative else math.sqrt(ret), negative=Bool,
        recover=lambda a: (a < 0,),
    ),
)  # fmt: skip

# ---- conversion ---------------------------------------------------------------------------


def fits_word(value: float) -> bool:
    """Return whether the integers that convert to this value can be represented: interpreted, all
    can.
    """
    return abs(value) < math.inf


@compiled_forms.overlay(fits_word)
def fits_word_64(value: Any) -> bool:
    return abs(value) < 2.0**63


def ints_becoming(value: float) -> tuple[int, int]:
    """The smallest and the largest integer that float() converts to this value.

    These are all within half the spacing of floats there, which is smaller below a power of two; of
    the integers halfway between two floats, those whose mantissa is even.
    """
    if not fits_word(value):
        raise NoSolution("the integer needs more than 64 bits")
    value = whole(value)
    fraction, exponent = math.frexp(abs(value))
    mantissa, twos = int(fraction * 2.0**53), exponent - 53
    if twos <= 0:
        return int(value), int(value)
    above = 1 << (twos - 1)
    below = above >> 1 if mantissa == 2**52 else above
    halfway = mantissa & 1
    low, high = (mantissa << twos) - below + halfway, (mantissa << twos) + above - halfway
    return (-high, -low) if value < 0 else (low, high)


def int_rounded_to(ret: float, offset: int) -> int:
    """The integer at this offset, modulo their number, among those that float() converts to ret."""
    lowest, highest = ints_becoming(ret)
    return lowest + offset % (highest - lowest + 1)


float_of_int = relation(
    float, int, "return = float(a)", returns=float,
    ret=lambda a: float(a),
    a=parametric(  # above 2**53 several integers convert to one float
        int_rounded_to, offset=Integer,
        recover=lambda ret, a: (a - ints_becoming(ret)[0],),
    ),
)  # fmt: skip
float_of_float = relation(
    float, float, "return = float(a)",
    ret=lambda a: a,
    a=lambda ret: ret,
)  # fmt: skip
