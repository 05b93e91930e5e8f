"""Domains of parameters are restricted to values that some run of the program has."""

import math

import numpy as np

from inversion import choose, invert
from primitives import Bool, Integers, Real, Reals


def domains(inverse):
    return {p.name: p.domain for p in inverse.parameters}


def test_a_branch_that_no_run_takes_is_no_choice():
    # a cosine is at most 1: its cosine is on two branches, its sine on one
    assert domains(invert(lambda x: math.cos(math.cos(x)), float)) == {
        "branch_of_cos_cos": Integers(-1, 0),
        "branch_of_cos_x": domains(invert(math.cos, float))["branch_of_cos"],
    }
    assert list(domains(invert(lambda x: math.sin(math.cos(x)), float))) == ["branch_of_cos"]
    (domain,) = domains(invert(lambda x: math.sin(3 * math.exp(x)), float)).values()
    assert domain == Integers(0)


def test_a_sign_that_is_known_is_no_choice():
    def square(x):
        return x * x

    assert len(invert(lambda x: square(math.exp(x)), float).parameters) == 0
    assert domains(invert(lambda x: square(math.exp(x) - 5), float)) == {
        "negative_difference": Bool
    }


def test_a_free_variable_stays_where_the_program_has_values():
    space = domains(invert(lambda x, y: math.sqrt(2 - x) + y, float, float))
    assert space["x"] != Real
    assert isinstance(space["x"], Reals)
    assert 2 <= space["x"].high < 2.001


def test_every_argument_is_still_reached():
    def f(x, y):
        return math.sin(math.cos(x) * 3.5) + math.sqrt(4 - y * y)

    inverse, rng = invert(f, float, float), np.random.default_rng(0)
    for _ in range(20):
        args = float(rng.uniform(-9, 9)), float(rng.uniform(-2, 2))
        assert np.allclose(inverse(f(*args), inverse.recover(*args)), args, rtol=1e-6)


def feedback(register: int):
    for _ in range(24):
        low, register = register & 1, register >> 1
        if low:
            register = register ^ 0xB4BCD3
    return register


def test_a_bit_that_a_branch_is_about_is_known_in_it():
    inverse = invert(feedback)
    (parameter,) = inverse.parameters
    assert parameter.domain.each == Bool  # which arm, and nothing besides
    value = feedback(0x123456)
    assert inverse(value, inverse.recover(0x123456)) == (0x123456,)
    for theta in inverse.parameters.sample(np.random.default_rng(0), 10):
        assert feedback(*inverse(value, theta)) == value


def test_shifts_and_masks_of_the_same_integer_are_a_division():
    def halves(n: int):
        return n >> 8, n & 0xFF

    inverse = invert(halves)
    assert len(inverse.parameters) == 0
    assert "divmod(n, 256)" in str(inverse)
    for n in (0x1234, -0x1234):
        assert inverse(halves(n)) == (n,)


def product(x: float, y: float):
    return x * y


def test_a_declared_domain_leaves_no_choice_where_it_decides_it():
    assert len(choose(product, known=("return", "x")).parameters) == 1
    narrow = choose(product, known=("return", "x"), domain={"x": Reals(1, 2)})
    assert len(narrow.parameters) == 0
    assert narrow(6.0, 2.0) == (3.0,)
    through_0 = choose(product, known=("return", "x"), domain={"x": Reals(-1, 2)})
    assert len(through_0.parameters) == 1


def test_a_number_of_periods_that_a_domain_fixes_is_no_choice():
    def wrapped(n: int):
        return (n + 7) % 100

    clock = {"n": Integers(100, 180)}
    inverse = invert(wrapped, domain=clock)
    assert [inverse(wrapped(n)) for n in (100, 180)] == [(100,), (180,)]
    assert len(inverse.parameters) == 0
    (parameter,) = invert(wrapped, domain={"n": Integers(0, 300)}).parameters
    assert parameter.domain == Integers(0, 3)
    sine = invert(lambda x: math.sin(x), float, domain={"x": Reals(5.0, 7.0)})
    assert len(sine.parameters) == 0
    assert math.isclose(sine(math.sin(6.0))[0], 6.0)
