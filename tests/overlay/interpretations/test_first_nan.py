import colorsys
import math
import operator
import statistics
import traceback

import numpy as np
import pytest
from scipy import special, stats

from overlay import NotCompilable, OverlayWarning
from overlay.interpretations.autodiff import derivative
from overlay.interpretations.first_nan import FirstNaN, NaNFinder, first_nan
from overlay.interpretations.intervals import Interval, enclose

infinite = float("inf")


def slope(x, y):
    return (y - y) / x


def program(x):
    best = min(infinite, x)  # constants and data may be anything
    return slope(best, x * 1e200)


def arrays(x):
    x = x / x.sum()
    x /= np.sqrt(x - 1.0)
    return x


def line_of(error):
    return traceback.extract_tb(error.__traceback__)[-1].line


def test_a_program_without_one_gives_what_it_gives():
    assert first_nan(program, 1.0) == 0.0
    assert first_nan(statistics.stdev, [1.0, 2.0, 4.0]) == statistics.stdev([1.0, 2.0, 4.0])


def test_the_traceback_ends_at_the_line_and_has_the_values():
    with pytest.raises(FirstNaN) as info:
        first_nan(program, 1e200)
    assert line_of(info.value) == "return slope(best, x * 1e200)"
    assert (info.value.arguments, info.value.result) == ((1e200, 1e200), math.inf)
    assert "operator.mul(1e+200, 1e+200) made inf" in str(info.value)
    assert "test_first_nan.py:" in info.value.where


def test_infinities_may_be_meant():
    with pytest.raises(FirstNaN) as info:
        NaNFinder(infinities=False)(program, 1e200)
    assert line_of(info.value) == "return (y - y) / x"
    assert info.value.arguments == (math.inf, math.inf)
    assert info.value.operation == "operator.sub"


def test_arrays_and_the_functions_of_numpy_and_scipy():
    with pytest.raises(FirstNaN) as info:
        first_nan(arrays, np.array([1.0, 0.0]))
    assert line_of(info.value) == "x /= np.sqrt(x - 1.0)"
    assert info.value.operation == "sqrt"
    with pytest.raises(FirstNaN, match=r"gammaln\(0.0\) made"):
        first_nan(lambda: special.gammaln(0.0))
    with pytest.raises(FirstNaN, match="mean"):
        NaNFinder(infinities=False)(lambda xs: np.mean(xs), np.array([infinite, -infinite]))
    assert first_nan(lambda n: np.empty(n).shape, 5) == (5,)


def test_arrays_are_on_one_line_in_the_message():
    with pytest.raises(FirstNaN) as info:
        first_nan(np.corrcoef, np.array([1.0, 1.0, 1.0]), np.array([1.0, 2.0, 3.0]))
    assert "(array([[0., 0.], [0., 1.]]), array([[0.], [1.]])) made array([[" in info.value.asked
    assert "\n" not in info.value.asked


def test_numbers_that_were_given_are_not_made():
    assert math.isnan(first_nan(slope, 1.0, math.nan))
    assert math.isnan(first_nan(lambda x: np.array([1.0, x]).sum(), math.nan))
    assert first_nan(lambda x: math.fsum([1.0, x]), math.inf) == math.inf


@pytest.mark.parametrize(
    ("program", "args", "kind"),
    [
        (lambda: math.inf - 1, (), "an infinity"),
        (lambda: np.array([1.0, math.nan]).sum(), (), "a NaN"),
        (stats.tstd, ([1.0],), "a NaN"),  # scipy has NaN as a constant there
    ],
)
def test_a_result_that_is_not_finite_is_never_returned_in_silence(program, args, kind):
    with pytest.warns(OverlayWarning, match=f"gives {kind}, and none") as caught:
        result = first_nan(program, *args)
    assert not math.isfinite(result)
    assert caught[0].filename == __file__


def test_a_library_is_looked_into():
    with pytest.raises(FirstNaN) as info:
        first_nan(colorsys.rgb_to_hls, 1e200 * 1e108, -1e308, 1.0)
    assert traceback.extract_tb(info.value.__traceback__)[-1].name == "rgb_to_hls"


def test_operations_in_place_and_results_that_are_written_to_arguments():
    def divided(xs):
        xs /= 0
        return xs

    def logarithms(xs):
        np.log(xs, out=xs)

    def positional(xs):
        np.log(xs, xs)

    for program, operation, given in (
        (divided, "operator.itruediv", (1.0, 2.0)),
        (logarithms, "log", (0.0, 1.0)),
        (positional, "log", (0.0, 1.0)),
    ):
        with pytest.raises(FirstNaN) as caught:
            first_nan(program, np.array(given))
        assert caught.value.operation == operation
        assert tuple(caught.value.arguments[0]) == given
        infinite = np.full(2, math.inf)
        first_nan(program, infinite)
        assert (infinite == math.inf).all()
    with pytest.raises(FirstNaN):
        NaNFinder().jit(divided)(np.ones(2))


def test_builtins_and_what_iterators_give():
    with pytest.raises(FirstNaN, match=r"^sum"):
        first_nan(lambda xs: sum(xs), [1e308, 1e308])
    with pytest.raises(FirstNaN, match=r"^pow"):
        first_nan(pow, np.float64(1e300), 2)
    for function in (sum, math.fsum, math.prod):
        items = [math.inf, 1.0]
        assert first_nan(lambda f, given: f(x for x in given), function, items) == math.inf


def test_values_of_other_interpretations_pass():
    bell = statistics.NormalDist()
    slope = derivative(bell.pdf)(0.5)
    assert first_nan(derivative(bell.pdf), 0.5) == slope
    assert derivative(lambda x: first_nan(bell.pdf, x))(0.5) == slope
    assert enclose(lambda x: first_nan(bell.pdf, x), Interval(0.5, 0.6)).high > bell.pdf(0.5)


def test_a_program_that_catches_the_error_does_not_hide_it():
    def tolerant(x):
        try:
            return slope(x, x * 1e200)
        except Exception:
            return 3.0

    with pytest.raises(FirstNaN, match=r"operator\.mul"):
        first_nan(tolerant, 1e200)


def test_compiled_programs():
    finder = NaNFinder()
    assert finder.jit(program)(1.0) == 0.0
    with pytest.raises(FirstNaN, match=r"operator.mul\(...\) made inf") as info:
        finder.jit(program)(1e200)
    assert info.value.where.endswith(f"test_first_nan.py:{program.__code__.co_firstlineno + 2}")
    with pytest.raises(FirstNaN, match=r"operator\.sub"):
        NaNFinder(infinities=False).jit(program)(1e200)
    with pytest.raises(FirstNaN, match="sqrt"):
        finder.jit(arrays)(np.array([1.0, 0.0]))
    with pytest.raises(NotCompilable):
        finder.context.jit(program)


def test_a_compiled_function_gives_the_same_with_checks():
    def energy(xs):
        total = 0.0
        for i in range(xs.size):
            total += math.hypot(xs[i], 1.0) / (1.0 + xs[i] ** 2)
        return total

    xs = np.linspace(0.0, 2.0, 5)
    assert NaNFinder().jit(energy)(xs) == energy(xs)


class Named(np.ndarray):
    """An array whose ufuncs and functions return their names."""

    def __array_ufunc__(self, ufunc, method, *args, **kwargs):
        return ufunc.__name__

    def __array_function__(self, function, types, args, kwargs):
        return function.__name__


class Plain(np.ndarray):
    """An array whose ufuncs return arrays."""

    def __array_ufunc__(self, ufunc, method, *args, **kwargs):
        return getattr(ufunc, method)(*(np.asarray(value) for value in args), **kwargs)


class NoParts(complex):
    @property
    def real(self):
        raise ValueError("no parts")


def test_numbers_are_read_past_the_methods_of_their_class():
    named, plain, twice = np.ones(2).view(Named), np.ones(2).view(Plain), NoParts(1, 2)
    assert first_nan(lambda: (named + 1, np.sum(named), -named)) == ("add", "sum", "negative")
    assert first_nan(lambda: operator.mul(twice, 2)) == 2 + 4j
    assert first_nan(lambda: (plain * 2.0).tolist()) == [2.0, 2.0]
    with pytest.raises(FirstNaN, match="truediv"):
        first_nan(lambda: plain / 0.0)
