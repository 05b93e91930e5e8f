"""Variables that are plain numbers on one path and active ones on another."""

import math
import pkgutil

import numpy as np
import pytest

from overlay import Context, MethodTable, NotCompilable
from overlay.interpretations.autodiff import (
    NotDifferentiable,
    autodiff,
    derivative,
    differentiation,
    partials_of,
)
from overlay.interpretations.autodiff.reverse.adjoints import adjoint_for
from overlay.interpretations.autodiff.reverse.reverse_program import FLOAT
from overlay.interpretations.autodiff.reverse.source_text import Form

# at this point no program below is near a step, nor a kink
POINT = 0.7


def summed(x):
    s = 0.0
    for i in range(5):
        s += math.sin(x) * i
    return s


def largest(x):
    best = -math.inf
    for i in range(5):
        v = math.sin(x * i)
        if v > best:
            best = v
    return best * x


def multiplied(x):
    y = 1
    for _ in range(3):
        y *= x
    return y


def while_below(x):
    s, n = 0, 0
    while s < 3:
        s = s + x * x
        n += 1
    return s * n


def until(x):
    y = 0.0
    while True:
        y = y + x
        if y > 3:
            break
        if y == 0:
            y = 1
    return y * y


def rebound(x):
    a, b = 1.0, 0
    for _ in range(3):
        a, b = a * x, b + a
    return a + b


def pair(x):
    state = (1.0, 0.0)
    for _ in range(3):
        state = (state[0] * x, state[1] + state[0])
    return state[0] * state[1]


def chosen(x):
    y = x * x if x > 0.5 else 1.0
    z = 1 if x > 0.5 else x
    return y * y + z


def one_or_square(x):
    if x > 5:
        return 1
    return x * x


def outside(x):
    if x > 1:
        return 0.0
    return math.sin(x)


def through_helpers(x):
    return outside(x) + outside(2 * x) * x


def power(x, n=5):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


def doubled_until(x):
    if x > 3:
        return 0
    return x * x + doubled_until(2 * x)


def even(x, n):
    return 1.0 if n == 0 else x * odd(x, n - 1)


def odd(x, n):
    return x if n == 0 else x * x * even(x, n - 1)


def mutual(x):
    return even(x, 4)


def from_default(x, total=0.0, unit=1):
    for _ in range(3):
        total = total + x * unit
        unit = unit * x
    return total


def flagged(x):
    found = False
    best = 0.0
    for i in range(4):
        if not found or x * i < best:
            best, found = x * i - x * x, True
    return best


def in_list(x):
    terms = [1.0]
    for i in range(3):
        terms.append(terms[i] * x)
    return terms[3] + terms[1]


def list_of_both(x):
    terms = [1, x, 2.0]
    terms[0] = terms[1] * x
    return terms[0] * terms[2]


def inner_function(x):
    def step(y, t):
        return t if y == 0 else y * t

    y = 0
    for _ in range(3):
        y = step(y, x)
    return y


def generated(x):
    total = 0
    for t in (0.0, x, 1, x * x):
        total += t
    return total


FUNCTIONS = [
    *(summed, largest, multiplied, while_below, until, rebound, pair, chosen, one_or_square),
    *(through_helpers, power, doubled_until, mutual, from_default, flagged, in_list),
    *(list_of_both, inner_function, generated),
]


def central(f, x, step=1e-5):
    return (f(x + step) - f(x - step)) / (2 * step)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("f", FUNCTIONS)
def test_the_engines_agree_with_differences(f, order):
    found = derivative(f, order=order)(POINT)
    assert math.isclose(found, central(derivative(f, order=order - 1), POINT), rel_tol=1e-6)
    compiled = Context().jit(derivative(f, order=order))(POINT)
    assert math.isclose(compiled, found, rel_tol=1e-12)


@pytest.mark.parametrize("f", [summed, largest, while_below, rebound, one_or_square])
def test_only_kernels_run_the_adjoint_for_numbers(f):
    for is_kernel in (False, True):
        form = Form(is_for_kernel=is_kernel, is_compiled=True)
        assert adjoint_for(f, [FLOAT], [0], (), form).mixes == is_kernel


def test_several_arguments_and_levels_that_meet():
    def inner(x, y):
        s = 0
        for i in range(3):
            s += x * y * i
        t = x if s > 1 else 1.0
        return s * t

    def of_y(x):
        def by_y(y):
            total = 0.0
            last = x  # a number of the outer level becomes one of the inner
            for _ in range(2):
                total += last * y
                last = last * y
            return total

        return autodiff(by_y, 1.5)

    def both(x, y):
        return autodiff(inner, x, y)

    assert np.allclose(Context().jit(both)(POINT, 2.0), both(POINT, 2.0), rtol=1e-12)
    # the derivative of 1.5 x + 2.25 x by x, after that by y: x (1 + 2 y)
    assert derivative(of_y)(POINT) == 4.0


def scaled_outer(x):
    def total_of(y, last):
        total = 0.0
        for _ in range(2):
            total += last * y
            last = last * y
        return total

    return autodiff(total_of, 1.5, x)[0]


def test_a_number_of_an_outer_level_becomes_one_of_an_inner():
    assert Context().jit(derivative(scaled_outer))(POINT) == derivative(scaled_outer)(POINT) == 4.0


def test_methods_that_return_constants():
    table = MethodTable("cut")

    @table.overlay(math.exp)
    def exp(x: float):
        return 0.0 if x < 0 else x * x

    def f(x):
        return math.exp(x) + math.exp(-x) * x

    assert Context(table)(derivative(f), POINT) == 2 * POINT
    assert Context(table).jit(derivative(f))(POINT) == 2 * POINT
    assert Context(table).jit(derivative(f, order=2))(POINT) == 2.0


FACTORS = np.array([1.0, 2.0])


def array_first_constant(x):
    y = FACTORS
    while x < 3:
        y = y * x
        x = x * 2
    return np.sum(y) if x > 5 else array_first_constant(x + 2)


def test_an_array_of_constants_that_becomes_active_is_refused_by_name():
    with pytest.raises(NotCompilable, match="is an array of constants") as caught:
        Context().jit(derivative(array_first_constant))(POINT)
    for part in ("float64", "np.copy(a)", "test_plain_and_active.py"):
        assert part in str(caught.value)


def rule_of(result):
    def square(x: float) -> float:
        return x * x

    table = MethodTable("rules")

    @table.overlay(partials_of(square))
    def slope(x):
        return result(x)

    return derivative(square, rules=table)


REFUSED = [
    (lambda x: (np.array([2.0 * x]),), "at most as many dimensions as the result"),
    (lambda x: (np.full((1, 1), x),), "at most as many dimensions as the result"),
    (lambda x: (2j * x,), "real ones of a real result"),
    (lambda x: 2 * x, "has to give a tuple of 1"),
    (lambda x: (2 * x, 0.0), "has to give a tuple of 1"),
    (lambda x: (None,), "numbers or arrays as derivatives"),
    (lambda x: ((2 * x,),), "numbers or arrays as derivatives"),
]


@pytest.mark.parametrize("result", [result for result, _ in REFUSED[:2]])
def test_compiled_code_does_not_pickle_the_classes_of_active_values(result, monkeypatch):
    serialize = pkgutil.resolve_name("numba.core.serialize")
    pickled, dumps = [], serialize.dumps
    monkeypatch.setattr(serialize, "dumps", lambda each: (pickled.append(each), dumps(each))[1])
    with pytest.raises(NotDifferentiable):
        Context().jit(rule_of(result))(POINT)
    assert not [each for each in pickled if isinstance(each, type) and issubclass(each, tuple)]


@pytest.mark.parametrize(("result", "message"), REFUSED)
def test_what_no_derivative_is_is_refused_by_the_name_of_the_rule(result, message):
    for run in (rule_of(result), Context().jit(rule_of(result))):
        with pytest.raises(NotDifferentiable, match=message) as caught:
            run(POINT)
        assert "the rule of partials_of(" in str(caught.value)
        assert "test_plain_and_active.py" in str(caught.value)


def square(x: float) -> float:
    return x * x


def test_a_rule_is_checked_in_second_derivatives():
    number, several = MethodTable("a number"), MethodTable("a tuple")
    number.overlay(partials_of(square))(lambda x: 2 * x)  # a dual number, which is a tuple
    several.overlay(partials_of(square))(lambda x: (2 * x,))
    second = derivative(square, order=2)
    assert differentiation(several)(second, POINT) == 2.0
    assert differentiation(several).jit(second)(POINT) == 2.0
    for run in (differentiation(number).wrap(second), differentiation(number).jit(second)):
        with pytest.raises(NotDifferentiable, match="a tuple of 1"):
            run(POINT)


@pytest.mark.parametrize("result", [lambda x: (2 * x,), lambda x: np.array([2 * x])])
def test_rules_give_a_number_for_each_argument(result):
    assert rule_of(result)(POINT) == 2 * POINT
    assert Context().jit(rule_of(result))(POINT) == 2 * POINT
