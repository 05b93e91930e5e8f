"""Sums, products and quotients, of floats and of mathematical integers.

Interpreted, integers have any size. Compiled, they have 64 bits, and the solvers raise NoSolution
where the machine would wrap.
"""

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
    "add_int",
    "clipped",
    "div",
    "float_of_float",
    "float_of_int",
    "mul",
    "mul_int",
    "neg",
    "neg_int",
    "square",
    "square_int",
    "squared",
    "sub",
    "sub_int",
]


def clipped(value: float, low: float, high: float) -> float:
    """``value``, clamped to [low, high] if only rounding has put it outside."""
    if low <= value <= high:
        return value
    if value > high and value <= high + 1e-9 * max(1.0, abs(high)):
        return high
    if value < low and value >= low - 1e-9 * max(1.0, abs(low)):
        return low
    raise NoSolution("the value leaves the range of the function")


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
        raise NoSolution("a quotient is 0 where its numerator is, and only there")
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

# ---- integers -----------------------------------------------------------------------------

SEARCHED = 100_000
"""The most candidates that are tried for a divisor."""
LOWEST, HIGHEST = -(2**63), 2**63 - 1


def plus(a: int, b: int) -> int:
    """a + b; compiled, refused where the machine would wrap."""
    return a + b


def minus(a: int, b: int) -> int:
    """a - b; compiled, refused where the machine would wrap."""
    return a - b


def times(a: int, b: int) -> int:
    """a * b; compiled, refused where the machine would wrap."""
    return a * b


# numba assumes that signed integers do not wrap: the tests precede the operation


@compiled_forms.overlay(plus)
def plus_64(a: Any, b: Any) -> int:
    if (b > 0 and a > HIGHEST - b) or (b < 0 and a < LOWEST - b):
        raise NoSolution("the sum needs more than 64 bits")
    return a + b


@compiled_forms.overlay(minus)
def minus_64(a: Any, b: Any) -> int:
    if (b > 0 and a < LOWEST + b) or (b < 0 and a > HIGHEST + b):
        raise NoSolution("the difference needs more than 64 bits")
    return a - b


@compiled_forms.overlay(times)
def times_64(a: Any, b: Any) -> int:
    low, high = min(a, b), max(a, b)
    if low >= 0:
        fits = low == 0 or high <= HIGHEST // low
    elif high >= 0:
        fits = high == 0 or low >= (LOWEST + high - 1) // high
    else:
        fits = low >= (HIGHEST + high + 1) // high
    if not fits:
        raise NoSolution("the product needs more than 64 bits")
    return a * b


def exact_quotient(ret: int, other: int, free: int) -> int:
    """The factor whose product with ``other`` is ``ret``; ``free`` if both are 0."""
    if other == -1:
        return minus(0, ret)
    if other == 0:
        if ret != 0:
            raise NoSolution("a product with 0 is 0")
        return free
    if ret % other != 0:
        raise NoSolution("the product is not a multiple of the known factor")
    return ret // other


def divisor_at_most(n: Any, limit: Any, one: Any) -> Any:
    """The largest divisor of n that is at most ``limit``; all arguments are at least 1.

    one: the number 1 in the type of the others, an integer or a word.
    """
    candidate = min(n, limit)
    if n % candidate == 0:
        return candidate
    cofactor = (n - one) // candidate + one
    steps = 0
    while cofactor <= n // cofactor and cofactor <= candidate and steps < SEARCHED:
        if n % cofactor == 0:
            return n // cofactor
        cofactor += one
        steps += 1
    candidate = min(candidate, cofactor)
    while n % candidate != 0 and steps < SEARCHED:
        candidate -= one
        steps += 1
    if n % candidate != 0:
        raise NoSolution("no divisor is near the one asked for")
    return candidate


def divisor_pair(ret: int, v: int, left: bool) -> tuple[int, int]:
    """A pair with this product: the second is the divisor nearest to v, towards 0.

    If the product is 0, v is the first factor if ``left``, else the second.
    """
    if ret == 0:
        return (v, 0) if left else (0, v)
    size = ret if ret > 0 else minus(0, ret)
    limit = v if v >= 0 else minus(0, v)
    b = divisor_at_most(size, max(limit, 1), 1)
    return (minus(0, ret // b), -b) if v < 0 else (ret // b, b)


def whole_root(ret: int, negative: bool) -> int:
    """The integer square root of ``ret``, which has to be exact."""
    if ret < 0:
        raise NoSolution("a square is not negative")
    root, better = ret, ret // 2 + 1
    while better < root:
        root, better = better, (better + ret // better) // 2
    if times(root, root) != ret:
        raise NoSolution("it is not the square of an integer")
    return -root if negative else root


add_int = relation(
    operator.add, int, int, "return = a + b",
    ret=lambda a, b: plus(a, b),
    a=lambda ret, b: minus(ret, b),
    b=lambda ret, a: minus(ret, a),
    ab=parametric(lambda ret, v: (minus(ret, v), v), v=Integer, recover=lambda a, b: (b,)),
)  # fmt: skip
sub_int = relation(
    operator.sub, int, int, "return = a - b",
    ret=lambda a, b: minus(a, b),
    a=lambda ret, b: plus(ret, b),
    b=lambda ret, a: minus(a, ret),
    ab=parametric(lambda ret, v: (plus(ret, v), v), v=Integer, recover=lambda a, b: (b,)),
)  # fmt: skip
neg_int = relation(
    operator.neg, int, "return = -a",
    ret=lambda a: minus(0, a),
    a=lambda ret: minus(0, ret),
)  # fmt: skip
mul_int = relation(
    operator.mul, int, int, "return = a * b",
    ret=lambda a, b: times(a, b),
    a=parametric(
        lambda ret, b, free: exact_quotient(ret, b, free), free=Integer,
        recover=lambda a: (a,), determined_if=lambda b: b != 0,
    ),
    b=parametric(
        lambda ret, a, free: exact_quotient(ret, a, free), free=Integer,
        recover=lambda b: (b,), determined_if=lambda a: a != 0,
    ),
    ab=parametric(
        divisor_pair, v=Integer, left=Bool,
        recover=lambda a, b: (a, True) if b == 0 else (b, False),
    ),
)  # fmt: skip
square_int = relation(
    squared, int, "return = a * a",
    ret=lambda a: times(a, a),
    a=parametric(whole_root, negative=Bool, recover=lambda a: (a < 0,)),
)  # fmt: skip

# ---- conversion ---------------------------------------------------------------------------


def fits_word(value: float) -> bool:
    """Whether the integers that convert to this value can be represented: interpreted, all can."""
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
