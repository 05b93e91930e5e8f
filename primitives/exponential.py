"""Exponential, logarithm and square root."""

from __future__ import annotations

import math

from primitives.domains import NonNegative, Positive
from primitives.errors import NoSolution
from primitives.relation import relation

__all__ = ["exp", "log", "sqrt"]


def positive_exp(ret: float) -> float:
    """e to the power of ``ret``, where a positive float holds it."""
    found = math.exp(ret)
    if found == 0 or found == math.inf:
        raise NoSolution("its exponential is beyond the positive floats")
    return found


exp = relation(
    math.exp, float, "return = exp(a)", codomain=Positive,
    ret=lambda a: math.exp(a),
    a=lambda ret: math.log(ret),
)  # fmt: skip
log = relation(
    math.log, float, "return = log(a)", domain=Positive,
    ret=lambda a: math.log(a),
    a=positive_exp,
)  # fmt: skip
sqrt = relation(
    math.sqrt, float, "return = sqrt(a)", domain=NonNegative, codomain=NonNegative,
    ret=lambda a: math.sqrt(a),
    a=lambda ret: ret * ret,
)  # fmt: skip
