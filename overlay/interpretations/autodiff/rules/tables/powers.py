"""Rules of powers, of numbers and elementwise of arrays."""

import math
import operator

import numpy as np

from overlay.interpretations.autodiff.rules.rule import rule

__all__ = ["ARRAYS_OF_POWERS", "POWERS", "powers"]

ABOVE_0 = (0.2, 3.0)
ANY = (-3.0, 3.0)


def _power(a, b, ret):
    return _by_base(a, b), ret * math.log(a) if a > 0 else _by_exponent(a, b)


def _by_base(a, b):
    """The derivative by the base: infinite at a base of 0 for exponents below 1, without a division
    by zero where only the exponent is active. Its own derivative by the base is nan there."""
    if b == 0:
        return 0.0 * a
    return b * math.inf * (1.0 + 0.0 * a) if a == 0 and b < 1 else b * a ** (b - 1)


def _by_exponent(a, b):
    """The derivative by the exponent for a base that is not positive: 0 at a base of 0, else
    nan."""
    return 0.0 * a if a == 0 and b > 0 else math.nan * a * b


def powers(a, b, ret):
    """The partial derivatives of powers of real arrays."""
    above = np.where(a > 0, a, 1.0)
    level = np.where(a == 0, 0.0, math.nan)
    by_exponent = np.where(a > 0, ret * np.log(above), level)
    return b * a ** np.where(b == 0, 1, b - 1), by_exponent


POWERS = (
    rule(math.pow, _power, ABOVE_0, ANY),
    rule(operator.pow, _power, ABOVE_0, ANY, also=(pow, np.power, np.float_power), arrays=False),
)
ARRAYS_OF_POWERS = (
    rule(operator.pow, powers, ABOVE_0, ANY, also=(pow, np.power, np.float_power), arrays=True),
)
