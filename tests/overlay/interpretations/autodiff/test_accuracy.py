"""Derivatives of elementary and special functions are accurate to the rounding of their parts."""

import functools
import math

import mpmath
import numpy as np
import pytest

from overlay import Context
from overlay.catalogue import FUNCTIONS
from overlay.catalogue.elementary import digamma
from overlay.interpretations.autodiff import RULES, autodiff, derivative
from overlay.interpretations.autodiff.rules.tables.arithmetic import ARITHMETIC
from overlay.interpretations.autodiff.rules.tables.extremes import EXTREMES, SELECTIONS
from overlay.interpretations.autodiff.rules.tables.rounding import ROUNDING

CLOSE = 1e-13
ULPS = 16 * 2.0**-53

# functions whose derivatives are constants, and arithmetic
OTHERS = (*ARITHMETIC, *EXTREMES, *SELECTIONS, *ROUNDING)
SLOPES = {
    "arccos": lambda a: -1 / mpmath.sqrt((1 - a) * (1 + a)),
    "arccosh": lambda a: 1 / mpmath.sqrt(a - 1) / mpmath.sqrt(a + 1),
    "arcsin": lambda a: 1 / mpmath.sqrt((1 - a) * (1 + a)),
    "arcsinh": lambda a: 1 / mpmath.sqrt(1 + a * a),
    "arctan": lambda a: 1 / (1 + a * a),
    "arctanh": lambda a: 1 / ((1 - a) * (1 + a)),
    "cbrt": lambda a: 1 / (3 * mpmath.cbrt(a * a)),
    "cos": lambda a: -mpmath.sin(a),
    "cosh": mpmath.sinh,
    "degrees": lambda a: 180 / mpmath.pi,
    "erf": lambda a: 2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-a * a),
    "erfc": lambda a: -2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-a * a),
    "exp": mpmath.exp,
    "exp2": lambda a: mpmath.log(2) * mpmath.mpf(2) ** a,
    "expm1": mpmath.exp,
    "gamma": lambda a: mpmath.gamma(a) * mpmath.digamma(a),
    "i0": lambda a: mpmath.besseli(1, a),
    "lgamma": mpmath.digamma,
    "log": lambda a: 1 / a,
    "log10": lambda a: 1 / (a * mpmath.log(10)),
    "log1p": lambda a: 1 / (1 + a),
    "log2": lambda a: 1 / (a * mpmath.log(2)),
    "nan_to_num": lambda a: mpmath.mpf(1),
    "radians": lambda a: mpmath.pi / 180,
    "sin": mpmath.cos,
    "sinc": lambda a: (mpmath.cos(mpmath.pi * a) - mpmath.sincpi(a)) / a if a else mpmath.mpf(0),
    "sinh": mpmath.cosh,
    "sqrt": lambda a: 1 / (2 * mpmath.sqrt(a)),
    "tan": lambda a: 1 / mpmath.cos(a) ** 2,
    "tanh": lambda a: 1 / mpmath.cosh(a) ** 2,
}
"""Derivatives of the functions of one argument."""
SAME = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
    "atanh": "arctanh", "deg2rad": "radians", "rad2deg": "degrees",
}  # fmt: skip
PARTIALS = {
    "arctan2": lambda a, b: (b / (a * a + b * b), -a / (a * a + b * b)),
    "hypot": lambda a, b: (a / mpmath.hypot(a, b), b / mpmath.hypot(a, b)),
    "ldexp": lambda a, n: (mpmath.mpf(2) ** n, None),
    "logaddexp": lambda a, b: (1 / (1 + mpmath.exp(b - a)), 1 / (1 + mpmath.exp(a - b))),
    "logaddexp2": lambda a, b: (1 / (1 + 2 ** (b - a)), 1 / (1 + 2 ** (a - b))),
    "pow": lambda a, b: (b * a ** (b - 1), mpmath.log(a) * a**b),
}
SAME |= {"atan2": "arctan2", "power": "pow", "float_power": "pow"}
SPELLED = [function for each in RULES if each not in OTHERS for function in each.spellings]
POINTS = (
    1e-9, 1e-3, 0.049, 0.051, 0.1, 0.37, 0.5, 0.9, 0.999, 1.0, 1.3, 1.46, 1.47, 2.0, 2.9, 3.1,
    6.5, 7.5, 11.9, 12.1, 20.3, 30.7, 170.1,
)  # fmt: skip
PAIRS = ((0.3, 1.2), (1.2, 0.3), (4.0, 2.5), (1e-5, 3.0), (50.0, 1.5), (700.3, 700.1), (2.0, 2.0))


@pytest.fixture(autouse=True)
def _many_digits():
    with mpmath.workdps(60):
        yield


def name_of(function):
    return SAME.get(function.__name__, function.__name__)


def of_one(function):
    return name_of(function) in SLOPES


def defined(function, *args):
    try:
        with np.errstate(all="ignore"):
            return math.isfinite(function(*args))
    except (ArithmeticError, ValueError):
        return False


def error(found, wanted):
    """The relative error; where floats underflow there is none."""
    if abs(wanted) < 1e-290:
        return abs(found - wanted)
    return float(abs(found - wanted) / abs(wanted))


@pytest.mark.parametrize("function", SPELLED, ids=lambda function: function.__name__)
def test_a_rule_is_accurate(function):
    count = 0
    if of_one(function):
        for x in (*POINTS, *(-x for x in POINTS)):
            if defined(function, x) and (name_of(function) != "arccosh" or x > 1):
                if name_of(function) in ("arcsin", "arccos", "arctanh") and abs(x) == 1:
                    continue
                wanted = SLOPES[name_of(function)](mpmath.mpf(x))
                assert error(derivative(function)(x), wanted) < CLOSE, x
                count += 1
    else:
        for a, b in PAIRS:
            b = int(b) if name_of(function) == "ldexp" else b
            if not defined(function, a, b):
                continue
            wanted = PARTIALS[name_of(function)](mpmath.mpf(a), mpmath.mpf(b))
            slopes = (
                functools.partial(derivative(lambda a, b=b: function(a, b)), a),
                functools.partial(derivative(lambda b, a=a: function(a, b)), b),
            )
            for slope, exact in zip(slopes, wanted, strict=True):
                if exact is not None:
                    assert error(slope(), exact) < CLOSE, (a, b)
                    count += 1
    assert count


HOLOMORPHIC = [
    function for each in FUNCTIONS for function in each.numpy
    if "D->D" in function.types and name_of(function) in SLOPES
]  # fmt: skip


@pytest.mark.parametrize("function", HOLOMORPHIC, ids=lambda function: function.__name__)
def test_a_rule_is_accurate_at_complex_numbers(function):
    for z in (0.3 + 0.4j, -1.2 + 0.1j, 2.5 - 1.5j, 0.01 - 3.0j, 1e-4 + 1e-4j):
        found = derivative(lambda t, z=z: function(z + t))(0.0)
        assert error(found, SLOPES[name_of(function)](mpmath.mpc(z))) < CLOSE, z


ROOT = 1.4616321449683622
ABOVE_0 = [*np.geomspace(1e-10, 1.0, 20), *np.linspace(1.0, 15.0, 60), *np.geomspace(15, 1e8, 9)]
BELOW_0 = [-1e-5, -0.3, -0.999, -1.001, -1.5, -2.7, -7.25, -20.3]


def test_digamma_is_accurate_to_units_in_the_last_place():
    hot = Context().jit(lambda x: autodiff(math.lgamma, x))
    for x in map(float, (*ABOVE_0, *BELOW_0)):
        assert error(digamma(x), mpmath.digamma(mpmath.mpf(x))) < ULPS, x
        assert hot(x) == derivative(math.lgamma)(x) == digamma(x)
    for x in (ROOT, 1.46, 1.4616, 1.47):
        assert abs(digamma(x) - mpmath.digamma(mpmath.mpf(x))) < 2e-17, x


@pytest.mark.parametrize("order", [1, 2, 3])
def test_higher_derivatives_of_lgamma_are_polygamma(order):
    slope = derivative(math.lgamma, order=order + 1)
    for x in map(float, (*ABOVE_0[5:], ROOT, *BELOW_0)):
        exact = mpmath.polygamma(order, mpmath.mpf(x))
        # between poles, parts of both signs cancel
        parts = abs(exact) if x > 0 else max(abs(exact), 1)
        assert abs(slope(x) - exact) / parts < 4 * ULPS, x


def test_the_shares_of_exponentials_do_not_lose_digits_to_their_size():
    assert derivative(lambda x: np.logaddexp(x, 1e6))(1e6 + 1.0) == pytest.approx(
        1 / (1 + math.exp(-1.0)), rel=1e-15
    )
    assert derivative(lambda x: np.logaddexp(x, 0.0), order=2)(0.0) == 0.25
