"""plum's generic functions in a context, and as targets."""

import functools
import gc
import math
import types
import weakref

import plum
import pytest

from overlay import Context, MethodTable, call_next
from overlay.python import interception
from tests.overlay.idle_plugins import Surrounds

dispatch = plum.Dispatcher()


@dispatch
def area(x: float):
    return math.sin(x)


@dispatch
def area(x: int) -> float:
    return x


class Shape:
    @dispatch
    def scale(self, x: int):
        return "int"

    @dispatch
    def scale(self, x: float):
        return math.sin(x)


def sines():
    table = MethodTable("t")

    @table.overlay(math.sin)
    def sin(x: float):
        return "overlaid"

    return table


@pytest.fixture(params=[(), (Surrounds(),)], ids=["tables", "plugins"])
def plugins(request):
    return request.param


def test_bodies_of_its_methods_run_in_the_context(plugins):
    ctx = Context(sines(), plugins=plugins)
    assert ctx(lambda: area(1.0)) == "overlaid"
    assert ctx(lambda: list(map(area, [1.0]))) == ["overlaid"]
    assert ctx(lambda: Shape().scale(1.0)) == "overlaid"
    assert ctx(lambda: Shape().scale(1)) == "int"
    assert area(1.0) == math.sin(1.0)


class Function(plum.Function):
    pass


IS_COMPILED = not plum._function.__file__.endswith(".py")
KINDS = {
    **dict.fromkeys((Shape, types.FunctionType, functools.partial, type, set), True),
    **dict.fromkeys((plum.Function, Function, type(Shape().scale.__func__)), not IS_COMPILED),
}


@pytest.mark.parametrize("kind", KINDS)
def test_classes_that_leave_weak_references_dangling_are_told(kind):
    """Those that mypyc compiles, as it does plum for some versions of Python."""
    assert interception.intercept.clears_weak_references(kind, Shape) is KINDS[kind]


def test_none_is_made_to_their_objects(plugins):
    def program():
        bound = Shape().scale
        return bound(1), weakref.getweakrefcount(bound.__func__)

    result, count = Context(sines(), plugins=plugins)(program)
    assert result == "int"
    assert not (count and IS_COMPILED)
    gc.collect()


def test_its_conversion_of_results_stays(plugins):
    plum.add_conversion_method(int, float, float)
    result = Context(sines(), plugins=plugins)(lambda: area(3))
    assert (result, type(result)) == (3.0, float)


def test_a_method_added_later_is_seen(plugins):
    ctx = Context(sines(), plugins=plugins)

    def use():
        return area("text")

    @dispatch
    def area(x: str):
        return math.sin(len(x) * 1.0)

    assert ctx(lambda: area("text")) == "overlaid"


def test_as_a_target_it_is_the_base_where_no_method_applies(plugins):
    table = sines()

    @table.overlay(area)
    def bigger(x: str):
        return "text"

    @table.overlay(area)
    def next_(x: float):
        return ["next", call_next(x)]

    ctx = Context(table, plugins=plugins)
    assert ctx(lambda: area("a")) == "text"
    assert ctx(lambda: area(1.0)) == ["next", "overlaid"]
    assert ctx(area, 2) == 2.0
