"""Loops with a choice in each iteration: one coordinate has a value for every iteration."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inversion import NoSolution, NotInvertible, choose, invert
from inversion.planning.repeated import Repeated
from inversion.program.loops import Loop
from primitives import Bool
from tests.examples import examples

F = float


def squared(x):
    for _ in range(20):
        x = x * x + 0.25
    return x


def folded(x, turns):
    for i in range(turns):
        x = abs(x) - 1.0
        if x > 3.0:
            x = x / 2 + i
    return x


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def bits_set(n):
    count = 0
    while n:
        count += n & 1
        n >>= 1
    return count


def logistic(rate, x):
    for _ in range(30):
        x = rate * x * (1 - x)
    return x


def hand(first, bend):
    angle, x, y = first, 0.0, 0.0
    for _ in range(20):
        x += math.cos(angle)
        y += math.sin(angle)
        angle += bend
    return x, y


def depreciated(value, rate):
    year = 0
    while value > 100.0 and year < 40:
        value = float(math.floor(value * (1 - rate)))
        year += 1
    return value, year


def evaluated(code, x):
    while code > 0:
        operation = code % 4
        code = code // 4
        if operation == 0:
            x = x + 1.5
        elif operation == 1:
            x = x * 2.0
        elif operation == 2:
            x = -x
        else:
            x = abs(x)
    return x


def nested(x):
    for _ in range(20):
        y = x
        for _ in range(17):
            y = abs(y) - 0.5
        x = y + x / 4
        if x > 2.0:
            x = x / 2
    return x


def overwritten(x, last):
    for _ in range(20):
        last = x * 2
        x = x + 1
    return x, last


REALS = st.floats(-20, 20).map(lambda x: round(x, 3))
SHARES = st.floats(0.05, 0.9).map(lambda x: round(x, 3))
WHOLE = st.integers(1, 500)
PROGRAMS = {
    squared: (st.floats(0.05, 0.45).map(lambda x: round(x, 3)),),
    folded: (REALS, st.integers(-1, 40)),
    gcd: (WHOLE, WHOLE),
    collatz: (st.integers(1, 60),),
    bits_set: (WHOLE,),
    logistic: (st.floats(1.5, 3.9), SHARES),
    hand: (SHARES, SHARES),
    depreciated: (st.floats(200, 5000), SHARES),
    evaluated: (WHOLE, REALS),
    overwritten: (REALS, REALS),
}
MADE = {f: invert(f, *(int if s is WHOLE or f is collatz else F for s in PROGRAMS[f]))
        for f in PROGRAMS if f is not folded}  # fmt: skip
MADE[folded] = choose(folded, F, int, known=("return", "turns"))


def known_values(inverse, f, args):
    return [f(*args) if axis == "return" else args[-1] for axis in inverse.known]


def drawn(f, data):
    return tuple(data.draw(strategy) for strategy in PROGRAMS[f])


@pytest.mark.parametrize("f", PROGRAMS)
@settings(max_examples=examples(25))
@given(data=st.data())
def test_what_recover_finds_leads_back(f, data):
    args, inverse = drawn(f, data), MADE[f]
    theta = inverse.recover(*args)
    found = inverse(*known_values(inverse, f, args), theta)
    assert found == pytest.approx(args[: len(found)], rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("f", PROGRAMS)
def test_what_a_random_theta_leads_to_is_right(f):
    inverse, answers = MADE[f], 0
    args = {folded: (3.7, 12), gcd: (12, 30), collatz: (6,), bits_set: (5,)}.get(f)
    args = args or ((1.3, 0.5) if len(PROGRAMS[f]) == 2 else (0.4,))
    args = (27, 1.5) if f is evaluated else (900.0, 0.1) if f is depreciated else args
    known = known_values(inverse, f, args)
    thetas = inverse.parameters.sample(np.random.default_rng(0), 40)
    for theta in (*thetas, inverse.parameters.records([inverse.recover(*args)])[0]):
        try:
            found = inverse(*known, theta)
        except NoSolution:
            continue
        answers += 1
        again = f(*found, *known[1:])
        assert np.allclose(again, known[0], rtol=1e-8, atol=1e-11)
    assert answers


@pytest.mark.parametrize("f", [squared, folded, gcd])
def test_compiled_inverses_answer_alike(f):
    inverse = MADE[f]
    args = {folded: (3.7, 12), gcd: (84, 30)}.get(f, (0.3,))
    known, theta = known_values(inverse, f, args), inverse.recover(*args)
    assert inverse.compile()(*known, theta) == pytest.approx(inverse(*known, theta))
    assert inverse(*known, theta) == pytest.approx(args[: len(inverse.unknown)])


def test_choices_are_one_coordinate_with_a_value_for_every_turn():
    (parameter,) = MADE[squared].parameters
    assert parameter.domain == Repeated(Bool, 20)
    line = squared.__code__.co_firstlineno + 2
    assert parameter.line.endswith(f"test_turns.py:{line}")
    assert MADE[squared].recover(0.5) == ((False,) * 20,)
    assert MADE[squared](squared(0.5), ((True,),)) == pytest.approx((-0.5,))


def test_the_turns_of_a_loop_in_a_loop_have_a_table_of_values():
    inverse = invert(nested, F)
    shapes = [p.domain.dtype.shape for p in inverse.parameters]
    assert (20, 17) in shapes or (20,) in shapes
    assert inverse(nested(3.25), inverse.recover(3.25)) == pytest.approx((3.25,))


def test_there_are_choices_for_as_many_turns_as_may_be_run():
    inverse = choose(folded, F, int, known=("return", "turns"), max_trips=9)
    assert {p.domain.most for p in inverse.parameters} == {9}
    assert inverse(folded(8.5, 9), 9, inverse.recover(8.5, 9)) == pytest.approx((8.5,))
    with pytest.raises(NoSolution, match="max_trips"):
        inverse(1.0, 10, inverse.parameters.default())
    assert len(inverse.parameters.default()[0]) == 0


def test_what_a_turn_only_overwrites_is_chosen_once():
    inverse = MADE[overwritten]
    assert [isinstance(p.domain, Repeated) for p in inverse.parameters] == [False]
    assert inverse((21.0, 40.0), (7.5,)) == (1.0, 7.5)


def test_a_float_that_is_whole_but_for_rounding_is_whole():
    inverse = choose(depreciated, F, F, known=("return", "rate"))
    theta = inverse.recover(4321.5, 0.07)
    assert inverse(depreciated(4321.5, 0.07), 0.07, theta) == pytest.approx((4321.5,))


def test_a_refusal_says_why_a_turn_cannot_be_undone():
    def power(base):
        total = 1
        for i in range(30):
            total = total * base + i
        return total

    with pytest.raises(NotInvertible) as caught:
        invert(power, int)
    assert "base is equal in each iteration" in str(caught.value)


def test_an_inverse_never_runs_for_ever():
    def halved(x):
        while x != 1.0:
            x = x / 2
        return x

    inverse = invert(halved, F, max_trips=50)
    assert "bounded" in inverse.source
    assert inverse(1.0, inverse.recover(2.0**20)) == (2.0**20,)
    with pytest.raises(NoSolution):
        inverse.recover(2.0**60)


def loops(inverse):
    return [s.relation for s in inverse.program.program.statements if isinstance(s.relation, Loop)]


def test_loops_stay_loops():
    assert len(loops(MADE[squared])) == 1
    assert MADE[squared].source.count("for turn in range") == 1


def test_calls_nested_too_deeply_are_refused_by_name():
    space = {}
    calls = [f"def f{i}(x):\n    return f{i - 1}(x)\n" for i in range(1, 200)]
    exec("def f0(x):\n    return x + 1\n" + "".join(calls), space)
    assert invert(space["f20"], float)(3.0) == (2.0,)
    with pytest.raises(NotInvertible, match="f199: its calls are nested too deeply"):
        invert(space["f199"], float)
