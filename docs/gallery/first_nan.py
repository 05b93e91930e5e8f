"""Stop at the first NaN.

Kind: numerics
Shows: a traceback that ends at the line, and an error with the values
Tests: tests/overlay/interpretations/test_first_nan.py:
 test_the_traceback_ends_at_the_line_and_has_the_values
"""

import math
import traceback

from overlay.interpretations.first_nan import FirstNaN, first_nan


def scale(weights):
    total = sum(weights)
    return [weight / total for weight in weights]


def program():
    return scale([1e308, 1e308, -math.ldexp(1.0, 1023)])


try:
    first_nan(program)
except FirstNaN as error:
    print("found:", error.operation, "of", error.arguments)
    print("at:", traceback.extract_tb(error.__traceback__)[-1].line)
