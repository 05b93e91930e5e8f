"""How often a call of a generic function is resolved, and what runs for it."""

import contextlib
import enum
import gc
import math
import sys
import types
from typing import Literal

import numpy as np
import pytest

from overlay import Context, MethodTable, Plugin, call_next, generic
from overlay.generics.declared import Generic
from overlay.generics.views import View


class Asked(MethodTable):
    """A table that notes each call that is resolved to a method of it."""

    def __init__(self, name="asked", **kind):
        super().__init__(name, **kind)
        self.asked = []

    def chosen(self, method, after, tables):
        self.asked.append(method.function)


class Size(int):
    pass


class Word(enum.StrEnum):
    ONE = "one"
    TWO = "two"


class Dual:
    __overlay_underlying__ = "value"

    def __init__(self, value):
        self.value = value


def method_of(*hints, keyword=None):
    """A method that returns its arguments."""
    shown = [f"a{i}: hints[{i}]" for i in range(len(hints))]
    shown += [] if keyword is None else ["*", "key: keyword = None"]
    names = {"hints": hints, "keyword": keyword}
    given = "".join(f"a{i}," for i in range(len(hints)))
    exec(f"def method({', '.join(shown)}):\n    return ({given})", names)
    return names["method"]


VECTOR = np.ndarray[tuple[int], np.dtype[np.float64]]
ZEROS, ONES = np.zeros(2), np.ones(3)

# annotations of a method; arguments of calls of it, one after another; how many are resolved
RESOLVED = [
    ((int,), [(1,), (2,), (1,)], 1),
    ((object,), [(1,), ("a",), (2,), ("b",)], 2),
    ((int, object), [(1, 2), (2, 3), (1, "a"), (1, "b"), (3, 4)], 2),
    ((object, int), [(1, 2), ("a", 3), (1, 4), ("b", 5)], 2),
    ((object, int, str), [(1, 2, "a"), ("a", 2, "b"), (3, 4, "c"), ("d", 5, "e")], 2),
    ((VECTOR,), [(ZEROS,), (ONES,), (ZEROS,)], 1),
    ((Literal[1, 2] | str,), [(1,), (2,), (1,), ("a",), ("b",), ("a",), (2,)], 4),
    ((Literal[1] | Size,), [(1,), (Size(1),), (Size(1),), (1,)], 3),
    ((Literal[1] | tuple,), [((1,),), ((2,),), (1,)], 2),
    ((tuple[int, str],), [((1, "a"),), ((1, "a"),), ((2, "b"),)], 3),
    ((Dual,), [(Dual(1),), (Dual(1),)], 1),
    # the plain value may choose the method
    ((Dual | int,), [(Dual(1),), (Dual(1),)], 2),
]


@pytest.mark.parametrize(("hints", "calls", "times"), RESOLVED)
def test_a_call_is_resolved_once_where_nothing_else_can_decide(hints, calls, times):
    @generic
    def called(a0, a1=None, a2=None): ...

    table = Asked()
    method = table.overlay(called)(method_of(*hints))
    with Context(table):
        assert all(called(*args) is not None for args in calls)
        assert table.asked == [method] * times
    table.asked.clear()

    @generic
    def above(a0, a1=None, a2=None): ...

    through = MethodTable("through")
    through.overlay(called)(eval("lambda *args: call_next(*args)", {"call_next": call_next}))
    with Context(table, through):
        assert all(called(*args) is not None for args in calls)
        assert table.asked == [method] * times
    table.asked.clear()
    assert Context(table)(lambda: [called(*args) for args in calls]) is not None
    assert table.asked == [method] * times


def test_a_call_with_names_is_resolved_as_one_by_position():
    @generic
    def called(a0, a1=None, *, key=None): ...

    table = Asked()
    table.overlay(called)(method_of(int, int, keyword=str))
    with Context(table):
        for _ in range(2):
            assert called(1, 2) == called(1, a1=2) == called(a1=2, a0=1) == (1, 2)
        assert len(table.asked) == 1
        for _ in range(2):
            assert called(1, 2, key="a") == (1, 2)
        assert len(table.asked) == 3


def test_values_that_stand_for_others_are_resolved_once_by_what_interprets_them():
    @generic
    def called(x): ...

    table = Asked(interprets=True)
    table.overlay(called)(method_of(Dual))
    with Context(table):
        for _ in range(3):
            called(Dual(1))
        assert len(table.asked) == 1
    plain = MethodTable("plain")

    @plain.overlay(called)
    def integer(x: int):
        return "plain"

    values = [Dual("a"), Dual(1), Dual("a")]
    with Context(table, plain):
        assert [called(x) == "plain" for x in values] == [False, True, False]


def test_of_values_equal_to_a_literal_that_no_key_tells_apart_each_is_resolved():
    @generic
    def called(x): ...

    @called.dispatch
    def called(x: object):
        return "any"

    table = MethodTable("t")

    @table.overlay(called)
    def one(x: Literal["one", 1]):
        return "one"

    pairs = [(Word.ONE, Word.TWO), (Size(1), Size(2)), (True, False), (1, 2)]
    for pair in (*pairs, *(pair[::-1] for pair in pairs)):
        alone = [Context(table)(called, x) for x in pair]
        with Context(table):
            assert [called(x) for x in pair] == alone


def intercepted(a0, a1=None, a2=None):
    return None


@generic
def declared(a0, a1=None, a2=None): ...


@declared.dispatch
def declared_base(a0: object, a1: object = None, a2: object = None):
    return None


@contextlib.contextmanager
def without_collection():
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.mark.parametrize("called", [intercepted, declared])
@pytest.mark.parametrize("goes_on", [False, True])
def test_a_call_of_types_that_were_met_goes_straight_to_its_method(called, goes_on, monkeypatch):
    table, below, looked_up = MethodTable("t"), MethodTable("below"), []
    for hints in ((float,), (float, str), (float, str, int)):
        below.overlay(called)(method_of(*hints))
    if goes_on:
        table.overlay(called)(eval("lambda *args: call_next(*args)", {"call_next": call_next}))
    found = View.found

    def looking(view, args):
        if view.generic.function.__name__ == called.__name__:
            looked_up.append(view)
        return found(view, args)

    monkeypatch.setattr(View, "found", looking)

    def program():
        for args in ((1.0,), (1.0, "a"), (1.0, "a", 2)):
            assert called(*args) == args

    gc.collect()  # where a context goes meanwhile, its targets are looked up once more
    context = Context(below, table)
    with without_collection():
        for _ in range(3):
            context(program)
    assert len(looked_up) == 3 * (1 + goes_on)


def test_the_code_of_a_generic_function_looks_up_the_types_that_were_met(monkeypatch):
    slow, call = [], Generic._call
    monkeypatch.setattr(Generic, "_call", lambda *given: (slow.append(1), call(*given))[1])

    @generic
    def called(a0, a1=None, a2=None): ...

    table = MethodTable("t")
    for hints in ((float,), (float, str), (float, str, bytes)):
        table.overlay(called)(method_of(*hints))
    with Context(table):
        for _ in range(3):
            for args in ((1.0,), (1.0, "a"), (1.0, "a", b"b")):
                assert called(*args) == args
    assert len(slow) == 3


def test_values_whose_class_can_be_no_key_are_resolved_each_time():
    class Odd(type):
        __hash__ = type.__hash__

        def __eq__(cls, other):
            return cls is other

    kind = Odd("Odd", (), {})
    dual = Odd("OddDual", (Dual,), {})
    for value in (kind(), dual(1)):

        @generic
        def called(x): ...

        table = Asked(interprets=True)
        table.overlay(called)(eval("lambda x: x"))
        with Context(table):
            assert [called(value) is value for _ in range(3)] == [True] * 3
        assert len(table.asked) == 3


def test_what_runs_for_a_method_is_made_once_also_where_its_calls_are_resolved_each_time(
    monkeypatch,
):
    @generic
    def called(a0, *, key=None): ...

    table, made, below = MethodTable("t"), [], View.below
    for hint in (Literal[1] | Size, str):
        table.overlay(called)(method_of(hint, keyword=str))
    monkeypatch.setattr(View, "below", lambda *given: (made.append(given), below(*given))[1])
    with Context(table):
        for _ in range(3):
            called(Size(1))
            called(1, key="a")
            called("a", key="a")
    assert len(made) == 2


def test_a_record_of_calls_has_the_methods_that_they_went_through():
    table, below = MethodTable("t"), MethodTable("below")
    method = table.overlay(declared)(
        eval("lambda a0: call_next(a0)", {"call_next": call_next}),
    )
    other = below.overlay(declared)(method_of(float))
    context = Context(below, table, count_calls=True)
    for _ in range(2):
        with context:
            declared(1.0)
    hits = [(hit.method.function, hit.calls) for hit in context.report().hits]
    assert hits == [(method, 2), (other, 2)]


def test_a_method_added_while_a_call_is_resolved_is_seen_by_the_next():
    class Adding(Asked):
        def chosen(self, method, after, tables):
            super().chosen(method, after, tables)
            if len(self.asked) == 1:
                self.overlay(called)(second)

    @generic
    def called(x): ...

    def first(x: object):
        return "first"

    def second(x: int):
        return "second"

    table = Adding()
    table.overlay(called)(first)
    with Context(table):
        assert [called(1) for _ in range(3)] == ["first", "second", "second"]


def test_a_method_that_is_running_sees_a_change_of_those_below():
    @generic
    def called(x): ...

    @called.dispatch
    def called(x: object):
        return "base"

    outer, inner = MethodTable("outer"), MethodTable("inner")

    @inner.overlay(called)
    def method(x: int):
        seen = [call_next(x), call_next(x)]
        outer.overlay(called)(lambda x: "outer")
        seen += [call_next(x), call_next(x)]

        @called.dispatch
        def narrow(x: int):
            return "narrow"

        outer.remove(called)
        return [*seen, call_next(x)]

    with Context(outer, inner):
        assert called(1) == ["base", "base", "outer", "outer", "narrow"]


def test_methods_for_a_function_that_is_named_before_its_module_is_made(monkeypatch):
    table = MethodTable("t")
    table.overlay("made_later:f")(eval("lambda x: 'method'"))

    @generic
    def f(x: object):
        return "base"

    with Context(table):
        assert f(1) == "base"
        module = types.ModuleType("made_later")
        module.f = f
        monkeypatch.setitem(sys.modules, "made_later", module)
        assert f("a") == "method"
    assert f(1) == "base"


# ---- with plugins ---------------------------------------------------------------------------


class Around(Plugin):
    """Notes the calls that it stands around."""

    def __init__(self):
        self.called = []

    def around(self, callee, run):
        def noted(*args, **kwargs):
            self.called.append(callee)
            return run(*args, **kwargs)

        return noted


def test_plugins_stand_around_the_methods_and_the_base_methods_of_a_call():
    @generic
    def called(x): ...

    def base(x: object):
        return x + 1

    called.dispatch(base)
    called.dispatch_multi((float,))(math.floor)
    table = MethodTable("t")

    @table.overlay(called)
    def method(x: int):
        return call_next(x)

    def program(x):
        return called(x)

    def around(context, x):
        plugin = Around()
        result = context.replace(plugins=(plugin,))(program, x)
        return result, [getattr(c, "__name__", c) for c in plugin.called]

    assert around(Context(), 1) == (2, ["program", "base"])
    assert around(Context(table), 1) == (2, ["program", "base"])
    assert around(Context(), 1.5) == (1, ["program", "floor"])
