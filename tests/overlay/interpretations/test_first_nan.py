import colorsys
import math
import statistics
import traceback

import numpy as np
import pytest
from scipy import special

from overlay import NotCompilable
from overlay.interpretations.first_nan import FirstNaN, NaNFinder, first_nan

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
    assert first_nan(lambda: math.inf - 1) == math.inf


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


def test_numbers_that_were_given_are_not_made():
    assert math.isnan(first_nan(slope, 1.0, math.nan))
    assert math.isnan(first_nan(lambda: np.array([1.0, math.nan]).sum()))
    assert first_nan(lambda: math.fsum([1.0, math.inf])) == math.inf


def test_a_library_is_looked_into():
    with pytest.raises(FirstNaN) as info:
        first_nan(colorsys.rgb_to_hls, 1e200 * 1e108, -1e308, 1.0)
    assert traceback.extract_tb(info.value.__traceback__)[-1].name == "rgb_to_hls"


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
