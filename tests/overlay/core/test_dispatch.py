"""Which method a call resolves to, told by values and by types."""

import pytest

from overlay import MethodTable
from overlay.core.dispatch import MethodChain, by_types, by_values


def target(x=None, y=None, *, z=None):
    return "base"


def table_of(*methods, name="t", of=target, precedence=0):
    table = MethodTable(name)
    for method in methods:
        table.overlay(of, precedence=precedence)(method)
    return table


def none():
    return "none"


def one(x: int):
    return "one"


def two(x: int, y: str):
    return "two"


def named(x: float, *, z: int | str = 1, **others: float):
    return "named"


# positional arguments, keywords, and the method that takes them
CALLS = [
    ((), {}, none),
    ((1,), {}, one),
    (("a",), {}, None),
    ((1, "a"), {}, two),
    ((1,), {"y": "a"}, two),
    ((1,), {"y": 2}, None),
    ((1.0,), {"z": 2}, named),
    ((1.0,), {"z": 2.0}, None),
    ((1.0,), {"w": 2.0}, named),
    ((1.0,), {"w": 2}, None),
    ((1,), {"z": 2}, None),
    ((), {"x": 1}, one),
]


@pytest.mark.parametrize(("args", "kwargs", "expected"), CALLS)
def test_a_call_is_told_by_its_values_and_by_their_types(args, kwargs, expected):
    tables = [table_of(none, one, two, named)]
    types = [type(value) for value in (*args, *kwargs.values())]
    for call in (by_values(args, kwargs), by_types(types, tuple(kwargs))):
        method = MethodChain.of(target, tables).resolve(call)
        assert (method and method.function) is expected
