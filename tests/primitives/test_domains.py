"""Domains: membership, samples, intersections and text."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inversion import NoSolution, OutsideDomain, choose, invert
from overlay import OverlayError
from primitives import (
    Bool,
    Integer,
    Integers,
    NonNegative,
    NonZero,
    Positive,
    Real,
    Reals,
)
from primitives.domains import (
    Bytes,
    ByteStrings,
    Complex,
    ComplexNumbers,
    Int64,
    Strings,
    Text,
    WholeFloats,
    Word64,
    common,
    domain_of,
)
from primitives.solver_forms import compiled_solvers

DOMAINS = [
    Real, Positive, NonNegative, NonZero, Reals(-1, 1), Reals(0, 1, open_low=True),
    Reals(-math.inf, 3), Reals(2, math.inf, without=(3.0,)), Reals(1e10, 2e10),
    Integer, Integers(0, 9), Integers(low=5), Integers(high=-5), Integers(without=(0,)),
    Int64, Word64, Bool,
    Integers(0, 3, without=(3,)), Integers(0, 9, without=(0, 4, 5)), Integers(high=3, without=(3,)),
    Integers(5, 2**70), Integers(-(2**70), 2**62, without=(2**62,)), Integers(low=2**63 - 3),
    Integers(0, 9, kind=np.int64), Integers(2**63, 2**64, kind=np.uint64),
    Reals(0, 1, without=(1.0,)), Reals(-1e308, 1e308),
    Reals(1e10, math.inf, open_low=True),
    Reals(0, 1, without=(1.0, math.nextafter(1, 0), 0.0, 5e-324)), Reals(0, 5e-324),
    Reals(0, 1, True, True, without=(0.0, 1.0)), Reals(-math.inf, 1e10, open_high=True),
    WholeFloats(), WholeFloats(-3, 5), WholeFloats(2.5, 8.5), WholeFloats(low=2.5),
]  # fmt: skip
KINDS = (bool, int, float, np.int64, np.uint64)
VALUES = (
    -2.5, -1, 0, 0.0, 1, 1.0, 3.0, 4, 5, 9, 1e10, 2**40, 2**60, 2**61, 2**61 + 1, 2**62 + 1,
    -(2**63), 2**63 - 1, 2**63, 2**64 - 1,
    math.inf, -math.inf, math.nan, False, True,
)  # fmt: skip


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@given(u=st.floats(0, 1))
def test_every_number_of_the_unit_interval_gives_a_member(domain, u):
    member = domain.from_unit(u)
    assert domain.contains(member)
    assert isinstance(member, domain.kind)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@pytest.mark.parametrize("u", [math.nan, -0.5, 1.5, math.inf])
def test_a_number_outside_the_unit_interval_is_refused(domain, u):
    with pytest.raises(OutsideDomain, match="outside"):
        domain.from_unit(u)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_the_closure_contains_the_members_and_of_integers_no_more(domain):
    closure = domain.closure
    drawn = [v.item() for v in domain.sample(np.random.default_rng(0), 50)]
    assert all(map(closure.contains, [domain.default, *domain.edges, *drawn]))
    assert closure.whole is (domain.kind is not float)
    for value in filter(math.isfinite, VALUES):
        if closure.whole and int(value) == value:
            assert closure.contains(value) is bool(domain.contains(int(value))), value
    assert not Bool.closure.contains(2)
    assert Complex.closure is Text.closure is None


WORDS = [
    Text, Strings(low=2), Strings(high=2), Strings("abc"), Strings("ab", 2, 2), Strings("ab", 1, 3),
    Bytes, ByteStrings(2), ByteStrings(high=2), ByteStrings(2, 2), ByteStrings(1, 3),
]  # fmt: skip


@pytest.mark.parametrize("domain", WORDS, ids=repr)
def test_words_are_told_by_their_length_and_letters(domain):
    most = math.inf if domain.high is None else domain.high
    letters = getattr(domain, "alphabet", "")
    for length in range(5):
        for word in {"a" * length, ("abz" * length)[:length], ("zab" * length)[:length]}:
            value = word if domain.kind is str else word.encode()
            expected = domain.low <= length <= most and (not letters or set(word) <= set(letters))
            assert domain.contains(value) is expected
            assert eval(domain.condition("x"), {"x": value}) is expected
            assert not domain.contains(word.encode() if domain.kind is str else word)
    assert dataclasses.replace(domain) == domain
    assert domain.kind is bytes or domain.is_fixed is (domain.low == domain.high)
    for low, high in ((-1, None), (3, 2)):
        with pytest.raises(OverlayError, match="empty"):
            type(domain)(low=low, high=high)
    drawn = domain.sample(np.random.default_rng(0), 50).tolist()
    assert all(map(domain.contains, [domain.default, *domain.edges, *drawn]))
    assert len(set(drawn)) > 1
    lengths = set(map(len, drawn))
    assert min(lengths) == domain.low
    assert max(lengths) == most or domain.high is None


def test_integers_with_holes_are_all_reached_alike():
    domain = Integers(0, 9, without=(0, 4, 5))
    units = (np.arange(700) + 0.5) / 700
    assert np.bincount(domain.spread(units)).tolist() == [0, 100, 100, 100, 0, 0, *[100] * 4]
    assert Integers(0, 3, without=(3,)).sample(np.random.default_rng(0), 1000).max() == 2
    assert Integers(without=(-5, -6, 7)).from_unit(0.5) == 0


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_samples_edges_and_default_are_members(domain):
    rng = np.random.default_rng(0)
    many = domain.sample(rng, 50)
    assert many.dtype == domain.dtype
    members = [domain.sample(rng), domain.default, *domain.edges, *(v.item() for v in many)]
    assert all(domain.contains(member) for member in members)
    assert len(set(many.tolist())) > 1
    if domain.kind is int:
        ends = [end for end in (domain.low, domain.high) if end is not None]
        assert set(domain.edges) >= set(filter(domain.contains, (*ends, 0, 1, -1)))


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_the_condition_in_generated_code_agrees_with_contains(domain):
    for value in VALUES:
        if domain_of(domain.kind).contains(value) or domain.kind is float:
            typed = domain.kind(value)
            condition = eval(domain.condition("x"), {"x": typed, "inf": math.inf})
            assert condition == domain.contains(typed), value


def test_words_beyond_the_exact_floats_are_compared_as_words():
    """numba compares a uint64 and a signed literal as floats: the complement is a large uint64."""
    assert Integers(low=2**53).condition("x", np.uint64) == f"x >= {2**53}"
    for low in (2**53 + 1, 2**54, 2**63 - 1):
        assert Integers(low=low).condition("x", np.uint64) == f"~x <= {2**64 - 1 - low}"


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@pytest.mark.parametrize("kind", KINDS)
def test_the_condition_for_a_type_agrees_with_contains(domain, kind):
    for value in VALUES:
        if not domain_of(kind).contains(value):
            continue
        typed = kind(value)
        condition = eval(domain.condition("x", kind), {"x": typed, "inf": math.inf})
        assert condition == domain.contains(typed), typed


@pytest.mark.parametrize(
    "domain",
    [
        Integer,
        Bool,
        Int64,
        Word64,
        NonZero,
        Reals(0, 4),
        Integers(0, 9, (4,)),
        Integers(2**60 + 1, 2**62, (2**61 + 1,)),
    ],
)
def test_the_condition_is_the_same_in_compiled_code(domain):
    for kind in KINDS:
        names = {"inf": math.inf}
        exec(f"def test(x):\n    return {domain.condition('x', kind)}", names)
        fast = compiled_solvers.jit(names["test"])
        for value in VALUES:
            limit = {int: 2**63, float: 2**53}.get(kind, math.inf)
            exact = math.isnan(value) or abs(value) < limit
            if domain_of(kind).contains(value) and exact:
                assert fast(kind(value)) == domain.contains(value), (kind, value)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_a_total_domain_contains_all_of_its_type(domain):
    every = domain_of(domain.kind)
    assert domain.total == (domain == every)
    assert (domain.condition("x") == "True") == (domain.total and domain is not Real)


@pytest.mark.parametrize("domain", [Complex, ComplexNumbers(nonzero=True), Text], ids=repr)
def test_members_that_are_no_real_numbers_are_sampled(domain):
    found = [domain.from_unit(u) for u in (0.0, 0.25, 0.5, 0.75, 1.0)]
    drawn = list(domain.sample(np.random.default_rng(0), 50))
    members = [*found, *drawn, domain.sample(np.random.default_rng(0)), domain.default]
    assert all(isinstance(member, domain.kind) for member in found)
    assert all(map(domain.contains, [*members, *domain.edges]))
    assert len(set(found)) == 5
    assert len(set(drawn)) > 30
    assert found == [domain.from_unit(u) for u in (0.0, 0.25, 0.5, 0.75, 1.0)]


def test_texts_are_empty_up_to_24_characters_long():
    lengths = set(map(len, Text.sample(np.random.default_rng(0), 1000)))
    assert lengths >= set(range(10))
    assert max(lengths) == 24


def test_complex_numbers_are_finite_and_may_leave_out_zero():
    for value in (0, 0.0, 0j):
        assert Complex.contains(value)
        assert not ComplexNumbers(nonzero=True).contains(value)
    for part in (math.inf, -math.inf, math.nan):
        for value in (complex(part, 1), complex(1, part), part):
            assert not Complex.contains(value)
    assert Complex.total
    assert not ComplexNumbers(nonzero=True).total
    assert Complex.meet(ComplexNumbers(nonzero=True)) == ComplexNumbers(nonzero=True)
    assert Complex.meet(Complex) == Complex
    names = {"inf": math.inf, "x": 0j}
    assert eval(Complex.condition("x"), names)
    assert not eval(ComplexNumbers(nonzero=True).condition("x"), names)


def test_whole_floats_are_finite_without_a_warning():
    with np.errstate(all="raise"):
        for value in (np.float64(math.inf), np.float64(-math.inf), np.float64(math.nan)):
            assert not WholeFloats().contains(value)
    assert WholeFloats().contains(np.float64(2.0**60))


def test_the_default_is_one_in_the_reals_and_zero_in_the_integers_where_it_can_be():
    assert [d.default for d in (Real, NonZero, Reals(0, 0.5), Reals(2, 4))] == [1, 1, 0, 3]
    integers = (Integer, Integers(1, 5), Integers(low=3), Integers(high=-3), Int64)
    assert [d.default for d in integers] == [0, 1, 3, -3, 0]
    assert [d.default for d in (WholeFloats(), WholeFloats(-3, 0), WholeFloats(4))] == [1, 0, 4]
    assert (Bool.default, Complex.default, Text.default) == (False, 1, "")


def test_membership_goes_by_value():
    assert Integer.contains(2.0)
    assert not Integer.contains(2.5)
    assert not Integers(0, 9).contains(11.0)
    assert not Int64.contains(np.float64(2.0**63))
    assert Real.contains(2)
    assert Bool.contains(1.0)
    assert not Bool.contains(2)


@pytest.mark.parametrize("kind", [int, np.int64, np.uint64])
def test_a_declared_range_of_integers_holds(kind):
    domain = Integers(0, 9, without=(4,), kind=kind)
    one, two = kind(1), kind(2)
    inverse = choose(lambda x: x * two, kind, known=("x",), domain={"x": domain})
    for call in (inverse, inverse.compile()):
        assert call(kind(3)) == (6,)
        for outside in (kind(4), kind(10)):
            with pytest.raises(OutsideDomain):
                call(outside)
    backwards = invert(lambda x: x + one, kind, domain={"x": domain})
    for call in (backwards, backwards.compile()):
        assert call(kind(4)) == (3,)
        with pytest.raises(NoSolution):
            call(kind(20))


@pytest.mark.parametrize("domain", [Real, Positive, Reals(0, 1), Integer, Int64, Bool])
@pytest.mark.parametrize("value", [math.nan, math.inf, "1", None, 1j])
def test_what_is_no_number_of_the_type_is_no_member(domain, value):
    assert not domain.contains(value)


def test_all_bits_of_a_word_are_random():
    words = Word64.sample(np.random.default_rng(0), 1000)
    assert 400 < (words % 2).sum() < 600


def test_meet_keeps_what_both_contain():
    assert Real.meet(Positive) == Positive
    assert Reals(-1, 1).meet(Positive) == Reals(0, 1, open_low=True)
    assert NonZero.meet(Reals(-1, 1)) == Reals(-1, 1, without=(0.0,))
    assert Integers(0, 9).meet(Integers(5, 20)) == Integers(5, 9)
    with pytest.raises(OverlayError, match="empty"):
        Reals(0, 1).meet(Reals(2, 3))
    assert Strings("abc", 1, 4).meet(Strings("bcd", 2)) == Strings("bc", 2, 4)
    assert Strings("abc").meet(Text) == Text.meet(Strings("abc")) == Strings("abc")
    assert WholeFloats(0, 9).meet(WholeFloats(5, 20)) == WholeFloats(5, 9)
    assert Reals(0, 9).meet(WholeFloats()) == WholeFloats().meet(Reals(0, 9))
    assert WholeFloats().meet(Reals(0, 8.5, open_low=True)) == WholeFloats(1, 8)
    assert WholeFloats().meet(Reals(-0.5, 9, open_high=True)) == WholeFloats(0, 8)
    assert WholeFloats().meet(Real) == WholeFloats()
    assert common([Real, Positive, Reals(-1, 1)]) == Reals(0, 1, open_low=True)
    for one, other in ((0.2, 0.8), (2, 3)):
        with pytest.raises(OverlayError, match="is empty"):
            WholeFloats(0, 1).meet(Reals(one, other, open_low=True))


@pytest.mark.parametrize("domain", [Real, Integer, Bool, Complex, Text, WholeFloats()], ids=repr)
def test_domains_of_other_types_have_no_members_in_common(domain):
    assert domain.meet(domain) == domain
    for other in (Real, Integer, Int64, Bool, Complex, Text, WholeFloats()):
        if other.kind is not domain.kind:
            with pytest.raises(OverlayError, match="members of different types"):
                domain.meet(other)


def test_domains_print_as_they_are_written():
    assert repr(Reals(-1, 1)) == "Reals(-1.0, 1.0)"
    assert repr(Reals(-math.inf, math.inf)) == "Real"
    assert repr(Integers(0, 9)) == "Integers(0, 9)"


def test_an_empty_interval_is_refused():
    with pytest.raises(OverlayError, match="from 1 to 0 is empty"):
        Reals(1, 0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Reals(0, 5e-324, True, True),
        lambda: Reals(0, 5e-324, without=(0.0, 5e-324)),
        lambda: Reals(1, 1, open_low=True),
        lambda: Reals(math.nan, 1),
        lambda: Integers(5, 1),
        lambda: Integers(1, 2, without=(1, 2, 3)),
        lambda: Integers(0, 9).meet(Integers(10)),
        lambda: Integers(2**63, 2**64, kind=np.int64),
        lambda: WholeFloats(1, 0),
        lambda: WholeFloats(0.2, 0.8),
    ],
)
def test_a_domain_without_members_is_refused(make):
    with pytest.raises(OverlayError, match="is empty"):
        make()


def test_a_single_point_is_a_domain():
    assert Reals(0, 1).meet(Reals(1, 2)) == Reals(1, 1)
    assert Reals(1, 1).from_unit(0.3) == Reals(1, 1).default == 1.0
    assert Integers(5, 9, without=(5, 9)).default in (6, 7, 8)


def test_integers_beyond_64_bits_are_members_but_not_sampled():
    beyond = Integers(2**70, 2**71)
    assert beyond.contains(2**70 + 1)
    last = Integers(low=2**63 - 1, without=(2**63 - 1,))
    assert last.contains(2**63)
    for domain in (beyond, last):
        with pytest.raises(OverlayError, match="no members of 64 bits"):
            domain.from_unit(0.5)


def test_types_have_domains():
    assert domain_of(float) is domain_of(np.float64) is Real
    assert domain_of(bool) is Bool
    assert domain_of(np.uint64) is Word64
    assert domain_of(bytearray) is None
