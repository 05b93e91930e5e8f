"""Intervals and unions of intervals, of floats and of integers: what they have as members."""

import itertools
import math
import operator
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.sets import EMPTY, Interval, NotAnInterval, add, integer_bounds, number_set

INF = math.inf
OPERATIONS = {
    operator.add: integer_bounds.add,
    operator.sub: integer_bounds.subtract,
    operator.mul: integer_bounds.multiply,
    operator.floordiv: integer_bounds.floor_divide,
    operator.mod: integer_bounds.remainder,
}
pieces = st.tuples(st.integers(-9, 9), st.integers(-9, 9)).map(lambda ends: tuple(sorted(ends)))


def members(piece):
    return range(piece[0], piece[1] + 1)


@pytest.mark.parametrize("operation", OPERATIONS)
@given(one=pieces, other=pieces)
def test_an_enclosure_of_integers_holds_what_the_operation_gives(operation, one, other):
    low, high = OPERATIONS[operation](one, other)
    for a, b in itertools.product(members(one), members(other)):
        if b or operation not in (operator.floordiv, operator.mod):
            assert low <= operation(a, b) <= high


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("far", [10**6, -(10**6)])
@given(one=pieces, other=pieces)
def test_an_infinite_bound_stands_for_any_integer(operation, far, one, other):
    open_end = (one[0], INF) if far > 0 else (-INF, one[1])
    low, high = OPERATIONS[operation](open_end, other)
    for a, b in itertools.product((*one, far), members(other)):
        if b or operation not in (operator.floordiv, operator.mod):
            assert low <= operation(a, b) <= high


@given(piece=pieces)
def test_signs_and_sizes_of_integers(piece):
    first, last = integer_bounds.negative(piece)
    assert {-a for a in members(piece)} == set(range(first, last + 1))
    low, high = integer_bounds.magnitude(piece)
    assert {abs(a) for a in members(piece)} <= set(range(low, high + 1))


@given(one=st.lists(pieces, max_size=4), other=st.lists(pieces, max_size=4))
def test_unions_and_intersections_have_the_members_of_sets(one, other):
    a, b = number_set(one, whole=True), number_set(other, whole=True)
    assert set(a.members()) == {x for piece in one for x in members(piece)}
    assert set(a.meet(b).members()) == set(a.members()) & set(b.members())
    assert set(a.join(b).members()) == set(a.members()) | set(b.members())


@given(one=st.lists(pieces, max_size=4), holes=st.lists(st.integers(-9, 9), max_size=4))
def test_integers_are_taken_out(one, holes):
    found = number_set(one, whole=True)
    assert set(found.without(holes).members()) == set(found.members()) - set(holes)


def test_an_interval_is_the_pair_of_its_bounds():
    assert add(Interval(1, 2), Interval(0, 3)) == (1.0, 5.0)
    assert Interval(0, 2) == Interval(0.0, 2.0)
    assert len({Interval(0, 2), Interval(0, 2), Interval(0, 3)}) == 2
    assert Interval(0, 1).intersection(Interval(2, 3)) == Interval(*EMPTY)
    assert pickle.loads(pickle.dumps(Interval("0.1"))) == Interval("0.1")


def test_an_interval_is_compared_and_joined_with_a_number():
    unit, five = Interval(0, 1), Interval(5)
    assert unit.hull(5) == unit.hull(five) == Interval(0, 5)
    assert unit.intersection(1) == unit.intersection(Interval(1)) == Interval(1)
    assert five.equals(5)
    assert five.within(5)
    assert not unit.within(5)
    with pytest.raises(NotAnInterval, match="bounds are real numbers"):
        unit.hull("five")
