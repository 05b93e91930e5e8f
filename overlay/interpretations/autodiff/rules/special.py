"""Rules of the error functions and the gamma function, and what they need."""

import math

from overlay.interpretations.autodiff.rules.rule import rule

__all__ = ["SPECIAL", "digamma"]

ANY = (-2.0, 2.0)
ABOVE_0 = (0.2, 6.0)
SLOPE = 2 / math.sqrt(math.pi)
"""The derivative of erf at 0."""


def digamma(x):
    """The derivative of lgamma, for x that is not a pole."""
    if x < 0:
        return digamma_positive(1 - x) - math.pi / math.tan(math.pi * (x - math.floor(x)))
    return digamma_positive(x)


def digamma_positive(x):
    """The derivative of lgamma for positive x: its asymptotic series, from 8 on."""
    shift = 0.0 * x
    while x < 8:
        shift -= 1 / x
        x += 1
    square = 1 / (x * x)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))
    return shift + math.log(x) - 0.5 / x - series


# fmt: off
SPECIAL = (
    rule(math.erf,    lambda a: (SLOPE * math.exp(-a * a),), ANY),
    rule(math.erfc,   lambda a: (-SLOPE * math.exp(-a * a),), ANY),
    rule(math.gamma,  lambda a, ret: (ret * digamma(a),), ABOVE_0),
    rule(math.lgamma, lambda a: (digamma(a),), ABOVE_0),
)
# fmt: on
