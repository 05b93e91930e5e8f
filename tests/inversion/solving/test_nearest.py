"""The solution that is closest to given arguments."""

import math
import random

import numpy as np
import pytest

from inversion import NoSolution, WrongArguments, choose, invert
from primitives import Reals

F = float


def scaled(found, guess):
    return math.hypot(*((x - g) / max(1.0, abs(g)) for x, g in zip(found, guess, strict=True)))


@pytest.mark.parametrize(
    ("f", "kind", "value", "guess", "wanted"),
    [
        (lambda x: x * x, F, 4.0, -3.0, -2.0),
        (lambda x: math.sin(x), F, 0.5, 100.0, 32 * math.pi + math.pi / 6),
        (lambda x: math.sin(x), F, 0.5, -100.0, -32 * math.pi + math.pi / 6),
        (lambda x: x * math.exp(x), F, -0.2, -3.0, -2.5426413577735265),
        (lambda x: x * math.exp(x), F, -0.2, 1.0, -0.2591711018190738),
        (lambda x: x**3 - x, F, 0.0, 0.4, 0.0),
        (lambda n: n % 7, int, 3, 1_000_001, 1_000_002),
        (lambda n: n // 7, int, 3, 1_000_001, 27),
        (lambda n: n & 0xFF0, int, 0x120, 5000, 0x112F),
        (lambda x: (x if x > 0 else -2 * x) + 1, F, 3.0, -7.0, -1.0),
    ],
)
def test_the_closest_of_discrete_solutions_is_found(f, kind, value, guess, wanted):
    assert invert(f, kind).nearest(value, guess) == (pytest.approx(wanted),)


def test_the_closest_pair_of_factors():
    inverse = invert(lambda a, b: a * b, int, int)
    rng = random.Random(0)
    for _ in range(20):
        value, guess = rng.randint(1, 60), (rng.randint(-20, 20), rng.randint(-20, 20))
        found = inverse.nearest(value, guess)
        divisors = [d for d in range(-value, value + 1) if d and value % d == 0]
        best = min(scaled((d, value // d), guess) for d in divisors)
        assert math.isclose(scaled(found, guess), best)


def test_along_continuous_parameters_the_distance_goes_down():
    total = invert(lambda x, y: x + y, F, F)
    assert total.nearest(4.0, (1.0, 1.0)) == pytest.approx((2.0, 2.0), abs=1e-6)
    circle = invert(lambda x, y: x * x + y * y, F, F)
    assert circle.nearest(1.0, (0.6, -0.8)) == pytest.approx((0.6, -0.8), abs=1e-6)
    near = circle.nearest(4.0, (0.3, 0.4))
    assert near == pytest.approx((1.2, 1.6), abs=1e-5)  # on the ray through the guess


def test_it_is_never_further_than_what_the_coordinates_of_the_guess_lead_to():
    def f(a, b, c):
        return math.sin(a) + 0.8 * math.sin(a + b) + 0.5 * math.sin(a + b + c)

    inverse = invert(f, F, F, F)
    rng, closer = np.random.default_rng(0), 0
    for _ in range(6):
        guess = tuple(rng.uniform(-0.6, 0.6, 3))
        value = f(*guess) + rng.uniform(-0.02, 0.02)
        found = inverse.nearest(value, guess)
        assert math.isclose(f(*found), value, rel_tol=1e-8, abs_tol=1e-11)
        first = inverse(value, inverse.recover(*guess))
        assert scaled(found, guess) <= scaled(first, guess)
        closer += scaled(found, guess) < 0.99 * scaled(first, guess)
    assert closer


def test_a_solution_is_its_own_nearest():
    inverse = invert(lambda x, y: math.exp(x) * math.sin(y), F, F)
    args = (0.3, 2.0)
    value = math.exp(args[0]) * math.sin(args[1])
    assert inverse.nearest(value, args) == pytest.approx(args, rel=1e-9)


def test_answers_stay_in_declared_domains_and_known_axes_are_kept():
    inside = invert(lambda x: x * x, F, domain={"x": Reals(0, 10)})
    assert inside.nearest(4.0, -3.0) == (2.0,)
    leg = choose(lambda a, b: math.hypot(a, b), F, F, known=("return", "a"))
    assert leg.nearest(5.0, 3.0, -1.0) == pytest.approx((-4.0,))


def test_where_there_is_no_solution_that_is_proven():
    with pytest.raises(NoSolution, match="whatever θ"):
        invert(lambda x: math.exp(x), F).nearest(-1.0, 0.0)


def test_a_guess_is_like_an_answer():
    inverse = invert(lambda x, y: x + y, F, F)
    with pytest.raises(WrongArguments, match="does not have one value for each of x, y"):
        inverse.nearest(1.0, (1.0,))
    with pytest.raises(WrongArguments, match="each known axis"):
        inverse.nearest(1.0, 2.0, (1.0, 2.0))
