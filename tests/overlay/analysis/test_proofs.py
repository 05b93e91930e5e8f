"""Proofs: each example, and what is like it but not provable."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.analysis import array, floats, integers, prove
from overlay.core.errors import OverlayError
from tests.examples import examples


def kinds(function: Any, *args: Any) -> list[tuple[str, bool]]:
    return [(site.kind, site.proved) for site in prove(function, *args).sites]


def total(a: Any) -> Any:
    found = 0.0
    for i in range(len(a)):
        found += a[i]
    return found


def total_too_far(a: Any) -> Any:
    found = 0.0
    for i in range(len(a) + 1):
        found += a[i]
    return found


def test_a_loop_over_the_length() -> None:
    assert kinds(total, array("n")) == [("index", True)]
    assert kinds(total_too_far, array("n")) == [("index", False)]
    with pytest.raises(IndexError):
        total_too_far(np.zeros(3))


def first_ten(a: Any) -> Any:
    i, found = 0, 0.0
    while i < 10:
        found += a[i]
        i += 1
    return found


def test_a_loop_to_a_constant() -> None:
    assert kinds(first_ten, array(10)) == [("index", True)]
    assert kinds(first_ten, array(9)) == [("index", False)]
    assert kinds(first_ten, array(integers(10))) == [("index", True)]


def dot(a: Any, b: Any) -> Any:
    found = 0.0
    for i in range(a.shape[0]):
        found += a[i] * b[i]
    return found


def test_arrays_of_one_length() -> None:
    assert prove(dot, array("n"), array("n")).proved
    found = prove(dot, array("n"), array("m"))
    assert [site.proved for site in found.sites] == [True, True, False]
    assert not prove(dot, array(integers()), array(integers())).proved


def trace(m: Any) -> Any:
    found = 0.0
    for i in range(min(m.shape[0], m.shape[1])):
        found += m[i, i]
    return found


def test_two_axes() -> None:
    assert prove(trace, array("rows", "columns")).proved


def shift(a: Any) -> None:
    for i in range(1, len(a)):
        a[i - 1] = a[i]


def shift_wrongly(a: Any) -> None:
    for i in range(1, len(a)):
        a[i] = a[i + 1]


def test_neighbours() -> None:
    assert prove(shift, array("n")).proved
    found = [site for site in prove(shift_wrongly, array("n")).sites if not site.proved]
    assert [(site.kind, repr(site.value)) for site in found] == [("index", "int [2, inf), <= n")]


def last(a: Any) -> Any:
    return a[-1] if len(a) > 0 else 0.0


def middle(a: Any) -> Any:
    n = len(a)
    return 0.0 if n == 0 else a[n // 2]


def last_of_any(a: Any) -> Any:
    return a[-1]


def test_conditions_on_the_length() -> None:
    assert prove(last, array("n")).proved
    assert kinds(last_of_any, array("n")) == [("index", False)]
    assert kinds(last_of_any, array(integers(1))) == [("index", True)]


def test_half_of_the_length() -> None:
    assert kinds(middle, array(integers(1))) == [("divisor", True), ("index", True)]


def at(a: Any, i: Any) -> Any:
    return a[i]


def through_calls(a: Any) -> Any:
    found = 0.0
    for i in range(len(a)):
        found += at(a, i)
    return found


def test_an_index_in_a_callee() -> None:
    assert kinds(through_calls, array("n")) == [("index", True)]
    assert kinds(at, array("n"), integers(0)) == [("index", False)]


def mean(a: Any) -> Any:
    return total(a) / len(a)


def inverse(n: Any) -> Any:
    if n != 0:
        return 1 // n
    return 0


def wrong_inverse(n: Any) -> Any:
    if n != 1:
        return 1 // n
    return 0


def by_truth(n: Any) -> Any:
    return 100 % n if n else 0


def test_divisors() -> None:
    assert prove(inverse, integers()).proved
    assert prove(by_truth, integers()).proved
    assert kinds(wrong_inverse, integers()) == [("divisor", False)]
    assert dict(kinds(mean, array("n")))["divisor"] is False
    assert dict(kinds(mean, array(integers(1))))["divisor"] is True
    assert prove(inverse, floats()).proved


def test_where() -> None:
    (site,) = prove(wrong_inverse, integers()).sites
    line = wrong_inverse.__code__.co_firstlineno + 2
    assert site.where.endswith(f"test_proofs.py:{line}")
    assert "wrong_inverse: divisor not proved: int (-inf, inf)" in str(site)


def fill(a: Any, value: Any) -> None:
    a[0] = value


def test_what_is_said_of_elements_is_checked() -> None:
    items = array(3, item=floats(0.0, 1.0))
    assert prove(fill, items, floats(0.5, 1.0)).proved
    assert kinds(fill, items, floats(0.5, 2.0)) == [("index", True), ("element", False)]


def test_an_argument_without_meaning() -> None:
    with pytest.raises(OverlayError, match="argument 0 says nothing"):
        prove(total, "text")


ends = st.sampled_from(["0", "1", "-1", "2", "n", "n - 1", "n + 1", "n // 2", "min(n, 3)", "-n"])
places = st.sampled_from(["i", "i - 1", "i + 1", "-i", "i // 2", "i % n", "abs(i)", "n - 1 - i"])
guards = st.sampled_from(["i >= 0", "i < n", "i != 0", "n > 2", "i <= n - 2", "not i >= n"])


@settings(max_examples=examples(50), deadline=None)
@given(ends, ends, st.sampled_from(["1", "2", "-1", "-2"]), places, guards, guards)
def test_what_is_proved_holds(
    start: str, stop: str, step: str, place: str, one: str, other: str
) -> None:
    source = f"""
def f(a):
    n = len(a)
    for i in range({start}, {stop}, {step}):
        if {one} and {other}:
            a[{place}] = 1.0 / (i - 1) if i != 1 else a[i]
"""
    space: dict[str, Any] = {}
    exec(source, space)
    proofs = prove(space["f"], array("n"))
    indices = all(site.proved for site in proofs.sites if site.kind == "index")
    divisors = all(site.proved for site in proofs.sites if site.kind == "divisor")
    for size in range(6):
        try:
            space["f"](np.zeros(size))
        except IndexError:
            assert not indices
        except ZeroDivisionError:
            assert not divisors


def test_a_function_that_takes_another_number_of_arguments_is_an_error_that_says_so():
    def halves(a, b):
        return a / b

    with pytest.raises(OverlayError, match="halves was given 1 abstract value, and takes 2: a, b"):
        prove(halves, integers(1, 2))
