"""Code that draws from global generators, made reproducible.

Kind: whole runs
Shows: a run that its seed determines, next to unchanged global generators
Tests: tests/overlay/interpretations/test_seeding.py:
 test_a_run_is_decided_by_its_seed
"""

import random

import numpy as np

from overlay.interpretations.seeding import seeded


def program():
    made = random.Random().random(), np.random.default_rng().random()
    return made, random.gauss(0, 1), float(np.random.rand())


before = random.getstate()
print("the same seed:", seeded(0)(program) == seeded(0)(program))
print("another seed:", seeded(0)(program) == seeded(1)(program))
print("no seed:", program() == program())
random.setstate(before)
seeded(0)(program)
print("the global generator is as it was:", random.getstate() == before)
