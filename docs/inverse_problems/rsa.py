"""RSA: every message of a small key, without the private key.

Field: ciphers
Shows: trial over a declared domain, where no algebra gives the solution
Source: R. L. Rivest, A. Shamir and L. Adleman, A method for obtaining digital signatures, CACM 1978
Question: Which messages are enciphered as 2790 with n = 3233 and e = 17?
"""

from typing import Annotated

from inversion import invert
from primitives import Integers


def enciphered(m: Annotated[int, Integers(0, 3232)]):
    c, e = 1, 17
    while e:
        if e & 1:
            c = c * m % 3233
        m = m * m % 3233
        e >>= 1
    return c


# ---- the question
answers = [branch.point for branch in invert(enciphered).solutions(2790)]

# ---- the check
print(*(f"m = {m}" for (m,) in answers))


def holds(m):
    return enciphered(m) == 2790
