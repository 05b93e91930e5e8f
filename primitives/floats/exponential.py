"""Exponentials, logarithms and the square root.

Results that only underflow or rounding gives (0 of an exponential, -1 of ``expm1``) are outside the
codomains and are refused.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from primitives.domains import NonNegative, Positive, Reals
from primitives.errors import NoSolution
from primitives.floats.tolerance import LARGEST, finite
from primitives.relation import relation
from primitives.solver_forms import compiled_forms

__all__ = ["exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "sqrt"]

LARGEST_LOG10 = math.log10(LARGEST)


def positive(value: float) -> float:
    """``value``; raises NoSolution if it has left the range of positive floats."""
    if value == 0 or value == math.inf:
        raise NoSolution("the exponential is outside the range of the positive floats")
    return value


def above_minus_one(value: float) -> float:
    """``value``; raises NoSolution if rounding has made it -1."""
    if value == -1:
        raise NoSolution("the exponential is too small to be distinguished from 0 next to 1")
    return finite(value)


def two_to(a: float) -> float:
    """2 to the power of ``a``."""
    return math.exp2(a)


@compiled_forms.overlay(two_to)
def two_to_compiled(a: Any) -> float:
    return np.exp2(a)  # equal to the last bit; not all supported numba versions have math.exp2


def power_of_two(ret: float) -> float:
    """2 to the power of ``ret``; the largest float if its logarithm rounds to ``ret``."""
    return LARGEST if ret == 1024 else positive(two_to(ret))


def power_of_ten(ret: float) -> float:
    """10 to the power of ``ret``; the largest float if its logarithm rounds to ``ret``."""
    return LARGEST if ret == LARGEST_LOG10 else positive(math.pow(10.0, ret))


exp = relation(
    math.exp, float, "return = exp(a)", codomain=Positive,
    edges="ret = 0, by underflow, is refused",
    ret=lambda a: math.exp(a),
    a=lambda ret: math.log(ret),
)  # fmt: skip
exp2 = relation(
    math.exp2, float, "return = exp2(a)", codomain=Positive,
    edges="ret = 0, by underflow, is refused",
    ret=lambda a: two_to(a),
    a=lambda ret: math.log2(ret),
)  # fmt: skip
expm1 = relation(
    math.expm1, float, "return = expm1(a)", codomain=Reals(-1, math.inf, open_low=True),
    incomplete="below -13 several arguments round to one result; only one of them is returned",
    edges="ret = -1, by rounding, is refused",
    ret=lambda a: math.expm1(a),
    a=lambda ret: math.log1p(ret),
)  # fmt: skip
log = relation(
    math.log, float, "return = log(a)", domain=Positive,
    edges="refused above 709.78, and where the exponential underflows",
    ret=lambda a: math.log(a),
    a=lambda ret: positive(math.exp(ret)),
)  # fmt: skip
log2 = relation(
    math.log2, float, "return = log2(a)", domain=Positive,
    edges="refused above 1024, and where the power underflows",
    ret=lambda a: math.log2(a),
    a=power_of_two,
)  # fmt: skip
log10 = relation(
    math.log10, float, "return = log10(a)", domain=Positive,
    edges="refused above 308.25, and where the power underflows",
    ret=lambda a: math.log10(a),
    a=power_of_ten,
)  # fmt: skip
log1p = relation(
    math.log1p, float, "return = log1p(a)", domain=Reals(-1, math.inf, open_low=True),
    edges="refused above 709.78, and below -37.4, where a would round to -1",
    ret=lambda a: math.log1p(a),
    a=lambda ret: above_minus_one(math.expm1(ret)),
)  # fmt: skip
sqrt = relation(
    math.sqrt, float, "return = sqrt(a)", domain=NonNegative, codomain=NonNegative,
    ret=lambda a: math.sqrt(a),
    a=lambda ret: ret * ret,
)  # fmt: skip
