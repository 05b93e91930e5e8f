"""Inversion by overlays alone, and its agreement with the planner."""

import math

import pytest

from inversion import NoSolution, NotInvertible, WrongArguments, invert
from inversion.minimal import run_backwards

PROGRAMS = {
    "affine": (lambda x: 2 * x + 3, (), (1.5,)),
    "chain": (lambda x: math.sqrt(math.exp(x) + 1) / 2, (), (0.5,)),
    "negation": (lambda x: 3 / -x, (), (-2.0,)),
    "two inputs": (lambda x, y: x * 3 - y, (1.0,), (2.0, 1.0)),
    "nested": (lambda x, y, z: math.exp(x) * y - z / 2, (3.0, 0.5), (1.0, 0.5, 3.0)),
    "branches": (lambda x, y: math.sin(x) + math.cos(y), (0.1, -1, 2), (1.0, 2.0)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_value_comes_back(name):
    f, theta, args = PROGRAMS[name]
    value = f(*args)
    found = run_backwards(f, value, theta, inputs=len(args))
    assert f(*found) == pytest.approx(value)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_planner_agrees_with_it(name):
    f, theta, args = PROGRAMS[name]
    planned = invert(f, *[float] * len(args))
    found = run_backwards(f, f(*args), theta, inputs=len(args))
    recovered = planned.recover(*found)
    answer = planned(f(*args), *((recovered,) if recovered else ()))
    assert answer == pytest.approx(found, rel=1e-9)


def test_an_argument_used_twice_is_refused_unless_both_uses_agree():
    with pytest.raises(NotInvertible, match="used twice"):
        run_backwards(lambda x: x + x * 3, 5.0, (1.0,))
    assert run_backwards(lambda x: x + x, 6.0, (3.0,)) == (3.0,)
    assert invert(lambda x: x + x * 3, float)(5.0) == (1.25,)


def test_what_it_cannot_do_is_refused():
    with pytest.raises(NotInvertible, match="no rule"):
        run_backwards(lambda x: x**2, 4.0)
    with pytest.raises(NotInvertible, match="does not depend"):
        run_backwards(lambda x: 7.0, 7.0)
    with pytest.raises(NoSolution, match=r"-1\.0 has no solution"):
        run_backwards(lambda x: math.exp(x), -1.0)
    with pytest.raises(NoSolution, match="lost digits"):
        run_backwards(lambda x, y: x + y, 5.0, (1e30,), inputs=2)
    with pytest.raises(WrongArguments, match="too short"):
        run_backwards(lambda x, y: x + y, 5.0, inputs=2)
