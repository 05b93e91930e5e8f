"""Functions with two results: quotients with remainders, and decompositions of floats."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inversion import NoSolution, choose, invert
from overlay import OverlayError
from primitives import relation
from tests.examples import examples


def clock(seconds: int):
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return hours, minutes, rest


@given(seconds=st.integers(-(10**6), 10**9))
@settings(max_examples=examples(50))
def test_a_time_of_day_becomes_seconds_again(seconds):
    inverse = invert(clock)
    assert not len(inverse.parameters)
    assert inverse(clock(seconds)) == (seconds,)


def test_a_time_of_day_that_is_none_is_refused():
    for wrong in ((1, 60, 0), (1, 0, -1)):
        with pytest.raises(NoSolution, match="remainder"):
            invert(clock)(wrong)


def test_it_is_compiled():
    fast = invert(clock).compile()
    assert fast((2, 3, 4)) == (7384,)
    with pytest.raises(NoSolution):
        fast((2, 61, 4))


def parts(n):
    return n // 7, n % 7


def test_a_quotient_and_a_remainder_of_the_same_numbers_are_solved_together():
    for kind, value in ((int, 23), (float, 23.25)):
        inverse = invert(parts, kind)
        assert [str(s) for s in inverse.program.program.statements] == [
            f"v1, v2 = divmod(n, {kind(7)!r})"
        ]
        assert inverse(parts(value)) == (value,)


def test_one_result_known_leaves_a_choice():
    inverse = invert(lambda n: divmod(n, 7)[0], int)
    assert inverse(3, inverse.recover(25)) == (25,)
    digits = invert(lambda n: 100 * (n // 7) + n % 7, int)
    assert [branch.point for branch in digits.solutions(305)] == [(26,)]


@given(a=st.integers(-500, 500), b=st.integers(-50, 50).filter(bool))
@settings(max_examples=examples(50))
def test_any_of_its_numbers_is_found_from_the_others(a, b):
    divisor = choose(divmod, int, int, known=("return", "x"))
    assert divisor(divmod(a, b), a, divisor.recover(a, b)) == (b,)
    both = invert(divmod, int, int)
    assert both(divmod(a, b), both.recover(a, b)) == (a, b)


@given(x=st.floats(-1e6, 1e6))
@settings(max_examples=examples(50))
def test_floats_are_put_together_again(x):
    for f in (math.modf, math.frexp):
        inverse = invert(lambda x, f=f: f(x), float)
        assert inverse(f(x))[0] == pytest.approx(x, rel=1e-12, abs=1e-12)


def test_parts_that_belong_to_no_float_are_refused():
    for f, wrong in ((math.modf, (-0.5, 3.0)), (math.frexp, (0.25, 3))):
        with pytest.raises(NoSolution):
            invert(lambda x, f=f: f(x), float)(wrong)


def test_a_relation_with_several_results_has_a_type_for_each():
    with pytest.raises(OverlayError, match="one for each result"):
        relation(divmod, int, int, "q, r = divmod(a, b)", returns=int)
    with pytest.raises(OverlayError, match="cannot read the equation"):
        relation(divmod, int, int, "q, q = divmod(a, b)", returns=(int, int))
