"""Domains contain, sample, meet, and print."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay import OverlayError
from primitives import (
    Bool,
    Integer,
    Integers,
    Interval,
    NonNegative,
    NonZero,
    Positive,
    Real,
)
from primitives.domains import Int64, Word64, domain_of

DOMAINS = [
    Real, Positive, NonNegative, NonZero, Interval(-1, 1), Interval(0, 1, open_low=True),
    Interval(-math.inf, 3), Interval(2, math.inf, without=(3.0,)), Interval(1e10, 2e10),
    Integer, Integers(0, 9), Integers(low=5), Integers(high=-5), Integers(without=(0,)),
    Int64, Word64, Bool,
]  # fmt: skip


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@given(u=st.floats(0, 1))
def test_every_number_of_the_unit_interval_gives_a_member(domain, u):
    member = domain.from_unit(u)
    assert domain.contains(member)
    assert isinstance(member, domain.kind)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_samples_edges_and_default_are_members(domain):
    rng = np.random.default_rng(0)
    many = domain.sample(rng, 50)
    assert many.dtype == domain.dtype
    members = [domain.sample(rng), domain.default, *domain.edges, *(v.item() for v in many)]
    assert all(domain.contains(member) for member in members)
    assert len(set(many.tolist())) > 1


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_the_condition_in_generated_code_agrees_with_contains(domain):
    for value in (-2.5, -1, 0, 0.0, 1, 1.0, 3.0, 5, 9, 1e10, math.inf, -math.inf, math.nan):
        if isinstance(value, int) == (domain.kind is not float) and domain.kind in (int, float):
            condition = eval(domain.condition("x"), {"x": value, "inf": math.inf})
            assert condition == domain.contains(value)


@pytest.mark.parametrize("domain", [Real, Positive, Interval(0, 1), Integer, Int64, Bool])
@pytest.mark.parametrize("value", [math.nan, math.inf, "1", None, 1j])
def test_what_is_no_number_of_the_type_is_no_member(domain, value):
    assert not domain.contains(value)


def test_all_bits_of_a_word_are_random():
    words = Word64.sample(np.random.default_rng(0), 1000)
    assert 400 < (words % 2).sum() < 600


def test_meet_keeps_what_both_contain():
    assert Real.meet(Positive) == Positive
    assert Interval(-1, 1).meet(Positive) == Interval(0, 1, open_low=True)
    assert NonZero.meet(Interval(-1, 1)) == Interval(-1, 1, without=(0.0,))
    assert Integers(0, 9).meet(Integers(5, 20)) == Integers(5, 9)
    with pytest.raises(OverlayError, match="empty"):
        Interval(0, 1).meet(Interval(2, 3))
    with pytest.raises(OverlayError, match="one type"):
        Real.meet(Integer)


def test_domains_print_as_they_are_written():
    assert repr(Interval(-1, 1)) == "Interval(-1.0, 1.0)"
    assert repr(Interval(-math.inf, math.inf)) == "Real"
    assert repr(Integers(0, 9)) == "Integers(0, 9)"


def test_an_empty_interval_is_refused():
    with pytest.raises(OverlayError, match="from 1 to 0 is empty"):
        Interval(1, 0)


def test_types_have_domains():
    assert domain_of(float) is domain_of(np.float64) is Real
    assert domain_of(bool) is Bool
    assert domain_of(np.uint64) is Word64
    assert domain_of(str) is None
