"""Derivatives, enclosures and inverses are those of the methods that calls reach: every kind of
method, on each host, compared with the same composition written by hand.
"""

import math
import operator

import numpy as np
import pytest

from inversion import invert
from overlay import Context, MethodTable, call_next
from overlay.interpretations.autodiff import add_gradient, autodiff, derivative, gradient
from overlay.interpretations.intervals import Interval, enclose, intervals
from overlay.kernels import local_array


def g(x):
    return x + 1


def f(x):
    return math.exp(g(x) * 0.5)


# ---- kinds of methods ---------------------------------------------------------------------


def table_with(target, method, *, generated=False):
    table = MethodTable("table")
    (table.generated if generated else table.overlay)(target)(method)
    return table


def ten_of_float(x: float):
    return 10 * x


def ten_of_number(x: float | int):
    return 10 * x


def ten_of_object(x: object):
    return 10 * x


def ten_made(x: float):
    return lambda x: 10 * x


def ten_made_of_any(x):
    return (lambda x: 10 * x) if x is float else (lambda x: 0.0 * x)


def doubled(x: float):
    return call_next(x) * 2


def with_ten(x: float):
    return 10 * x + call_next(x)


def sum_of_both(a: float, b: float):
    return call_next(a, b) + a


def of_sinh(x):
    return math.exp(math.sinh(x) * 0.5)


within = Context(table_with(g, doubled)).wrap(f)

KINDS = {
    "float": (Context(table_with(g, ten_of_float)), f, lambda x: 10 * x),
    "number": (Context(table_with(g, ten_of_number)), f, lambda x: 10 * x),
    "object": (Context(table_with(g, ten_of_object)), f, lambda x: 10 * x),
    "generated": (Context(table_with(g, ten_made, generated=True)), f, lambda x: 10 * x),
    "generated of any": (
        Context(table_with(g, ten_made_of_any, generated=True)),
        f,
        lambda x: 10 * x,
    ),
    "call_next": (
        Context(table_with(g, with_ten), table_with(g, doubled)),
        f,
        lambda x: (10 * x + x + 1) * 2,
    ),
    "nested": (Context(table_with(g, with_ten)), within, lambda x: (10 * x + x + 1) * 2),
    "operator": (Context(table_with(operator.mul, sum_of_both)), f, lambda x: 3 * (x + 1)),
    "known function": (Context(table_with(math.sinh, ten_of_float)), of_sinh, lambda x: 10 * x),
}
"""For each kind its context, the program, and what stands in the program's exponent, twice."""

X = 0.3


class ByHand:
    """The program of a kind, written by hand, with its derivatives: the exponent is linear."""

    def __init__(self, exponent):
        self.value = math.exp(exponent(X) * 0.5)
        self.rate = (exponent(1.0) - exponent(0.0)) * 0.5
        self.slope, self.curvature = self.rate * self.value, self.rate**2 * self.value


# ---- hosts --------------------------------------------------------------------------------


def interpreted(context, function):
    return lambda x: context(function, x)


def compiled(context, function):
    return context.jit(function)


def in_kernel(context, function):
    """Its code for GPUs, run on the CPU."""
    pytest.importorskip("numba_cuda", reason="the extra 'cuda' is not installed")
    from tests.overlay.compiled.cuda import gpu_code

    def kernel(x, out):
        out[0] = function(x[0])

    made = context.jit(kernel, target="cuda").compile("float64[::1], float64[::1]", (8, 0))

    def run(x):
        out = np.full(1, np.nan)
        gpu_code.run(made, 1, 1, np.array([x]), out)
        return out[0]

    return run


HOSTS = {"host": interpreted, "jit": compiled, "kernel": in_kernel}


# ---- what is asked ------------------------------------------------------------------------


def value(host, context, function, hand):
    assert math.isclose(host(context, function)(X), hand.value)


def forward(host, context, function, hand):
    assert math.isclose(host(context, lambda x: autodiff(function, x))(X), hand.slope)


def forward_inside(host, context, function, hand):
    inside = context.wrap(function)
    assert math.isclose(host(Context(), lambda x: autodiff(inside, x))(X), hand.slope)


def second(host, context, function, hand):
    def slope(x):
        return autodiff(function, x)

    assert math.isclose(host(context, lambda x: autodiff(slope, x))(X), hand.curvature)


def reverse(host, context, function, hand):
    if host is interpreted:
        assert math.isclose(context(gradient(function, mode="reverse"), X), hand.slope)
        inside = gradient(context.wrap(function), mode="reverse")
        assert math.isclose(inside(X), hand.slope)
    elif host is compiled:

        def of_array(x):
            return function(x[0])

        found = context.jit(lambda x: autodiff(of_array, x))(np.array([X]))
        assert np.allclose(found, [hand.slope], rtol=1e-12)
    else:

        def adding(x):
            return differentiated(function, x)

        assert math.isclose(host(context, adding)(X), hand.slope)


def differentiated(function, x):
    slope = local_array(1)
    slope[0] = 0.0
    add_gradient(function, (x, slope))
    return slope[0]


def second_of_reverse(host, context, function, hand):
    def slope(x):
        return gradient(function, mode="reverse")(x)

    assert math.isclose(context(derivative(slope), X), hand.curvature)


def enclosure(host, context, function, hand):
    box = Interval(X, X + 0.001)
    if host is interpreted:
        found = [context(enclose, function, box), enclose(context.wrap(function), box)]
    else:
        found = [(context | Context(intervals)).jit(function)(box)]
    for each in found:
        assert hand.value in each
        assert each.width < 0.002 * hand.slope + 1e-9


def inverse(host, context, function, hand):
    inv = inverted(context, function)
    assert math.isclose(host(Context(), lambda z: inv(z)[0])(hand.value), X)
    if host is interpreted:
        assert math.isclose(inv.log_abs_det(hand.value), -math.log(hand.slope))


def derivative_of_inverse(host, context, function, hand):
    inv = inverted(context, function)
    answer = answer_of(inv)
    found = host(Context(), lambda z: autodiff(answer, z))(hand.value)
    assert math.isclose(found, 1 / hand.slope)


def answer_of(inv):
    return lambda z: inv(z)[0]


def derivative_of_inverse_in_force(host, context, function, hand):
    """If the tables are in force, an inverse keeps its own meaning."""
    inv = inverted(context, function)
    answer = answer_of(inv)
    found = host(context, lambda z: autodiff(answer, z))(hand.value)
    assert math.isclose(found, 1 / hand.slope)


def second_derivative_of_inverse(host, context, function, hand):
    inv = inverted(context, function)
    slope = slope_of(answer_of(inv))
    wanted = -hand.curvature / hand.slope**3
    found = host(Context(), lambda z: autodiff(slope, z))(hand.value)
    assert math.isclose(found, wanted, rel_tol=1e-9)


def slope_of(answer):
    return lambda z: autodiff(answer, z)


def batch(host, context, function, hand):
    (found,) = inverted(context, function).batch(np.array([hand.value, hand.value]))
    assert np.allclose(found, [X, X])


def inverted(context, function):
    return invert(function, float, context=context)


ASKED = {
    "host": (
        value,
        forward,
        forward_inside,
        second,
        reverse,
        second_of_reverse,
        enclosure,
        inverse,
        derivative_of_inverse,
        derivative_of_inverse_in_force,
        second_derivative_of_inverse,
        batch,
    ),
    "jit": (
        value,
        forward,
        forward_inside,
        second,
        reverse,
        enclosure,
        inverse,
        derivative_of_inverse,
        derivative_of_inverse_in_force,
        second_derivative_of_inverse,
    ),
    "kernel": (value, forward, forward_inside, second, reverse, inverse, derivative_of_inverse),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("host", "asked"),
    [(host, asked) for host, every in ASKED.items() for asked in every],
    ids=lambda each: getattr(each, "__name__", each),
)
def test_what_is_asked_is_of_the_method_that_a_call_reaches(kind, host, asked):
    context, function, exponent = KINDS[kind]
    asked(HOSTS[host], context, function, ByHand(exponent))
