"""The laws of inverses, for random programs that branch and loop.

The environment variable ``RANDOM_PROGRAMS=2000`` sets their number.
"""

import os
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from inversion import NoSolution, NotInvertible, invert
from inversion.planning.repeated import Repeated
from tests.laws.control_flow import Program
from tests.laws.straight_line import value_of

COUNT = int(os.environ.get("RANDOM_PROGRAMS", "40"))


REACHED = Counter()  # what the programs that were answered are made of


@settings(max_examples=COUNT)  # all of them, since the next test counts what they reach
@given(seed=st.integers(0, 10**9))
def test_programs_with_control_flow_are_solved_rightly_or_refused(seed):
    rng = random.Random(seed)
    program = Program(rng)
    f = program.function
    args = tuple(round(rng.uniform(-3, 3), 3) for _ in range(program.count))
    value = value_of(f, args)
    assume(value is not None)
    try:
        inverse = invert(f, *[float] * program.count)
    except NotInvertible:
        return
    space = inverse.parameters
    drawn = space.sample(np.random.default_rng(seed % 1000), 2) if len(space) else [None]
    for theta in drawn:
        try:
            found = inverse(value, *([] if theta is None else [theta]))
        except NoSolution:
            continue
        assert np.allclose(np.ravel(f(*found)), np.ravel(value), rtol=2e-9, atol=2e-12)
    try:
        theta = inverse.recover(*args)
    except NoSolution:
        return
    assert inverse(value, *([theta] if theta else [])) == pytest.approx(args, rel=1e-6, abs=1e-8)
    REACHED["choices in turns"] += any(isinstance(p.domain, Repeated) for p in space)
    body = program.source.rpartition("    return")[0]
    for word in ("if", "else", "for", "while", "break", "return"):
        REACHED[word] += f" {word}" in body


def test_the_random_programs_are_of_all_kinds():
    assert min(REACHED.values()) > 0
