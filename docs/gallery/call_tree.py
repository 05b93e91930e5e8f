"""A tree of nested calls.

Kind: observed calls
Shows: the tracer, a plugin of the package
Tests: tests/overlay/interpretations/test_tracing.py:
 test_calls_stand_below_those_that_made_them
"""

import math

from overlay.interpretations.tracing import trace


def area(a, b, c):
    half = perimeter(a, b, c) / 2
    return math.sqrt(product(half, half - a, half - b, half - c))


def perimeter(*sides):
    return sum(sides)


def product(*factors):
    return math.prod([abs(factor) for factor in factors])


found = trace(area, 3, 4, 5)
print(found.tree(times=False))
