"""Programs that other inverters cannot invert, or invert wrongly in silence."""

import math

import numpy as np
import pytest

from inversion import NoSolution, invert

MATRIX = np.array([[2.0, 1.0], [1.0, 3.0]])
PAIR, TRIPLE = np.ones(2), np.ones(3)


def branching(x):
    return x * 2 if x > 0 else x - 1


def scanned(x):
    total = 0.0
    for _ in range(20):
        total = total + x * 0.5
        x = x * 1.1
    return total, x


def counted(x):
    for i in range(5):
        x = x * 1.5 + i
    return x


def halved(x):
    while x > 1.0:
        x = x / 2
    return x


def unrolled(x):
    for w in (1.0, 2.0, 3.0):
        x = x * w + 1
    return x


def arm(a, b):
    return math.cos(a) + math.cos(a + b), math.sin(a) + math.sin(a + b)


def generator(s):
    return (1664525 * s + 1013904223) % 2**32


SOLVED = {
    "a sum of two unknowns": (lambda x, y: x + y, (float, float)),
    "a product of two unknowns": (lambda x, y: x * y, (float, float)),
    "sum and difference": (lambda x, y: (x + y, x - y), (float, float)),
    "x * x + x": (lambda x: x * x + x, (float,)),
    "x + x": (lambda x: x + x, (float,)),
    "x * exp(x)": (lambda x: x * math.exp(x), (float,)),
    "a / b + a beside b": (lambda a, b: (a / b + a, b), (float, float)),
    "a / b + a beside a": (lambda a, b: (a / b + a, a), (float, float)),
    "x * y + y beside y": (lambda x, y: (x * y + y, y), (float, float)),
    "tanh": (lambda x: math.tanh(x), (float,)),
    "abs": (lambda x: abs(x), (float,)),
    "max": (lambda x, y: max(x, y), (float, float)),
    "floor": (lambda x: math.floor(x), (float,)),
    "where": (lambda c, x, y: np.where(c, x, y), (bool, float, float)),
    "where, of one number": (lambda x: np.where(x > 0, 2 * x, x), (float,)),
    "xor": (lambda a, b: a ^ b, (int, int)),
    "sum": (lambda v: np.sum(v), (TRIPLE,)),
    "a constant matrix": (lambda v: MATRIX @ v, (PAIR,)),
    "a branch": (branching, (float,)),
    "a scan": (scanned, (float,)),
    "a loop": (counted, (float,)),
    "a while loop": (halved, (float,)),
    "a loop written out": (unrolled, (float,)),
    "x**2": (lambda x: x**2, (float,)),
    "x**3": (lambda x: x**3, (float,)),
    "sin": (lambda x: math.sin(x), (float,)),
    "3 * x": (lambda x: 3 * x, (int,)),
    "0 * x": (lambda x: x * 0, (float,)),
    "a step of a generator": (generator, (int,)),
    "x**5 - x": (lambda x: x**5 - x, (float,)),
    "x + sin(x)": (lambda x: x + math.sin(x), (float,)),
    "an arm of two links": (arm, (float, float)),
    "softplus": (lambda x: math.log1p(math.exp(x)), (float,)),
    "expm1 cubed": (lambda x: math.expm1(x / 3) ** 3, (float,)),
}


def drawn(kind, rng):
    if isinstance(kind, np.ndarray):
        return rng.uniform(-3, 3, kind.shape)
    if kind is bool:
        return bool(rng.integers(2))
    return int(rng.integers(1000)) if kind is int else rng.uniform(-3, 3)


def flat(value):
    parts = map(flat, value) if isinstance(value, tuple) else [np.ravel(value)]
    return np.concatenate([*parts])


def close(found, wanted):
    return np.allclose(flat(found), flat(wanted), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", SOLVED)
def test_it_is_solved_and_each_argument_is_reached(name):
    f, kinds = SOLVED[name]
    inverse, rng = invert(f, *kinds), np.random.default_rng(0)
    solved = 0
    for _ in range(20):
        args = [drawn(kind, rng) for kind in kinds]
        wanted, theta = f(*args), inverse.recover(*args)
        answer = inverse(wanted, *((theta,) if theta else ()))
        assert close(answer, args)
        other = inverse.parameters.sample(rng)
        try:
            answer = inverse(wanted, *((other,) if other else ()))
        except NoSolution:
            continue
        assert close(f(*answer), wanted)
        solved += 1
    assert solved >= 10


def test_no_branch_is_lost():
    square = invert(lambda x: x**2, float)
    assert sorted(b.point[0] for b in square.solutions(4.0)) == [-2.0, 2.0]
    sine = invert(lambda x: math.sin(x), float)
    assert sine(0.5, (0,))[0] == pytest.approx(math.pi / 6)
    assert sine(0.5, (1,))[0] == pytest.approx(5 * math.pi / 6)
    quintic = invert(lambda x: x**5 - x, float)
    assert sorted(b.point[0] for b in quintic.solutions(0.0)) == pytest.approx([-1, 0, 1])
    quadratic = invert(lambda x: x * x + x, float)
    assert sorted(b.point[0] for b in quadratic.solutions(6.0)) == [-3.0, 2.0]


@pytest.mark.parametrize(
    ("f", "kind", "value", "why"),
    [
        (lambda x: math.sqrt(x), float, -1.0, "outside|range"),
        (lambda x: 3 * x, int, 10, "multiple"),
        (lambda x: math.sin(x), float, 2.0, "outside|range"),
        (lambda x: math.exp(x), float, -1.0, "outside"),
        (lambda x: x * 0, float, 3.0, "product with 0"),
        (lambda x: math.tanh(x), float, 2.0, "outside|range"),
    ],
)
def test_a_value_that_nothing_leads_to_is_refused(f, kind, value, why):
    inverse = invert(f, kind)
    theta = inverse.parameters.default()
    with pytest.raises(NoSolution, match=why):
        inverse(value, *((theta,) if theta else ()))


def test_roots_of_negative_numbers_are_right():
    assert invert(lambda x: x**3, float)(-8.0) == (-2.0,)


def test_a_generator_runs_backwards_in_its_own_range():
    for step in (generator, lambda s: (1664525 * s + 1013904223) & 0xFFFFFFFF):
        inverse = invert(step, int)
        assert inverse(step(12345), (0,)) == (12345,)
        assert inverse(step(12345), (-1,)) == (12345 - 2**32,)
        assert inverse.recover(2**40 + 5) == (2**8,)
