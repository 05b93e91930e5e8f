"""Intervals: every value of a run lies in what the analysis found."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.analysis import Interpreter, Intervals, Number, floats, integers
from overlay.analysis.abstract_values import BOTTOM, FLOAT, INT, NUMBER, TOP, number
from overlay.core.errors import NotCompilable


def result_of(function: Any, *args: Any) -> Any:
    return Interpreter(Intervals()).run(function, *args).result


# ---- the lattice --------------------------------------------------------------------------

bounds = st.integers(-5, 5) | st.sampled_from([math.inf, -math.inf])


@st.composite
def intervals(draw: Any) -> Any:
    low, high = sorted((draw(bounds), draw(bounds)))
    if low == math.inf or high == -math.inf:
        return BOTTOM
    return integers(low, high)


anything = intervals() | st.sampled_from([TOP, BOTTOM, INT, FLOAT, NUMBER, floats(0.0, 1.0)])


@given(anything, anything, anything)
def test_join_is_the_least_value_above_both(a: Any, b: Any, c: Any) -> None:
    domain = Intervals()
    joined = domain.join(a, b)
    assert domain.is_below(a, joined)
    assert domain.is_below(b, joined)
    assert domain.is_below(a, domain.widen(a, b))
    assert domain.is_below(b, domain.widen(a, b))
    assert domain.join(joined, c) == domain.join(a, domain.join(b, c))
    if domain.is_below(a, c) and domain.is_below(b, c):
        assert domain.is_below(joined, c)


@given(st.lists(intervals(), min_size=1, max_size=30))
def test_widening_comes_to_an_end(values: list[Any]) -> None:
    domain, value, changes = Intervals(), BOTTOM, 0
    for each in values:
        wider = domain.widen(value, each)
        changes += wider != value
        value = wider
    assert changes <= 5


# ---- loops, branches, calls ---------------------------------------------------------------


def count_up(n: Any) -> Any:
    i = 0
    while i < n:
        i += 1
    return i


def test_a_loop_is_widened_and_made_precise_again() -> None:
    assert result_of(count_up, number(1000000)) == number(1000000)
    assert result_of(count_up, integers(0, 50)) == integers(0, 50)
    assert result_of(count_up, integers()).low == 0


def nested(n: Any) -> Any:
    total = 0
    for i in range(n):
        for j in range(i, 10):
            total += j
    return total


def test_nested_loops_end() -> None:
    assert result_of(nested, integers()) == integers(0)


def clipped(x: Any) -> Any:
    if x < 0:
        return 0
    if not x <= 255:
        return 255
    return x


def test_branches_refine() -> None:
    assert result_of(clipped, integers()) == integers(0, 255)
    assert result_of(clipped, floats()) == Number(0, 255, "number")
    assert result_of(clipped, FLOAT).low == -math.inf  # "not x < 0" says nothing of a NaN


def factorial(n: Any) -> Any:
    return 1 if n <= 0 else n * factorial(n - 1)


def is_even(n: Any) -> Any:
    return 1 if n == 0 else is_odd(n - 1)


def is_odd(n: Any) -> Any:
    return 0 if n == 0 else is_even(n - 1)


def test_recursion_is_a_fixed_point() -> None:
    assert result_of(factorial, integers(0, 100)).low == 1
    assert result_of(is_even, integers(0)) == integers(0, 1)


def twice(f: Any, x: Any) -> Any:
    return f(f(x))


def shifted(x: Any) -> Any:
    return x + 10


def test_functions_are_values() -> None:
    domain = Intervals()
    found = result_of(twice, domain.constant(shifted), integers(0, 1))
    assert found == integers(20, 21)


def test_a_function_is_analysed_once_for_its_arguments() -> None:
    def caller(x: Any) -> Any:
        return shifted(x) + shifted(x) + shifted(0)

    run = Interpreter(Intervals()).run(caller, integers(1, 2))
    assert [inner.function for inner in run.walk()].count(shifted) == 2


def handles(x: Any) -> Any:
    found = 5
    try:
        found = 1
        found = 10 // x
    except ZeroDivisionError:
        return found
    finally:
        found = 7
    return found


def test_what_handles_exceptions() -> None:
    assert result_of(handles, integers(0, 9)) == integers(1, 10)


def test_what_cannot_be_read_gives_anything() -> None:
    def caller(x: Any) -> Any:
        return pow(x, 2)

    assert result_of(caller, integers()) == TOP
    with pytest.raises(NotCompilable, match="pow"):
        result_of(pow, integers())


def test_arrays_made_in_the_program() -> None:
    def f(n: Any) -> Any:
        return len(np.zeros(n))

    assert result_of(f, integers(3, 9)) == integers(3, 9)
