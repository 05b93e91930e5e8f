"""Rules of piecewise constant functions.

Those whose results are Python integers (``math.floor``, ``round``) are among the conversions.
"""

import math

import numpy as np

from overlay.interpretations.autodiff.rules.rule import rule

__all__ = ["ROUNDING"]

ANY = (-4.0, 4.0)
ABOVE_0 = (0.3, 4.0)


def _is_whole(a):
    return a == math.floor(a)


def _is_whole_but_0(a):
    return a != 0 and _is_whole(a)


def _is_half(a):
    return a == math.floor(a) + 0.5


def _is_multiple(a, b):
    return _is_whole_but_0(a / b)


# fmt: off
ROUNDING = (
    rule(np.floor,  lambda a: (0.0,), ANY, kink=_is_whole),
    rule(np.ceil,   lambda a: (0.0,), ANY, kink=_is_whole),
    rule(np.trunc,  lambda a: (0.0,), ANY, kink=_is_whole_but_0),
    rule(np.rint,   lambda a: (0.0,), ANY, kink=_is_half),
    rule(math.fmod, lambda a, b: (1.0, -float(math.trunc(a / b))), ANY, ABOVE_0, kink=_is_multiple),
    rule(np.fmod,   lambda a, b: (1.0, -np.trunc(a / b)), ANY, ABOVE_0, kink=_is_multiple),
)
# fmt: on
