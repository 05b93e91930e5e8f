"""Callees that come as values: bound methods, objects with ``__call__``, builtins and classes
that take turns, closures made anew. They are fast, and every change is seen at the next call."""

import gc
import math
import sys
import weakref
from collections import Counter

import pytest

from overlay import Context, MethodTable

TURNS = 60


def helper(x):
    return math.sin(x) and x


class Caller:
    """Objects that are called."""

    def __init__(self, number=0):
        self.number = number

    def __call__(self, x):
        return helper(x) + self.number

    def method(self, x):
        return helper(x) + self.number

    @classmethod
    def of_class(cls, x):
        return helper(x)


class Leaf:
    """The same with nothing to rewrite."""

    def __call__(self, x):
        return x


def kept_in_a_local(callee):
    return [callee(i) for i in range(TURNS)][-1]


def in_a_loop(callee):
    for i in range(TURNS):
        result = callee(i)
    return result


def in_turn(callees):
    for i in range(TURNS):
        results = [callee(i) for callee in callees]
    return results


def by_name(owner):
    for i in range(TURNS):
        result = owner.method(i)
    return result


def appended(items):
    for i in range(TURNS):
        items.append(i)
    return items[-1]


def each_called_often():
    for amount in range(TURNS // 20):
        closure = maker(amount)
        for i in range(20):
            result = closure(i)
    return result


def from_the_class(owner):
    for i in range(TURNS):
        result = owner.of_class(i)
    return result


def context():
    """One whose table reaches nothing here."""
    table = MethodTable("never")
    table.overlay(math.gamma)(lambda x: None)
    return Context(table)


def slow_paths(ctx, function, *args):
    """How often code of ours ran in Python while a function did."""
    entered = Counter()

    def count(frame, event, arg):
        if event == "call":
            entered[frame.f_code.co_qualname] += 1

    sys.setprofile(count)
    try:
        ctx(function, *args)
    finally:
        sys.setprofile(None)
    return sum(entered[name] for name in ("Other.__getitem__", "Site.__missing__"))


def maker(amount):
    def plus(x=0):
        return helper(x) + amount

    return plus


def maker_of_others(amount):
    def minus(x=0):
        return helper(x) - amount

    return minus


class Items(list):
    pass


class Named:
    """Its method is no function that the module holds."""

    method = (lambda: lambda self, x: helper(x))()


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (in_a_loop, (Caller(1),)),
        (in_a_loop, (Leaf(),)),
        (in_a_loop, (Caller(1).method,)),
        (in_a_loop, ([].append,)),
        (kept_in_a_local, ({}.get,)),
        (in_turn, ((int, float, str),)),
        (in_turn, ((int, abs),)),
        (in_turn, ((helper, Caller(2), abs),)),
        (from_the_class, (Caller,)),
        (by_name, (Caller(1),)),
        (by_name, (Named(),)),
        (appended, ([],)),
        (appended, (Items(),)),
        (in_turn, ((maker(1), maker_of_others(1)),)),
        (each_called_often, ()),
    ],
)
def test_values_that_stay_are_asked_for_once(function, args):
    ctx = context()
    assert ctx(function, *args) == function(*args)
    if sys.version_info >= (3, 13) and function is from_the_class:
        return
    assert slow_paths(ctx, function, *args) < TURNS / 2


bound = Caller(1).method
instance = Caller(2)
of_class = Caller.of_class


def unpacked(args, names):
    return [
        *(bound(*args), instance(*args), of_class(*args)),
        *(bound(**names), instance(**names), of_class(**names)),
        *(bound(*args, **{}), instance(*args, **{}), of_class(*args, **{})),
    ]


def test_methods_and_objects_in_globals_are_called_with_unpacked_arguments():
    table = MethodTable("t")
    ctx, native = Context(table), unpacked((3,), {"x": 3})
    assert [ctx(unpacked, (3,), {"x": 3}) for _ in range(5)] == [native] * 5
    table.overlay(Caller.method)(lambda self, x: "overlaid")
    native[::3] = ["overlaid"] * 3
    assert [ctx(unpacked, (3,), {"x": 3}) for _ in range(5)] == [native] * 5


def changed_halfway(call, change):
    """What a call gives before and after a change, each after many calls at one site."""
    given = {}
    for turn in range(2 * TURNS):
        if turn == TURNS:
            change()
        given[turn] = call(turn)
    return given[0], given[TURNS - 1], given[TURNS], given[2 * TURNS - 1]


def overlaid(target):
    """A change that overlays a target, and a context with the table."""
    table = MethodTable("t")

    def change():
        table.overlay(target)(lambda *args: "overlaid")

    return Context(table), change


@pytest.mark.parametrize(
    ("target", "callee"),
    [
        (list.append, [].append),
        (dict.get, {}.get),
        (abs, abs),
        (Caller.method, Caller().method),
        (Caller.of_class, Caller.of_class),
    ],
    ids=["append", "get", "abs", "method", "classmethod"],
)
def test_a_first_overlay_is_seen_by_code_that_calls_a_value(target, callee):
    ctx, change = overlaid(target)
    first, before, after, last = ctx(changed_halfway, callee, change)
    assert "overlaid" not in (first, before)
    assert after == last == "overlaid"


@pytest.mark.parametrize("first", [Caller, Leaf])
def test_another_dunder_call_is_seen_by_code_that_calls_an_object(first):
    kind = type("Kind", (first,), {"__call__": first.__call__})

    def change():
        kind.__call__ = lambda self, x: "changed"

    given = context()(changed_halfway, kind(), change)
    assert given == (0, TURNS - 1, "changed", "changed")


def test_one_object_of_a_class_may_be_a_target():
    one, other = Caller(1), Caller(2)
    table = MethodTable("t")

    @table.overlay(one)
    def called(x):
        return "overlaid"

    def run():
        return [[callee(5) for callee in (other, one, other)] for _ in range(3)]

    assert Context(table)(run) == [[7, "overlaid", 7]] * 3


def test_an_object_in_c_is_not_kept_by_code_that_calls_its_method():
    class Held(set):
        pass

    def run():
        held = Held()
        add = held.add
        for i in range(TURNS):
            add(i)
        gone = weakref.ref(held)
        del held, add
        gc.collect()
        return gone() is None

    assert context()(run)


def test_a_closure_changed_in_place_is_seen_at_the_next_call():
    def run():
        given = []
        for amount in range(TURNS):
            plus = maker(amount)
            row = [plus()]
            plus.__defaults__ = (10,)
            row.append(plus())
            plus.__code__ = replaced.__code__
            row.append(plus())
            given.append(row)
        return given

    def outer(amount):
        def replaced(x=0):
            return amount, helper(x)

        return replaced

    replaced = outer(0)
    assert context()(run) == [[n, n + 10, (n, 10)] for n in range(TURNS)]


def test_a_closure_has_one_twin_wherever_it_is_called():
    def run():
        total = 0
        for amount in range(TURNS):
            plus = maker(amount)
            total += plus(1) + plus(2) + plus(3)
            total += plus(4)
        return total

    ctx = context()
    assert ctx(run) == run()
    assert ctx(recursions, 50) == recursions(50)


def recursions(depth):
    return depth and recursions(depth - 1) + helper(1)
