"""Plugins where code is interpreted, whose meaning is Python's."""

import asyncio
import gc
import math
import weakref

import numba
import numpy as np
import pytest

from overlay import (
    Context,
    MethodTable,
    OverlayError,
    Plugin,
    call_next,
    current_context,
    nonoverlay,
    recurse,
)
from overlay.core.in_force import current_stack
from overlay.core.signature import array_type
from overlay.plugins.plugin import STAGES


class Sees(Plugin):
    def __init__(self):
        self.seen = []


class SeesEntering(Sees):
    def enter(self, callee, types):
        self.seen.append((callee, types))
        return self


def active():
    return tuple(type(plugin) for plugin in current_stack().plugins)


def sine(x):
    return math.sin(x)


def middle(x):
    return sine(x), active()


def top(x):
    return middle(x), active()


# ---- enter -------------------------------------------------------------------------------------


def test_enter_is_asked_at_each_call_with_the_types():
    def program(x, xs):
        inner = lambda y: sine(y)  # noqa: E731
        return inner(x) + sum(xs) + Holder(2).get(scale=1.5)

    class Holder:
        def __init__(self, value):
            self.value = value

        def get(self, scale):
            return self.value * scale

    plugin = SeesEntering()
    xs = np.zeros(2)
    assert Context(plugins=(plugin,))(program, 0.5, xs) == math.sin(0.5) + 3.0
    names = [(callee.__name__, types) for callee, types in plugin.seen]
    assert names[0] == ("program", (float, array_type(np.float64, 1)))
    for row in (
        ("<lambda>", (float,)),
        ("sine", (float,)),
        ("sin", (float,)),
        ("__init__", (Holder, int)),
        ("get", (Holder, float)),
    ):
        assert names.count(row) == 1, row
    assert "sum" in [name for name, _ in names]


def test_enter_is_asked_once_for_a_function_and_types_while_both_live():
    plugin = SeesEntering()
    context = Context(plugins=(plugin,))
    for x in (0.5, 1.5, 2, 0.25):
        context(lambda x: [sine(x) for _ in range(3)], x)
    asked = [(callee.__name__, types) for callee, types in plugin.seen]
    for row in (("sine", (float,)), ("sine", (int,)), ("sin", (float,))):
        assert asked.count(row) == 1, row


def test_enter_is_asked_once_about_a_target_of_another_context():
    table = MethodTable("others")
    for target in (sine, math.cos):
        table.overlay(target)(lambda x: 1.0)
    other, plugin = Context(table), SeesEntering()
    assert other(sine, 0.5) == 1.0
    Context(plugins=(plugin,))(lambda: (sine(0.5), math.cos(0.5)))
    assert [callee.__name__ for callee, _ in plugin.seen] == ["<lambda>", "sine", "sin", "cos"]


def test_a_plugin_that_bails_out_is_not_active_below():
    class Bails(Sees):
        def enter(self, callee, types):
            self.seen.append(callee)
            return None if callee is middle else self

    plugin = Bails()
    ctx = Context(plugins=(plugin,))
    assert ctx(top, 0.5) == ((math.sin(0.5), ()), (Bails,))
    assert sine not in plugin.seen
    assert ctx(middle, 0.5) == (math.sin(0.5), ())
    assert ctx(sine, 0.5) == math.sin(0.5)
    assert sine in plugin.seen
    assert current_context() is None


def test_a_plugin_may_put_another_in_its_place_below():
    class Other(Plugin):
        pass

    class Changes(Plugin):
        def enter(self, callee, types):
            return Other() if callee is middle else self

    assert Context(plugins=(Changes(),))(top, 0.5) == ((math.sin(0.5), (Other,)), (Changes,))


def test_enter_is_asked_with_the_method_that_a_call_resolves_to_and_tables_stay():
    table = MethodTable("table")

    @table.overlay(math.sin)
    def method(x: float):
        return call_next(x) + 1, active()

    class Bails(SeesEntering):
        def enter(self, callee, types):
            super().enter(callee, types)
            return None if callee is method else self

    plugin = Bails()
    ctx = Context(table, plugins=(plugin,), metadata=3)
    assert ctx(sine, 0.5) == (math.sin(0.5) + 1, ())
    assert (method, (float,)) in plugin.seen
    assert plugin.seen.count((math.sin, (float,))) == 0  # below the method nothing is active
    assert [hit.method.function for hit in ctx.report().hits] == [method]
    assert Context(table, plugins=(SeesEntering(),))(sine, 0.5)[1] == (SeesEntering,)


def test_code_changed_in_place_is_seen_where_plugins_have_bailed_out():
    def helper():
        return "old"

    def program():
        return helper()

    class Bails(Plugin):
        def enter(self, callee, types):
            return None if callee is helper else self

    ctx = Context(plugins=(Bails(),))
    assert ctx(program) == "old"
    helper.__code__ = (lambda: "new").__code__
    assert ctx(program) == "new"


def test_what_plugins_said_of_a_function_goes_with_it():
    def program():
        def local(x):
            return x

        kept = [local(n) for n in range(3)]
        return weakref.ref(local), kept

    ctx = Context(plugins=(SeesNothing(),))
    reference, kept = ctx(program)
    gc.collect()
    assert (reference(), kept) == (None, [0, 1, 2])


class SeesNothing(Plugin):
    def enter(self, callee, types):
        return None if callee is middle else self


def looks(x):
    names = sorted(locals())
    y = globals()["middle"](x)
    return names, y, eval("x + 1")


def test_functions_that_look_at_the_frame_that_calls_them_see_it():
    assert Context(plugins=(SeesNothing(),))(looks, 1.0) == looks_natively(1.0)


def looks_natively(x):
    return ["x"], (math.sin(x), ()), x + 1


def test_the_body_of_a_generator_or_coroutine_has_the_plugins_that_it_was_entered_with():
    class Bails(Plugin):
        def enter(self, callee, types):
            return None if callee in (numbers, later) else self

    def numbers():
        yield active()
        yield active()

    async def later():
        return active()

    async def main():
        return await later(), active()

    ctx = Context(plugins=(Bails(),))
    assert ctx(lambda: [(each, active()) for each in numbers()]) == [((), (Bails,))] * 2
    assert ctx(lambda: asyncio.run(main())) == ((), (Bails,))


def test_an_exception_leaves_the_plugins_as_they_were():
    class Bails(Plugin):
        def enter(self, callee, types):
            return None if callee is fails else self

    def fails():
        raise ValueError

    def program():
        before = active()
        with pytest.raises(ValueError):  # noqa: PT011
            fails()
        return before, active()

    assert Context(plugins=(Bails(),))(program) == ((Bails,), (Bails,))


def test_nested_contexts_and_nonoverlay():
    class A(Plugin):
        pass

    class B(Plugin):
        pass

    inner = Context(plugins=(B(),))
    outer = Context(plugins=(A(),))
    assert outer(lambda: inner(active)) == (A, B)
    assert outer(lambda: recurse(inner, active)) == (A, B)
    assert outer(lambda: nonoverlay(current_stack)()) is None
    assert outer(lambda: recurse(current_context().replace(plugins=(B(),)), active)) == (A, B)


def test_an_error_in_enter_names_the_plugin_and_the_function():
    class Broken(Plugin):
        def enter(self, callee, types):
            raise KeyError("lost")

    with pytest.raises(OverlayError, match="failed in enter of sine") as info:
        Context(plugins=(Broken(),))(sine, 0.5)
    assert isinstance(info.value.__cause__, KeyError)


# ---- compilation -------------------------------------------------------------------------------


def fast_sin(x):
    return x - x**3 / 6 + 0.0 * math.sin(x)


class FastSin(Plugin):
    def enter(self, callee, types):
        return None if callee is fast_sin else self

    def after_inference(self, ir):
        for call in ir.calls(math.sin):
            if call.types == (float,):
                ir.replace(call, fast_sin, *call.args)


class OnlyEdits(Plugin):
    def after_inference(self, ir):
        for call in ir.calls(math.sin):
            ir.replace(call, math.cos, *call.args)


def test_a_plugin_that_also_enters_works_by_that_and_is_heard_in_what_is_compiled():
    ctx = Context(plugins=(FastSin(),))
    assert ctx(sine, 0.5) == math.sin(0.5) != fast_sin(0.5)
    assert ctx.jit(sine)(0.5) == fast_sin(0.5)
    assert ctx(lambda x: [compiled_sine(x)], 0.5) == [fast_sin(0.5)]
    assert ctx(compiled_sine, 0.5) == fast_sin(0.5)


@numba.njit
def compiled_sine(x):
    return math.sin(x)


@pytest.mark.parametrize("stage", STAGES)
def test_a_hook_on_code_that_is_compiled_is_refused_before_anything_runs(stage):
    plugin = type("Hook", (Plugin,), {stage: lambda self, value: None})()
    ran, context = [], Context(plugins=(plugin,))
    for run in (context, lambda f: context.wrap(f)(), lambda f: recurse(context, f)):
        with pytest.raises(OverlayError) as info:
            run(lambda: ran.append(1))
        for word in ("<lambda>", "Hook", stage, "ctx.jit("):
            assert word in str(info.value)
    assert ran == []


def test_one_that_a_program_enters_or_that_enter_gives_is_refused_where_it_is_met():
    inner, ran = Context(plugins=(OnlyEdits(),)), []

    def program(x):
        ran.append(1)
        return inner(sine, x)

    with pytest.raises(OverlayError, match="cannot interpret sine with <plugin OnlyEdits>"):
        Context()(program, 0.5)

    class FromSine(Plugin):
        def enter(self, callee, types):
            return OnlyEdits() if callee is sine else self

    with pytest.raises(OverlayError, match="cannot interpret sine with <plugin OnlyEdits>"):
        Context(plugins=(FromSine(),))(middle, 0.5)
    assert Context(plugins=(FromSine(),))(lambda x: compiled_sine(x), 0.5) == math.sin(0.5)
    assert ran == [1]


class Everything(Plugin):
    """Has each hook on code, and enters."""

    def enter(self, callee, types):
        return self


for each in STAGES:
    setattr(Everything, each, lambda self, value: None)


@pytest.mark.parametrize(
    ("program", "args"),
    [
        (lambda n: abs(n) * 2**40, (2**40,)),
        (lambda s: str(s), (0.5,)),
        (lambda x: [math.sin][0](x), (0.5,)),
        (lambda x: {"a": x, 1: [x, None]}, (0.5,)),
        (lambda x: eval("math.sin(x)", {"math": math, "x": x}), (0.5,)),
        (lambda a, b: (a // b, a % b, a / b), (-7, 2)),
        (lambda a: max(2, a), (0.5,)),
        (lambda flag: abs(flag), (True,)),
    ],
)
def test_no_plugin_changes_what_interpreted_code_means(program, args):
    found = Context(plugins=(Everything(),))(program, *args)
    assert (type(found), found) == (type(program(*args)), program(*args))


def test_no_plugin_lets_interpreted_code_read_out_of_bounds():
    with pytest.raises(IndexError):
        Context(plugins=(Everything(),))(lambda a, i: a[i], np.zeros(2), 5)
    with pytest.raises(ZeroDivisionError):
        Context(plugins=(Everything(),))(lambda a: 1 / a, 0)


# ---- interpreter -------------------------------------------------------------------------------


def test_an_interpretation_is_put_in_force_at_entry_and_below():
    class Substitutes(Sees):
        def interpreter(self, current):
            self.seen.append(current)
            return current or "mine"

    plugin = Substitutes()
    assert Context(plugins=(plugin,))(lambda: (lambda: current_stack().interpretation)()) == "mine"
    assert plugin.seen[0] is None
    assert set(plugin.seen[1:]) == {"mine"}


# ---- costs and lifetimes -----------------------------------------------------------------------


def test_a_context_with_plugins_is_collected_with_all_that_it_kept():
    class Bails(Plugin):
        def enter(self, callee, types):
            return FastSin() if callee is sine else None if callee is middle else self

    def run():
        plugin = Bails()
        ctx = Context(MethodTable("empty"), plugins=(plugin,))
        ctx(top, 0.5)
        ctx(sine, 0.5)
        return [weakref.ref(thing) for thing in (plugin, ctx, ctx._alone)]

    references = run()
    gc.collect()
    gc.collect()
    assert [reference() for reference in references] == [None] * 3
