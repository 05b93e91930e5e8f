"""Rules of numpy's other elementwise functions."""

import math

import numpy as np

from overlay.interpretations.autodiff.rules.rule import rule

__all__ = ["NUMERICAL"]

ANY = (-4.0, 4.0)
LOG_2 = math.log(2)
SINC_SERIES = tuple(2 * k / math.factorial(2 * k + 1) for k in range(10, 0, -1))
"""The coefficients of the derivative of sin(x) / x, divided by -x, of falling powers of -x**2."""


def _share(a, b):
    """The weights of two exponentials in their sum, by their difference: their logarithms may be
    large."""
    return _weights(a >= b, np.exp(-np.abs(a - b)))


def _share_of_2(a, b):
    return _weights(a >= b, np.exp2(-np.abs(a - b)))


def _weights(is_first, ratio):
    """The weights of two numbers in their sum. is_first: whether the first is the larger; ratio: of
    the smaller to the larger."""
    first = 1.0 * is_first
    second = 1.0 - first
    total = 1.0 + ratio
    return (first + second * ratio) / total, (second + first * ratio) / total


def _slope_of_sinc(a, ret):
    """The derivative of sinc: by its series near 0, where the quotient cancels."""
    is_near = 1.0 * (np.abs(a) < 0.4)
    near, other = is_near * a, (1.0 - is_near) * a + is_near
    square = (np.pi * near) ** 2
    series = 0.0 * square
    for coefficient in SINC_SERIES:
        series = coefficient - square * series
    quotient = (np.cos(np.pi * other) - ret) / other
    return ((1.0 - is_near) * quotient - np.pi * np.pi * near * series,)


def _bessel_i1(a):
    """The modified Bessel function of order 1, the derivative of that of order 0: its series, whose
    terms have one sign."""
    square = a * a / 4
    term = total = a / 2
    k = 1
    while np.any(np.abs(term) > 1e-20 * np.abs(total)):
        term = term * square / (k * (k + 1))
        total = total + term
        k += 1
    return (total,)


# fmt: off
NUMERICAL = (
    rule(np.logaddexp,  _share, ANY, ANY),
    rule(np.logaddexp2, _share_of_2, ANY, ANY),
    rule(np.sinc,       _slope_of_sinc, ANY),
    rule(np.i0,         _bessel_i1, ANY),
    rule(np.nan_to_num, lambda a: (1.0 * np.isfinite(a),), ANY),
    rule(np.ldexp,      lambda a, n: (np.ldexp(1.0, n), None), ANY, (-3, 3), constant=(1,)),
)
# fmt: on
