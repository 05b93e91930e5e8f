"""Lights out: which buttons to press.

Field: games
Shows: interdependent bits, and all solutions
Source: M. Anderson and T. Feil, Turning Lights Out with Linear Algebra, Math. Magazine 71 (1998)
Question: Each of 3 x 3 buttons switches its lamp and those next to it. Which buttons switch on all
    lamps?
"""

from typing import Annotated

from inversion import invert
from primitives import Integers


def lamps(pressed: Annotated[int, Integers(0, 511)]):
    """A bit for each of the three rows of three, pressed and turned."""
    across = (pressed << 1 & 0b110_110_110) ^ (pressed >> 1 & 0b011_011_011)
    return pressed ^ across ^ (pressed << 3 & 511) ^ (pressed >> 3)


# ---- the question
answers = [branch.point for branch in invert(lamps).solutions(0b111_111_111)]

# ---- the check
for (pressed,) in answers:
    for row in (6, 3, 0):
        print(*(".x"[pressed >> row + column & 1] for column in (2, 1, 0)))


def holds(pressed):
    return lamps(pressed) == 0b111_111_111
