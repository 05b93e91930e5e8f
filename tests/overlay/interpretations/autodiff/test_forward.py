"""Forward derivatives of programs, interpreted and compiled."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay import Context, MethodTable, call_next, nonoverlay
from overlay.interpretations.autodiff import (
    NotDifferentiable,
    autodiff,
    derivative,
    differentiation,
    inactive,
    jvp,
    partials_of,
)
from tests.examples import examples

SMALL = st.floats(-2, 2).filter(lambda x: abs(x) > 1e-3)


@pytest.fixture(params=["interpreted", "compiled"])
def run(request):
    """Calls a function in either engine."""
    if request.param == "interpreted":
        return lambda f, *args: f(*args)
    return lambda f, *args: Context().jit(f)(*args)


def helper(x):
    return math.sin(x) * x


def branching(x):
    y = helper(x) * math.exp(x * 0.1) + 2.0 * x
    if y > 3.0:
        y = y * y
    return y / (1.0 + x * x)


def looping(x):
    total = x
    for i in range(1, 5):
        total += x**i / i
        if total > 10:
            break
    while total > 1:
        total /= 2
    return total


def central(f, x, step=1e-5):
    return (f(x + step) - f(x - step)) / (2 * step)


@pytest.mark.parametrize("f", [branching, looping])
def test_branches_loops_and_helpers(run, f):
    for x in (0.3, 1.7):
        assert math.isclose(run(lambda x: autodiff(f, x), x), central(f, x), rel_tol=1e-6)


def test_second_and_third_derivatives(run):
    def second(x):
        return autodiff(lambda y: autodiff(branching, y), x)

    wanted = central(derivative(branching), 0.7)
    assert math.isclose(run(second, 0.7), wanted, rel_tol=1e-6)
    assert derivative(math.exp, order=3)(0.5) == math.exp(0.5)


def test_perturbations_of_nested_derivatives_stay_apart():
    # confused perturbations give 2 here
    assert autodiff(lambda x: x * autodiff(lambda y: x + y, 1.0), 1.0) == 1.0
    assert autodiff(lambda x: x * autodiff(lambda y: x * y * y, 3.0), 2.0) == 24.0


def test_derivatives_by_several_arguments(run):
    def both(x, y):
        return autodiff(lambda a, b: a * math.cos(b), x, y)

    assert np.allclose(run(both, 2.0, 0.5), (math.cos(0.5), -2 * math.sin(0.5)))


def test_a_result_that_does_not_depend_on_the_argument_has_the_derivative_0(run):
    assert run(lambda x: autodiff(lambda y: 3.0, x), 1.0) == 0.0


def test_the_truth_of_a_number_is_that_of_its_value(run):
    def truth(x):
        if x:
            return 1.0 * x
        return 3.0 * x

    def falsehood(x):
        return 1.0 * x if not x else 2.0 * x

    assert run(lambda x: autodiff(truth, x), 0.0) == 3.0
    assert run(lambda x: autodiff(truth, x), 0.5) == 1.0
    assert run(lambda x: autodiff(falsehood, x), 0.0) == 1.0


def test_what_is_whole_is_constant(run):
    assert run(lambda x: autodiff(lambda y: y * math.floor(y) + int(y), x), 2.5) == 2.0


def test_arrays_that_the_function_makes_are_written_to(run):
    def summed(x):
        out = np.zeros(4)
        for i in range(len(out)):
            out[i] = x * i
            out[i] += x
        return np.sum(out * out) + np.dot(out, out)

    # out[i] = x (i + 1): the sum of squares is 30 x^2, twice
    assert run(lambda x: autodiff(summed, x), 2.0) == 240.0


def test_printing_shows_values(run, capfd):
    def noisy(x):
        print("x is", x)
        return x * x

    assert run(lambda x: autodiff(noisy, x), 3.0) == 6.0
    assert "x is 3.0" in capfd.readouterr().out


plain_sin = inactive(math.sin)


def test_an_inactive_call_is_a_constant(run):
    assert run(lambda x: autodiff(lambda y: y * plain_sin(y), x), 0.5) == math.sin(0.5)


def test_outside_a_derivative_nothing_changes(run):
    assert run(lambda x: math.sin(x) + plain_sin(x), 0.5) == 2 * math.sin(0.5)
    assert nonoverlay(branching)(0.3) == branching(0.3)


def test_code_of_the_standard_library():
    bell = statistics.NormalDist(0, 1)
    assert math.isclose(derivative(bell.pdf)(0.5), -0.5 * bell.pdf(0.5))
    assert math.isclose(derivative(bell.cdf)(0.5), bell.pdf(0.5))


def test_a_kernel_is_differentiated_where_it_is_compiled():
    def kernel(xs, out):
        for i in range(xs.size):
            out[i] = autodiff(branching, xs[i])

    xs, out = np.linspace(0.1, 3, 7), np.empty(7)
    Context().jit(kernel)(xs, out)
    assert np.allclose(out, [autodiff(branching, float(x)) for x in xs], rtol=1e-13)


@settings(max_examples=examples(25))
@given(SMALL, SMALL, SMALL)
def test_the_product_and_the_chain_rule(x, p, q):
    def f(t):
        return math.sin(p * t) + t * t

    def g(t):
        return math.exp(q * t) / (1 + t * t)

    of_f, of_g = derivative(f), derivative(g)
    product = f(x) * of_g(x) + of_f(x) * g(x)
    assert math.isclose(derivative(lambda t: f(t) * g(t))(x), product, rel_tol=1e-9, abs_tol=1e-9)
    chain = of_f(g(x)) * of_g(x)
    assert math.isclose(derivative(lambda t: f(g(t)))(x), chain, rel_tol=1e-9, abs_tol=1e-9)


@settings(max_examples=examples(25))
@given(SMALL, SMALL)
def test_tangents_go_through_linearly(x, scale):
    one = jvp(branching, (x,), (1.0,))
    assert one[0] == branching(x)
    assert math.isclose(jvp(branching, (x,), (scale,))[1], scale * one[1], abs_tol=1e-12)


def test_what_a_table_puts_in_place_of_a_function_is_differentiated():
    table = MethodTable("doubled")

    @table.overlay(math.sin)
    def sin(x):
        return 2 * call_next(x)

    doubled = Context(table).wrap(lambda x: math.sin(x) + x)
    assert derivative(doubled)(0.5) == 2 * math.cos(0.5) + 1

    assert math.isclose(jvp(doubled, (0.5,), (1.0,))[0], doubled(0.5))


tripled = MethodTable("tripled")


@tripled.overlay(math.sin)
def tripled_sin(x: float):
    return 3 * x


def wave(x):
    return math.sin(x) * x


in_tripled = Context(tripled).wrap(wave)


def slope_in_tripled(x):
    return autodiff(wave, x)


between = Context(tripled).wrap(slope_in_tripled)


@pytest.mark.parametrize("engine", ["interpreted", "compiled"])
@pytest.mark.parametrize(
    ("context", "f", "wanted"),
    [
        (Context(tripled), lambda x: autodiff(wave, x), 3.0),
        (Context(), lambda x: autodiff(in_tripled, x), 3.0),
        (Context(), lambda x: autodiff(between, x), 6.0),
    ],
    ids=["around", "inside", "between"],
)
def test_a_method_for_plain_values_is_differentiated_in_the_place_of_a_rule(
    context, f, wanted, engine
):
    found = context(f, 0.5) if engine == "interpreted" else context.jit(f)(0.5)
    assert found == wanted  # of 3 * x * x, and of its slope


def test_a_rule_is_computed_with_functions_as_they_are():
    assert Context(tripled)(derivative(math.cos), 0.5) == -math.sin(0.5)
    assert Context(tripled).jit(lambda x: autodiff(math.cos, x))(0.5) == -math.sin(0.5)


def test_rules_of_ones_own_keep_perturbations_apart():
    table = MethodTable("own")
    table.overlay(partials_of(math.sin))(lambda x: (100.0,))

    def inner(x):
        return x * derivative(lambda y: x + y, rules=table)(1.0)

    assert derivative(inner, rules=table)(1.0) == 1.0
    assert (
        derivative(lambda x: x * derivative(lambda y: x * math.sin(y), rules=table)(1.0))(1.0)
        == 200.0
    )
    context = differentiation(table)
    assert context(lambda x: autodiff(lambda y: y * autodiff(math.sin, y), x), 1.0) == 100.0
    with pytest.raises(NotDifferentiable, match="enter it once"):
        context(autodiff, lambda x: x * context(autodiff, lambda y: x + y, 1.0), 1.0)


def test_tables_of_functions_that_are_not_differentiated_stand_anywhere():
    table = MethodTable("around")
    table.overlay(math.sin)(lambda x: 3 * x)
    table.overlay(helper)(lambda x: 5 * x)
    # sin is not called, and helper is differentiated through what stands in its place
    assert Context(table)(derivative(lambda x: helper(x)), 0.5) == 5.0
    assert Context(table).jit(lambda x: autodiff(helper, x) * 2)(0.5) == 10.0
    assert derivative(Context(table).wrap(lambda x: math.sin(x)))(0.5) == 3.0
    assert Context(table)(derivative(math.sin), 0.5) == 3.0


def test_an_active_number_is_of_the_class_of_its_value():
    def f(x):
        if isinstance(x, (int, tuple)):
            return 5 * x
        return x * x if isinstance(x, float) else 7 * x

    assert autodiff(f, 3.0) == 6.0
    assert derivative(f, order=2)(3.0) == 2.0
