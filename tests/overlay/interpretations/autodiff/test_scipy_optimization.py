"""Derivatives of roots, minima and fits, against differences."""

import numpy as np
import pytest
from scipy import optimize

from overlay.interpretations.autodiff import NotDifferentiable, gradient, hessian
from tests.strangers.derivative_trials import by_differences

MODES = ("forward", "reverse")
POINT = np.array([0.77, 0.43, 1.12])
TIMES = np.linspace(0.0, 2.0, 9)
TIGHT = {"xtol": 1e-14}


def system(x):
    def f(z):
        return [z[0] ** 3 + x[0] * z[1] - x[1], z[1] ** 3 + z[1] - x[2] * z[0]]

    return f


def cost(x):
    return lambda z: np.sum((z - x[:2]) ** 2) + x[2] * np.sum(z) ** 2 + np.sum(z**4)


def curve(t, a, b):
    return a * np.exp(-b * t)


PROGRAMS = {
    "brentq": lambda x: optimize.brentq(lambda z: z**3 + x[0] * z - x[1], 0, 5, **TIGHT),
    "brentq by args": lambda x: optimize.brentq(
        lambda z, a, b: np.exp(z) + a * z - b - 2.0, -1, 5, (x[0], x[1]), **TIGHT),
    "bisect": lambda x: optimize.bisect(lambda z: z**3 + x[0] * z - x[1], 0, 5, **TIGHT) * x[2],
    "ridder": lambda x: optimize.ridder(lambda z: z**3 + x[0] * z - x[1], 0, 5, **TIGHT),
    "newton": lambda x: optimize.newton(lambda z: z**3 + x[0] * z - x[1], x[2], tol=1e-14),
    "newton by its slope": lambda x: optimize.newton(
        lambda z: z**3 + x[0] * z - x[1], 1.0, lambda z: 3 * z * z + x[0], tol=1e-14),
    "root_scalar": lambda x: optimize.root_scalar(
        lambda z: z**3 + x[0] * z - x[1], bracket=(0, 5), **TIGHT).root,
    "root": lambda x: np.sum(optimize.root(system(x), [0.5, 0.3], tol=1e-14).x ** 2),
    "fsolve": lambda x: np.sum(optimize.fsolve(system(x), np.ones(2), xtol=1e-13) * x[:2]),
    "fixed_point": lambda x: optimize.fixed_point(
        lambda z: np.cos(x[0] * z) + x[1], 0.5, xtol=1e-14),
    "minimize": lambda x: np.sum(
        optimize.minimize(cost(x), [0.1, 0.2], method="Newton-CG", jac=gradient(cost(x)),
                          options={"xtol": 1e-12}).x * x[1:]),
    "minimum": lambda x: optimize.minimize(cost(x), [0.1, 0.2], tol=1e-12).fun,
    "minimize at a bound": lambda x: np.sum(
        optimize.minimize(cost(x), [0.1, 0.05], jac=gradient(cost(x)),
                          bounds=[(0.0, 0.2), (0.0, 1.0)], tol=1e-15).x * x[1:]),
    "minimize_scalar": lambda x: optimize.minimize_scalar(
        lambda z: x[0] * z * z - x[1] * z + x[2] * z**4, tol=1e-15).x,
    "least_squares": lambda x: np.sum(optimize.least_squares(
        lambda z: np.array([z[0] - x[0], z[1] * z[0] - x[1], z[1] + x[2]]), [1.0, 1.0],
        xtol=1e-15, ftol=1e-15, gtol=1e-15).x),
    "curve_fit": lambda x: np.sum(optimize.curve_fit(
        curve, TIMES, x[0] * np.exp(-x[1] * TIMES) + x[2] * np.sin(TIMES), p0=[1.0, 1.0],
        xtol=1e-14, ftol=1e-14)[0]),
    "assignment": lambda x: np.sum(
        (x[:, None] - TIMES[:3])[optimize.linear_sum_assignment(x[:, None] * TIMES[:3])] * x),
    "of constants": lambda x: x[0] * optimize.brentq(lambda z: z * z - 2.0, 0, 5),
}  # fmt: skip
COARSE = ("minimize_scalar", "minimize", "minimize at a bound", "least_squares", "curve_fit")
"""Searches that end far from the minimum compared with rounding errors."""


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_are_those_of_differences(name, mode):
    program = PROGRAMS[name]
    found = gradient(program, mode=mode)(POINT.copy())
    tolerance = 1e-4 if name in COARSE else 1e-6
    assert np.allclose(found, by_differences(program, POINT), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", ["brentq", "root", "minimum", "minimize_scalar"])
def test_second_derivatives(name):
    program = PROGRAMS[name]
    found = hessian(program)(POINT.copy())
    slopes = gradient(program, mode="forward")
    expected = [(slopes(POINT + h) - slopes(POINT - h)) / 2e-4 for h in 1e-4 * np.eye(3)]
    assert np.allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_forms_without_derivative_are_refused_by_name():
    def f(x):
        held = {"type": "eq", "fun": lambda z: z[0] - z[1]}
        return optimize.minimize(cost(x), [0.1, 0.2], constraints=held).fun

    with pytest.raises(NotDifferentiable, match="minimize with constraints"):
        gradient(f, mode="forward")(POINT)


def test_a_double_root_has_no_derivative():
    def f(a):
        return optimize.newton(lambda z: (z - a) ** 2, 1.0, lambda z: 2 * (z - a))

    assert np.isnan(gradient(f, mode="forward")(1.0))
