"""Hamming code: every sent word that one error turns into the received one.

Field: codes
Shows: all solutions over declared integers, including the error
Source: R. W. Hamming, Error detecting and error correcting codes, Bell System Tech. J. 29 (1950)
Question: 1011110 is received over a line that flips at most one bit. Which word was sent, and which
    bit was flipped?
"""

from typing import Annotated

from inversion import invert
from primitives import Integers


def received(a: bool, b: bool, c: bool, d: bool, at: Annotated[int, Integers(0, 7)]):
    """The word as a number; ``at`` is the place that is turned, the first being 1, or 0."""
    checks = (a ^ b ^ d) | (a ^ c ^ d) << 1 | (b ^ c ^ d) << 3
    return (checks | a << 2 | b << 4 | c << 5 | d << 6) ^ (1 << at >> 1)


word = 0b011_1101  # the first place is the last digit

# ---- the question
answers = [branch.point for branch in invert(received).solutions(word)]

# ---- the check
for *data, at in answers:
    print("data", *map(int, data), f"place {at} was turned")


def holds(*answer):
    return received(*answer) == word
