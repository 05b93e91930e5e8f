"""Constraints contracted.

Kind: numerics
Shows: primitives run backwards on sets, and the sets intersected; the rest covers all solutions
Tests: tests/inversion/solving/test_constraints.py:
 test_boxes_get_narrow,
 tests/inversion/solving/test_constraints.py:
 test_no_solution_is_lost
"""

from inversion import NoSolution, contract, pave, solve
from overlay.interpretations.intervals import Interval


def ring(x, y):
    return x * x + y * y


def sides(width, height):
    return width * height, 2 * (width + height)


x, y = contract(ring, Interval(0, 10), Interval(1, 10), returns=Interval(1, 4))
print(f"x in [{x.low:.4f}, {x.high:.4f}], y in [{y.low:.4f}, {y.high:.4f}]")
for width, height in solve(sides, Interval(0, 100), Interval(0, 100), returns=(12.0, 14.0)):
    print(f"sides {width.middle:.4f} and {height.middle:.4f}")
try:
    contract(ring, Interval(-1, 1), Interval(-1, 1), returns=3.0)
except NoSolution:
    print("no solution in the square: proved")
cover = pave(ring, Interval(-3, 3), Interval(-3, 3), returns=Interval(1, 4), tolerance=0.25)
print(len(cover.inner) > 50, len(cover.boundary) > 50)
