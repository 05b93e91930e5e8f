"""Derivatives of derivatives, kept apart.

Kind: numerics
Shows: perturbations of nested derivatives are not confused
Tests: tests/overlay/interpretations/autodiff/test_forward.py:
 test_perturbations_of_nested_derivatives_stay_apart
"""

import math

from overlay.interpretations.autodiff import derivative


def confusing(x):
    return x * derivative(lambda y: x + y)(1.0)  # the inner derivative is 1, whatever x is


def wave(x):
    return math.exp(-x * x / 2) * math.sin(3 * x)


print("derivative of x * 1:", derivative(confusing)(1.0))
print("second derivative of x**3 at 2:", derivative(derivative(lambda x: x**3))(2.0))
orders = [wave, derivative(wave), derivative(derivative(wave))]
print("a wave, its slope and curvature at 0.5:", *[f"{f(0.5):.4f}" for f in orders])
