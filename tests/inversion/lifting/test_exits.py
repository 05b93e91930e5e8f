"""Loops with several exits: ``break``, ``return``, ``else``, and nested loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inversion import NoSolution, choose, invert
from inversion.planning.repeated import Repeated
from inversion.program.loops import Loop
from tests.examples import examples

F = float


def with_else(x):
    for i in range(30):
        if x > 50:
            break
        x = x * 1.5 + i
        if x < -10:
            return x - 1.0
    else:
        x = x + 100
    return x


def left_early(x):
    while x < 1000:
        x = 2 * x + 1
        if x > 300:
            return x + 0.5
        if x < -300:
            return x
    return x


def found_in_a_table(x):
    for i in range(20):
        for _ in range(18):
            x = x * 1.01 + 0.1
            if x > 30:
                return x + 1000.0 * i
        x = x - 1.0
    return x


def two_levels(x, y):
    for _ in range(20):
        for _ in range(18):
            y = y + x * 0.01
            if y > 5:
                break
        else:
            x = x + 1
            continue
        break
    return x, y


def skipping(x):
    for i in range(18):
        if i % 3 == 0:
            continue
        if x > 100:
            return x
        x = x + i
    return x


def hailstones(n):
    count = 0
    while True:
        if n % 2 == 0:
            n = n // 2
        else:
            if n == 1:
                break
            n = 3 * n + 1
        count += 1
        if count > 90:
            return -1
    return count


def left_inside_a_branch(x):
    while True:
        if x > 1:
            x = x / 2
            if x < 3:
                break
        else:
            x = x + 2
    return x


def refusing(x):
    for _ in range(20):
        if x < 0:
            raise ValueError("negative")
        if x > 40:
            break
        x = x * 1.3 + 1
    return x


REALS = st.floats(-30, 70).map(lambda x: round(x, 3))
POSITIVE = st.floats(0.5, 70).map(lambda x: round(x, 3))
PROGRAMS = {
    with_else: (REALS,),
    left_early: (REALS,),
    found_in_a_table: (REALS,),
    two_levels: tuple(st.floats(*ends).map(lambda x: round(x, 3)) for ends in ((0.1, 3), (-9, 9))),
    skipping: (REALS,),
    hailstones: (st.integers(1, 40),),
    left_inside_a_branch: (REALS,),
    refusing: (POSITIVE,),
}
MADE = {f: invert(f, *([int] if f is hailstones else [F] * len(PROGRAMS[f]))) for f in PROGRAMS}


@pytest.mark.parametrize("f", PROGRAMS)
@settings(max_examples=examples(25))
@given(data=st.data())
def test_what_recover_finds_leads_back(f, data):
    args = tuple(data.draw(strategy) for strategy in PROGRAMS[f])
    inverse, value = MADE[f], f(*args)
    found = inverse(value, inverse.recover(*args))
    assert f(*found) == pytest.approx(value, rel=1e-8)
    assert found == pytest.approx(args, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("f", PROGRAMS)
def test_what_a_random_theta_leads_to_is_right(f):
    inverse, answers = MADE[f], 0
    args = (1.5, 0.5) if f is two_levels else (6,) if f is hailstones else (9.5,)
    for theta in (*inverse.parameters.sample(np.random.default_rng(3), 60), inverse.recover(*args)):
        try:
            found = inverse(f(*args), theta)
        except NoSolution:
            continue
        answers += 1
        assert np.allclose(f(*found), f(*args), rtol=1e-8)
    assert answers


@pytest.mark.parametrize("f", [with_else, two_levels])
def test_compiled_inverses_answer_alike(f):
    args = (1.5, 0.5)[: len(PROGRAMS[f])]
    inverse, value = MADE[f], f(*args)
    theta = inverse.recover(*args)
    assert inverse.compile()(value, theta) == pytest.approx(inverse(value, theta))


@pytest.mark.parametrize("x", [3.0, 60.0, -3.0, -9.0, -0.5, 49.0])
def test_every_way_out_is_taken_back(x):
    inverse = MADE[with_else]
    assert inverse(with_else(x), inverse.recover(x)) == pytest.approx((x,))


def test_a_loop_stays_one_statement():
    for f in (with_else, found_in_a_table, two_levels, refusing):
        rules = [s.relation for s in MADE[f].program.program.statements]
        assert sum(isinstance(rule, Loop) for rule in rules) == 1


def test_the_number_of_turns_is_a_choice_only_where_a_loop_may_be_left_early():
    names = MADE[found_in_a_table].parameters.names
    line = found_in_a_table.__code__.co_firstlineno
    assert [name for name in names if name.startswith("trips")] == [
        f"trips_line_{line + i}"
        for i in (1, 2)  # the outer loop, the inner one in its last turn
    ]
    assert not any(isinstance(p.domain, Repeated) for p in MADE[found_in_a_table].parameters)


def test_the_range_may_be_known_at_run_time_only():
    def f(x, turns):
        for i in range(0, turns, 2):
            if x > 100:
                break
            x = x * 2 + i
        return x

    inverse = choose(f, F, int, known=("return", "turns"))
    for turns in (-1, 0, 5, 8, 50):
        args = (1.25, turns)
        assert inverse(f(*args), turns, inverse.recover(*args)) == pytest.approx((1.25,))


def test_a_range_without_steps_is_no_endless_loop():
    def f(x, step):
        for i in range(0, 10, step):
            if x > 100:
                break
            x = x * 2 + i
        return x

    inverse = choose(f, F, int, known=("return", "step"))
    for step in (1, 3, -1):
        assert inverse(f(2.0, step), step, inverse.recover(2.0, step)) == pytest.approx((2.0,))
    with pytest.raises(NoSolution):
        inverse(2.0, 0, inverse.parameters.default())
