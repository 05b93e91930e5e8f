"""Programs of CassetteOverlay.jl's tests (JuliaDebug/CassetteOverlay.jl), written again in Python,
interpreted and compiled."""

import math

import numpy as np
import pytest

from overlay import Context, MethodTable, call_next, current_context, nonoverlay


def identity(x):
    return x


def choose(x, y, condition=True):
    return x if condition else y


def variadic(a, b, *c):
    return a, b, c


def both(context, function, *args):
    """The interpreted result of a program, where the compiled one equals it."""
    interpreted, compiled = context(function, *args), context.jit(function)(*args)
    single = any(isinstance(arg, np.float32) for arg in args)  # of which Python makes doubles
    assert interpreted == (pytest.approx(compiled, rel=1e-6) if single else compiled)
    return interpreted


def test_a_method_stands_for_a_call_and_is_replaced():
    """test/simple.jl"""
    table = MethodTable("simple")
    context = Context(table)
    table.overlay(identity)(lambda x: 42)
    assert both(context, lambda: identity(1)) == 42
    assert context(identity, None) == 42
    table.overlay(identity)(lambda x: 0)
    assert both(context, lambda: identity(1)) == 0
    table.overlay(identity)(lambda x: nonoverlay(identity)(x))
    assert both(context, lambda: identity(1)) == 1
    assert identity(1) == 1


def test_keyword_arguments_reach_a_method():
    """test/simple.jl; nonoverlay with keywords is what the issues there name"""
    table = MethodTable("keywords")

    @table.overlay(choose)
    def other(x, y, condition=True):
        return y if condition else x

    context = Context(table)
    assert both(context, lambda: choose(0, 1)) == 1
    assert both(context, lambda: choose(0, 1, condition=False)) == 0

    @table.overlay(choose)
    def same(x, y, condition=True):
        return nonoverlay(choose)(x, y, condition=condition)

    assert both(context, lambda: choose(0, 1)) == 0
    assert both(context, lambda: choose(0, 1, condition=False)) == 1


def test_a_function_behind_a_variable_is_dispatched():
    """test/simple.jl: a global without a type"""
    table = MethodTable("dynamic")
    table.overlay(identity)(lambda x: 42)
    behind = [identity]
    assert Context(table)(lambda: behind[0](None)) == 42
    assert both(Context(table), lambda: BEHIND(1)) == 42


BEHIND = identity


def test_variadic_arguments_are_kept():
    """test/simple.jl"""
    empty = Context(MethodTable("empty"))
    assert both(empty, variadic, 1, 2, 3) == (1, 2, (3,))
    assert both(empty, variadic, 1, 2, 3, 4) == (1, 2, (3, 4))


@pytest.mark.parametrize("number", [42.0, np.float32(42.0)])
def test_the_sine_becomes_the_cosine_for_both_widths(number):
    """test/math.jl"""
    table = MethodTable("sine")

    @table.overlay(math.sin)
    def cosine(x: float | np.float32):
        return math.cos(x)

    context = Context(table)

    def program(x):
        return math.sin(x) * math.cos(x)

    assert math.isclose(both(context, program, number), math.cos(number) ** 2, rel_tol=1e-6)

    @table.overlay(math.sin)
    def product(x: float | np.float32):
        return math.cos(x) * call_next(x)

    expected = math.cos(number) ** 2 * math.sin(number)
    assert math.isclose(both(context, program, number), expected, rel_tol=1e-6)


def test_a_pass_counts_in_state_of_its_own():
    """test/abstract.jl"""
    table = MethodTable("counter")

    @table.overlay(math.cos)
    def counted(x):
        current_context().state[0] += 1
        return call_next(x)

    def program(x):
        return math.sin(x) * math.cos(x)

    one, two = np.zeros(1, dtype=int), np.zeros(1, dtype=int)
    assert both(Context(table, state=one), program, 42.0) == program(42.0)
    assert (one[0], two[0]) == (2, 0)


def test_a_function_in_c_that_has_no_method_is_called():
    """test/misc.jl: a sine that is a foreign call"""
    empty = Context(MethodTable("empty"))
    assert both(empty, np.sin, 1.0) == np.sin(1.0)
