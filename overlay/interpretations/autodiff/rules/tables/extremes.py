"""Rules of signs, absolute values, extremes and selections.

At a kink the derivative is that of the side whose value the function returns.
"""

import math
import operator

import numpy as np

from overlay.interpretations.autodiff.rules.rule import rule

__all__ = ["EXTREMES", "SELECTIONS"]

ANY = (-4.0, 4.0)


def _first_of(a, chosen):
    return (1.0, 0.0) if chosen else (0.0, 1.0)


def _clipped(a, low, high):
    if low is None:
        return _clipped_at(a, -math.inf, math.inf if high is None else high)
    return _clipped_at(a, low, math.inf if high is None else high)


def _clipped_at(a, low, high):
    above = 1.0 * ((a > high) | (low > high))
    within = 1.0 - above
    return within * (a >= low), within * (a < low), above


def _is_zero(a, *others):
    return a == 0


def _signs_differ(a, b):
    return math.copysign(1.0, a) * math.copysign(1.0, b)


# fmt: off
EXTREMES = (
    rule(abs,           lambda a: (math.copysign(1.0, a),), ANY, arrays=False, kink=_is_zero,
         also=(operator.abs, math.fabs)),
    rule(np.absolute,   lambda a: (np.copysign(1.0, a),), ANY, kink=_is_zero, also=(np.fabs,)),
    rule(math.copysign, lambda a, b: (_signs_differ(a, b), 0.0), ANY, ANY,
         kink=lambda a, b: a == 0 or b == 0),
    rule(np.copysign,   lambda a, b: (np.copysign(1.0, a) * np.copysign(1.0, b), 0.0), ANY, ANY,
         kink=lambda a, b: a == 0 or b == 0),
    rule(np.sign,       lambda a: (0.0,), ANY, kink=_is_zero),
    rule(np.heaviside,  lambda a, h: (0.0, 1.0 * (a == 0)), ANY, ANY, kink=_is_zero),
    rule(np.minimum,    lambda a, b: (1.0 * (a <= b), 1.0 * (a > b)), ANY, ANY, also=(np.fmin,),
         kink=operator.eq),
    rule(np.maximum,    lambda a, b: (1.0 * (a >= b), 1.0 * (a < b)), ANY, ANY, also=(np.fmax,),
         kink=operator.eq),
)
SELECTIONS = (
    rule(min,     lambda a, b: _first_of(a, a <= b), ANY, ANY, kink=operator.eq, arrays=False),
    rule(max,     lambda a, b: _first_of(a, a >= b), ANY, ANY, kink=operator.eq, arrays=False),
    rule(np.clip, _clipped, ANY, (-3.0, -1.0), (1.0, 3.0), optional=(1, 2),
         kink=lambda a, low, high: a in (low, high) or low == high),
)
# fmt: on
