"""Rules of the operators, for numbers and elementwise for arrays."""

import math
import operator

import numpy as np

from overlay.interpretations.autodiff.rules.rule import rule

__all__ = ["ARITHMETIC"]

ANY = (-4.0, 4.0)
ABOVE_0 = (0.3, 4.0)


def _quotient(a, b, ret):
    inverse = 1 / b
    return inverse, -ret * inverse


def _is_whole(a):
    return a == math.floor(a)


# fmt: off
ARITHMETIC = (
    rule(operator.add,     lambda a, b: (1.0, 1.0), ANY, ANY, also=(np.add,)),
    rule(operator.sub,     lambda a, b: (1.0, -1.0), ANY, ANY, also=(np.subtract,)),
    rule(operator.mul,     lambda a, b: (b, a), ANY, ANY, also=(np.multiply,)),
    rule(operator.truediv, _quotient, ANY, ABOVE_0, also=(np.true_divide,)),
    rule(operator.neg,     lambda a: (-1.0,), ANY, also=(np.negative,)),
    rule(operator.pos,     lambda a: (1.0,), ANY, also=(np.positive,)),
    rule(np.square,        lambda a: (2 * a,), ANY),
    rule(np.reciprocal,    lambda a, ret: (-ret * ret,), ABOVE_0),
    rule(operator.mod,     lambda a, b: (1.0, -(a // b)), ANY, ABOVE_0, also=(np.remainder,),
         kink=lambda a, b: _is_whole(a / b)),
    rule(operator.floordiv, lambda a, b: (0.0, 0.0), ANY, ABOVE_0, also=(np.floor_divide,),
         kink=lambda a, b: _is_whole(a / b)),
)
# fmt: on
