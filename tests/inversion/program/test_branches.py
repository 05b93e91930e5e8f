"""Programs that branch: each arm is inverted, the condition is checked, and θ ranks the arms."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from inversion import NoSolution, NotInvertible, choose, invert

F = float
RNG = np.random.default_rng(0)
NUMBERS = st.floats(-50, 50).map(lambda x: round(x, 3))


def two_arms(x):
    if x > 0:  # noqa: SIM108
        y = 2 * x + 1
    else:
        y = x - 3
    return y


def early_return(x, y):
    if x < 0:
        return x * y
    z = x + y
    if z > 10:
        return z * 2
    return z - 1


def ternary(x):
    return (x if x > 1 else 2 - x) + 5


def chained(x):
    return x * 3 if 0 < x <= 5 else x - 20


def either(x, y):
    if x > 0 and y > 0:
        return x + y, x - y
    if x > 0 or y > 0:
        return x - y, y
    return x, y


def nested(x, y):
    if x > y:
        if x > 10:  # noqa: SIM108
            t = x - y
        else:
            t = x + y
        t = t * 2
    else:
        t = y
    return t + 1, y


def helper(t):
    return t + 1 if t > 0 else t - 1


def with_a_helper(x):
    return 3 * helper(x - 2)


def above(x):
    if x < -100:
        raise ValueError("too low")
    return x * 2


def of_int(n):
    return 2 * n if n > 3 else n - 100


def goes_on(x):
    y = 2 * x if x > 3 else x * x
    return y + x


def crossing(x, y):
    a = x if x > y else y
    b = x + y if x < 5 else x - y
    return a + b, a - 2 * b + x


class Point(NamedTuple):
    x: float
    y: float


def mirrored(p: Point) -> Point:
    if p.x < p.y:
        return Point(p.y, p.x + 1)
    return Point(x=p.x, y=p.y - 1)


PROGRAMS = [two_arms, early_return, ternary, chained, either, nested, with_a_helper, above]
PROGRAMS += [goes_on, crossing]
MADE = {f: invert(f, *[F] * f.__code__.co_argcount) for f in PROGRAMS}


@pytest.mark.parametrize("f", PROGRAMS)
@given(st.data())
def test_what_recover_finds_leads_back(f, data):
    args = tuple(data.draw(NUMBERS) for _ in range(f.__code__.co_argcount))
    assume(len(set(args)) == len(args))  # where a condition just holds, rounding may end that
    inverse, value = MADE[f], f(*args)
    theta = inverse.recover(*args)
    found = inverse(value, theta) if theta else inverse(value)
    assert found == pytest.approx(args, abs=1e-9)


@pytest.mark.parametrize("f", PROGRAMS)
@given(st.data())
def test_every_answer_leads_to_the_value(f, data):
    args = tuple(data.draw(NUMBERS) for _ in range(f.__code__.co_argcount))
    inverse, value = MADE[f], f(*args)
    units = [data.draw(st.floats(0.01, 0.99)) for _ in inverse.parameters]
    theta = inverse.parameters.from_unit(units)
    try:
        found = inverse(value, theta) if theta else inverse(value)
    except NoSolution:
        return
    assert f(*found) == pytest.approx(value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("f", PROGRAMS)
def test_compiled_inverses_answer_alike(f):
    inverse = MADE[f]
    fast = inverse.compile()
    for args in [(2.0, 1.5), (-3.0, 4.0), (0.25, 0.5), (12.0, 4.0)]:
        args = args[: f.__code__.co_argcount]
        value, theta = f(*args), inverse.recover(*args)
        assert fast(value, *([theta] if theta else [])) == pytest.approx(args, abs=1e-9)


def test_what_shares_variables_with_a_branch_is_gathered_into_its_arms():
    inverse = MADE[goes_on]
    assert inverse.parameters.names[0] == "then_x"
    assert "find_root" not in inverse.source
    assert inverse(15.0, inverse.parameters.default())[0] == 5.0
    roots = {inverse(2.0, theta)[0] for theta in inverse.parameters.sample(RNG, 20)}
    assert roots == {1.0, -2.0}


def test_theta_ranks_the_arms_and_the_first_that_can_be_is_taken():
    inverse = invert(two_arms, F)
    assert inverse.parameters.names == ("then_x",)
    assert inverse(5.0, (True,)) == inverse(5.0, (False,)) == (2.0,)
    assert inverse(-4.0, (True,)) == (-1.0,)
    both = invert(lambda x: x if x > 0 else -x, F)
    assert both(3.0, (True,)) == (3.0,)
    assert both(3.0, (False,)) == (-3.0,)


def test_where_no_arm_leads_there_each_says_why():
    with pytest.raises(NoSolution) as caught:
        invert(two_arms, F)(0.0, (True,))
    text = str(caught.value)
    assert text.count("the condition leads to another branch") == 2  # 3 and -0.5 take the other
    assert "tried then" in text


def test_what_must_not_raise_is_a_condition():
    inverse = invert(above, F)
    assert inverse(-200.0) == (-100.0,)
    with pytest.raises(NoSolution, match="too low"):
        inverse(-202.0)


def test_integers_are_exact():
    inverse = invert(of_int, int)
    assert inverse(8, (True,)) == (4,)
    assert inverse(-97, (True,)) == (3,)
    with pytest.raises(NoSolution):
        inverse(7, (True,))


def test_named_tuples_go_in_and_come_out():
    inverse = invert(mirrored)
    for p in (Point(1.0, 2.0), Point(3.0, 2.0)):
        assert inverse(mirrored(p), inverse.recover(p)) == (p,)
        assert inverse.compile()(mirrored(p), inverse.recover(p)) == (p,)
    assert inverse.parameters.names == ("then_p_x_p_y",)


def test_tuples_are_known_as_a_whole():
    def turn(a: float, xy: tuple[float, float]):
        x, y = xy
        return x * math.cos(a) - y * math.sin(a), x * math.sin(a) + y * math.cos(a)

    inverse = choose(turn, known=("return", "a"))
    (found,) = inverse(turn(0.3, (1.0, 2.0)), 0.3, inverse.recover(0.3, (1.0, 2.0)))
    assert found == pytest.approx((1.0, 2.0))


def test_a_flag_that_chooses_the_arm_is_found_with_the_rest():
    def f(flag: bool, x: float):
        return x + 1 if flag else x * 2

    inverse = invert(f)
    assert inverse(5.0, inverse.recover(True, 4.0)) == (True, 4.0)
    assert inverse(5.0, inverse.recover(False, 2.5)) == (False, 2.5)
    by_flag = choose(f, known=("return", "flag"))
    assert by_flag(5.0, False, by_flag.recover(False, 2.5)) == (2.5,)
    assert by_flag(5.0, True, by_flag.recover(True, 4.0)) == (4.0,)


def test_too_many_ways_are_refused():
    lines = "\n".join(f"    x = x + {i} if x > {i} else x * 2" for i in range(9))
    names = {}
    many = "\n".join(f"    if x > {i}:\n        return x + {i}" for i in range(600))
    exec(f"def few(x):\n{lines}\n    return x\ndef many(x):\n{many}\n    return x\n", names)
    inverse = invert(names["few"], F)
    assert inverse(names["few"](4.0), inverse.recover(4.0)) == pytest.approx((4.0,))
    with pytest.raises(NotInvertible, match="64 times in a row"):
        invert(names["many"], F)


# ---- conditions as equations --------------------------------------------------------------


def test_a_condition_is_solved_for_what_nothing_else_determines():
    inverse = invert(lambda n: 1 if n > 3 else 2, int)
    for excess in (0, 1, 40):
        assert inverse(1, (excess,)) == (4 + excess,)
        assert inverse(2, (excess,)) == (3 - excess,)


def test_a_condition_on_what_an_arm_determines_is_checked():
    inverse = invert(of_int, int)
    assert inverse.parameters.names == ("then_n",)
    both = invert(lambda n, m: n + m if n - m > 2 else n * m, int, int)
    assert both.recover(9, 4) is not None
    assert both(13, both.recover(9, 4)) == (9, 4)
    assert both(12, both.recover(4, 3)) == (4, 3)


def test_what_a_loop_gives_to_two_branches_stays_outside_of_both():
    def f(x, y):
        for _ in range(20):
            x, y = x + y, y * 1.01
        if x > 1.0:
            x = x * 2 - 1
        if x > 50.0:
            return x
        return y

    inverse = invert(f, float, float)
    for args in ((0.5, 0.25), (30.0, 4.0), (-90.0, 0.5)):
        assert inverse(f(*args), inverse.recover(*args)) == pytest.approx(args, rel=1e-6)
