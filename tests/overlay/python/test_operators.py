"""Operators are targets: each operator function against the syntax that means it."""

import math
import operator

import numpy as np
import pytest
from numpy.typing import NDArray

from overlay import Context, MethodTable, call_next
from overlay.core.dispatch import MethodChain

BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"]
BINARY += ["lshift", "rshift", "and_", "or_", "xor"]
COMPARE = ["lt", "le", "eq", "ne", "gt", "ge"]
SYMBOLS = {
    **{"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%"},
    **{"pow": "**", "matmul": "@", "lshift": "<<", "rshift": ">>", "and_": "&", "or_": "|"},
    **{"xor": "^", "lt": "<", "le": "<=", "eq": "==", "ne": "!=", "gt": ">", "ge": ">="},
}


class Thing:
    def __init__(self, items=()):
        self.items = dict(items)

    def __getitem__(self, key):
        return self.items[key]

    def __setitem__(self, key, value):
        self.items[key] = value

    def __delitem__(self, key):
        del self.items[key]


def program(source):
    """A function of a and b with this body."""
    lines = "\n    ".join(source.splitlines())
    scope = {}
    exec(f"def f(a, b=None):\n    {lines}", scope)
    return scope["f"]


def overlaying(name):
    table = MethodTable(name)

    @table.overlay(getattr(operator, name))
    def method(*operands: Thing | int | slice):
        return (name, *operands)

    return Context(table)


@pytest.mark.parametrize("name", BINARY + COMPARE)
def test_infix(name):
    a, b = Thing(), Thing()
    f = program(f"return a {SYMBOLS[name]} b")
    assert overlaying(name)(f, a, b) == (name, a, b)


@pytest.mark.parametrize(("name", "symbol"), [("neg", "-"), ("pos", "+"), ("invert", "~")])
def test_prefix(name, symbol):
    a = Thing()
    assert overlaying(name)(program(f"return {symbol}a"), a) == (name, a)


@pytest.mark.parametrize("name", BINARY)
def test_in_place_form(name):
    a, b = Thing(), Thing()
    f = program(f"a {SYMBOLS[name]}= b\nreturn a")
    assert overlaying("i" + name.rstrip("_"))(f, a, b) == ("i" + name.rstrip("_"), a, b)


@pytest.mark.parametrize("name", BINARY)
def test_in_place_form_falls_back_where_the_type_has_none(name):
    a, b = Thing(), Thing()
    f = program(f"a {SYMBOLS[name]}= b\nreturn a")
    assert overlaying(name)(f, a, b) == (name, a, b)


def test_in_place_form_of_a_type_that_has_it_is_not_the_plain_operator():
    table = MethodTable("t")

    @table.overlay(operator.add)
    def add(a: list, b: list):
        return "added"

    f = program("a += b\nreturn a")
    assert Context(table)(f, [1], [2]) == [1, 2]


def test_in_place_form_falls_back_per_table_also_past_methods_that_do_not_match():
    table = MethodTable("t")

    @table.overlay(operator.iadd)
    def iadd(a: str, b: str):
        return "iadd"

    @table.overlay(operator.add)
    def add(a: int, b: int):
        return "add"

    f = program("a += b\nreturn a")
    ctx = Context(table)
    assert [ctx(f, 1, 2), ctx(f, "a", "b"), ctx(f, 1.5, 2)] == ["add", "iadd", 3.5]


def test_subscripts():
    a = Thing({1: 2})
    assert overlaying("getitem")(program("return a[b]"), a, 5) == ("getitem", a, 5)
    assert overlaying("getitem")(program("return a[1:b]"), a, 5) == ("getitem", a, slice(1, 5))
    assert overlaying("setitem")(program("a[1] = 5\nreturn a.items"), a) == {1: 2}
    assert overlaying("setitem")(program("a[1:2] = 5\nreturn a.items"), a) == {1: 2}
    assert overlaying("delitem")(program("del a[1]\nreturn a.items"), a) == {1: 2}


def test_setitem_receives_container_key_and_value():
    table, seen = MethodTable("t"), []

    @table.overlay(operator.setitem)
    def setitem(container: Thing, key, value):
        seen.append((key, value))
        call_next(container, key, value)

    thing = Thing()
    Context(table)(program("a['k'] = b"), thing, "v")
    assert seen == [("k", "v")]
    assert thing.items == {"k": "v"}


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("is_", "return a is b", True),
        ("is_not", "return a is not b", True),
        ("not_", "return not a", True),
        ("contains", "return b in a", True),
        ("contains", "return b not in a", False),
        ("contains", "return 1 if b in a else 2", 1),
        ("lt", "return 1 if a < b else 2", 1),
        ("not_", "x = not a\nreturn 1 if x else 2", 1),
    ],
)
def test_results_where_python_wants_a_bool(name, source, expected):
    result = overlaying(name)(program(source), Thing(), 3)
    assert result == expected
    assert type(result) is type(expected)


def test_operators_called_as_functions_are_the_same_targets():
    a, b = Thing(), Thing()
    f = program("import operator\nreturn operator.add(a, b), operator.__add__(a, b)")
    assert overlaying("add")(f, a, b) == (("add", a, b), ("add", a, b))


def test_operators_without_a_method_keep_their_meaning_and_their_errors():
    ctx = overlaying("add")
    assert ctx(program("return a + b"), 1.5, 2) == 3.5
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+: 'float' and 'str'"):
        ctx(program("return a + b"), 1.5, "x")


TEXTS = {
    'f"{a}"': (format, "a"),
    'f"<{a}>{b}"': (format, "<a>b"),
    'f"{a:>5}"': (format, "a:>5"),
    'f"{a:{b}}"': (format, "a:b"),
    'f"{a!r}"': (repr, "a"),
    'f"{a!r:>3}"': (repr, "  a"),
    'f"{a!s}"': (str, "a"),
    'f"{a!a}"': (ascii, "a"),
    'f"{a=}"': (repr, "a=a"),
    "format(a)": (format, "a"),
    "repr(a)": (repr, "a"),
}


@pytest.mark.parametrize("hot", [False, True])
@pytest.mark.parametrize("source", TEXTS)
def test_what_makes_text_of_values(source, hot):
    target, expected = TEXTS[source]
    table = MethodTable("texts")

    class Word:
        def __init__(self, name):
            self.name = name

        def __repr__(self):
            return f"natively {self.name}"

        def __format__(self, specification):
            return self.name if specification else f"natively {self.name}"

    def method(word: Word, specification: str = ""):
        return word.name + (specification and ":" + specification)

    if target is not format:
        method = lambda word: word.name  # noqa: E731
        method.__annotations__ = {"word": Word}
    table.overlay(target)(method)
    f, a, b = program(f"return {source}"), Word("a"), Word("b")
    for _ in range(100 * hot):
        f(a, b)
    assert Context(table)(f, a, b) == expected
    assert Context(table)(f, 1, ">2") == f(1, ">2")  # of another type
    assert "natively" in f(a, b) or ":" in source


def test_what_a_call_resolves_to_is_kept_beside_methods_of_arrays(monkeypatch):
    table, resolved = MethodTable("arrays"), []

    @table.overlay(operator.add)
    def arrays(a: NDArray[np.float64], b: NDArray[np.float64]):
        return "arrays"

    @table.overlay(math.hypot)
    def hypot(a: float, b: float):
        return call_next(a, b)

    @table.overlay(math.hypot)
    def hypot_of_arrays(a: NDArray[np.float64], b: NDArray[np.float64]):
        return "array"

    resolve = MethodChain.resolve

    def resolving(chain, *readings):
        resolved.append(chain.target)
        return resolve(chain, *readings)

    def program(x):
        return [(x + x, math.hypot(x, x)) for _ in range(20)]

    monkeypatch.setattr(MethodChain, "resolve", resolving)
    context = Context(table)
    assert context(program, 4.0) == [(8.0, math.hypot(4.0, 4.0))] * 20
    assert context(program, np.ones(2)) == [("arrays", "array")] * 20
    assert len(resolved) <= 6
