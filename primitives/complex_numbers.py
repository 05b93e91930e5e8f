"""Complex numbers: arithmetic, their parts and angles, exponentials, powers, and circular
functions.

Two complex numbers are close if their distance is small relative to the larger one: the smaller
part of a number may have lost its digits.
"""

from __future__ import annotations

import cmath
import math
import operator

import numpy as np

from primitives.domains import (
    Bool,
    Complex,
    ComplexNumbers,
    Integer,
    Integers,
    NonNegative,
    Real,
    Reals,
)
from primitives.errors import NoSolution
from primitives.floats.tolerance import LARGEST, agrees
from primitives.relation import Relation, parametric, relation

__all__ = ["COMPLEX", "absolute", "imag", "parts", "phase", "real", "to_polar"]

TURN = 2 * math.pi
NONZERO = ComplexNumbers(nonzero=True)


def finite_complex(value: complex) -> complex:
    """``value``; raises NoSolution if one of its parts is infinite or NaN."""
    if not (abs(value.real) <= LARGEST and abs(value.imag) <= LARGEST):
        raise NoSolution("the solution is larger than any float")
    return value


def is_huge(value: complex) -> bool:
    """Return whether intermediate results of a product or quotient may overflow."""
    return max(abs(value.real), abs(value.imag)) > 1e307


def product(a: complex, b: complex) -> complex:
    """``a * b``, which overflows only if the result does."""
    found = a * b
    if not max(abs(found.real), abs(found.imag)) <= 1e307:
        a, b = (a * 0.125, b) if abs(a.real) + abs(a.imag) > 1 else (a, b * 0.125)
        return finite_complex(a * b * 8)
    return found


def quotient(a: complex, b: complex) -> complex:
    """``a / b``, which overflows only if the result does."""
    if is_huge(a) or is_huge(b):
        scaled = 0.125 if is_huge(b) else 1.0
        return finite_complex(a * 0.125 / (b * scaled) * (8 * scaled))
    return finite_complex(a / b)


def complex_factor(ret: complex, other: complex, free: complex) -> complex:
    """The factor whose product with ``other`` is ``ret``; ``free`` if both are 0."""
    if other != 0:
        return quotient(ret, other)
    if ret != 0:
        raise NoSolution("a product with 0 is 0")
    return free


def complex_factors(ret: complex, v: complex, left: bool) -> tuple[complex, complex]:
    """A pair with this product; if the product is 0, ``left`` says whether v is the
    first factor.
    """
    if ret == 0:
        return (v, 0j) if left else (0j, v)
    return complex_factor(ret, v, v), v


def complex_divisor(ret: complex, a: complex, free: complex) -> complex:
    """The divisor of ``a`` whose quotient is ``ret``; ``free`` if both are 0."""
    if ret == 0 and a == 0:
        return free
    if ret == 0 or a == 0:
        raise NoSolution("a quotient is 0 exactly if its numerator is 0")
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
    edges="b = 0: ret is 0, a is free",
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
    edges="a = 0: ret is 0, b is free",
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
    """The other part; raises NoSolution unless the known part has the wanted value."""
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
        lambda ret, angle: polar(ret, angle), angle=Reals(-math.pi, math.pi),
        recover=lambda a: (angle_of(a),),
    ),
)  # fmt: skip
phase = relation(
    np.angle, complex, "return = angle(a)", returns=float,
    codomain=Reals(-math.pi, math.pi),
    edges="0 has the angle 0; size is the absolute value of the larger part",
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
    """The exponential; raises NoSolution if it is too large or too small for floats."""
    found = finite_complex(cmath.exp(value))
    if found == 0:
        raise NoSolution("the exponential is too small for a float")
    return found


def principal(value: complex, low: float, high: float, part: float) -> complex:
    """``value``; raises NoSolution if this part of it is outside the range of a function."""
    if not low <= part <= high:
        raise NoSolution("it is not on the principal branch")
    return value


exp = relation(
    cmath.exp, complex, "return = exp(a)", codomain=NONZERO,
    edges="ret = 0, by underflow, is refused; k is the number of full turns of the angle",
    ret=lambda a: cmath.exp(a),
    a=parametric(
        lambda ret, k: cmath.log(ret) + complex(0.0, TURN * k), k=Integer,
        recover=lambda ret, a: (math.floor((a.imag - angle_of(ret)) / TURN + 0.5),),
    ),
)  # fmt: skip
log = relation(
    cmath.log, complex, "return = log(a)", domain=NONZERO,
    edges="the imaginary part of ret is between -pi and pi",
    ret=lambda a: cmath.log(a),
    a=lambda ret: complex_exp(principal(ret, -math.pi, math.pi, ret.imag)),
)  # fmt: skip
sqrt = relation(
    cmath.sqrt, complex, "return = sqrt(a)",
    edges="the real part of ret is at least 0",
    ret=lambda a: cmath.sqrt(a),
    a=lambda ret: product(principal(ret, 0.0, LARGEST, ret.real), ret),
)  # fmt: skip

# ---- parts together -----------------------------------------------------------------------


def parts_of(value: complex) -> tuple[float, float]:
    """The real and the imaginary part."""
    return value.real, value.imag


def from_polar(r: float, phi: float) -> complex:
    """The number with this absolute value and angle; raises NoSolution unless a number has them."""
    if not (r >= 0 and abs(phi) <= math.pi and (r > 0 or abs(phi) in (0.0, math.pi))):
        raise NoSolution("no number has this absolute value and this angle")
    return polar(r, phi)


def with_angle(ret: complex, phi: float) -> float:
    """The absolute value, with any sign, of a number at this angle."""
    x, y = math.cos(phi), math.sin(phi)
    found = ret.real * x + ret.imag * y
    if not abs(ret - polar(found, phi)) <= 1e-9 * abs(ret):
        raise NoSolution("the number is not at this angle")
    return found


def with_size(ret: complex, r: float, k: int, angle: float) -> float:
    """The angle of a number with this absolute value, with a sign, plus k full turns; any angle
    for 0.
    """
    if not agrees(abs(r), abs(ret)):
        raise NoSolution("the number has another absolute value")
    return angle if ret == 0 else angle_of(ret if r >= 0 else -ret) + TURN * k


def turns_of(ret: complex, r: float, phi: float) -> tuple[int, float]:
    """The number of full turns in an angle, and the angle."""
    first = angle_of(ret if r >= 0 else -ret)
    return (0 if ret == 0 else math.floor((phi - first) / TURN + 0.5)), phi


def size_and_angle(ret: complex, negative: bool, k: int, angle: float) -> tuple[float, float]:
    """The absolute value, with this sign, and the angle, plus k full turns; any angle for 0."""
    size = -abs(ret) if negative else abs(ret)
    return size, angle if ret == 0 else angle_of(-ret if negative else ret) + TURN * k


parts = relation(
    parts_of, complex, "re, im = parts_of(a)", returns=(float, float), independent=True,
    ret=parts_of,
    a=lambda re, im: complex(re, im),
)  # fmt: skip
to_polar = relation(
    cmath.polar, complex, "r, phi = polar(a)", returns=(float, float), independent=True,
    edges="0 has the angle 0",
    ret=lambda a: (abs(a), angle_of(a)),
    a=from_polar,
)  # fmt: skip
rect = relation(
    cmath.rect, float, float, "return = rect(r, phi)", returns=complex,
    edges="0 has any angle",
    ret=lambda r, phi: polar(r, phi),
    r=with_angle,
    phi=parametric(with_size, k=Integer, angle=Real, recover=turns_of, all_or_nothing=True),
    modes={
        ("r", "phi"): parametric(
            size_and_angle, negative=Bool, k=Integer, angle=Real,
            recover=lambda ret, r, phi: (r < 0, *turns_of(ret, r, phi)), all_or_nothing=True,
        )
    },
)  # fmt: skip

# ---- powers -------------------------------------------------------------------------------

NUMBERED = Integers(0, 1023)
"""The roots of one number, counted from the principal one."""


def power(a: complex, b: complex) -> complex:
    """The power; raises NoSolution if it has no value."""
    exponent = complex(b)
    if a == 0 and (exponent.imag != 0 or exponent.real < 0):
        raise NoSolution("0 has no such power")
    return a**exponent


def whole_power(a: complex, b: int) -> complex:
    """The power with a whole exponent, by repeated squaring."""
    if a == 0 and b < 0:
        raise NoSolution("0 has no such power")
    found, factor, left = 1 + 0j, 1 / a if b < 0 else a, abs(b)
    while left > 0:
        if left % 2 == 1:
            found *= factor
        factor *= factor
        left //= 2
    return finite_complex(found)


def verified(again: complex, ret: complex, found: complex) -> complex:
    """A solution; raises NoSolution unless the function gives the result ``again`` for it."""
    if not abs(again - ret) <= 1e-10 * abs(ret):
        raise NoSolution("digits are lost, or it is not on the principal branch")
    return finite_complex(found)


def root_of(ret: complex, b: int, k: int) -> complex:
    """The base whose power with a whole exponent is ``ret``: root k, numbered by angle."""
    if b == 0:
        raise NoSolution("a power with the exponent 0 does not determine its base")
    if not k < abs(b):
        raise NoSolution("a power has only as many roots as its exponent")
    if ret == 0:
        if b < 0 or k > 0:
            raise NoSolution("only 0 has the power 0")
        return 0j
    found = polar(abs(ret) ** (1 / b), (angle_of(ret) + TURN * k) / b)
    return verified(whole_power(found, b), ret, found)


def number_of_root(ret: complex, a: complex, b: int) -> tuple[int]:
    """The number of a root."""
    if b == 0 or ret == 0:
        return (0,)
    number = math.floor((angle_of(a) * b - angle_of(ret)) / TURN + 0.5)
    return (min(number % abs(b), 1023),)


def base_of(ret: complex, b: complex, k: int) -> complex:
    """The base of a principal power, for branch k of its logarithm."""
    exponent = complex(b)
    if ret == 0 or exponent == 0:
        if ret != 0 or exponent.real <= 0 or exponent.imag != 0:
            raise NoSolution("no base has this power")
        return 0j
    found = complex_exp((cmath.log(ret) + complex(0.0, TURN * k)) / exponent)
    return verified(power(found, exponent), ret, found)


def branch_of_power(ret: complex, a: complex, b: complex) -> tuple[int]:
    """The branch of the logarithm of a power that belongs to its base and its exponent."""
    if ret == 0 or a == 0:
        return (0,)
    return (math.floor((cmath.log(a) * b - cmath.log(ret)).imag / TURN + 0.5),)


def exponent_of(ret: complex, a: complex, k: int) -> complex:
    """The exponent of a power, for branch k of its logarithm."""
    if a in (0, 1) or ret == 0:
        raise NoSolution("the powers of 0 and 1 are 0 and 1, and no other power is 0")
    found = (cmath.log(ret) + complex(0.0, TURN * k)) / cmath.log(a)
    return verified(power(a, found), ret, found)


def real_exponent(ret: complex, a: complex, k: int) -> float:
    """The real exponent of a power, for branch k of its logarithm."""
    found = exponent_of(ret, a, k).real
    verified(power(a, complex(found)), ret, ret)
    return found


def whole_exponent(ret: complex, a: complex, k: int) -> int:
    """The whole exponent of a power, for branch k of its logarithm."""
    found = math.floor(exponent_of(ret, a, k).real + 0.5)
    verified(power(a, complex(found)), ret, ret)
    return found


ONES = "powers with the exponent 0, and powers of 1, are 1"

power_int = relation(
    operator.pow, complex, int, "return = a**b", returns=complex,
    edges="k numbers the roots by angle", incomplete=ONES,
    domain={"b": Integers(-1023, 1023)},
    ret=whole_power,
    a=parametric(root_of, k=NUMBERED, recover=number_of_root),
    b=parametric(whole_exponent, k=Integer, recover=branch_of_power),
    ab=parametric(
        lambda ret, v, k: (root_of(ret, v, k), v), v=Integers(-1023, 1023), k=NUMBERED,
        recover=lambda ret, a, b: (b, *number_of_root(ret, a, b)),
    ),
)  # fmt: skip
power_float = relation(
    operator.pow, complex, float, "return = a**b", returns=complex,
    edges="the power is the principal one", incomplete=ONES,
    ret=power,
    a=parametric(base_of, k=Integer, recover=branch_of_power),
    b=parametric(real_exponent, k=Integer, recover=branch_of_power),
    ab=parametric(
        lambda ret, v, k: (base_of(ret, v, k), v), v=Real, k=Integer,
        recover=lambda ret, a, b: (b, *branch_of_power(ret, a, b)),
    ),
)  # fmt: skip
power_complex = relation(
    operator.pow, complex, complex, "return = a**b", returns=complex,
    edges="the power is the principal one", incomplete=ONES,
    ret=power,
    a=parametric(base_of, k=Integer, recover=branch_of_power),
    b=parametric(exponent_of, k=Integer, recover=branch_of_power),
    ab=parametric(
        lambda ret, v, k: (base_of(ret, v, k), v), v=Complex, k=Integer,
        recover=lambda ret, a, b: (b, *branch_of_power(ret, a, b)),
    ),
)  # fmt: skip

# ---- circular and hyperbolic functions ----------------------------------------------------

PI = math.pi
LOG_10 = math.log(10)
LOST = "digits are lost for large results, and for arguments far from 0"


def alternating(found: complex, half_turn: complex, k: int) -> complex:
    """Argument k of a sine: the principal argument and its mirror image alternate."""
    return finite_complex((found if k % 2 == 0 else -found) + half_turn * k)


def nearest_alternating(found: complex, half_turn: complex, a: complex) -> tuple[int]:
    """The number of an argument of a sine."""
    middle = math.floor((a / half_turn).real)
    best, least = middle, math.inf
    for k in range(middle - 1, middle + 3):
        away = abs((found if k % 2 == 0 else -found) + half_turn * k - a)
        if away < least:
            best, least = k, away
    return (best,)


def mirrored(found: complex, turn: complex, negative: bool, k: int) -> complex:
    """The argument of a cosine with this sign, plus k periods."""
    return finite_complex((-found if negative else found) + turn * k)


def nearest_mirrored(found: complex, turn: complex, a: complex) -> tuple[bool, int]:
    """The sign and the number of periods of an argument of a cosine."""
    k = math.floor(((a - found) / turn).real + 0.5)
    other = math.floor(((a + found) / turn).real + 0.5)
    negative = abs(turn * other - found - a) < abs(turn * k + found - a)
    return negative, other if negative else k


def tangent_argument(ret: complex, k: int) -> complex:
    """The argument of a tangent, plus k periods."""
    if ret in (1j, -1j):
        raise NoSolution("a tangent comes near 1j and -1j only")
    found = cmath.atan(ret) + PI * k
    return verified(cmath.tan(found), ret, found)


def hyperbolic_argument(ret: complex, k: int) -> complex:
    """The argument of a hyperbolic tangent, plus k periods."""
    if ret in (1, -1):
        raise NoSolution("a hyperbolic tangent comes near 1 and -1 only")
    found = cmath.atanh(ret) + PI * 1j * k
    return verified(cmath.tanh(found), ret, found)


def half_turns_of_tangent(ret: complex, a: complex) -> tuple[int]:
    """The number of periods in an argument of a tangent."""
    if ret in (1j, -1j):
        return (0,)
    return (math.floor((a - cmath.atan(ret)).real / PI + 0.5),)


def half_turns_of_hyperbolic(ret: complex, a: complex) -> tuple[int]:
    """The number of periods in an argument of a hyperbolic tangent."""
    if ret in (1, -1):
        return (0,)
    return (math.floor((a - cmath.atanh(ret)).imag / PI + 0.5),)


def of_principal(found: complex, again: complex, ret: complex) -> complex:
    """The argument of an inverse function; raises NoSolution unless ``ret`` is its
    value ``again``.
    """
    if not abs(again - ret) <= 1e-9 * max(abs(ret), 1e-3):
        raise NoSolution("it is not on the principal branch")
    return finite_complex(found)


def ten_to(ret: complex) -> complex:
    """The power of 10 with an exponent that is a principal logarithm."""
    return complex_exp(principal(ret * LOG_10, -PI, PI, ret.imag * LOG_10))


sine = relation(
    cmath.sin, complex, "return = sin(a)", incomplete=LOST,
    edges="k numbers the solutions along the real axis",
    ret=lambda a: cmath.sin(a),
    a=parametric(
        lambda ret, k: alternating(cmath.asin(ret), PI, k), k=Integer,
        recover=lambda ret, a: nearest_alternating(cmath.asin(ret), PI, a),
    ),
)  # fmt: skip
cosine = relation(
    cmath.cos, complex, "return = cos(a)", incomplete=LOST,
    edges="k is the number of periods along the real axis",
    ret=lambda a: cmath.cos(a),
    a=parametric(
        lambda ret, negative, k: mirrored(cmath.acos(ret), TURN, negative, k),
        negative=Bool, k=Integer,
        recover=lambda ret, a: nearest_mirrored(cmath.acos(ret), TURN, a),
    ),
)  # fmt: skip
tangent = relation(
    cmath.tan, complex, "return = tan(a)", incomplete=LOST,
    edges="k is the number of periods along the real axis",
    ret=lambda a: cmath.tan(a),
    a=parametric(
        tangent_argument, k=Integer,
        recover=half_turns_of_tangent,
    ),
)  # fmt: skip
hyperbolic_sine = relation(
    cmath.sinh, complex, "return = sinh(a)", incomplete=LOST,
    edges="k numbers the solutions along the imaginary axis",
    ret=lambda a: cmath.sinh(a),
    a=parametric(
        lambda ret, k: alternating(cmath.asinh(ret), PI * 1j, k), k=Integer,
        recover=lambda ret, a: nearest_alternating(cmath.asinh(ret), PI * 1j, a),
    ),
)  # fmt: skip
hyperbolic_cosine = relation(
    cmath.cosh, complex, "return = cosh(a)", incomplete=LOST,
    edges="k is the number of periods along the imaginary axis",
    ret=lambda a: cmath.cosh(a),
    a=parametric(
        lambda ret, negative, k: mirrored(cmath.acosh(ret), TURN * 1j, negative, k),
        negative=Bool, k=Integer,
        recover=lambda ret, a: nearest_mirrored(cmath.acosh(ret), TURN * 1j, a),
    ),
)  # fmt: skip
hyperbolic_tangent = relation(
    cmath.tanh, complex, "return = tanh(a)", incomplete=LOST,
    edges="k is the number of periods along the imaginary axis",
    ret=lambda a: cmath.tanh(a),
    a=parametric(
        hyperbolic_argument, k=Integer,
        recover=half_turns_of_hyperbolic,
    ),
)  # fmt: skip
arcsine = relation(
    cmath.asin, complex, "return = asin(a)", incomplete=LOST,
    edges="ret is a principal value",
    ret=lambda a: cmath.asin(a),
    a=lambda ret: of_principal(cmath.sin(ret), cmath.asin(cmath.sin(ret)), ret),
)  # fmt: skip
arccosine = relation(
    cmath.acos, complex, "return = acos(a)", incomplete=LOST,
    edges="ret is a principal value",
    ret=lambda a: cmath.acos(a),
    a=lambda ret: of_principal(cmath.cos(ret), cmath.acos(cmath.cos(ret)), ret),
)  # fmt: skip
arctangent = relation(
    cmath.atan, complex, "return = atan(a)", incomplete=LOST,
    edges="ret is a principal value",
    ret=lambda a: cmath.atan(a),
    a=lambda ret: of_principal(cmath.tan(ret), cmath.atan(cmath.tan(ret)), ret),
)  # fmt: skip
area_sine = relation(
    cmath.asinh, complex, "return = asinh(a)", incomplete=LOST,
    edges="ret is a principal value",
    ret=lambda a: cmath.asinh(a),
    a=lambda ret: of_principal(cmath.sinh(ret), cmath.asinh(cmath.sinh(ret)), ret),
)  # fmt: skip
area_cosine = relation(
    cmath.acosh, complex, "return = acosh(a)", incomplete=LOST,
    edges="ret is a principal value",
    ret=lambda a: cmath.acosh(a),
    a=lambda ret: of_principal(cmath.cosh(ret), cmath.acosh(cmath.cosh(ret)), ret),
)  # fmt: skip
area_tangent = relation(
    cmath.atanh, complex, "return = atanh(a)", incomplete=LOST,
    edges="ret is a principal value",
    ret=lambda a: cmath.atanh(a),
    a=lambda ret: of_principal(cmath.tanh(ret), cmath.atanh(cmath.tanh(ret)), ret),
)  # fmt: skip
log10 = relation(
    cmath.log10, complex, "return = log10(a)", incomplete=LOST,
    domain=NONZERO,
    edges="ret is a principal value",
    ret=lambda a: cmath.log10(a),
    a=lambda ret: ten_to(ret),
)  # fmt: skip

COMPLEX: tuple[Relation, ...] = (
    add, sub, neg, mul, div, conjugate, absolute, phase, real, imag, rectangular, of_float,
    exp, log, sqrt, to_polar, rect, power_int, power_float, power_complex,
    sine, cosine, tangent, hyperbolic_sine, hyperbolic_cosine, hyperbolic_tangent,
    arcsine, arccosine, arctangent, area_sine, area_cosine, area_tangent, log10,
)  # fmt: skip
