"""Contraction loses no solution and proves that there is none; pavings cover all solutions."""

import math
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inversion import NoSolution, NotInvertible, WrongArguments, contract, pave, solve
from overlay import Context, MethodTable
from overlay.interpretations.intervals import EMPTY, Interval
from primitives import Bool, Integers


def bent(x, y):
    z = math.exp(x - y) if x > y else x * y + 1
    for i in range(2):
        z = z + math.sin(x) * i
    return z / (2 + y * y), z - x


def wave(x, y):
    return math.sqrt(abs(x)) * math.cos(y) + x**3 / 4 - max(x, y), math.atan(x * y)


@pytest.mark.parametrize("f", [bent, wave])
def test_no_solution_is_lost(f):
    narrower = 0

    @settings(max_examples=15)  # all of them, since they are counted
    @given(st.floats(-3, 3), st.floats(-3, 3), st.floats(0, 2), st.floats(0, 1), st.floats(0, 0.5))
    def check(x, y, size, part, off):
        nonlocal narrower
        boxes = [Interval(v - part * size, v + (1 - part) * size) for v in (x, y)]
        wanted = tuple(Interval(r - off, r + part * off) for r in f(x, y))
        found = contract(f, *boxes, returns=wanted)
        assert x in found[0]
        assert y in found[1]
        narrower += any(one.width < box.width for one, box in zip(found, boxes, strict=True))

    check()
    assert narrower > 2


def test_boxes_get_narrow():
    x, y = contract(lambda x, y: x * y, Interval(2, 10), Interval(0, 10), returns=Interval(30, 40))
    assert x.within(Interval(2.99, 10))
    assert y.within(Interval(2.99, 10))
    assert 3.0 in x
    assert 10.0 in y
    (tail,) = contract(
        statistics.NormalDist(0, 1).cdf, Interval(-10, 10), returns=Interval(0.1, 0.2)
    )
    assert tail.within(Interval(-1.2816, -0.8416))


def test_integers_and_conditions():
    x, n = contract(lambda x, n: x * n, Interval(0.5, 3), Integers(0, 10), returns=Interval(25, 40))
    assert n == Integers(9, 10)
    assert x.within(Interval(2.49, 3))
    inside = contract(lambda x: x * x < 4, Interval(-9, 9), returns=True)
    assert inside[0].within(Interval(-2.001, 2.001))
    assert contract(lambda a, b: a and not b, Bool, Bool, returns=True) == (True, False)
    assert solve(lambda n: n * n - 5 * n, Integers(-99, 99), returns=-6) == [
        (Integers(2, 2),),
        (Integers(3, 3),),
    ]


def square_above(x):
    y = x * x
    return y + 1


def test_that_there_is_none_is_proved_with_the_line():
    with pytest.raises(NoSolution) as caught:
        contract(square_above, Interval(-3, 3), returns=Interval(-2, 0.5))
    line = square_above.__code__.co_firstlineno + 2
    assert caught.value.where.endswith(f"test_constraints.py:{line}")
    with pytest.raises(NoSolution):
        contract(lambda x: 1.0, Interval(0, 1), returns=2.0)
    assert solve(square_above, Interval(-3, 3), returns=0.0) == []
    assert pave(square_above, Interval(-3, 3), returns=0.0) == ([], [])


def test_roots_are_found_one_by_one():
    roots = solve(lambda x: math.sin(x) - x / 3, Interval(-5, 5), returns=0.0)
    assert [round(root.middle, 6) for (root,) in roots] == [-2.278863, 0.0, 2.278863]
    assert all(root.width < 1e-12 for (root,) in roots)
    crossing = solve(
        lambda x, y: (x * x + y * y, x - y), Interval(-5, 5), Interval(-5, 5), returns=(1.0, 0.0)
    )
    side = math.sqrt(0.5)
    assert [(round(x.middle, 9), round(y.middle, 9)) for x, y in crossing] == [
        (round(-side, 9),) * 2,
        (round(side, 9),) * 2,
    ]
    assert all(-side in x or side in x for x, _ in crossing)


def test_a_paving_covers_all_solutions():
    def radius(x, y):
        return x * x + y * y

    square = Interval(0, 2)
    found = pave(radius, square, square, returns=Interval(1, 2), tolerance=0.3)
    assert len(found.inner) > 3
    assert len(found.boundary) > 5
    steps = [i / 10 for i in range(21)]
    for x, y in ((x, y) for x in steps for y in steps):
        covered = [x in box[0] and y in box[1] for part in found for box in part]
        if 1 <= radius(x, y) <= 2:
            assert any(covered), (x, y)
    for box in found.inner:
        for x in (box[0].low, box[0].middle, box[0].high):
            assert 1 <= radius(x, box[1].low) <= 2
    few = pave(radius, square, square, returns=Interval(1, 2), tolerance=1e-6, max_boxes=20)
    assert 10 < len(few.inner) + len(few.boundary) <= 21


def test_a_call_that_may_fail_makes_no_inner_box():
    found = pave(lambda x: math.sqrt(x), Interval(-1, 4), returns=Interval(0, 10), tolerance=0.1)
    assert found.inner
    assert all(box.low >= 0 for (box,) in found.inner)


def test_the_context_says_what_calls_mean():
    table = MethodTable("own")
    table.overlay(math.sin)(lambda x: x + 1)
    (found,) = contract(
        lambda x: math.sin(x), Interval(-9, 9), returns=Interval(4, 5), context=Context(table)
    )
    assert found.within(Interval(2.9, 4.1))


def test_bad_input_is_refused():
    with pytest.raises(NotInvertible, match="of id"):
        contract(lambda x: id(x), Interval(0, 1), returns=Interval(0, 1))
    with pytest.raises(WrongArguments, match="gives 2 results"):
        contract(lambda x: (x, x), Interval(0, 1), returns=Interval(0, 1))
    for box in ("a", EMPTY, None):
        with pytest.raises(WrongArguments, match="the box for argument 1"):
            contract(lambda x: x, box, returns=Interval(0, 1))
    with pytest.raises(WrongArguments, match="1 parameter "):
        contract(lambda x: x, Interval(0, 1), Interval(0, 1), returns=0.0)

    def two(x: float, y: float) -> float:
        return x + y

    with pytest.raises(WrongArguments, match="takes 2 arguments, and 0 sets are given") as caught:
        contract(two, returns=0.0)
    assert "missing: x, y" in str(caught.value)


def test_constants_may_be_rounded_in_any_way():
    def of_constants(x):
        return x * 0 + math.cbrt(0.1) * math.cbrt(0.5) % 2.0

    (found,) = contract(of_constants, Interval(0, 1), returns=of_constants(0.5))
    assert found.equals(Interval(0, 1))
