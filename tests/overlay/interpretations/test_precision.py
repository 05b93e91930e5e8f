import colorsys
import fractions
import math
import operator
import random
import statistics

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from overlay import Context, OverlayError
from overlay.interpretations.precision import (
    lowered,
    precision_report,
    significance,
    single_precision,
    stochastic,
)
from overlay.interpretations.precision.stochastic import (
    MOST_DIGITS,
    error_of_difference,
    error_of_product,
    error_of_quotient,
    error_of_sum,
)

numbers = st.floats(-1e9, 1e9).filter(lambda x: x == 0 or abs(x) > 1e-9)


def summed(n):
    total = 0.0
    for _ in range(n):
        total += 0.1
    return math.sqrt(total)


def spread(xs):
    mean = np.sum(xs) / len(xs)
    return np.sqrt(np.mean((xs - mean) ** 2)) + np.sin(mean)


# ---- single precision --------------------------------------------------------------------------


@given(numbers, numbers)
def test_an_operation_is_that_of_single_precision(a, b):
    for operate in (operator.add, operator.sub, operator.mul, operator.truediv):
        assume(b != 0.0)
        expected = operate(np.float32(a), np.float32(b))
        found = single_precision(operate, a, b)
        assert found == expected
        assert type(found) is float


def test_a_program_is_what_it_is_when_it_is_written_in_single_precision():
    def by_hand(n):
        total = np.float32(0.0)
        for _ in range(n):
            total += np.float32(0.1)
        return float(np.sqrt(total))

    assert single_precision(summed, 1000) == by_hand(1000) != summed(1000)


def test_integers_stay_exact_and_mixed_operations_do_not():
    assert single_precision(lambda n: n * n + 1, 10**9) == 10**18 + 1
    assert single_precision(lambda n: n + 1.0, 2**24) == 2**24
    assert single_precision(lambda n: n / 3.0, 1) == float(np.float32(1) / np.float32(3))
    assert single_precision(lambda x: x == 0.1, float(np.float32(0.1)))


def test_a_library_in_single_precision():
    found = single_precision(colorsys.rgb_to_hls, 0.2, 0.4, 0.7)
    exact = colorsys.rgb_to_hls(0.2, 0.4, 0.7)
    assert found != exact
    assert np.allclose(found, exact, rtol=1e-6)
    assert all(float(np.float32(value)) == value for value in found)


def test_arrays_in_both_engines():
    xs = np.linspace(0.1, 2.0, 50)
    narrow = xs.astype(np.float32)
    expected = spread(narrow)
    interpreted, compiled = single_precision(spread, xs), single_precision.jit(spread)(xs)
    assert type(expected) is np.float32
    assert math.isclose(interpreted, expected, rel_tol=3e-7)
    assert math.isclose(compiled, expected, rel_tol=3e-7)
    assert spread(xs) not in (interpreted, compiled)
    assert single_precision.jit(summed)(1000) == single_precision(summed, 1000)


def test_both_engines_round_each_operation():
    def dot(xs, ys):
        total = 0.0
        for i in range(len(xs)):
            total += 0.5 + xs[i] * ys[i]
        return total

    xs, ys = np.random.default_rng(0).normal(size=(2, 50))
    total = np.float32(0.0)
    for x, y in zip(xs.astype(np.float32), ys.astype(np.float32), strict=True):
        total += np.float32(0.5) + x * y
    assert single_precision(dot, xs, ys) == single_precision.jit(dot)(xs, ys) == total
    for channel in ((0.1, 0.2, 0.3), (0.9, 0.05, 0.6)):
        found = single_precision.jit(colorsys.rgb_to_yiq)(*channel)
        assert found == single_precision(colorsys.rgb_to_yiq, *channel)


def test_a_ratio_of_integers_is_rounded_too():
    def third(n):
        return n / 3

    assert single_precision(third, 1) == single_precision.jit(third)(1) == np.float32(1 / 3)


def test_one_function_alone_is_lowered():
    def program(n):
        return summed(n) + 0.1

    context = lowered(summed)
    expected = single_precision(summed, 100) + 0.1
    assert context(program, 100) == context.jit(program)(100) == expected
    assert lowered(math.cos)(program, 100) == program(100)


# ---- random rounding ---------------------------------------------------------------------------


@given(numbers, numbers)
def test_rounding_errors_are_exact(a, b):
    x, y = fractions.Fraction(a), fractions.Fraction(b)
    assert fractions.Fraction(a + b) + fractions.Fraction(error_of_sum(a, b, a + b)) == x + y
    difference = error_of_difference(a, b, a - b)
    assert fractions.Fraction(a - b) + fractions.Fraction(difference) == x - y
    product = error_of_product(a, b, a * b)
    assert fractions.Fraction(a * b) + fractions.Fraction(product) == x * y
    if b != 0.0:
        rest = x / y - fractions.Fraction(a / b)
        error = error_of_quotient(a, b, a / b)
        assert (rest > 0, rest < 0) == (error > 0, error < 0)


def test_operations_that_are_exact_are_not_perturbed():
    def exact(x):
        return (x * 2.0 + 1.0 - 3.0) / 4.0

    found = significance(exact, 7.0)
    assert (found.value, found.digits) == (exact(7.0), MOST_DIGITS)
    assert type(found.value) is type(found.digits) is float
    sums = stochastic(1)(lambda a, b: {a + b for _ in range(50)}, 0.1, 0.2)
    assert sums == {0.3, math.nextafter(0.3, 1.0)}  # the two next to the true sum


def test_cancellation_is_seen():
    def cancels(x):
        return (x + 1e12) - 1e12

    assert 2.0 < significance(cancels, 0.1).digits < 5.0
    assert significance(lambda x: x * x * x, 1.1).digits > 15.0


def test_a_better_formula_has_more_digits():
    def root(a, b, c):
        return (-b + math.sqrt(b * b - 4 * a * c)) / (2 * a)

    def stable(a, b, c):
        return 2 * c / (-b - math.sqrt(b * b - 4 * a * c))

    equation = 1.0, 12345.678, 1.0
    poor, good = significance(root, *equation), significance(stable, *equation)
    assert poor.digits < 10 < 15 < good.digits
    true = stable(*equation)
    assert abs(poor.value - true) / true < 10**-poor.digits * 10
    assert "digits" in str(poor)


def test_a_library_and_several_results():
    bell = statistics.NormalDist()
    assert significance(lambda: 1.0 - bell.cdf(8.0)).digits < 3.0
    assert significance(bell.pdf, 8.0).digits > 15.0
    assert significance(colorsys.rgb_to_hls, 0.2, 0.4, 0.7).digits.shape == (3,)


def test_arrays_are_rounded_at_random_in_both_engines():
    xs = np.linspace(0.1, 2.0, 20) + 1e7
    found = significance(spread, xs)
    assert found.digits < 12.0
    hot = stochastic(1).jit(spread)
    values = {hot(xs) for _ in range(5)}
    assert len(values) > 1
    assert all(math.isclose(value, spread(xs), rel_tol=1e-4) for value in values)


@pytest.mark.parametrize("operate", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_operators_of_arrays_round_once_as_their_ufuncs_do(operate):
    xs, ys = np.array([0.1, 0.7]), np.array([0.3, 1e7])
    ufunc = {"sub": np.subtract, "mul": np.multiply, "truediv": np.divide}
    ufunc = ufunc.get(operate.__name__, np.add)
    for make in (lambda: stochastic(3), lambda: single_precision):
        found = [
            make()(lambda: operate(xs, ys)),
            make()(lambda: ufunc(xs, ys)),
            make().jit(lambda a, b: operate(a, b))(xs, ys),
        ]
        assert all(each.tolist() == found[0].tolist() for each in found)
    powers = [make()(lambda a: a**2, xs) for make in (lambda: single_precision,)]
    assert single_precision.jit(lambda a: a**2)(xs).tolist() == powers[0].tolist()


def test_the_programs_random_numbers_are_left_alone():
    random.seed(1)
    np.random.seed(1)
    before = random.getstate(), np.random.get_state()[1].tolist()
    significance(summed, 10)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


def test_one_sample_says_nothing():
    with pytest.raises(OverlayError, match="from 1 samples"):
        significance(math.sin, 1.0, samples=1)


def test_a_context_inside_that_hides_the_random_numbers_is_told():
    inner = Context()
    with pytest.raises(OverlayError, match="a context inside it has another state"):
        significance(inner.wrap(math.sin), 1.0)
    state = stochastic(0).state
    assert significance(inner.replace(state=state).wrap(math.sin), 1.0).digits > 10


def test_other_results_are_refused():
    with pytest.raises(OverlayError, match="cannot be estimated: it gave dict"):
        significance(lambda: {"a": 1.0})


# ---- report ------------------------------------------------------------------------------------


def test_the_report_says_what_single_precision_costs_and_where():
    def program(n):
        return summed(n) + harmless(1.0)

    def harmless(x):
        return x * 2.0

    report = precision_report(program, 200, functions=[summed, harmless])
    assert report.value == program(200)
    whole = report.digits_of(report.single)
    only = [report.digits_of(found) for found in report.by_function.values()]
    assert whole < 8 < MOST_DIGITS == only[1]
    assert only[0] < 8
    lines = str(report).splitlines()
    assert lines[0].startswith("double precision: 1")
    assert "summed" in lines[2]


def test_single_precision_joins_with_other_contexts():
    assert (Context() | single_precision)(summed, 10) == single_precision(summed, 10)


class Angle(float):
    """A number with operators of its own."""

    def __add__(self, other):
        return Angle(float(self) + other)

    __radd__ = __add__

    def __mul__(self, other):
        return "product"

    def __lt__(self, other):
        return "order"


class Ratio(int):
    def __truediv__(self, other):
        return "ratio"


CLASSES_OF_RESULTS = {
    "a scalar and a number": lambda: np.float64(1.5) * 2,
    "a number and a scalar": lambda: 2.5 - np.float64(1.5),
    "two scalars": lambda: np.float64(8) / np.float64(2),
    "integers of numpy": lambda: np.int64(3) / 2,
    "an element of an array": lambda: (np.array([1.5])[0] + 1).dtype,
    "division of a scalar by zero": lambda: np.float64(1) / 0,
    "a root of a negative scalar": lambda: bool(np.isnan(np.float64(-8) ** 0.5)),
    "a root of a negative number": lambda: abs((-4.0) ** 0.5 - 2j) < 1e-6,
    "a function of numpy": lambda: np.sqrt(4.0) / 0,
    "a function of math": lambda: math.sqrt(np.float64(4)),
    "a sum of a subclass": lambda: Angle(1) + 2,
    "a reflected sum": lambda: 2 + Angle(1),
    "a product of a subclass": lambda: Angle(1) * 2,
    "an order of a subclass": lambda: Angle(1) < 2.0,
    "a reflected order": lambda: operator.gt(2.0, Angle(1)),
    "what a subclass inherits": lambda: Angle(3) - 1,
    "division of a subclass of int": lambda: Ratio(3) / 2,
    "what a subclass of int inherits": lambda: Ratio(3) * 1.5,
    "infinity": lambda: [float("inf") * x for x in (1, 2.0, np.float64(3))],
    "zero": lambda: [repr(-0.0 * x) for x in (1, 2.0, np.float64(3))],
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", CLASSES_OF_RESULTS)
def test_results_have_the_class_that_they_have_in_double_precision(name):
    program = CLASSES_OF_RESULTS[name]
    natively = program()
    for context in (single_precision, stochastic(seed=0)):
        found = context(program)
        assert (type(found), found) == (type(natively), natively)
