"""Programs over integers, words and truth values are inverted."""

import math
import operator

import numpy as np
import pytest

from inversion import NoSolution, choose, invert
from primitives import Integers
from primitives.integers.bits import bit_count, rotate_left, xorshift_left, xorshift_right
from primitives.integers.ordering import clip

W, S = np.uint64, np.int64
THOUSAND = W(1000)  # to numba, a number that is written out is signed


def gray(n):
    return xorshift_right(n, 1)


def xorshift_64(state):
    """A step of Marsaglia's generator."""
    state = xorshift_left(state, 13)
    state = xorshift_right(state, 7)
    return xorshift_left(state, 17)


def mixed(state):
    return rotate_left(state * 0x9E3779B97F4A7C15, 31) ^ 0xD6E8FEB86659FD93


def minutes(seconds):
    return seconds // 60 % 60


def in_range(x, low, high):
    return (low <= x) & (x < high)


def distance(a, b):
    return abs(a - b)


PROGRAMS = {
    "quotient": (lambda n, m: n // m, (int, int), (-17, 5)),
    "remainder": (lambda n, m: n % m, (int, int), (-17, -5)),
    "minutes": (minutes, (int,), (7384,)),
    "power": (lambda a: a**3 - 2, (int,), (-12,)),
    "logarithm": (lambda k: 3**k, (int,), (20,)),
    "exponent and base": (lambda a, k: a**k, (int, int), (-3, 4)),
    "absolute value": (distance, (int, int), (3, 12)),
    "masks": (lambda a: (a & 0xFF) | 0x100, (int,), (0x1234,)),
    "pixel": (lambda r, g: (r << 8) ^ g, (int, int), (200, 77)),
    "shifts": (lambda a, k: a >> k, (int, int), (-1000, 3)),
    "gray code": (gray, (int,), (37,)),
    "gray code of words": (gray, (W,), (W(2**63 + 37),)),
    "complement": (lambda a: ~a + 1, (int,), (5,)),
    "ones": (lambda a: bit_count(a), (int,), (0b10110,)),
    "smaller": (lambda a, b: min(a, b) + 1, (int, int), (4, 9)),
    "clipped": (lambda a: clip(a, 0, 255), (int,), (300,)),
    "clipped by numpy": (lambda a: np.clip(a, 0, 255), (int,), (-3,)),
    "in range": (in_range, (int, int, int), (4, 2, 4)),
    "equal": (lambda a, b: a == b, (int, int), (4, 5)),
    "truth of a number": (lambda a: not a - 3, (int,), (4,)),
    "truth of a float": (lambda a: bool(a * 2), (float,), (0.5,)),
    "connectives": (lambda p, q: (p & q) | (not p), (bool, bool), (False, True)),
    "number of a truth value": (lambda p: int(p) * 5, (bool,), (True,)),
    "divisor": (lambda a, b: math.gcd(a, b), (int, int), (-12, 18)),
    "factorial": (lambda n: math.factorial(n) - 1, (int,), (9,)),
    "root": (lambda n: math.isqrt(n), (int,), (99,)),
    "binomial": (lambda n: math.comb(n, 3), (int,), (11,)),
    "generator": (xorshift_64, (W,), (W(2**63 + 12345),)),
    "mixed": (mixed, (W,), (W(987654321),)),
    "quotient of words": (lambda a, b: a // b, (S, S), (S(-(2**63)), S(7))),
    "remainder of words": (lambda a: a % THOUSAND, (W,), (W(2**64 - 1),)),
    "words shifted up": (lambda a: a << 5, (S,), (S(-(2**62) + 12345),)),
    "words shifted down": (lambda a: ~(a >> 9), (S,), (S(-(2**62) + 12345),)),
    "order of words": (lambda a, b: a < b, (W, W), (W(2**63), W(2**63 + 1))),
    "bits of words": (lambda a, b: (a & b) | 7, (W, W), (W(2**63 + 9), W(2**64 - 2))),
    "conversion": (lambda n: np.uint64(n) * 3, (int,), (2**63 - 5,)),
    "signs": (lambda a: np.int64(a) // 2, (W,), (W(2**64 - 9),)),
}  # fmt: skip
UNCOMPILED = {"clipped by numpy", "factorial", "root", "binomial"}  # numba lacks these functions


def called(inverse, value, theta):
    return inverse(value, *((theta,) if theta else ()))


@pytest.mark.parametrize("name", PROGRAMS)
def test_recovered_parameters_lead_back_to_the_arguments(name):
    f, types, args = PROGRAMS[name]
    inverse = invert(f, *types)
    theta = inverse.recover(*args)
    with np.errstate(over="ignore"):
        value = f(*args)
    answers = called(inverse, value, theta)
    assert answers == args
    assert all(type(a) is type(b) for a, b in zip(answers, args, strict=True))
    if name not in UNCOMPILED:
        with np.errstate(over="ignore"):
            assert called(inverse.compile(), value, theta) == args


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_answer_gives_the_value_back(name):
    f, types, args = PROGRAMS[name]
    inverse = invert(f, *types)
    rng = np.random.default_rng(0)
    answered = 0
    with np.errstate(over="ignore"):
        value = f(*args)
        for _ in range(40):
            try:
                answers = called(inverse, value, inverse.parameters.sample(rng))
            except NoSolution:
                continue
            assert f(*answers) == value
            answered += 1
    assert answered > 10


def test_bases_and_shifts_follow_from_the_rest():
    base = choose(operator.pow, int, int, known=("return", "b"))
    assert base(-243, 5, (False, 0)) == (-3,)
    places = choose(operator.lshift, int, int, known=("return", "a"))
    assert places(5 << 70, 5, (0,)) == (70,)
    turns = choose(rotate_left, W, W, known=("return", "x"))
    assert turns(W(1), W(2**63), (W(0),)) == (1,)


def test_a_generator_is_run_back_to_its_seed():
    back = invert(xorshift_64, W)
    state = W(88172645463325252)
    with np.errstate(over="ignore"):
        for _ in range(100):
            state = xorshift_64(state)
    for _ in range(100):
        (state,) = back(state)
    assert state == 88172645463325252


def test_what_an_integer_program_never_gives_has_no_solution():
    for f, value, reason in (
        (lambda n: n**2, -4, "an even power is not negative"),
        (lambda n: n**2, 8, "not such a power"),
        (lambda n: n % 7, 7, "between 0 and the divisor"),
        (lambda n: n | 6, 5, "bit that the result lacks"),
        (lambda n: n & 6, 5, "lacks a bit"),
        (lambda n: n << 3, 12, "lowest bits"),
        (lambda n: math.factorial(n), 25, "factorial"),
        (lambda n: abs(n) + 1, 0, "is outside"),
        (lambda n: clip(n, 2, 5), 6, "outside the bounds"),
        (lambda n: math.gcd(n, 12), 5, "not a multiple"),
    ):
        inverse = invert(f, int)
        with pytest.raises(NoSolution, match=reason):
            called(inverse, value, inverse.parameters.default())


def test_a_refusal_of_an_integer_that_is_too_long_to_write_says_so():
    inverse = invert(lambda x: 2 * x, int)
    with pytest.raises(NoSolution, match="thousands of digits"):
        inverse(10**5000 + 1)


MODULO = {
    "a product": (lambda x, y: x * y % 10007, {(0, 1), (10007, 3), (20014, 1)}),
    "a product with common factors": (lambda x, y: x * y % 12, {(4, 1), (6, 5), (0, 7)}),
}


@pytest.mark.parametrize("domain", [{}, {"y": Integers(-300000, 400000)}], ids=["all", "some"])
@pytest.mark.parametrize("name", MODULO)
def test_that_a_congruence_has_no_solution_is_proved_at_once(name, domain):
    f, without = MODULO[name]
    inv = choose(f, int, int, known=("return", "x"), domain=domain)
    for x, remainder in without:
        with pytest.raises(NoSolution) as error:
            inv(remainder, x)
        assert error.value.proved
        assert not list(inv.solutions(remainder, x))
    (y,) = inv(f(5, 3), 5)
    assert f(5, y) == f(5, 3)


OF_INTEGERS = {
    "pronic": (lambda n: n * n + n, (int,)),
    "half": (lambda n: n / 2 + 1, (int,)),
    "larger": (lambda a, b: max(a, b * 2), (int, int)),
    "smaller": (lambda n: min(n, 5) * 3, (int,)),
    "whole part": (lambda x: int(x) + 1, (float,)),
    "triangular": (lambda n: n * (n + 1) // 2, (int,)),
    "product": (lambda a, b: a * b + a, (int, int)),
}
BEYOND = (7, -1, 1e308, 10**400, -(10**400))  # the last two are beyond all floats


@pytest.mark.parametrize("name", OF_INTEGERS)
@pytest.mark.parametrize("target", BEYOND, ids=("7", "-1", "1e308", "10^400", "-10^400"))
def test_integers_beyond_all_floats_are_answered_or_have_no_solution(name, target):
    function, types = OF_INTEGERS[name]
    try:
        found = invert(function, *types)(target)
    except NoSolution:
        return
    assert function(*found) == target


def test_a_result_of_another_length_is_no_solution():
    def halved(h: float) -> list[float]:
        found = []
        while h > 0.5:
            found.append(h)
            h *= 0.5
        return found

    with pytest.raises(NoSolution):
        invert(halved)([0.4])
