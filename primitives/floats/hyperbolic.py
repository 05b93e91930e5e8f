"""Hyperbolic functions."""

from __future__ import annotations

import math

from primitives.domains import Bool, NonNegative, Real, Reals
from primitives.errors import NoSolution
from primitives.floats.tolerance import finite, matches
from primitives.relation import parametric, relation

__all__ = ["acosh", "asinh", "atanh", "cosh", "sinh", "tanh"]

AT_LEAST_ONE = Reals(1, math.inf)


def area_tangent(ret: float, near: float) -> float:
    """The argument of tanh; ``near`` if rounding maps several arguments to one result."""
    if abs(ret) < 0.99:
        return math.atanh(ret)
    if matches(math.tanh(near), ret):
        return near
    if abs(ret) == 1:
        return math.copysign(20.0, ret)
    return math.atanh(ret)


def inside_one(value: float) -> float:
    """``value``; raises NoSolution if rounding has made it 1 or -1."""
    if abs(value) == 1:
        raise NoSolution("the hyperbolic tangent is too close to 1 for a float")
    return value


sinh = relation(
    math.sinh, float, "return = sinh(a)",
    ret=lambda a: math.sinh(a),
    a=lambda ret: math.asinh(ret),
)  # fmt: skip
cosh = relation(
    math.cosh, float, "return = cosh(a)", codomain=AT_LEAST_ONE,
    edges="digits of a are lost near 0, where cosh is flat",
    ret=lambda a: math.cosh(a),
    a=parametric(
        lambda ret, negative: -math.acosh(ret) if negative else math.acosh(ret), negative=Bool,
        recover=lambda a: (a < 0,),
    ),
)  # fmt: skip
tanh = relation(
    math.tanh, float, "return = tanh(a)", codomain=Reals(-1, 1),
    edges="near matters if ret is within 0.01 of 1 or -1. By rounding, all arguments from 19.06 on "
    "have the result 1 or -1; the answer is then near, or 20 if near is not a solution",
    ret=lambda a: math.tanh(a),
    a=parametric(area_tangent, near=Real, recover=lambda a: (a,), rounding_only=True),
)  # fmt: skip
asinh = relation(
    math.asinh, float, "return = asinh(a)",
    edges="refused beyond 710.47",
    ret=lambda a: math.asinh(a),
    a=lambda ret: finite(math.sinh(ret)),
)  # fmt: skip
acosh = relation(
    math.acosh, float, "return = acosh(a)", domain=AT_LEAST_ONE, codomain=NonNegative,
    edges="refused beyond 710.47",
    ret=lambda a: math.acosh(a),
    a=lambda ret: finite(math.cosh(ret)),
)  # fmt: skip
atanh = relation(
    math.atanh, float, "return = atanh(a)", domain=Reals(-1, 1, open_low=True, open_high=True),
    edges="refused beyond 18.7, where a would round to 1",
    ret=lambda a: math.atanh(a),
    a=lambda ret: inside_one(math.tanh(ret)),
)  # fmt: skip
