"""plum's generic functions in a context, and as targets."""

import math

import plum

from overlay import Context, MethodTable, call_next

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


def test_bodies_of_its_methods_run_in_the_context():
    ctx = Context(sines())
    assert ctx(lambda: area(1.0)) == "overlaid"
    assert ctx(lambda: list(map(area, [1.0]))) == ["overlaid"]
    assert ctx(lambda: Shape().scale(1.0)) == "overlaid"
    assert ctx(lambda: Shape().scale(1)) == "int"
    assert area(1.0) == math.sin(1.0)


def test_its_conversion_of_results_stays():
    plum.add_conversion_method(int, float, float)
    result = Context(sines())(lambda: area(3))
    assert (result, type(result)) == (3.0, float)


def test_a_method_added_later_is_seen():
    ctx = Context(sines())

    def use():
        return area("text")

    @dispatch
    def area(x: str):
        return math.sin(len(x) * 1.0)

    assert ctx(lambda: area("text")) == "overlaid"


def test_as_a_target_it_is_the_base_where_no_method_applies():
    table = sines()

    @table.overlay(area)
    def bigger(x: str):
        return "text"

    @table.overlay(area)
    def next_(x: float):
        return ["next", call_next(x)]

    ctx = Context(table)
    assert ctx(lambda: area("a")) == "text"
    assert ctx(lambda: area(1.0)) == ["next", "overlaid"]
    assert ctx(area, 2) == 2.0
