"""Interval arithmetic.

Kind: numerics
Shows: enclosures of an unmodified program, narrower the more pieces the input has
Tests: tests/overlay/interpretations/intervals/test_intervals.py:
 test_programs_of_the_standard_library
"""

import math

from overlay.interpretations.intervals import Interval, enclose


def wave(x):
    return math.exp(-x * x / 2) * math.sin(3 * x)


everywhere = Interval(-2.0, 2.0)
for pieces in (1, 8, 64, 512):
    found = enclose(wave, everywhere, pieces=pieces)
    print(f"{pieces} pieces: between {found.low:.4f} and {found.high:.4f}")
