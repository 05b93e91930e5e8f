"""Programs of JET.jl's demonstration and documentation (aviatesk/JET.jl: demo.jl, demo-fixed.jl,
docs/src/jetanalysis.md), written again in Python: what a checker finds without a run."""

from __future__ import annotations

import numbers
from dataclasses import dataclass

import pytest

from overlay import Context, generic
from overlay.analysis import check, check_calls

# What the checker is to find is wrong for other tools, too.
# ruff: noqa: F821

# ---- demo.jl -------------------------------------------------------------------------------------


def fib(n):
    return n if n <= 2 else fib(n - 1) + fib(n - 2)


def of_a_thousand():
    return fib(1000)


def of_no_variable():
    return fib(m)


def of_a_text():
    return fib("1000")


def test_a_program_that_would_not_end_is_checked():
    """demo.jl: fib(1000), of which a run would not come to an end"""
    assert not check(of_a_thousand)


def test_a_variable_that_is_not_defined_is_found():
    """demo.jl: fib(m)"""
    (finding,) = check(of_no_variable)
    assert (finding.kind, finding.name) == ("name", "of_no_variable")
    assert "'m'" in finding.message


def test_the_comparison_that_fails_is_named_below_the_call():
    """demo.jl: fib("1000"), which is found inside fib, where a text is compared with a number"""
    (finding,) = check(of_a_text)
    assert (finding.kind, finding.function) == ("call", fib)
    assert finding.message == "le(str, int) has no method"
    assert [name for _, name in finding.path] == ["of_a_text"]
    assert len(check_calls(Context(), of_a_text).errors) == 1
    with pytest.raises(TypeError):
        of_a_text()


@dataclass
class Ty:
    fld: object


@generic
def as_number(value): ...


@as_number.dispatch
def of_number(value: numbers.Number):
    return value


def foo(a):
    return bar(Ty(a))


def bar(v):
    return int(as_number(v.fld) >= 0)


def foo_misspelt(a):
    return bar_misspelt(Ty(a))


def bar_misspelt(v):
    return int(as_number(v.fdl) >= 0)


def test_a_misspelt_field_is_found_with_the_nearest():
    """demo.jl: foo(1.2)"""
    (finding,) = check(foo_misspelt, float)
    assert (finding.kind, finding.candidates[0]) == ("attribute", "fld")
    assert finding.function is bar_misspelt
    assert not check(foo, float)


def test_a_text_that_is_converted_to_a_number_has_no_method():
    """demo.jl: foo("1"); demo-fixed.jl has no errors"""
    (finding,) = check(foo, str)
    assert (finding.function, finding.message) == (bar, "as_number(str) has no method")
    assert not check(foo, float)


# ---- docs/src/jetanalysis.md ---------------------------------------------------------------------


@generic
def parsed(text): ...


def of_words(words):
    found = []
    for word in words.split():
        found.append(parsed(word))
    return sum(found)


def test_a_method_that_is_added_silences_the_error():
    """Quick start: bar has no method for the parts of a text, until it is defined for them"""

    @parsed.dispatch
    def of_bytes(text: bytes):
        return int(text)

    (finding,) = check(of_words, str)
    assert finding.message == "parsed(str) has no method"

    @parsed.dispatch
    def of_text(text: str):
        return int(text)

    assert not check(of_words, str)
    assert of_words("1 2 3") == 6


def added_up(text):
    total = 0
    for letter in text:
        total += letter
    return total


def test_letters_cannot_be_added_to_a_number():
    """Quick start: sum("julia"), whose letters have no sum"""
    (finding,) = check(added_up, str)
    assert finding.message == "iadd(int, str) has no method"
    assert finding.where.endswith(f"test_jet.py:{added_up.__code__.co_firstlineno + 3}")
    with pytest.raises(TypeError):
        added_up("julia")


def strange_sum(a, flag):
    return undefsum(a) if flag else sum(a)


def test_only_the_misspelling_is_found_in_a_sum_of_what_may_be_empty():
    """Quick start: the mode for misspellings, for strange_sum([])"""
    (finding,) = check(strange_sum, list[int], bool)
    assert (finding.kind, "undefsum" in finding.message) == ("name", True)


@dataclass
class Foo:
    x: int


def reads_misspelt(foo):
    return foo.xx


@generic
def of_an_integer(x): ...


@of_an_integer.dispatch
def plus_one(x: int):
    return x + 1


def position_after(values, wanted):
    place = next((i for i, value in enumerate(values) if value == wanted), None)
    if place is None:
        return None
    return place + 1


def test_each_kind_of_error_of_the_documentation():
    """Error kinds: no field, no method, and a position that may be None and is asked about"""
    (finding,) = check(reads_misspelt, Foo)
    assert (finding.kind, finding.candidates[0]) == ("attribute", "x")
    (finding,) = check(lambda x: of_an_integer(x), float)
    assert finding.message == "of_an_integer(float) has no method"
    assert not check(position_after, list[int], int)
    assert position_after([5, 7], 7) == 2


def raises_and_catches():
    try:
        return fib("1000")
    except TypeError:
        return None


def test_an_error_that_is_caught_is_none():
    """may throw: an exception that is handled is not reported"""
    assert not check(raises_and_catches)
    assert raises_and_catches() is None
