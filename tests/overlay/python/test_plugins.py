"""Plugins where code is interpreted: no hook is skipped in silence."""

import gc
import math
import time
import types
import weakref

import numpy as np
import pytest

from overlay import (
    Context,
    MethodTable,
    NotCompilable,
    OverlayError,
    Plugin,
    call_next,
    current_context,
    nonoverlay,
    recurse,
)
from overlay.context import current_stack
from overlay.plugin import STAGES
from overlay.signature import array_type


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


def test_a_function_that_a_plugin_takes_part_in_compiling_is_compiled_and_called():
    ctx = Context(plugins=(FastSin(),))
    assert ctx(sine, 0.5) == fast_sin(0.5) != math.sin(0.5)
    assert ctx(fast_sin, 0.5) == fast_sin(0.5)
    assert sine(0.5) == math.sin(0.5)


def test_functions_above_are_interpreted_where_only_one_below_is_to_be_compiled():
    class FromSine(Plugin):
        def enter(self, callee, types):
            return FastSin() if callee is sine else self

    def program(x):
        return [str(sine(value)) for value in {"a": x}.values()]

    assert Context(plugins=(FromSine(),))(program, 0.5) == [str(fast_sin(0.5))]


def test_a_method_is_compiled_with_its_call_next():
    table = MethodTable("table")

    @table.overlay(math.sin)
    def method(x: float):
        return call_next(x) + math.cos(x)

    class CosineIsOne(Plugin):
        def enter(self, callee, types):
            return None if callee is caller else self

        def before_inference(self, ir):
            for call in ir.calls(math.cos):
                ir.set_result(call, 1.0)

    class OnlyMethod(Plugin):
        def enter(self, callee, types):
            return CosineIsOne() if callee is method else self

    def caller(x):
        return [math.sin(x)]

    assert Context(table, plugins=(OnlyMethod(),))(caller, 0.5) == [math.sin(0.5) + 1.0]


# marked is for functions that call a marker: see tests/overlay/compiled/test_markers.py
@pytest.mark.parametrize("stage", [stage for stage in STAGES if stage != "marked"])
def test_every_stage_is_run_for_a_function_that_is_interpreted(stage):
    seen = []

    def hook(self, value):
        seen.append(value)

    def program(x):
        return helper(x)

    def helper(x):
        return x + 1

    plugin = type("Hook", (Plugin,), {stage: hook})()
    assert Context(plugins=(plugin,))(program, 1) == 2
    assert seen


@pytest.mark.parametrize("stage", STAGES)
def test_what_cannot_be_compiled_is_refused_with_plugin_hook_and_remedy(stage):
    plugin = type("Hook", (Plugin,), {stage: lambda self, value: None})()
    text = types.SimpleNamespace(x=1)

    def not_numba(value):
        return value.x

    with pytest.raises(NotCompilable) as info:
        Context(plugins=(plugin,))(not_numba, text)
    for word in ("not_numba", "Hook", stage, "bail out"):
        assert word in str(info.value)


def test_redefinition_is_seen_by_functions_that_are_compiled():
    table = MethodTable("table")

    @table.overlay(math.sin)
    def method(x: float):
        return 1.0

    class Passes(Plugin):
        def before_inference(self, ir):
            return ir

    ctx = Context(table, plugins=(Passes(),))
    assert ctx(sine, 0.5) == 1.0

    @table.overlay(math.sin)
    def again(x: float):
        return 2.0

    assert ctx(sine, 0.5) == 2.0


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


def test_a_context_without_plugins_calls_functions_as_before():
    def program():
        return sine

    ctx = Context(MethodTable("empty"))
    engine = ctx._alone.python
    assert ctx(program) is sine
    assert engine.callees[sine].__code__ is engine.twin(sine).__code__
    assert engine.callees[time.time] is time.time
    assert "entering" not in vars(ctx._alone)


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
