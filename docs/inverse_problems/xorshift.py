"""Xorshift: the seed of a generator, from one output.

Field: random generators
Shows: three shifts, each inverted as one relation
Source: G. Marsaglia, Xorshift RNGs, Journal of Statistical Software 8(14), 2003
Question: A 64-bit generator outputs 8748534153485358512 first. What was its seed?
"""

import numpy as np

from inversion import invert


def following(x: np.uint64):
    x ^= x << 13
    x ^= x >> 7
    return x ^ (x << 17)


# ---- the question
before = invert(following)
answers = [before(np.uint64(8748534153485358512))]

# ---- the check
print(f"state {answers[0][0]}")


def holds(x):
    return following(np.uint64(x)) == 8748534153485358512
