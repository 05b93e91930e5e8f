"""Derivatives, interpreted, of programs that call functions compiled by numba."""

import math

import numba
import numpy as np
import pytest

from overlay import Context, MethodTable, Plugin, call_next, plugins_in_force
from overlay.interpretations.autodiff import NotDifferentiable, autodiff, derivative, gradient


@numba.njit
def swing(x):
    return math.sin(x) * 2.0


@numba.njit
def product_of(pair):
    return pair[0] * pair[1]


@numba.njit
def first_two(*numbers):
    return numbers[0] * numbers[1]


def test_a_function_is_differentiated_through_an_njit_helper():
    def program(x):
        return x * swing(x)

    slope = 2 * math.sin(0.5) + math.cos(0.5)
    assert math.isclose(autodiff(program, 0.5), slope)
    assert math.isclose(derivative(program)(0.5), slope)
    assert math.isclose(derivative(swing, order=2)(0.5), -2 * math.sin(0.5))
    assert math.isclose(Context().jit(lambda x: autodiff(program, x))(0.5), slope)


def test_active_numbers_in_tuples_lists_and_arrays_are_given_to_an_njit_helper():
    assert gradient(lambda x, y: product_of((x, y)))(2.0, 3.0) == (3.0, 2.0)
    assert gradient(lambda x, y: product_of([x, y]))(2.0, 3.0) == (3.0, 2.0)
    assert gradient(lambda x, y: first_two(x, y))(2.0, 3.0) == (3.0, 2.0)
    found = gradient(product_of, mode="forward")(np.array([2.0, 3.0]))
    assert np.array_equal(found, [3.0, 2.0])


def test_what_an_njit_helper_calls_sees_the_tables_and_call_next():
    table = MethodTable("table")

    def square(x):
        return x * x

    @table.overlay(square)
    @numba.njit
    def thrice(x):
        return 3.0 * call_next(x)

    @numba.njit
    def helper(x):
        return square(x) * x

    context = Context(table)
    assert derivative(context.wrap(square))(2.0) == 12.0
    assert derivative(context.wrap(helper))(2.0) == 36.0
    assert derivative(context.jit(helper))(2.0) == 36.0


def edited(x):
    return math.sin(x)


class Edits(Plugin):
    """Goes on in ``edited`` alone."""

    def enter(self, callee, types):
        return self if callee is edited else Passes()

    def before_inference(self, ir):
        return ir


class Passes(Plugin):
    def enter(self, callee, types):
        return Edits() if callee is edited else self


def test_a_derivative_below_a_plugin_that_edits_compiled_code_is_that_of_the_code_that_runs():
    context = Context(plugins=(Passes(),))
    assert context(edited, 0.5) == math.sin(0.5)
    assert math.isclose(derivative(context.wrap(edited))(0.5), math.cos(0.5))
    compiled = context.jit(lambda x: autodiff(edited, x))
    assert math.isclose(compiled(0.5), math.cos(0.5))


def seven_times(x):
    return x * 7.0


class Sevens(Plugin):
    """Has seven times x in the place of the sine of x."""

    def before_inference(self, ir):
        for call in ir.calls(math.sin):
            ir.replace(call, seven_times, *call.args)


def by_array(x):
    return math.sin(x[0]) * x[1]


def test_no_adjoint_is_made_of_a_program_that_a_plugin_may_edit():
    plugin = Sevens()
    context = Context(plugins=(plugin,))
    assert context.jit(by_array)(np.array([1.0, 2.0])) == 14.0
    assert context.jit(lambda x: autodiff(edited, x))(1.0) == 7.0
    with pytest.raises(NotDifferentiable, match="takes part in compiling it, and may edit it"):
        context.jit(lambda x: autodiff(by_array, x))(np.array([1.0, 2.0]))
    assert plugins_in_force() == ()


class LooksAtLLVM(Plugin):
    def __init__(self):
        self.stages = set()

    def after_codegen(self, module):
        self.stages.add("after_codegen")

    def after_optimisation(self, module):
        self.stages.add("after_optimisation")


def test_a_plugin_with_hooks_into_llvm_alone_keeps_no_adjoint_away():
    plugin, x = LooksAtLLVM(), np.array([1.0, 2.0])
    found = Context(plugins=(plugin,)).jit(lambda x: autodiff(by_array, x))(x)
    assert np.allclose(found, [2.0 * math.cos(1.0), math.sin(1.0)], rtol=1e-15)
    assert plugin.stages == {"after_codegen", "after_optimisation"}
