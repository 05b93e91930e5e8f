"""Derivatives of integrals and of solutions of differential equations, against differences."""

import numpy as np
import pytest
from scipy import integrate

from overlay.interpretations.autodiff import NotDifferentiable, gradient, hessian
from tests.strangers.derivative_trials import by_differences

MODES = ("forward", "reverse")
POINT = np.array([0.77, 0.43, 1.12])
TIMES = np.linspace(0.0, 1.0, 3)
MANY = np.linspace(0.0, 1.0, 40)
TIGHT = {"rtol": 1e-10, "atol": 1e-12}


def swing(x):
    return lambda t, y: np.array([y[1], -x[0] * y[0] - x[1] * y[1] + np.sin(x[2] * t)])


def grows(t, y, a, b):
    return [a * y[0] - b * y[0] * y[1], y[0] * y[1] - y[1]]


PROGRAMS = {
    "quad": lambda x: integrate.quad(lambda t: np.exp(-x[0] * t * t) * x[1], 0, 2)[0],
    "quad by args": lambda x: integrate.quad(lambda t, a: np.cos(a * t), 0, 1, (x[0],))[0],
    "quad by bounds": lambda x: integrate.quad(lambda t: np.sin(x[0] * t), x[1], x[2])[0],
    "quad to infinity": lambda x: integrate.quad(lambda t: np.exp(-x[0] * t), x[1], np.inf)[0],
    "quad from infinity": lambda x: integrate.quad(lambda t: np.exp(x[0] * t), -np.inf, x[1])[0],
    "quad over all": lambda x: integrate.quad(
        lambda t: np.exp(-x[0] * t * t + x[1] * t), -np.inf, np.inf)[0],
    "quad backwards": lambda x: integrate.quad(lambda t: np.sin(x[0] * t), x[2], x[1])[0],
    "quad of a peak": lambda x: integrate.quad(
        lambda t: 1 / (0.01 * x[0] + (t - x[1]) ** 2), -1, 1)[0],
    "quad of a constant": lambda x: x[0] * integrate.quad(lambda t: t * t, 0, 1)[0],
    "solve_ivp": lambda x: np.sum(
        integrate.solve_ivp(swing(x), (0, 1), [x[0], 1.0], "DOP853", **TIGHT).y[:, -1] * x[:2]),
    "solve_ivp at times": lambda x: np.sum(integrate.solve_ivp(
        grows, (0, 1), x[:2], t_eval=TIMES, args=(x[2], x[0]), method="DOP853", **TIGHT).y ** 2),
    "solve_ivp, implicit": lambda x: integrate.solve_ivp(
        swing(x), (0, 1), np.array([1.0, 0.0]), t_eval=[0.5, 1.0], method="LSODA", **TIGHT).y[0, 1],
    "solve_ivp, interpolated": lambda x: np.sum(integrate.solve_ivp(
        grows, (0, 1), x[:2], t_eval=MANY, args=(x[2], x[0]), **TIGHT).y ** 2),
    "solve_ivp, third order": lambda x: np.sum(integrate.solve_ivp(
        swing(x), (0, 1), [1.0, x[1]], "RK23", MANY, rtol=1e-7, atol=1e-9).y ** 2),
    "solve_ivp, eighth order": lambda x: np.sum(integrate.solve_ivp(
        swing(x), (0, 1), [1.0, x[1]], "DOP853", MANY, **TIGHT).y[0]),
    "solve_ivp backwards": lambda x: np.sum(integrate.solve_ivp(
        swing(x), (1, 0), [1.0, x[1]], t_eval=MANY[::-1], **TIGHT).y[0]),
    "solve_ivp, active later": lambda x: integrate.solve_ivp(
        lambda t, y: [x[1] * y[0] if t > 0.5 else -y[0]], (0, 1), [x[0]], max_step=0.1).y[0, -1],
    "solve_ivp with a Jacobian": lambda x: integrate.solve_ivp(
        lambda t, y, a: -a * y, (0, 1), x[:2], "Radau", [1.0], args=(x[2],),
        jac=lambda t, y, a: -a * np.eye(2), rtol=1e-9, atol=1e-11).y[0, 0],
    "odeint at many times": lambda x: np.sum(integrate.odeint(
        grows, x[:2], MANY, (x[2], x[0]), tfirst=True, **TIGHT)[:, 0] ** 2),
    "odeint": lambda x: np.sum(integrate.odeint(
        lambda y, t: swing(x)(t, y), [x[1], x[2]], TIMES, **TIGHT)),
    "odeint by args": lambda x: np.sum(integrate.odeint(
        grows, x[:2], TIMES, (x[2], x[0]), tfirst=True, **TIGHT)[-1]),
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_are_those_of_differences(name, mode):
    program = PROGRAMS[name]
    found = gradient(program, mode=mode)(POINT.copy())
    assert np.allclose(found, by_differences(program, POINT), rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["quad by bounds", "solve_ivp, eighth order", "odeint"])
def test_second_derivatives(name):
    program = PROGRAMS[name]
    slopes = gradient(program, mode="forward")
    expected = [(slopes(POINT + h) - slopes(POINT - h)) / 2e-4 for h in 1e-4 * np.eye(3)]
    assert np.allclose(hessian(program)(POINT.copy()), expected, rtol=1e-5, atol=2e-6)


def test_results_are_those_of_scipy():
    for name in ("quad", "solve_ivp", "odeint"):
        seen = []

        def f(x, program=PROGRAMS[name], seen=seen):
            found = program(x)
            seen.append(float(found.value))
            return found

        gradient(f, mode="forward")(POINT)
        assert np.isclose(seen[0], PROGRAMS[name](POINT), rtol=1e-13)


def test_forms_without_derivative_are_refused_by_name():
    def f(x):
        return integrate.solve_ivp(swing(x), (0, 1), [1.0, 0.0], dense_output=True).sol(1.0)[0]

    with pytest.raises(NotDifferentiable, match="solve_ivp with events=, dense_output="):
        gradient(f, mode="forward")(POINT)
