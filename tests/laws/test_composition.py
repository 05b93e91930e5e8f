"""Overlays, inverses and derivatives in every order, one to three of them: each composition has the
value that it has in high precision.
"""

import itertools
import math
from pathlib import Path

import mpmath
import numpy as np
import pytest

from inversion import NoSolution, NotInvertible, WrongArguments, choose, contract, invert
from overlay import Context, MethodTable, call_next
from overlay.interpretations.autodiff import autodiff, derivative, gradient, hessian
from overlay.interpretations.intervals import Interval, enclose, intervals
from primitives import relation, relation_of

STEPS = {"O": "overlay", "I": "inverse", "D": "derivative"}
ORDERS = ["".join(order) for count in (1, 2, 3) for order in itertools.product(STEPS, repeat=count)]
POINT = 0.4

# ---- programs, and the same in numbers of many digits ---------------------------------------


def wave(x):
    return 3 * math.sin(x) + 2


def growth(x):
    return math.exp(x / 2) + 0.3 * math.sin(x)


def cubic(x):
    return x**3 + math.sin(x)


PROGRAMS = {
    wave: lambda x, sin: 3 * sin(x) + 2,
    growth: lambda x, sin: mpmath.exp(x / 2) + mpmath.mpf(0.3) * sin(x),
    cubic: lambda x, sin: x**3 + sin(x),
}

# ---- overlays: the innermost is asked first -------------------------------------------------


def context_of(method):
    table = MethodTable(method.__name__)
    table.overlay(math.sin)(method)
    return Context(table)


def twice(x: float):
    return 2 * call_next(x)


def and_a_line(x: float):
    return call_next(x) + x / 4


def hyperbolic(x: float):
    return math.sinh(x)


OVERLAYS = (  # each with the meaning of a call, given that of the calls outside of it
    (context_of(twice), lambda below: lambda x: 2 * below(x)),
    (context_of(and_a_line), lambda below: lambda x: below(x) + x / 4),
    (context_of(hyperbolic), lambda below: mpmath.sinh),
)


class Expected:
    """A composition in high precision: its value as a function of x and of the sine in force.

    point: an argument, on the branch that each inverse returns.
    """

    def __init__(self, order, program):
        self.point = mpmath.mpf(POINT)
        self.value = PROGRAMS[program]
        overlays = iter(OVERLAYS)
        for step in order:
            getattr(self, STEPS[step])(self.value, overlays)

    def overlay(self, inner, overlays):
        _, meaning = next(overlays)
        self.value = lambda x, sin: inner(x, meaning(sin))

    def derivative(self, inner, overlays):
        self.value = lambda x, sin: mpmath.diff(lambda t: inner(t, sin), x)

    def inverse(self, inner, overlays):
        """The inverse is made outside all contexts, and does not change."""
        start = self.point
        self.point = inner(start, mpmath.sin)
        self.value = lambda x, sin: mpmath.findroot(
            lambda t: inner(t, mpmath.sin) - x, (start, start + 1e-4), tol=mpmath.eps * 1000
        )

    @classmethod
    def of(cls, order, program):
        """The point, and the value there."""
        with mpmath.workdps(30):
            made = cls(order, program)
            return float(made.point), float(made.value(made.point, mpmath.sin))


# ---- ways to write each step ----------------------------------------------------------------


def wrapped(function, context):
    return context.wrap(function)


def called_inside(function, context):
    return lambda x: context(function, x)


def inverse_of(function, at):
    """The inverse of a function, which returns this argument."""
    inverse = invert(function, float)
    if not len(inverse.parameters):
        return lambda y: inverse(y)[0]
    theta = inverse.recover(at)
    return lambda y: inverse(y, theta)[0]


def by_autodiff(function):
    return lambda x: autodiff(function, x)


def in_reverse(function):
    return gradient(function, mode="reverse")


WAYS = {  # of overlays and of derivatives
    "wrap, derivative": (wrapped, derivative),
    "calls, autodiff": (called_inside, by_autodiff),
}


def composed(order, program, way="wrap, derivative", outermost=None):
    """The composition as a function, and the point.

    outermost: the mode of the last derivative.
    """
    overlaid, differentiated = WAYS[way]
    function, point, overlays = program, POINT, iter(OVERLAYS)
    for place, step in enumerate(order, 1):
        if step == "O":
            function = overlaid(function, next(overlays)[0])
        elif step == "D" and place == len(order) and outermost is not None:
            function = outermost(function)
        elif step == "D":
            function = differentiated(function)
        else:
            before, point = point, function(point)
            function = inverse_of(function, before)
    return function, point


def interpreted(function, point):
    return Context()(function, point)


def compiled(function, point):
    return Context().jit(lambda x: function(x))(point)


def as_entry(function, point):
    return Context().jit(function)(point)


def in_kernel(function, point):
    """The code of a kernel, run on the CPU."""
    pytest.importorskip("numba_cuda", reason="the extra 'cuda' is not installed")
    import numba
    from numba import cuda

    from tests.overlay.compiled.cuda import gpu_code

    def kernel(given, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = function(given[i])

    array = numba.float64[::1]
    made = Context().jit(kernel, target="cuda").compile((array, array), (8, 0))
    given, out = np.array([point]), np.zeros(1)
    gpu_code.run(made, 1, 1, given, out)
    return float(out[0])


def check(order, program, run, way="wrap, derivative", outermost=None):
    point, value = Expected.of(order, program)
    function, at = composed(order, program, way, outermost)
    assert math.isclose(at, point, rel_tol=1e-12)
    assert math.isclose(run(function, at), value, rel_tol=1e-8)


# ---- the matrix -----------------------------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_interpreted(program, order):
    for way in WAYS:
        check(order, program, interpreted, way)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_compiled(program, order):
    for way in WAYS:
        check(order, program, compiled, way)
    if len(order) < 3:
        check(order, program, as_entry)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_in_kernels(program, order):
    check(order, program, in_kernel)


@pytest.mark.parametrize("order", [order for order in ORDERS if order.endswith("D")])
def test_the_last_derivative_in_reverse(order):
    check(order, growth, interpreted, outermost=in_reverse)


@pytest.mark.parametrize("order", [order for order in ORDERS if order.endswith("O")])
def test_the_last_overlay_is_the_context_that_runs_the_rest(order):
    _, value = Expected.of(order, growth)
    function, point = composed(order[:-1], growth)
    context, _ = OVERLAYS[order.count("O") - 1]
    assert math.isclose(context(function, point), value, rel_tol=1e-8)
    assert math.isclose(context.jit(function)(point), value, rel_tol=1e-8)


@pytest.mark.parametrize("order", [order for order in ORDERS if order.startswith("OI")])
def test_an_inverse_in_a_context_is_that_of_the_overlaid_function(order):
    point, value = Expected.of(order, growth)
    inverse = invert(growth, float, context=OVERLAYS[0][0])
    function, at = (lambda y: inverse(y)[0]), OVERLAYS[0][0](growth, POINT)
    if order == "OI":
        assert math.isclose(function(at), value, rel_tol=1e-8)
    if order == "OID":
        assert math.isclose(derivative(function)(at), value, rel_tol=1e-8)
    if order == "OII":
        assert math.isclose(inverse_of(function, at)(function(at)), value, rel_tol=1e-8)
    if order == "OIO":
        assert math.isclose(OVERLAYS[1][0](function, at), value, rel_tol=1e-8)
    assert math.isclose(point, at if order != "OII" else POINT, rel_tol=1e-12)


# ---- what is refused ------------------------------------------------------------------------

own = MethodTable("own sine")


@own.overlay(math.sin)
def own_sine(x: float):
    return math.sinh(x)


@own.generated(relation_of(math.sin))
def own_sine_backwards(x: float):
    return relation(
        math.sin, float, "return = sin(a)",
        ret=lambda a: math.sinh(a), a=lambda ret: math.asinh(ret),
    )  # fmt: skip


def test_an_overlay_with_a_relation_of_its_own_is_inverted_by_it():
    there = Context(own)
    value = there(growth, POINT)
    for inverse in (invert(growth, float, context=there), invert(there.wrap(growth), float)):
        assert inverse(value) == pytest.approx((POINT,))
        slope = derivative(lambda y, inverse=inverse: inverse(y)[0])(value)
        assert slope == pytest.approx(1 / derivative(there.wrap(growth))(POINT))


def test_the_derivative_of_such_an_overlay_is_not_inverted_and_without_the_relation_it_is():
    there = Context(own)
    with pytest.raises(NotInvertible, match=r"no derivative is known here of .*sin") as caught:
        invert(derivative(there.wrap(growth)), float)
    assert "without branches, loops and relations" in str(caught.value)
    without = context_of(hyperbolic).wrap(growth)
    value = derivative(there.wrap(growth))(POINT)
    assert inverse_of(derivative(without), POINT)(value) == pytest.approx(POINT)


def test_a_faithful_overlay_of_what_is_differentiated_is_refused_and_may_be_left_out():
    rough = MethodTable("rough", faithful=True)

    @rough.overlay(math.sin)
    def rounded(x: float):
        return round(call_next(x), 3)

    slope = derivative(growth)
    with pytest.raises(NotInvertible, match="faithful") as caught:
        invert(slope, float, context=Context(rough))
    assert "leave the table out" in str(caught.value)
    assert inverse_of(slope, POINT)(slope(POINT)) == pytest.approx(POINT)


@pytest.mark.parametrize("order", [order for order in ORDERS if len(order) < 3])
def test_enclosures_of_compositions(order):
    """The enclosure contains the value. An enclosure through an inverse is refused; the remedy
    encloses the answers of the inverse.
    """
    function, point = composed(order, growth)
    box = Interval(point - 1e-3, point + 1e-3)
    runs = (
        lambda: enclose(function, box),
        lambda: Context(intervals).jit(lambda x: function(x))(box),
    )
    for run in runs:
        if "I" not in order:
            assert Expected.of(order, growth)[1] in run()
            continue
        with pytest.raises(WrongArguments, match="is given an Interval") as caught:
            run()
        assert "contract(f, Interval(low, high), returns=interval)" in str(caught.value)
    if order.endswith("I"):
        inner, _ = composed(order[:-1], growth)
        (found,) = contract(inner, Interval(POINT / 2, 2 * point + 2), returns=box)
        assert Expected.of(order, growth)[1] in found


@pytest.mark.parametrize("order", [order for order in ORDERS if len(order) < 3])
def test_the_derivative_of_an_enclosing_composition(order):
    function, point = composed(order, growth)
    run = derivative(lambda x: enclose(function, x))
    if "ID" in order:
        with pytest.raises(WrongArguments, match="contract"):
            run(point)
    else:
        assert derivative(function)(point) in run(point)


def test_an_enclosure_is_not_inverted():
    with pytest.raises(NotInvertible, match="a call of enclose") as caught:
        invert(lambda x: enclose(growth, x), float)
    assert "contract(f, Interval(low, high), returns=interval)" in str(caught.value)


@pytest.mark.parametrize(
    "step",
    [
        hessian,
        lambda f: gradient(f, mode="reverse", active=("x",)),
        lambda f: lambda x: gradient(f)(x),
    ],
)
def test_other_forms_of_derivatives_are_refused_with_those_that_are_inverted(step):
    with pytest.raises(NotInvertible, match=r"a call of (gradient|<gradient|<Hessian)") as caught:
        invert(step(growth), float)
    assert "or make derivative(f) or gradient(f) outside" in str(caught.value)


def test_a_gradient_by_one_number_is_inverted_as_a_derivative():
    assert invert(gradient(growth), float)(9.0) == invert(derivative(growth), float)(9.0)


# ---- the table in the document ---------------------------------------------------------------

PAGE = Path(__file__).parents[2] / "docs" / "composition.md"


WRITTEN = {"O": "ctx.wrap({})", "I": "inverse({})", "D": "derivative({})"}


def table_of_orders():
    """The rows of the table in the document: each order from the inside, and its value
    for growth.
    """
    rows = ["| From the inside out | Written | At | Value |", "| --- | --- | --- | --- |"]
    for order in ORDERS:
        point, value = Expected.of(order, growth)
        words = ", ".join(STEPS[step] for step in order)
        written = "f"
        for step in order:
            written = WRITTEN[step].format(written)
        rows.append(f"| {words} | `{written}` | {point:.6f} | {value:.6f} |")
    return rows


def test_the_table_in_the_document_has_every_order_and_its_value():
    assert "\n".join(table_of_orders()) in PAGE.read_text()


# ---- what else a function that is inverted may call -----------------------------------------


def scaling(factor):
    return lambda x: factor * x


def test_closures_that_one_function_makes_are_different_functions():
    twofold, threefold = scaling(2.0), scaling(3.0)
    assert invert(lambda x: twofold(threefold(x) + 1.0), float)(8.0) == (1.0,)


def test_a_function_that_a_context_compiled_is_inverted_as_it_is_there():
    context, _ = OVERLAYS[2]
    hot = context.jit(growth)
    value = context(growth, POINT)
    assert invert(hot, float)(value) == pytest.approx((POINT,))
    assert invert(lambda x: 2 * hot(x), float)(2 * value) == pytest.approx((POINT,))


def test_a_change_of_a_table_that_an_inner_call_enters_is_seen():
    table = MethodTable("changing")
    table.overlay(math.sin)(twice)
    context = Context(table)
    inverse = invert(lambda x: context(growth, x) + 1, float)
    assert not inverse.is_out_of_date

    @table.overlay(math.sin)
    def other(x: float):
        return x

    assert inverse.is_out_of_date


def test_rows_of_an_inverse_through_contexts_and_inverses_are_those_of_single_calls():
    context, _ = OVERLAYS[2]
    points = np.linspace(0.1, 0.9, 40)
    inner = invert(growth, float)
    programs = (lambda x: 2 * context(growth, x) + 1), (lambda y: inner(y)[0] / 2)
    for program in programs:
        values = np.array([program(point) for point in points.tolist()])
        assert np.allclose(invert(program, float).batch(values)[0], points, rtol=1e-9)


def test_the_determinant_of_an_inverse_of_an_inverse_is_that_of_the_function():
    inner = invert(growth, float)
    outer = invert(lambda y: inner(y)[0], float)
    slope = derivative(growth)(POINT)
    assert outer.log_abs_det(POINT) == pytest.approx(math.log(slope))


def test_an_inverse_answers_only_what_the_inner_one_would_have_given():
    square = invert(lambda x: x * x, float)
    backwards = invert(lambda y: square(y, (True,))[0], float)
    assert backwards(-3.0) == (9.0,)
    with pytest.raises(NoSolution, match="returns another answer"):
        backwards(3.0)


def test_an_inverse_of_several_known_values_is_inverted_and_differentiated_by_each():
    shifted = choose(lambda x, a: a * x + math.exp(x), float, float, known=("return", "a"))

    def solved(y, a):
        return shifted(y, a, (0.5,))[0]

    outer = choose(solved, float, float, known=("return", "a"))
    x = solved(3.0, 2.0)
    assert outer(x, 2.0) == pytest.approx((3.0,))
    by_factor = invert(lambda y: autodiff(solved, y, 2.0)[1], float)
    found = by_factor(-x / (2.0 + math.exp(x)))
    assert autodiff(solved, found[0], 2.0)[1] == pytest.approx(-x / (2.0 + math.exp(x)))
