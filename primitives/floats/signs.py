"""Absolute values and signs of floats."""

from __future__ import annotations

import math

import numpy as np

from primitives.domains import Bool, NonNegative, Positive, Real, WholeFloats
from primitives.errors import NoSolution
from primitives.floats.tolerance import agrees
from primitives.relation import parametric, relation

__all__ = ["copysign", "heaviside", "magnitude", "sign"]


def is_negative(a: float) -> bool:
    """Return whether the sign bit of a float is set, as for -0.0."""
    return math.copysign(1.0, a) < 0


def with_sign(size: float, negative: bool) -> float:
    """The float of this size and sign."""
    return -abs(size) if negative else abs(size)


magnitude = relation(
    abs, float, "return = abs(a)", codomain=NonNegative,
    ret=lambda a: abs(a),
    a=parametric(
        lambda ret, negative: with_sign(ret, negative), negative=Bool,
        recover=lambda a: (is_negative(a),),
    ),
)  # fmt: skip


def signed(ret: float, b: float, negative: bool) -> float:
    """The number that copysign maps to ``ret``, if the sign of ``b`` agrees."""
    if ret != 0 and is_negative(ret) != is_negative(b):
        raise NoSolution("the result has the sign of the second argument")
    return with_sign(ret, negative)


def bearer(ret: float, a: float, size: float) -> float:
    """A number of this size with the sign of ``ret``."""
    if not agrees(abs(a), abs(ret)):
        raise NoSolution("the result has the size of the first argument")
    return with_sign(size, is_negative(ret))


copysign = relation(
    math.copysign, float, float, "return = copysign(a, b)",
    edges="zeros have signs; ret = 0 may have any sign if b is known",
    ret=lambda a, b: math.copysign(a, b),
    a=parametric(signed, negative=Bool, recover=lambda a: (is_negative(a),)),
    b=parametric(bearer, size=NonNegative, recover=lambda b: (abs(b),)),
    ab=parametric(
        lambda ret, negative, size: (with_sign(ret, negative), with_sign(size, is_negative(ret))),
        negative=Bool, size=NonNegative,
        recover=lambda a, b: (is_negative(a), abs(b)),
    ),
)  # fmt: skip


def sign_of(a: float) -> float:
    """The sign: 1, 0 or -1."""
    return 1.0 if a > 0 else -1.0 if a < 0 else 0.0


def of_sign(ret: float, size: float) -> float:
    """A number of this sign and, if it is not 0, of this size."""
    if ret != sign_of(ret):
        raise NoSolution("a sign is 1, 0 or -1")
    return ret * size if ret != 0 else 0.0


sign = relation(
    np.sign, float, "return = sign(a)", codomain=WholeFloats(-1, 1),
    ret=lambda a: sign_of(a),
    a=parametric(
        of_sign, size=Positive, recover=lambda a: (abs(a) if a != 0 else 1.0,)
    ),
)  # fmt: skip


def side_of(ret: float, h: float, near: float) -> float:
    """The argument of a step function: ``near`` if it fits, else a number of its size, or 0."""
    if agrees(ret, h if near == 0 else 1.0 if near > 0 else 0.0):
        return near
    size = abs(near) if near != 0 else 1.0
    if agrees(ret, 1.0):
        return size
    if agrees(ret, 0.0):
        return -size
    if not agrees(ret, h):
        raise NoSolution("a step function is 0, 1, or its value at 0")
    return 0.0


def value_at_0(ret: float, a: float, free: float) -> float:
    """The value at 0 of a step function; ``free`` if the argument is not 0."""
    if a != 0:
        if not agrees(ret, 1.0 if a > 0 else 0.0):
            raise NoSolution("a step function is 0 below 0, and 1 above")
        return free
    return ret


def step(ret: float, near: float, free: float) -> tuple[float, float]:
    """An argument and the value at 0 of a step function; ``free`` if that does not matter."""
    if near == 0 or (ret != 0 and ret != 1):
        return 0.0, ret
    return with_sign(near, ret == 0), free


heaviside = relation(
    np.heaviside, float, float, "return = heaviside(a, h)",
    edges="a is 0 if ret is h, and near is 0 or ret is neither 0 nor 1",
    ret=lambda a, h: 1.0 if a > 0 else 0.0 if a < 0 else h,
    a=parametric(side_of, near=Real, recover=lambda a: (a,)),
    h=parametric(
        value_at_0, free=Real, recover=lambda h: (h,), determined_if=lambda a: a == 0,
    ),
    ah=parametric(step, near=Real, free=Real, recover=lambda a, h: (a, h)),
)  # fmt: skip
