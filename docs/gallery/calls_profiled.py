"""A profile by function and argument types.

Kind: observed calls
Shows: the profiler, with exact counts
Tests: tests/overlay/interpretations/test_profiling.py:
 test_own_time_is_without_that_of_calls_below
"""

import fractions
import math

from overlay.interpretations.profiling import profile


def power_sum(x, terms):
    return sum(term(x, n) for n in range(terms))


def term(x, n):
    return x**n / math.factorial(n)


def program():
    return power_sum(1.0, 20), power_sum(1, 10), power_sum(fractions.Fraction(1, 3), 6)


found = profile(program)
for row in sorted(found.of("term"), key=lambda row: -row.calls):
    print(row, "called", row.calls, "times")
