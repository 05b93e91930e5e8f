"""Redirect a function that a library calls.

Kind: replaced calls
Shows: one builtin replaced by another, in code that has imported it
Tests: tests/overlay/python/test_routes.py:
 test_each_call_of_a_target_is_seen_and_the_outcome_is_as_natively
"""

import colorsys
import math
import statistics

from overlay import Context, MethodTable

table = MethodTable("flat")
table.overlay(math.exp)(lambda x: 1.0)
table.overlay(max)(lambda *values: 1.0)

flat = Context(table)
bell = statistics.NormalDist(0.0, 1.0)
print(f"density at 2: {bell.pdf(2.0):.6f}, in the context {flat(bell.pdf, 2.0):.6f}")
print("brightness of grey:", colorsys.rgb_to_hsv(0.5, 0.5, 0.5)[2])
print("in the context:", flat(colorsys.rgb_to_hsv, 0.5, 0.5, 0.5)[2])
print("outside again:", max(1, 2), math.exp(0.0))
