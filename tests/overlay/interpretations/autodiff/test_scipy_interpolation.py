"""Derivatives of interpolations, by the points and by the values, against differences."""

import numpy as np
import pytest
import scipy
from scipy import interpolate

from overlay.interpretations.autodiff import NotDifferentiable, gradient
from tests.strangers.derivative_trials import by_differences

MODES = ("forward", "reverse")
PLACES = np.array([0.3, 0.7, 1.1, 1.6, 2.0])
POINT = np.array([0.77, 0.43, 1.12, 0.9, 1.3])
FIXED = np.array([0.5, 1.2])


def summed(found):
    return np.sum(found * (1.3 + np.sin(np.arange(float(found.size))).reshape(found.shape)))


def columns(x):
    return np.stack([x, x * x], -1)


PROGRAMS = {
    "cubic, by values": lambda x: summed(interpolate.CubicSpline(PLACES, x)(FIXED)),
    "cubic, by points": lambda x: summed(interpolate.CubicSpline(PLACES, np.sin(PLACES))(x)),
    "cubic, by both": lambda x: summed(interpolate.CubicSpline(PLACES, x**2)(x)),
    "natural, at a number": lambda x: interpolate.CubicSpline(
        PLACES, x, bc_type="natural")(x[0]),
    "slopes of a cubic": lambda x: summed(interpolate.CubicSpline(PLACES, x)(PLACES + 0.1, 1)),
    "derivative of a cubic": lambda x: summed(
        interpolate.CubicSpline(PLACES, x).derivative()(x)),
    "integral of a cubic": lambda x: interpolate.CubicSpline(PLACES, x).integrate(0.4, 1.2),
    "integral to a point": lambda x: interpolate.CubicSpline(PLACES, x).integrate(0.4, x[2]),
    "columns": lambda x: summed(interpolate.CubicSpline(PLACES, columns(x))(FIXED)),
    "rows": lambda x: summed(interpolate.CubicSpline(PLACES, columns(x).T, axis=1)(FIXED)),
    "monotone": lambda x: summed(interpolate.PchipInterpolator(PLACES, x)(x)),
    "monotone, of two": lambda x: summed(interpolate.PchipInterpolator(PLACES[:2], x[:2])(FIXED)),
    "monotone columns": lambda x: summed(
        interpolate.PchipInterpolator(PLACES, columns(x))(FIXED)),
    "Akima": lambda x: summed(interpolate.Akima1DInterpolator(PLACES, x)(x)),
    "modified Akima": lambda x: summed(
        interpolate.Akima1DInterpolator(PLACES, x, method="makima")(FIXED)),
    "B-spline": lambda x: summed(interpolate.make_interp_spline(PLACES, x)(x)),
    "quadratic B-spline": lambda x: summed(interpolate.make_interp_spline(PLACES, x, k=2)(PLACES)),
    "B-spline by coefficients": lambda x: summed(
        interpolate.BSpline(np.arange(9.0), x, 3)(x + 3.1)),
    "linear": lambda x: summed(interpolate.interp1d(PLACES, x)(x)),
    "cubic interp1d": lambda x: summed(interpolate.interp1d(PLACES, x, kind="cubic")(x)),
    "splev": lambda x: summed(interpolate.splev(x, interpolate.splrep(PLACES, np.cos(PLACES)))),
}  # fmt: skip
if tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 18):
    # since then its code has asked for a plain array, and refuses an active one
    PROGRAMS["univariate"] = lambda x: summed(
        interpolate.UnivariateSpline(PLACES, np.cos(PLACES), s=0)(x)
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_are_those_of_differences(name, mode):
    program = PROGRAMS[name]
    found = gradient(program, mode=mode)(POINT.copy())
    assert np.allclose(found, by_differences(program, POINT), rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_those_of_scipy(name):
    seen = []

    def f(x):
        found = PROGRAMS[name](x)
        seen.append(float(found.value))
        return found

    gradient(f, mode="forward")(POINT)
    assert np.isclose(seen[0], PROGRAMS[name](POINT), rtol=1e-11)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (lambda x: interpolate.CubicSpline(x, PLACES)(0.4), "active places of the values"),
        (lambda x: interpolate.CubicSpline(PLACES, x, bc_type=((1, 0.0), (1, 1.0)))(0.4),
         "bc_type= of derivatives"),
        (lambda x: interpolate.splev(0.4, interpolate.splrep(PLACES, x)), "make_interp_spline"),
    ],
)  # fmt: skip
def test_forms_without_derivative_are_refused_by_name(program, said):
    with pytest.raises(NotDifferentiable, match=said):
        gradient(program, mode="forward")(np.sort(POINT))
