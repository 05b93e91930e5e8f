"""Roots and logarithms modulo an integer, against all residues."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inversion import choose, invert
from primitives import Integers, NoSolution
from primitives.errors import TooHard
from primitives.integers.modular_powers import factors, logarithm, roots

LARGE = (2**61 - 1) * (2**31 - 1)


def power(a, e, n):
    try:
        return pow(a, e, n)
    except ValueError:  # no reciprocal
        return None


@given(st.integers(1, 400), st.integers(-4, 12))
@settings(max_examples=200, deadline=None)
def test_all_roots_are_found(n, e):
    by_value = {}
    for a in range(n):
        by_value.setdefault(power(a, e, n), []).append(a)
    for value in range(n):
        assert list(roots(value, e, n)) == by_value.get(value, [])


@given(st.integers(1, 200), st.integers(0, 200))
@settings(max_examples=100, deadline=None)
def test_all_exponents_are_found(n, base):
    for value in range(n):
        wanted = [e for e in range(2 * n + 10) if pow(base, e, n) == value]
        try:
            first, distance = logarithm(base, value, n)
        except NoSolution:
            assert not wanted
            continue
        found = range(first, 2 * n + 10, distance) if distance else [first]
        assert list(found) == wanted


@given(st.integers(1, 10**15))
def test_factors_multiply_to_the_number(n):
    product = 1
    for p, count in factors(n).items():
        product *= p**count
    assert product == n


def test_a_message_is_found_from_its_cipher():
    def cipher(m: int):
        return pow(m, 65537, LARGE)

    found = invert(cipher, domain={"m": Integers(0, LARGE - 1)}).solutions(cipher(987654321))
    assert [branch.point for branch in found] == [(987654321,)]
    assert found.status == "complete"


def test_roots_without_a_domain_repeat_with_the_modulus():
    square = invert(lambda m: pow(m, 2, 15), int)
    within = invert(lambda m: pow(m, 2, 15), int, domain={"m": Integers(-20, 20)})
    assert square(4) == (2,)
    assert square(4, square.recover(-7)) == (-7,)
    with pytest.raises(NoSolution) as caught:
        within(2)
    assert caught.value.proved


def test_exponents_are_found_in_a_domain():
    def raised(k: int):
        return pow(2, k, 2579)

    found = invert(raised, domain={"k": Integers(0, 5200)}).solutions(raised(1000))
    assert [branch.point for branch in found] == [(1000,), (3578,)]
    assert found.status == "complete"


def test_base_and_exponent_are_both_unknown():
    both = choose(lambda a, e: pow(a, e, 101), int, int, known=("return",))
    assert both(pow(7, 5, 101), both.recover(7, 5)) == (7, 5)


def test_what_takes_too_many_steps_is_refused_and_not_denied():
    hard = (2**127 - 1) * (2**89 - 1)
    with pytest.raises(TooHard, match="not factored"):
        roots(3, 3, hard)
    with pytest.raises(TooHard, match="numbered"):
        roots(0, 2, (2**31 - 1) ** 2)
