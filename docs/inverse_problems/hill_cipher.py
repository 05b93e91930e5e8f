"""Hill cipher: the letters of a ciphertext.

Field: ciphers
Shows: a linear system modulo 26, with all its solutions
Source: L. S. Hill, Cryptography in an algebraic alphabet, Amer. Math. Monthly 36 (1929)
Question: Which two letters are enciphered as "FQ" with the key (11 8; 3 7)?
"""

from typing import Annotated

from inversion import invert
from primitives import Integers

Letter = Annotated[int, Integers(0, 25)]


def enciphered(x: Letter, y: Letter):
    return (11 * x + 8 * y) % 26, (3 * x + 7 * y) % 26


# ---- the question
answers = [branch.point for branch in invert(enciphered).solutions((5, 16))]

# ---- the check
for answer in answers:
    print("".join(chr(ord("A") + letter) for letter in answer))


def holds(*letters):
    return enciphered(*letters) == (5, 16)
