"""Integers multiplied, shifted and reduced, as one relation."""

from hypothesis import given, settings
from hypothesis import strategies as st

from primitives.forms.congruences import congruence
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
