"""Every rule of the table agrees with differences, and is what both engines use."""

import math

import numpy as np
import pytest

from overlay import Context, MethodTable
from overlay.core.target import describe
from overlay.interpretations.autodiff import (
    RULES,
    NotDifferentiable,
    adjoint_of,
    autodiff,
    derivative,
    differentiation,
    gradient,
    inactive,
    partials_of,
    rule,
)
from overlay.interpretations.autodiff.testing import WrongRule, check_rule, check_rules

SPELLED = [(each, function) for each in RULES for function in each.spellings]
NAMES = [
    f"{describe(function)} of {'arrays' if each.arrays else 'numbers'}"
    for each, function in SPELLED
]


def arguments(each, seed=1):
    rng = np.random.default_rng(seed)
    return [float(rng.uniform(low, high)) for low, high in each.domain]


def slopes(each, function, args):
    given = (*args, function(*args)) if each.takes_result else args
    return each.partials(*given)


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
    found = autodiff(lambda *x: function(*x), *args)
    found = found if isinstance(found, tuple) else (found,)
    assert np.allclose(found, slopes(each, function, args), rtol=1e-12)


@pytest.mark.parametrize(
    ("each", "function"),
    [pair for pair in SPELLED if pair[0].arrays],
    ids=[name for name, pair in zip(NAMES, SPELLED, strict=True) if pair[0].arrays],
)
def test_a_rule_holds_for_each_element_of_arrays(each, function):
    columns = [np.array(pair) for pair in zip(arguments(each), arguments(each, 2), strict=True)]
    found = gradient(lambda *x: np.sum(function(*x)))(*columns)
    found = found if isinstance(found, tuple) else (found,)
    for row in range(2):
        wanted = slopes(each, function, [float(column[row]) for column in columns])
        assert np.allclose([one[row] for one in found], wanted, rtol=1e-12)


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


def test_a_wrong_rule_is_found():
    with pytest.raises(WrongRule, match=r"rule of math\.sin gives"):
        check_rule(rule(math.sin, lambda a: (-math.cos(a),), (-1.0, 1.0)))
    with pytest.raises(WrongRule, match="gives 2 partial derivatives"):
        check_rule(rule(math.sin, lambda a: (math.cos(a), 0.0), (-1.0, 1.0)))


def softplus(x: float) -> float:
    return float(np.logaddexp(0.0, x))


def test_a_rule_of_ones_own_is_a_method_in_a_table():
    table = MethodTable("own")
    calls = []

    @table.overlay(partials_of(softplus))
    def slope(x: float):
        inactive(calls.append)(x)
        return (1 / (1 + math.exp(-x)),)

    with pytest.raises(Exception, match="logaddexp"):
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
