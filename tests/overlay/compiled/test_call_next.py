"""call_next and nonoverlay mean in compiled code what they mean when interpreted."""

import math

import numpy as np
import pytest
from numba import njit

from overlay import Context, MethodTable, OverlayError, call_next, nonoverlay
from overlay.core.dispatch import MethodChain

inner, outer = MethodTable("inner"), MethodTable("outer")


def below(x):
    return math.sin(x) * 2


@outer.overlay(math.sin)
def outer_float(x: float):
    return call_next(x) + 10


@outer.overlay(math.sin)
def outer_any(x):
    return call_next(x) + 20


@inner.overlay(math.sin)
def inner_float(x: float):
    def nested(y):
        return call_next(y) + 100

    return nested(x)


@inner.overlay(math.sin)
def inner_any(x):
    return call_next(x) + 200


@inner.overlay(below)
def inner_below(x: float):
    return call_next(x) + 1000


@outer.overlay(max)
def largest(*xs):
    return call_next(*xs) + 1


@outer.overlay(np.abs)
def absolute(x: float):
    return call_next(int(x)) + 0.5


@outer.overlay(np.abs)
def absolute_int(x: int):
    return 7


CONTEXTS = [Context(inner), Context(outer), Context(outer, inner), Context(inner, outer)]


def program(x, n):
    return math.sin(x), math.sin(n), below(x), max(x, 2.0), np.abs(x)


@pytest.mark.parametrize("context", CONTEXTS, ids=repr)
def test_the_chain_is_the_same_in_both_engines(context):
    assert context.jit(program)(0.5, 2) == context(program, 0.5, 2)


def test_the_chain_goes_through_a_table_and_then_outward_to_the_base():
    sine = math.sin(0.5)
    first = Context(outer, inner).jit(program)(0.5, 2)
    assert first[0] == pytest.approx(sine + 20 + 10 + 200 + 100)
    assert first[1] == pytest.approx(math.sin(2) + 20 + 200)
    assert first[2] == first[0] * 2 + 1000
    assert first[3] == 3.0
    assert first[4] == 7.5


def test_call_next_may_be_handed_on():
    table = MethodTable("handed on")

    def apply(function, x):
        return function(x) + 1

    @table.overlay(math.cos)
    def cos(x: float):
        return apply(call_next, x)

    context = Context(table)
    assert context.jit(lambda x: math.cos(x))(0.5) == math.cos(0.5) + 1


def test_the_same_function_can_be_the_method_of_several_targets_and_tables():
    one, two = MethodTable("one"), MethodTable("two")

    def plus_one(x: float):
        return call_next(x) + 1

    for table in (one, two):
        table.overlay(math.sin)(plus_one)
        table.overlay(math.cos)(plus_one)

    def program(x):
        return math.sin(x), math.cos(x)

    assert Context(one, two).jit(program)(0.5) == (math.sin(0.5) + 2, math.cos(0.5) + 2)


def test_outside_a_method_it_is_an_error():
    with pytest.raises(OverlayError, match="outside a method"):
        Context(inner).jit(lambda x: call_next(x))(1.0)


always_plain = nonoverlay(below)


def test_nonoverlay_drops_every_overlay_below():
    def apply(function, x):
        return nonoverlay(function)(x)

    def program(x):
        return (
            nonoverlay(math.sin)(x),
            nonoverlay(below)(x),
            always_plain(x),
            apply(below, x),
            apply(math.sin, x),
            apply(math.tan, x),
            math.sin(x),
        )

    context = Context(outer, inner)
    compiled = context.jit(program)(0.5)
    assert compiled == context(program, 0.5)
    plain = math.sin(0.5)
    assert compiled[:6] == (plain, plain * 2, plain * 2, plain * 2, plain, math.tan(0.5))
    assert compiled[6] == pytest.approx(plain + 330)


def test_other_types_of_the_same_target_may_be_reached_from_a_method():
    table = MethodTable("nested")

    @table.overlay(math.fabs)
    def of_pair(x: tuple[float, float]):
        return math.fabs(x[0]) + math.fabs(x[1])

    @table.overlay(math.fabs)
    def of_float(x: float):
        return 5.0

    def program(x):
        return math.fabs((x, x))

    assert Context(table).jit(program)(1.0) == 10.0


def test_a_compiled_function_of_another_context_nests():
    def both_sines(x):
        return math.sin(x), math.cos(x)

    cosines = MethodTable("cosines")

    @cosines.overlay(math.cos)
    def cos(x: float):
        return 5.0

    inside = Context(inner).jit(both_sines)

    def program(x):
        return inside(x), math.sin(x), math.cos(x)

    sine = math.sin(0.5)
    result = Context(cosines).jit(program)(0.5)
    assert result == ((inside(0.5)[0], 5.0), sine, 5.0)
    assert inside(0.5)[0] == pytest.approx(sine + 300)
    assert Context(cosines).jit(inside)(0.5) == result[0]


def test_targets_are_reached_from_numbas_higher_order_functions():
    table = MethodTable("higher order")

    def join(a, b):
        return a + b

    @table.overlay(join)
    def join_floats(a: float, b: float):
        return a * b

    @table.overlay(math.sin)
    def negative(x: float):
        return -x

    def program(a):
        return list(map(join, a, a)), sorted([1.0, 2.0], key=math.sin)

    assert Context(table).jit(program)((2.0, 3.0)) == ([4.0, 9.0], [2.0, 1.0])


def test_call_next_in_an_njit_method_goes_on():
    table = MethodTable("njit")

    @table.overlay(math.sin)
    @njit
    def sin(x: float):
        return call_next(x) + 1

    context = Context(table)
    assert context.jit(lambda x: math.sin(x))(0.5) == math.sin(0.5) + 1
    (method,) = table.methods(math.sin)
    entered = context.compiled.jit_method(sin, MethodChain.of(math.sin, (table,), (method,)))
    assert entered(0.5) == math.sin(0.5) + 1
