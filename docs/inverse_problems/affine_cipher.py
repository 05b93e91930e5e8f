"""Affine cipher: the key, from two letters.

Field: ciphers
Shows: a system of congruences, with all its solutions
Source: D. R. Stinson, Cryptography: Theory and Practice, 3rd ed., sec. 1.1.3 and 1.2
Question: E and T, the most frequent letters, are enciphered as R and D. Which keys do that?
"""

from typing import Annotated

from inversion import invert
from primitives import Integers

Key = Annotated[int, Integers(0, 25)]


def two_letters(a: Key, b: Key):
    return (a * 4 + b) % 26, (a * 19 + b) % 26


# ---- the question
answers = sorted(branch.point for branch in invert(two_letters).solutions((17, 3)))

# ---- the check
for a, b in answers:
    print(f"y = ({a} x + {b}) mod 26")


def holds(a, b):
    return two_letters(a, b) == (17, 3)
