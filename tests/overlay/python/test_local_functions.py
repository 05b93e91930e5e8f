"""Functions that are made, called and dropped in one function are made rewritten."""

import math

import pytest

from overlay import Context, MethodTable
from overlay.python.local_functions import LocalFunction

table = MethodTable("sines are ten")


@pytest.fixture(autouse=True)
def rewriting(monkeypatch):
    """The engine that rewrites code runs all contexts."""
    monkeypatch.setenv("OVERLAY_ENGINE", "rewriting")


@table.overlay(math.sin)
def ten(x):
    return 10.0


def once(x):
    f = lambda y: math.sin(y) + x  # noqa: E731
    return f(x)


def beside_another(x):
    total = 1.0
    f = lambda y: math.sin(y) + x  # noqa: E731
    return total + f(x)


def stored_beside_a_load(x):
    def f(y):
        return math.sin(y)

    return x + f(x) + f(x)


def in_a_loop(n):
    total = 0.0
    for i in range(3):
        f = lambda y: math.sin(y) + i  # noqa: B023, E731
        total = total + f(n)
    return total


def with_itself(x):
    def f(y):
        return math.sin(y)

    return f(f(x))


def deleted(x):
    f = lambda y: math.sin(y)  # noqa: E731
    total = f(x)
    del f
    return total


def given_away(x):
    f = lambda y: math.sin(y)  # noqa: E731
    return f(x), f.__code__.co_consts


def handed_over(f, x):
    return f(x), f.__code__.co_consts


def given_to_another(x):
    def f(y):
        return math.sin(y)

    def g(function):
        return handed_over(function, x)

    return [f, g(f)][1]


def below_a_callee(x):
    def f(y):
        return math.sin(y)

    def g():
        return x

    pair = f, g()
    return handed_over(*pair)


def bound_twice(x):
    f = math.cos
    if x:
        f = lambda y: math.sin(y)  # noqa: E731
    return f(x)


def seen(x):
    f = lambda y: math.sin(y)  # noqa: E731
    return f(x), "f" in locals()


MADE = [once, beside_another, stored_beside_a_load, in_a_loop, with_itself]
LEFT = [deleted, given_away, bound_twice, seen]
PASSED_ON = [given_to_another, below_a_callee]


@pytest.fixture
def written(monkeypatch):
    """Codes that functions are made of rewritten."""
    codes, write = [], LocalFunction.write
    monkeypatch.setattr(
        LocalFunction, "write", lambda self, w, new: (codes.append(self.code), write(self, w, new))
    )
    return codes


@pytest.mark.parametrize("function", MADE + LEFT + PASSED_ON)
def test_what_a_local_function_calls_resolves(function, monkeypatch):
    inside = Context(table)(function, 2.0)
    monkeypatch.setattr(math, "sin", ten)
    assert inside == function(2.0)


@pytest.mark.parametrize("function", MADE)
def test_a_function_that_is_only_called_is_made_rewritten(function, written):
    Context(table)(function, 2.0)
    made = [c for c in function.__code__.co_consts if type(c) is type(function.__code__)]
    assert written == made


@pytest.mark.parametrize("function", PASSED_ON)
def test_one_that_is_passed_on_is_the_programs_own(function, written):
    Context(table)(function, 2.0)
    assert "f" not in {code.co_name for code in written}


@pytest.mark.parametrize("function", LEFT)
def test_any_other_is_made_as_it_is(function, written):
    Context(table)(function, 2.0)
    assert not written
