"""Stochastic arithmetic: the digits that rounding leaves.

Kind: numerics
Shows: a program run several times with random rounding
Tests: tests/overlay/interpretations/test_precision.py:
 test_cancellation_is_seen
"""

import math

from overlay.interpretations.precision import significance


def written(x):
    return (1 - math.cos(x)) / (x * x)


def rewritten(x):
    return 2 * (math.sin(x / 2) / x) ** 2


def digits(f, x):
    return significance(f, x).digits


for x in (1.0, 1e-3, 1e-6):
    cancelled, kept = digits(written, x), digits(rewritten, x)
    print(f"x = {x:g}: more than 14 digits: {cancelled > 14}, rewritten: {kept > 14}")
