"""Complex numbers: arithmetic, their parts and angles, exponentials and roots.

Two complex numbers are close where their distance is small relative to the larger one: the smaller
part of a number may have lost its digits.
"""

from __future__ import annotations

import cmath
import math
import operator

import numpy as np

from primitives.domains import Bool, Complex, ComplexNumbers, Integer, Interval, NonNegative, Real
from primitives.errors import NoSolution
from primitives.floats.tolerance import LARGEST, agrees
from primitives.relation import Relation, parametric, relation

__all__ = ["COMPLEX"]

TURN = 2 * math.pi
NONZERO = ComplexNumbers(nonzero=True)


def finite_complex(value: complex) -> complex:
    """``value``, refused where one of its parts is infinite or NaN."""
    if not (abs(value.real) <= LARGEST and abs(value.imag) <= LARGEST):
        raise NoSolution("the solution is larger than any float")
    return value


def is_huge(value: complex) -> bool:
    """Whether intermediate results of a product or quotient may overflow."""
    return max(abs(value.real), abs(value.imag)) > 1e307


def product(a: complex, b: complex) -> complex:
    """a * b, which overflows only where the result does."""
    found = a * b
    if not max(abs(found.real), abs(found.imag)) <= 1e307:
        a, b = (a * 0.125, b) if abs(a.real) + abs(a.imag) > 1 else (a, b * 0.125)
        return finite_complex(a * b * 8)
    return found


def quotient(a: complex, b: complex) -> complex:
    """a / b, which overflows only where the result does."""
    if is_huge(a) or is_huge(b):
        scaled = 0.125 if is_huge(b) else 1.0
        return finite_complex(a * 0.125 / (b * scaled) * (8 * scaled))
    return finite_complex(a / b)


def complex_factor(ret: complex, other: complex, free: complex) -> complex:
    """The factor whose product with ``other`` is ``ret``; ``free`` where both are 0."""
    if other != 0:
        return quotient(ret, other)
    if ret != 0:
        raise NoSolution("a product with 0 is 0")
    return free


def complex_factors(ret: complex, v: complex, left: bool) -> tuple[complex, complex]:
    """A pair with this product; of two factors whose product is 0, ``left`` says which is v."""
    if ret == 0:
        return (v, 0j) if left else (0j, v)
    return complex_factor(ret, v, v), v


def complex_divisor(ret: complex, a: complex, free: complex) -> complex:
    """The divisor of ``a`` whose quotient is ``ret``; ``free`` where both are 0."""
    if ret == 0 and a == 0:
        return free
    if ret == 0 or a == 0:
        raise NoSolution("a quotient is 0 where its numerator is, and only there")
    found = quotient(a, ret)
    if found == 0:
        raise NoSolution("the divisor is too small for a float")
    return found


add = relation(
    operator.add, complex, complex, "return = a + b",
    ret=lambda a, b: a + b,
    a=lambda ret, b: finite_complex(ret - b),
    b=lambda ret, a: finite_complex(ret - a),
    ab=parametric(
        lambda ret, v: (finite_complex(ret - v), v), v=Complex, recover=lambda a, b: (b,)
    ),
)  # fmt: skip
sub = relation(
    operator.sub, complex, complex, "return = a - b",
    ret=lambda a, b: a - b,
    a=lambda ret, b: finite_complex(ret + b),
    b=lambda ret, a: finite_complex(a - ret),
    ab=parametric(
        lambda ret, v: (finite_complex(ret + v), v), v=Complex, recover=lambda a, b: (b,)
    ),
)  # fmt: skip
neg = relation(
    operator.neg, complex, "return = -a",
    ret=lambda a: -a,
    a=lambda ret: -ret,
)  # fmt: skip
mul = relation(
    operator.mul, complex, complex, "return = a * b",
    edges="b = 0: ret is 0, and a is free",
    ret=lambda a, b: a * b,
    a=parametric(
        lambda ret, b, free: complex_factor(ret, b, free), free=Complex,
        recover=lambda a: (a,), determined_if=lambda b: b != 0,
    ),
    b=parametric(
        lambda ret, a, free: complex_factor(ret, a, free), free=Complex,
        recover=lambda b: (b,), determined_if=lambda a: a != 0,
    ),
    ab=parametric(
        complex_factors, v=Complex, left=Bool,
        recover=lambda a, b: (a, True) if b == 0 else (b, False),
    ),
)  # fmt: skip
div = relation(
    operator.truediv, complex, complex, "return = a / b", domain={"b": NONZERO},
    edges="a = 0: ret is 0, and b is free",
    ret=lambda a, b: a / b,
    a=lambda ret, b: product(ret, b),
    b=parametric(
        complex_divisor, free=NONZERO, recover=lambda b: (b,), determined_if=lambda a: a != 0,
    ),
    ab=parametric(
        lambda ret, v: (product(ret, v), v), v=NONZERO, recover=lambda a, b: (b,)
    ),
)  # fmt: skip
conjugate = relation(
    np.conjugate, complex, "return = conjugate(a)",
    ret=lambda a: complex(a.real, -a.imag),
    a=lambda ret: complex(ret.real, -ret.imag),
)  # fmt: skip

# ---- parts and angles ---------------------------------------------------------------------


def with_part(known: float, wanted: float, other: float) -> float:
    """The other part; refused unless the known one is as wanted."""
    if not agrees(known, wanted):
        raise NoSolution("the parts of the result are the arguments")
    return other


def polar(size: float, angle: float) -> complex:
    """The number with this absolute value and angle, in radians."""
    return complex(size * math.cos(angle), size * math.sin(angle))


def angle_of(a: complex) -> float:
    """The angle of a number in radians, between -pi and pi."""
    return math.atan2(a.imag, a.real)


def at_angle(ret: float, size: float) -> complex:
    """The number with this angle, in radians; ``size`` is the absolute value of its larger
    part.
    """
    x, y = math.cos(ret), math.sin(ret)
    larger = max(abs(x), abs(y))
    if size > 0:
        return complex(size * (x / larger), size * (y / larger))
    if ret != 0:
        raise NoSolution("0 has the angle 0")
    return 0j


absolute = relation(
    abs, complex, "return = abs(a)", codomain=NonNegative, returns=float,
    ret=lambda a: abs(a),
    a=parametric(
        lambda ret, angle: polar(ret, angle), angle=Interval(-math.pi, math.pi),
        recover=lambda a: (angle_of(a),),
    ),
)  # fmt: skip
phase = relation(
    np.angle, complex, "return = angle(a)", returns=float,
    codomain=Interval(-math.pi, math.pi),
    edges="0 has the angle 0; size is that of the larger part",
    ret=lambda a: angle_of(a),
    a=parametric(
        at_angle, size=NonNegative, recover=lambda a: (max(abs(a.real), abs(a.imag)),)
    ),
)  # fmt: skip
real = relation(
    np.real, complex, "return = real(a)", returns=float,
    ret=lambda a: a.real,
    a=parametric(
        lambda ret, imag: complex(ret, imag), imag=Real, recover=lambda a: (a.imag,)
    ),
)  # fmt: skip
imag = relation(
    np.imag, complex, "return = imag(a)", returns=float,
    ret=lambda a: a.imag,
    a=parametric(
        lambda ret, real: complex(real, ret), real=Real, recover=lambda a: (a.real,)
    ),
)  # fmt: skip
rectangular = relation(
    complex, float, float, "return = complex(a, b)", returns=complex,
    ret=lambda a, b: complex(a, b),
    a=lambda ret, b: with_part(ret.imag, b, ret.real),
    b=lambda ret, a: with_part(ret.real, a, ret.imag),
    ab=lambda ret: (ret.real, ret.imag),
)  # fmt: skip
of_float = relation(
    complex, float, "return = complex(a)", returns=complex,
    ret=lambda a: complex(a, 0.0),
    a=lambda ret: with_part(ret.imag, 0.0, ret.real),
)  # fmt: skip

# ---- exponentials and roots ---------------------------------------------------------------


def complex_exp(value: complex) -> complex:
    """The exponential, refused where it is too large or too small for floats."""
    found = finite_complex(cmath.exp(value))
    if found == 0:
        raise NoSolution("its exponential is too small for a float")
    return found


def principal(value: complex, low: float, high: float, part: float) -> complex:
    """``value``, refused where this part of it is outside the range of a function."""
    if not low <= part <= high:
        raise NoSolution("it is on another branch than the principal one")
    return value


exp = relation(
    cmath.exp, complex, "return = exp(a)", codomain=NONZERO,
    edges="0, by underflow, is refused; k counts the turns of the angle",
    ret=lambda a: cmath.exp(a),
    a=parametric(
        lambda ret, k: cmath.log(ret) + complex(0.0, TURN * k), k=Integer,
        recover=lambda ret, a: (math.floor((a.imag - angle_of(ret)) / TURN + 0.5),),
    ),
)  # fmt: skip
log = relation(
    cmath.log, complex, "return = log(a)", domain=NONZERO,
    edges="the imaginary part of ret lies between -pi and pi",
    ret=lambda a: cmath.log(a),
    a=lambda ret: complex_exp(principal(ret, -math.pi, math.pi, ret.imag)),
)  # fmt: skip
sqrt = relation(
    cmath.sqrt, complex, "return = sqrt(a)",
    edges="the real part of ret is at least 0",
    ret=lambda a: cmath.sqrt(a),
    a=lambda ret: product(principal(ret, 0.0, LARGEST, ret.real), ret),
)  # fmt: skip

COMPLEX: tuple[Relation, ...] = (
    add, sub, neg, mul, div, conjugate, absolute, phase, real, imag, rectangular, of_float,
    exp, log, sqrt,
)  # fmt: skip
