"""Derivatives inside derivatives: each mode inside each other."""

import functools
import itertools
import math

import numpy as np
import pytest
from scipy import integrate, optimize

from overlay import MethodTable
from overlay.interpretations.autodiff import (
    adjoint_of,
    checkpoint,
    gradient,
    hessian,
    jacobian,
    jvp,
    residuals_of,
    vjp,
)
from overlay.interpretations.autodiff.reverse.taped import taped
from tests.strangers.derivative_trials import by_differences, programs

X = np.array([0.77, 0.43, 1.12])
WEIGHTS = np.array([0.3, -1.1, 0.7])
A = np.array([[2.0, 0.3, 0.1], [0.2, 3.0, 0.4], [0.5, 0.1, 4.0]])


def handles(x):
    try:
        y = {}[0]
    except KeyError:
        y = x[0] * x[1]
    return y * np.sin(x[2])


def is_called_from_c(x):
    return functools.reduce(lambda a, b: a * np.sin(b) + b, x, 1.0)


def sorts(x):
    return sum(v * v * k for k, v in enumerate(sorted(x, key=lambda t: -t * t)))


def decomposes(x):
    u, s, v = np.linalg.svd(np.outer(x, x) + np.diag([1.0, 2.0, 4.0]))
    return np.sum(s * np.abs(u[0]) * v[1] ** 2)


def solves(x):
    return optimize.brentq(lambda t: t**3 + x[0] * t - x[1] - x[2], -5, 5)


def integrates(x):
    return integrate.quad(lambda t: math.exp(-x[0] * t) * x[1] + x[2] * t * t, 0, 1)[0]


def follows_an_equation(x):
    run = integrate.solve_ivp(lambda t, y: -x[0] * y + x[1] * np.sin(t), (0, 0.3), [x[2]])
    return np.sum(run.y[:, -1] ** 2)


def is_complex(x):
    z = x * np.exp(1j * x[::-1])
    w = np.linalg.solve(A + 0j, z)
    return np.sum(np.abs(w) ** 2) + np.sum((w * np.conj(z)).real)


def writes(x):
    y = np.zeros(3)
    y[:] = x
    y[1] *= y[0]
    y += x * x
    y[::-1][:2] = np.sin(y[:2])
    return np.sum(y**3)


def adds_at(x):
    y = np.zeros(4)
    np.add.at(y, [0, 1, 1], x * x)
    return np.sum(y**3)


def part(y, rate):
    z = np.zeros(3)
    z[:] = y + 0.3 * np.sin(y) * rate
    return z


def has_checkpoints(x):
    y = x
    for _ in range(3):
        y = checkpoint(part)(y, x[0])
    return np.sum(y * y)


OWN = (
    *(handles, is_called_from_c, sorts, decomposes, solves, integrates, follows_an_equation),
    *(is_complex, writes, adds_at, has_checkpoints),
)
STRANGERS = ("p02", "p06", "p08", "p18", "p23", "p29", "p37", "p41", "p49", "p54")
PROGRAMS = {**{f.__name__: f for f in OWN}, **{name: programs()[name] for name in STRANGERS}}


def on_tape(f, rules=()):
    return lambda x: taped(f, [x], [0], rules).pull_back([1.0])[0]


MODES = {
    "forward": functools.partial(gradient, mode="forward"),
    "reverse": functools.partial(gradient, mode="reverse"),
    "tape": on_tape,
}


def check_in_all_modes(f, inner, outer):
    expected = by_differences(lambda x: WEIGHTS @ MODES["forward"](f)(x), X)
    found = MODES[outer](lambda x: np.sum(WEIGHTS * MODES[inner](f)(x)))(np.copy(X))
    assert np.allclose(found, expected, rtol=1e-5, atol=1e-6)


QUICK = [name for name in PROGRAMS if name not in ("solves", "follows_an_equation")]


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize(("inner", "outer"), [("tape", "forward"), ("tape", "tape")])
def test_a_tape_is_differentiated_forwards_and_on_another_tape(name, inner, outer):
    check_in_all_modes(PROGRAMS[name], inner, outer)


@pytest.mark.long
@pytest.mark.parametrize("name", {**PROGRAMS, **programs()})
def test_each_mode_differentiates_each_other(name):
    for inner, outer in itertools.product(MODES, repeat=2):
        check_in_all_modes({**PROGRAMS, **programs()}[name], inner, outer)


def test_a_hessian_takes_programs_without_an_adjoint():
    found = hessian(decomposes, mode="reverse")(X)
    assert np.allclose(found, hessian(decomposes, mode="forward")(X))


def cubes(x):
    try:
        return {}[0]
    except KeyError:
        return x**3


def test_third_derivatives_go_through_three_tapes():
    def first(x):
        return gradient(lambda z: np.sum(cubes(z) * z), mode="reverse")(x)[0]

    def second(x):
        return gradient(lambda y: first(y) ** 2, mode="reverse")(x)

    found = jacobian(second, mode="reverse")(X)
    assert np.allclose(found[0], [16 * 30 * X[0] ** 4, 0.0, 0.0])


def test_a_pullback_by_a_tape_is_linear_in_every_mode():
    _, back = vjp(cubes, X, mode="reverse")
    assert np.allclose(jvp(lambda d: back(d)[0], (X,), (X,))[1], 3 * X**3)
    assert np.allclose(gradient(lambda d: np.sum(back(d * d)[0]), mode="reverse")(X), 6 * X**3)


@pytest.mark.parametrize("mode", MODES)
def test_a_complex_array_made_of_a_real_one_keeps_what_is_written_to_it(mode):
    def f(x):
        t = np.zeros(3) + 0j
        t[0] = x[0]
        t[1] = t[0] * (1 + 2j) * x[1]
        return t[1].imag + t[1].real ** 2

    assert np.allclose(MODES[mode](f)(X), by_differences(f, X))


def test_jacobians_by_tapes_are_differentiated():
    def results(x):
        return np.sum(cubes(x)), x * np.sin(x[0])

    def squares(x, mode):
        by_total, by_parts = jacobian(results, mode=mode)(x)
        return np.sum(by_total**2) + np.sum(by_parts**2)

    expected = gradient(lambda x: squares(x, "forward"), mode="forward")(X)
    for outer in MODES.values():
        assert np.allclose(outer(lambda x: squares(x, "reverse"))(X), expected)


def bump(x: float) -> float:
    return math.exp(-x * x)


RULES = MethodTable("rules of bump")


@RULES.overlay(residuals_of(bump))
def run(x: float):
    y = math.exp(-x * x)
    return y, y


@RULES.overlay(adjoint_of(bump))
def back(d: float, y: float, x: float):
    return (-2 * x * y * d,)


@pytest.mark.parametrize("outer", MODES)
def test_a_rule_of_an_adjoint_is_differentiated(outer):
    def f(x):
        return bump(x[0]) * x[1] + bump(x[1] * x[2])

    expected = by_differences(lambda x: np.sum(MODES["forward"](f)(x) ** 2), X)
    found = MODES[outer](lambda x: np.sum(on_tape(f, (RULES,))(x) ** 2))(X)
    assert np.allclose(found, expected)


def test_a_function_of_numpy_in_python_leaves_nothing_of_the_inner_level_in_the_outer_one():
    def rolls(x):
        return np.sum(np.roll(x, 1) * x**2)

    found = hessian(rolls, mode="forward")(X)
    assert np.allclose(
        found, [by_differences(lambda x, i=i: gradient(rolls)(x)[i], X) for i in range(3)]
    )
