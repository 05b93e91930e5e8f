"""What calls of a target resolve to is kept, and let go of where it is no longer so."""

from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from overlay import Context, MethodTable
from overlay.python import dispatcher as dispatchers
from overlay.python.dispatcher import Dispatcher


@pytest.fixture(autouse=True)
def rewriting(monkeypatch):
    """The engine that rewrites code runs all contexts."""
    monkeypatch.setenv("OVERLAY_ENGINE", "rewriting")


def target(*args, **kwargs):
    return "base"


def made(*methods):
    table = MethodTable("t")
    for method in methods:
        table.overlay(target)(method)
    return table


def counted(monkeypatch, owner, name):
    """The arguments with which a function is called from now on."""
    calls, function = [], getattr(owner, name)

    def counting(*args):
        calls.append(args)
        return function(*args)

    monkeypatch.setattr(owner, name, counting)
    return calls


def anything(*args: object):
    return "method"


def vector(*args: NDArray[np.float64]):
    return "vector"


def zero(*args: Literal[0]):
    return "zero"


# called by a name that is no target's when the code is rewritten, with the same argument each time
CALLS = [
    lambda f, x: f(),
    lambda f, x: f(x),
    lambda f, x: f(x, x),
    lambda f, x: f(x, x, x),
    lambda f, x: f(*[x, x]),
]


@pytest.mark.parametrize("method", [anything, vector])
@pytest.mark.parametrize("call", CALLS, ids=["none", "one", "two", "three", "unpacked"])
def test_methods_are_looked_up_once_for_the_same_types(call, method, monkeypatch):
    calls = counted(monkeypatch, dispatchers, "resolve")
    table = made(method)
    ctx = Context(table)
    for turn in (1, 2):
        assert ctx(lambda: [call(target, np.ones(3)) for _ in range(4)]) == [method(1.0)] * 4
        assert len(calls) == turn
        table.overlay(target)(method)


def test_methods_are_looked_up_each_time_where_values_decide(monkeypatch):
    calls = counted(monkeypatch, dispatchers, "resolve")
    ctx = Context(made(zero))
    assert ctx(lambda: [target(x) for x in (0, 1, 0)]) == ["zero", "base", "zero"]
    assert ctx(lambda: [target(0, x) for x in (0, 1, 0)]) == ["zero", "base", "zero"]
    assert len(calls) == 6


def test_a_call_of_a_known_target_keeps_its_method_for_the_type_of_the_argument(monkeypatch):
    asked = counted(monkeypatch, Dispatcher, "inline")
    ctx = Context(made(anything))
    assert ctx(lambda: [target(x) for x in (1, 2, 3, "text", "other")]) == ["method"] * 5
    assert [argument for _, _, argument in asked] == [1, "text"]


def test_what_is_kept_for_one_number_of_arguments_is_not_called_with_another():
    def one(x: int):
        return "one"

    def two(x: int, y: int):
        return "two"

    def program(f):
        return [f(1, 2), f(1), f(1, 2), f(1, 2, 3), f(1)]

    ctx = Context(made(one, two))
    assert ctx(program, target) == ["two", "one", "two", "base", "one"]


def test_what_is_kept_is_not_called_with_a_keyword_that_it_does_not_take():
    def narrow(x: int):
        return "narrow"

    def wide(x: object, *, scale=1):
        return "wide", scale

    ctx = Context(made(narrow, wide))
    expected = ["narrow", ("wide", 2), "narrow", ("wide", 1)]
    assert ctx(lambda f: [f(1), f(1, scale=2), f(1), f("x")], target) == expected


def test_a_replaced_method_is_let_go_of_for_each_number_of_arguments():
    def first(*args: int):
        return "first"

    def second(*args: int):
        return "second"

    def program(f):
        return target(1), f(1), f(1, 2), f(1, 2, 3)

    def others(f):  # after which methods have been looked up again
        return target("a"), f("a"), f("a", "b"), f("a", "b", "c")

    table = made(first)
    ctx = Context(table)
    assert ctx(program, target) == ("first",) * 4
    table.overlay(target)(second)
    assert ctx(others, target) == ("base",) * 4
    assert ctx(program, target) == ("second",) * 4


def test_a_base_changed_in_place_is_called_as_it_has_become():
    def base(x):
        return "old", abs(x)  # a call, so that something else runs in its place

    def method(x: str):
        return "method"

    table = MethodTable("t")
    table.overlay(base)(method)
    ctx = Context(table)
    assert ctx(base, 1) == ("old", 1)
    base.__code__ = (lambda x: ("new", abs(x))).__code__
    assert ctx(base, 1) == ("new", 1)


def test_a_base_is_called_as_it_was_written_and_a_method_by_position():
    def base(*args, **kwargs):
        return "base", args, kwargs

    def shown(x, y): ...

    base.__wrapped__ = shown
    table = MethodTable("t")
    ctx = Context(table)

    @table.overlay(base)
    def for_ints(x: int, y: int):
        return "method", x, y

    for _ in range(2):
        assert ctx(lambda: base(y=2, x="1")) == ("base", (), {"y": 2, "x": "1"})
        assert ctx(lambda: base("1", y=2)) == ("base", ("1",), {"y": 2})
        assert ctx(lambda: base(y=2, x=1)) == ("method", 1, 2)
