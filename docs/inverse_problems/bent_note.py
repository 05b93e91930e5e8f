"""Music: the keys and pitch bends of a frequency.

Field: music
Shows: an integer and a float unknown, with all answers
Source: MIDI 1.0 Detailed Specification (note numbers, pitch bend of two semitones); ISO 16
Question: Which keys can be bent to 450 Hz?
"""

import math
from typing import Annotated

from inversion import invert
from primitives import Integers, Reals


def frequency(key: Annotated[int, Integers(0, 127)], bend: Annotated[float, Reals(-2, 2)]):
    return 440 * 2 ** ((key - 69 + bend) / 12)


# ---- the question
bent = invert(frequency)
answers = sorted(branch.point for branch in bent.solutions(450.0))

# ---- the check
for key, bend in answers:
    print(f"key {key}, bent by {bend:+.6f} semitones")


def holds(key, bend):
    return math.isclose(frequency(key, bend), 450.0, rel_tol=1e-9)
