"""Linear congruential generators: the previous state.

Field: random generators
Shows: arithmetic modulo 2**64, a batch of a million states
Source: D. E. Knuth, The Art of Computer Programming, vol. 2, 3.3.4 (the multiplier of MMIX)
Question: Which state comes before 1?
"""

import numpy as np

from inversion import invert

A, C = np.uint64(6364136223846793005), np.uint64(1442695040888963407)


def following(state: np.uint64):
    return state * A + C


# ---- the question
before = invert(following)
answers = [before(np.uint64(1))]

# ---- the check
print(f"before 1: {answers[0][0]}")
(states,) = before.batch(np.arange(1_000_000, dtype=np.uint64))
print(f"a million more; their exclusive or is {np.bitwise_xor.reduce(states)}")


def holds(state):
    with np.errstate(over="ignore"):
        return following(np.uint64(state)) == 1
