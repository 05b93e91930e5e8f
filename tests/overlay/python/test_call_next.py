"""call_next, nonoverlay, nesting, and what current_context says."""

import functools
import gc
import math
import threading
import weakref

import pytest

from overlay import Context, MethodTable, OverlayError, call_next, current_context, nonoverlay


def target(x):
    return ["base", x]


def table_of(name, *hints):
    table = MethodTable(name)
    for hint in hints:

        def method(x, hint=hint):
            return [f"{name}:{hint.__name__}", *call_next(x)]

        method.__annotations__ = {"x": hint}
        method.__defaults__ = None
        scope = {"call_next": call_next, "label": f"{name}:{hint.__name__}", "hint": hint}
        exec("def method(x: hint):\n    return [label, *call_next(x)]", scope)
        table.overlay(target)(scope["method"])
    return table


def test_goes_through_the_table_by_specificity_then_outward_then_to_the_base():
    outer = table_of("outer", object, bool)
    inner = table_of("inner", object, int, bool)
    names = Context(outer, inner)(target, True)
    assert names == [
        *("inner:bool", "inner:int", "inner:object"),
        *("outer:bool", "outer:object"),
        *("base", True),
    ]


def test_is_matched_anew_against_the_arguments_given():
    table = MethodTable("t")

    @table.overlay(target)
    def narrow(x: int):
        return ["narrow", *call_next(str(x))]

    @table.overlay(target)
    def text(x: str):
        return ["text", *call_next(x)]

    assert Context(table)(target, 1) == ["narrow", "text", "base", "1"]


def test_does_not_go_up_to_a_more_specific_method():
    table = MethodTable("t")

    @table.overlay(target)
    def wide(x: object):
        return ["wide", *call_next(len(x))]

    @table.overlay(target)
    def narrow(x: int):
        return ["narrow"]

    assert Context(table)(target, "ab") == ["wide", "base", 2]


def test_with_arguments_that_its_method_does_not_take_finds_any_other():
    def several(x, y=None):
        return ["base", x, y]

    table = MethodTable("t")

    @table.overlay(several)
    def one(x: object):
        return ["one", *call_next(x, x)]

    @table.overlay(several)
    def two(x: int, y: int):
        return ["two", *call_next(x, y)]

    assert Context(table)(several, 1) == ["one", "two", "base", 1, 1]


def test_never_enters_a_method_twice():
    table = MethodTable("t")

    @table.overlay(target)
    def number(x: int):
        return ["number", *call_next(str(x))]

    @table.overlay(target)
    def text(x: str):
        return ["text", *call_next(len(x))]

    assert Context(table)(target, 7) == ["number", "text", "base", 1]
    assert Context(table)(target, "ab") == ["text", "number", "base", "2"]


def test_the_bases_body_stays_in_the_context():
    def base(x):
        return math.sin(x)

    table = MethodTable("t")

    @table.overlay(base)
    def method(x: float):
        return call_next(x)

    @table.overlay(math.sin)
    def sin(x: float):
        return "overlaid"

    assert Context(table)(base, 1.0) == "overlaid"


def test_belongs_to_the_method_also_in_functions_nested_in_it():
    table = MethodTable("t")

    @table.overlay(target)
    def method(x: int):
        def nested(y):
            return call_next(y)

        return [nested(x), (lambda: call_next(x))(), [call_next(y) for y in (x,)]]

    base = ["base", 1]
    assert Context(table)(target, 1) == [base, base, [base]]


def test_one_function_registered_for_two_targets_knows_which_it_serves():
    def other(x):
        return ["other", x]

    table = MethodTable("t")

    @table.overlay(target)
    @table.overlay(other)
    def both(x: int):
        return (lambda: call_next(x))()

    ctx = Context(table)
    assert ctx(lambda: (target(1), other(1), target(1))) == (
        ["base", 1],
        ["other", 1],
        ["base", 1],
    )


def test_belongs_to_the_method_also_below_decorators():
    def decorated(function):
        @functools.wraps(function)
        def wrapper(x: int):
            return ["decorated", *function(x)]

        return wrapper

    table = MethodTable("t")

    @table.overlay(target)
    @decorated
    @decorated
    def method(x: int):
        return call_next(x)

    assert Context(table)(target, 1) == ["decorated", "decorated", "base", 1]


def test_takes_keywords():
    def keyed(x, *, scale=1):
        return x * scale

    table = MethodTable("t")

    @table.overlay(keyed)
    def method(x: int, *, scale=1):
        return call_next(x, scale=scale) + 1

    assert Context(table)(lambda: keyed(2, scale=5)) == 11


def test_outside_a_method_it_says_so():
    with pytest.raises(OverlayError, match="outside a method"):
        call_next(1)
    with pytest.raises(OverlayError, match="outside a method"):
        Context()(lambda: call_next(1))


def test_a_function_that_a_method_calls_is_outside_it():
    def helper(x):
        return call_next(x)

    def decorated(function):
        @functools.wraps(function)
        def wrapper(x):
            return function(x) if x else helper(x)

        return wrapper

    def method(x):
        return helper(x)

    for each in (method, decorated(method)):
        table = MethodTable("t")
        table.overlay(target)(each)
        with pytest.raises(OverlayError, match="outside a method"):
            Context(table)(target, 0)


def test_a_method_that_calls_its_own_target_for_ever_is_told_how_not_to():
    table = MethodTable("t")

    @table.overlay(target)
    def method(x: int):
        return target(x)

    with pytest.raises(RecursionError) as caught:
        Context(table)(target, 1)
    (note,) = caught.value.__notes__
    assert "target(int)" in note
    assert "call_next" in note
    assert "test_call_next.py" in note


def test_a_method_may_reach_its_own_target_with_other_arguments():
    table = MethodTable("t")

    @table.overlay(target)
    def method(x: int):
        return [x, *(target(x - 1) if x else [])]

    assert Context(table)(target, 3) == [3, 2, 1, 0]


def test_nonoverlay_runs_all_below_natively():
    table = MethodTable("t")

    @table.overlay(math.sin)
    def sin(x: float):
        return "overlaid"

    def helper(x):
        return math.sin(x), current_context()

    ctx = Context(table)
    assert ctx(lambda: nonoverlay(helper)(1.0)) == (math.sin(1.0), None)
    assert ctx(lambda: (nonoverlay(math.sin)(1.0), math.sin(1.0))) == (math.sin(1.0), "overlaid")


def test_nested_contexts_stack():
    outer, inner = table_of("outer", int), table_of("inner", int)
    one, two = Context(outer), Context(inner)
    expected = ["inner:int", "outer:int", "base", 1]
    assert one(lambda: two(target, 1)) == expected
    assert one(lambda: two.wrap(target)(1)) == expected
    assert (one | two)(target, 1) == expected
    assert two(target, 1) == ["inner:int", "base", 1]


def test_nested_contexts_stack_in_another_thread_too():
    one, two = Context(table_of("outer", int)), Context(table_of("inner", int))
    results = []

    wrapped = two.wrap(target)

    def work():
        results.append(two(target, 1))
        results.append(wrapped(1))

    thread = threading.Thread(target=one.wrap(work))
    thread.start()
    thread.join()
    assert results == [["inner:int", "outer:int", "base", 1]] * 2


def test_nothing_of_a_dropped_context_stays():
    def made_and_dropped():
        table = table_of("temporary", int)
        inner, outer = Context(table), Context(table_of("other", int))
        outer(lambda: inner(target, 1))
        lasting(lambda: inner(target, 1))
        inner(lambda: lasting(target, 1))
        return [weakref.ref(thing) for thing in (inner, outer, table)]

    lasting = Context(table_of("lasting", int))
    dropped = made_and_dropped()
    for _ in range(3):  # what a context has kept is dropped after the context itself
        gc.collect()
    assert [ref() for ref in dropped] == [None, None, None]


def test_functions_and_classes_made_while_running_are_not_kept():
    class Thing:
        pass

    def program(kind):
        def local(x):
            return x

        class Local:
            def __init__(self, x):
                self.x = local(x)

        made = kind(), Local(1), (lambda: 1)()
        return [weakref.ref(local), weakref.ref(Local), weakref.ref(made[1])]

    refs = [*lasting_context(program, Thing), weakref.ref(Thing)]
    lasting_context(program, int)
    del Thing
    gc.collect()
    assert [ref() for ref in refs] == [None] * 4


lasting_context = Context(MethodTable("lasting"))


def test_current_context_is_the_innermost_in_force():
    one, two = Context(metadata="one"), Context(metadata="two", state=[])

    def inside():
        return current_context()

    assert inside() is None
    assert one(inside) is one
    assert one(lambda: (inside(), two(inside), inside())) == (one, two, one)
    assert two(lambda: current_context().state) is two.state


def test_a_generator_keeps_its_context_when_it_outlives_it():
    table = MethodTable("t")

    @table.overlay(math.sin)
    def sin(x: float):
        return "overlaid"

    ctx = Context(table)

    def generator():
        while True:
            yield math.sin(1.0), current_context()

    made = ctx(generator)
    assert next(made) == ("overlaid", ctx)
    assert next(made) == ("overlaid", ctx)
    assert current_context() is None


def test_a_generator_goes_on_when_its_context_is_dropped():
    table = MethodTable("t")

    @table.overlay(math.sin)
    def sin(x: float):
        return "overlaid"

    def generator():
        while True:
            yield math.sin(1.0), current_context().metadata, Context()(lambda: math.sin(1.0))

    ctx = Context(table, metadata="kept")
    made = ctx(generator)
    first = next(made)
    del ctx
    gc.collect()
    assert next(made) == next(made) == first == ("overlaid", "kept", "overlaid")
