"""Every rule of the table agrees with differences, and is what both engines use."""

import math
import subprocess
import sys

import numpy as np
import pytest
import scipy.special

from overlay import Context, MethodTable, NotCompilable
from overlay.core.target import describe
from overlay.interpretations.autodiff import (
    RULES,
    NotDifferentiable,
    adjoint_of,
    autodiff,
    derivative,
    differentiation,
    gradient,
    hessian,
    inactive,
    jacobian,
    partials_of,
    rule,
    vjp,
)
from overlay.interpretations.autodiff.rules import rules_with
from overlay.interpretations.autodiff.testing import WrongRule, check_rule, check_rules
from overlay.interpretations.batching import batched

SPELLED = [
    (each, function) for each in rules_with(("scipy.special",)) for function in each.spellings
]
NAMES = [
    f"{describe(function)} of {'arrays' if each.arrays else 'numbers'}"
    for each, function in SPELLED
]


def is_of_one(each):
    """Whether a rule has a derivative by one argument."""
    return len(each.domain) - len(each.constant) == 1


ELEMENTWISE = pytest.mark.parametrize(
    ("each", "function"),
    [pair for pair in SPELLED if pair[0].arrays],
    ids=[name for name, pair in zip(NAMES, SPELLED, strict=True) if pair[0].arrays],
)


def arguments(each, seed=1):
    """Random arguments; those by which there is no derivative are the same for each seed."""
    rng, fixed = np.random.default_rng(seed), np.random.default_rng(1)
    found = [float(rng.uniform(low, high)) for low, high in each.domain]
    for place in each.constant:
        low, high = each.domain[place]
        whole = isinstance(low, int)
        found[place] = int(fixed.integers(low, high)) if whole else float(fixed.uniform(low, high))
    return found


def active(each, args):
    return [arg for place, arg in enumerate(args) if place not in each.constant]


def slopes(each, function, args):
    given = (*args, function(*args)) if each.takes_result else args
    return active(each, each.partials(*given))


def called(each, function, args, weights=None):
    """The function of its active arguments alone; with weights, the sum of its results times
    these."""
    names = [f"a{place}" for place in range(len(args))]
    space = {"np": np, "function": function, "weights": weights}
    space |= {names[place]: args[place] for place in each.constant}
    call = f"function({', '.join(names)})"
    # written out for each number of arguments: no adjoint can be generated for calls with *args
    result = call if weights is None else f"np.sum(weights * {call})"
    return eval(f"lambda {', '.join(active(each, names))}: {result}", space)


def several(found):
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize(("each", "function"), SPELLED, ids=NAMES)
def test_a_rule_agrees_with_differences(each, function):
    central, _ = check_rule(each._replace(function=function))
    assert central >= 50


def test_analytic_rules_are_checked_by_complex_steps_too():
    exact = sum(check_rule(each, samples=2)[1] > 0 for each in RULES)
    assert exact >= 30


@pytest.mark.parametrize(("each", "function"), SPELLED, ids=NAMES)
def test_a_derivative_is_what_the_rule_says(each, function):
    args = arguments(each)
    found = several(autodiff(called(each, function, args), *active(each, args)))
    assert np.allclose(found, slopes(each, function, args), rtol=1e-12)


@ELEMENTWISE
def test_a_rule_holds_for_each_element_of_arrays(each, function):
    rows = arguments(each), arguments(each, 2)
    columns = [np.array(pair) for pair in zip(*rows, strict=True)]
    for place in each.constant:
        columns[place] = rows[0][place]
    found = several(gradient(called(each, function, columns, 1.0))(*active(each, columns)))
    for row in range(2):
        wanted = slopes(each, function, rows[row])
        assert np.allclose([one[row] for one in found], wanted, rtol=1e-12)


@ELEMENTWISE
def test_a_row_and_columns_are_broadcast_in_both_modes(each, function):
    drawn = [arguments(each, seed) for seed in (1, 2, 3)]
    args = [
        drawn[0][place] if place in each.constant else np.array([one[place] for one in drawn])
        for place in range(len(each.domain))
    ]
    for place in active(each, range(len(args)))[1:]:
        args[place] = args[place][:2, None]
    shape = np.broadcast_shapes(*map(np.shape, args))
    weights = np.arange(1.0, 1.0 + math.prod(shape)).reshape(shape)
    wanted = [np.zeros(np.shape(arg)) for arg in active(each, args)]
    for index in np.ndindex(shape):
        places = [(index[0], 0) if np.ndim(arg) == 2 else index[-1:] for arg in active(each, args)]
        at = [np.broadcast_to(arg, shape)[index].item() for arg in args]
        for total, place, slope in zip(wanted, places, slopes(each, function, at), strict=True):
            total[place] += weights[index] * slope
    for mode in ("forward", "reverse"):
        f = called(each, function, args, weights)
        found = several(gradient(f, mode=mode)(*active(each, args)))
        for one, total in zip(found, wanted, strict=True):
            assert np.allclose(one, total, rtol=1e-10), mode


@pytest.mark.parametrize(
    ("each", "function"),
    [pair for pair in SPELLED if is_of_one(pair[0])],
    ids=[name for name, pair in zip(NAMES, SPELLED, strict=True) if is_of_one(pair[0])],
)
def test_a_rule_has_a_derivative_itself(each, function):
    args = arguments(each)
    f, (x,), step = called(each, function, args), active(each, args), 1e-4
    wanted = (derivative(f)(x + step) - derivative(f)(x - step)) / (2 * step)
    assert math.isclose(derivative(f, order=2)(x), wanted, rel_tol=1e-5, abs_tol=1e-5)


def every_function(x):
    total = math.exp(x) + math.exp2(x) + math.expm1(x) + math.log(x) + math.log2(x) + math.log10(x)
    total += math.log1p(x) + math.sqrt(x) + math.sin(x) + math.cos(x) + math.tan(x)
    total += math.asin(x) + math.acos(x) + math.atan(x) + math.atan2(x, 2.0) + math.hypot(x, 1.5)
    total += math.sinh(x) + math.cosh(x) + math.tanh(x) + math.asinh(x) + math.acosh(x + 1.5)
    total += math.atanh(x) + math.erf(x) + math.erfc(x) + math.gamma(x) + math.lgamma(x)
    total += math.degrees(x) + math.radians(x) + math.pow(x, 1.5) + x**3 + 2.0**x + x**x
    total += abs(x - 1.0) + min(x, 0.3) + max(x, 0.2) + math.copysign(x, -2.0)
    total += (x % 0.4) * (x // 0.1) + np.sin(x) + np.exp(x) * np.square(x) - x / (1.0 + x) - (-x)
    return total + math.floor(x) + int(3 * x) * x


def test_compiled_code_uses_the_same_rules():
    hot = Context().jit(lambda x: autodiff(every_function, x))
    for x in (0.37, 0.63):
        step = 1e-6
        wanted = (every_function(x + step) - every_function(x - step)) / (2 * step)
        assert math.isclose(hot(x), autodiff(every_function, x), rel_tol=1e-12)
        assert math.isclose(hot(x), wanted, rel_tol=1e-6)


def every_function_of_arrays(x):
    total = np.logaddexp(x, 0.3) + np.logaddexp2(0.2, x) + np.sinc(x) + np.nan_to_num(x)
    return np.sum(total * np.ldexp(x, 2))


def test_compiled_code_uses_the_same_rules_of_arrays():
    x = np.array([0.03, 0.37, 1.4])
    found = Context().jit(lambda x: autodiff(every_function_of_arrays, x))(x)
    assert np.allclose(found, gradient(every_function_of_arrays, mode="forward")(x), rtol=1e-12)


NEAR = (
    (np.sinc, 1e-9, -(math.pi**2) * 1e-9 / 3),
    (np.i0, 700.0, scipy.special.i1(700.0)),
    (scipy.special.exprel, 1e-9, 0.5),
    (scipy.special.spence, 1.0, -1.0),
    (scipy.special.erfcx, 1e6, -1 / math.sqrt(math.pi) / 1e12),
    (scipy.special.dawsn, -1e6, -0.5e-12),
    (scipy.special.log_ndtr, -1e6, 1e6),
    (scipy.special.expit, 40.0, math.exp(-40)),
    (lambda p: scipy.special.boxcox(2.0, p), 1e-9, math.log(2) ** 2 / 2),
)


@pytest.mark.parametrize(("f", "at", "wanted"), NEAR)
def test_no_digits_are_lost_where_a_formula_cancels(f, at, wanted):
    assert math.isclose(derivative(f)(at), wanted, rel_tol=1e-8)


def test_an_argument_without_a_derivative_may_not_be_active():
    with pytest.raises(NotDifferentiable, match="known of jv by its argument 0, which was active"):
        derivative(lambda x: scipy.special.jv(x, 2.0))(1.5)
    with pytest.raises(NotDifferentiable, match="known of jv by its argument 0, which was active"):
        gradient(lambda x: scipy.special.jv(x, 2.0), mode="reverse")(1.5)


def test_functions_that_numba_does_not_know_are_refused_where_they_are_compiled():
    def program(x):
        return scipy.special.erfcx(x)

    with pytest.raises(NotCompilable, match="numba cannot compile erfcx itself"):
        Context().jit(lambda x: autodiff(program, x))(1.0)


LATE = """
import sys, overlay.interpretations.autodiff as autodiff
assert "scipy.special" not in sys.modules
assert autodiff.derivative(abs)(2.0) == 1.0
import scipy.special
slope = 2 / 3.141592653589793 ** 0.5
assert abs(autodiff.derivative(scipy.special.erf)(0.0) - slope) < 1e-15
assert abs(autodiff.gradient(scipy.special.erf, mode="reverse")(0.0) - slope) < 1e-15
"""


def test_a_call_that_the_rule_of_a_function_does_not_take_is_refused_as_such():
    with pytest.raises(NotDifferentiable, match=r"(?s)known of sin, .*help: call sin with"):
        derivative(lambda x: np.sin(x, dtype=np.float32))(1.0)


def test_rules_of_scipy_hold_once_a_program_has_imported_it():
    subprocess.run([sys.executable, "-c", LATE], check=True)


def test_a_wrong_rule_is_found():
    with pytest.raises(WrongRule, match=r"rule of math\.sin gives"):
        check_rule(rule(math.sin, lambda a: (-math.cos(a),), (-1.0, 1.0)))
    with pytest.raises(WrongRule, match="gives 2 partial derivatives"):
        check_rule(rule(math.sin, lambda a: (math.cos(a), 0.0), (-1.0, 1.0)))


def softplus(x: float) -> float:
    return math.nextafter(math.log1p(math.exp(x)), 0.0)


def test_a_rule_of_ones_own_is_a_method_in_a_table():
    table = MethodTable("own")
    calls = []

    @table.overlay(partials_of(softplus))
    def slope(x: float):
        inactive(calls.append)(x)
        return (1 / (1 + math.exp(-x)),)

    with pytest.raises(NotDifferentiable, match="nextafter"):
        derivative(softplus)(0.5)
    assert check_rules(table) == 50
    calls.clear()
    found = derivative(lambda x: 2 * softplus(x), rules=table)(0.5)
    assert math.isclose(found, 2 / (1 + math.exp(-0.5)))
    assert calls == [0.5]
    second = derivative(softplus, order=2, rules=table)(0.5)
    assert math.isclose(second, math.exp(-0.5) / (1 + math.exp(-0.5)) ** 2)


def test_a_rule_of_ones_own_shadows_that_of_the_table_and_is_seen_when_it_changes():
    table = MethodTable("own")
    table.overlay(partials_of(math.sin))(lambda x: (100.0,))
    assert derivative(math.sin, rules=table)(0.5) == 100.0
    table.overlay(partials_of(math.sin))(lambda x: (200.0,))
    assert derivative(math.sin, rules=table)(0.5) == 200.0
    assert derivative(math.sin)(0.5) == math.cos(0.5)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_rule_that_is_replaced_holds_in_contexts_of_differentiation_made_before(compiled):
    table = MethodTable("rules")

    def slope_of(value):
        @table.overlay(partials_of(math.nextafter))
        def partials(x: float, y: float):
            return value, 0.0

    slope_of(1.0)
    context = differentiation(table)

    def program(x):
        return autodiff(lambda y: math.nextafter(y, 1.0) * 2.0, x)

    run = context.jit(program) if compiled else context.wrap(program)
    assert run(0.5) == 2.0
    slope_of(7.0)
    assert run(0.5) == 14.0
    table.remove(partials_of(math.nextafter))
    with pytest.raises(NotDifferentiable, match="nextafter"):
        run(0.5)
    slope_of(3.0)
    assert run(0.5) == 6.0


def clamped(x):
    return min(x, 1.0)


def test_an_adjoint_that_is_replaced_holds_in_compiled_code_made_before():
    table = MethodTable("rules")

    def slope_of(value):
        @table.overlay(adjoint_of(clamped))
        def back(d: float, x: float):
            return (value,)

    slope_of(2.0)
    run = differentiation(table).jit(lambda x: autodiff(lambda y: clamped(y[0]), x))
    assert run(np.ones(2)).tolist() == [2.0, 0.0]
    slope_of(5.0)
    assert run(np.ones(2)).tolist() == [5.0, 0.0]


EDGES = (
    *((math.sqrt, 0.0, math.inf), (math.cbrt, 0.0, math.inf), (math.asin, 1.0, math.inf)),
    *((math.acos, 1.0, -math.inf), (math.acosh, 1.0, math.inf)),
    *((lambda x: x**0.5, 0.0, math.inf), (lambda x: math.pow(x, 0.5), 0.0, math.inf)),
    *((lambda x: math.hypot(x, 0.0), 0.0, math.nan), (lambda x: math.dist([x], [0.0]), 0.0, None)),
    (lambda x: math.atan2(x, 0.0), 0.0, math.nan),
)


@pytest.mark.parametrize(("f", "at", "wanted"), EDGES)
def test_a_rule_that_divides_by_zero_is_no_error_of_the_program(f, at, wanted):
    def caught(x):
        try:
            return f(x)
        except ArithmeticError:
            return 5.0 * x

    assert caught(at) == f(at)
    found = derivative(caught)(at)
    assert (
        not math.isfinite(found) if wanted is None else found == pytest.approx(wanted, nan_ok=True)
    )
    assert not math.isfinite(derivative(caught, order=2)(at))


@pytest.mark.parametrize(
    ("f", "at"), [(lambda x: math.sqrt(x), 0.0), (lambda x: math.asin(x), 1.0)]
)
def test_nor_is_it_in_compiled_code(f, at):
    def caught(x):
        try:
            y = f(x)
        except Exception:
            y = 5.0 * x
        return y

    assert Context().jit(lambda x: autodiff(caught, x))(at) == math.inf


@pytest.mark.parametrize(
    "f",
    [
        lambda x: float(np.array([10 * x], dtype=int)[0]) * x,
        lambda x: float(np.asarray([10 * x, x], dtype=np.int32)[0]) * x,
        lambda x: float(np.asarray(np.array([10 * x]), dtype=int)[0]) * x,
        lambda x: float(np.array([10 * x], dtype=bool)[0]) * x,
        lambda x: float(np.sum(np.array([10 * x, x]), dtype=int)) * x,
        lambda x: float(np.mean(np.array([10 * x, x]), dtype=float)) * x,
    ],
)
def test_what_numpy_makes_whole_is_constant(f):
    x, step = 0.75, 1e-6
    assert derivative(f)(x) == pytest.approx((f(x + step) - f(x - step)) / (2 * step))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("f", "at", "wanted"),
    [*EDGES, (np.sqrt, 0.0, math.inf), (np.arcsin, 1.0, math.inf), (np.cbrt, 0.0, math.inf)],
)
def test_an_undefined_derivative_leaves_those_by_other_numbers_in_each_mode(f, at, wanted):
    def of_numbers(x, y):
        return f(x) + y * y

    def of_array(a):
        return f(a[0]) + a[1] * a[1]

    found = [
        gradient(of_numbers)(at, 3.0),
        gradient(of_numbers, mode="reverse")(at, 3.0),
        vjp(of_numbers, at, 3.0)[1](1.0),
        vjp(of_numbers, at, 3.0, mode="reverse")[1](1.0),
        jacobian(of_numbers)(at, 3.0),
        jacobian(of_numbers, mode="reverse")(at, 3.0),
        gradient(of_array)(np.array([at, 3.0])),
        gradient(of_array, mode="reverse")(np.array([at, 3.0])),
    ]
    if f in (math.sqrt, math.asin, math.acos, math.acosh, np.sqrt):  # which numba compiles
        found.append(Context().jit(lambda a: autodiff(of_array, a))(np.array([at, 3.0])))
    for by_singular, by_other in found:
        assert not math.isfinite(by_singular)
        assert by_other == 6.0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_infinite_derivative_of_an_element_leaves_those_of_others():
    given = np.array([0.0, 1.0, 4.0])
    for mode in ("auto", "reverse"):
        found = gradient(lambda x: np.sqrt(x).sum(), mode=mode)(given)
        assert found.tolist() == [math.inf, 0.5, 0.25]


def test_the_programs_own_division_by_zero_is_raised_in_each_mode():
    for mode in ("auto", "forward", "reverse"):
        with pytest.raises(ZeroDivisionError):
            gradient(lambda x, y: 1 / x + y, mode=mode)(0.0, 1.0)


def test_a_power_of_zero_is_constant_in_its_exponent():
    def f(x):
        return 0.0**x

    for at in (0.5, 0.7, 1.0, 2.5):
        assert derivative(f)(at) == gradient(f, mode="reverse")(at) == 0.0
        assert derivative(f, order=2)(at) == hessian(f)(at) == 0.0
    assert batched(gradient(f))(np.array([0.3, 0.5])).tolist() == [0.0, 0.0]
    assert gradient(lambda *a: sum(0.0**v + v for v in a))(*[0.7] * 9) == (1.0,) * 9


def test_a_power_of_a_negative_number_has_no_derivative_by_its_exponent():
    for order in (1, 2):
        assert math.isnan(derivative(lambda x: (-2.0) ** x, order=order)(2.0))
    by_base, by_exponent = gradient(lambda a, b: a**b)(-2.0, 2.0)
    assert by_base == -4.0
    assert math.isnan(by_exponent)
