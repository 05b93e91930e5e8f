"""Integers multiplied, shifted and reduced, as one relation."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from primitives.forms.congruences import congruence, congruence_of_product, reciprocal
from primitives.testing import check_relation
from tests.examples import examples


@settings(max_examples=examples(40))
@given(
    factor=st.integers(-50, 50).filter(bool),
    shift=st.integers(-50, 50),
    modulus=st.integers(1, 60),
)
def test_its_laws_hold_for_any_factor_and_modulus(factor, shift, modulus):
    check_relation(congruence(factor, shift, modulus), samples=20)


@settings(max_examples=examples(20))
@given(
    factor=st.integers(-20, 20).filter(bool),
    shift=st.integers(-20, 20),
    modulus=st.integers(1, 60),
)
def test_its_laws_hold_for_products(factor, shift, modulus):
    check_relation(congruence_of_product(factor, shift, modulus), samples=20)


@settings(max_examples=examples(40))
@given(a=st.integers(1, 10**6), n=st.integers(1, 10**6))
def test_a_reciprocal_times_the_number_is_one(a, n):
    if math.gcd(a, n) == 1:
        assert reciprocal(a % n, n) * a % n == 1 % n
