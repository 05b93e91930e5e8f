"""Derivatives of the densities and distribution functions of scipy.stats, against differences."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from overlay.interpretations.autodiff import NotDifferentiable, gradient, hessian
from tests.strangers.derivative_trials import by_differences

MODES = ("forward", "reverse")
POINT = np.array([0.77, 0.43, 1.12])
DATA = np.array([-0.4, 0.2, 1.3])

PROGRAMS = {
    "a frozen distribution": lambda x: stats.norm(x[0], x[1]).logpdf(x[2]),
    "a frozen discrete one": lambda x: stats.poisson(x[0]).logpmf(3),
    "a likelihood": lambda x: -np.sum(stats.norm.logpdf(DATA, loc=x[0], scale=x[1])),
    "points outside of the support": lambda x: np.sum(stats.expon.pdf(DATA, x[1], x[2])),
    "all points outside": lambda x: x[0] + np.sum(stats.beta.pdf(DATA - 5.0, x[1], x[2])),
    "points above the support": lambda x: np.sum(stats.uniform.cdf(DATA, 0.1, x[1])),
    "infinite degrees of freedom": lambda x: np.sum(stats.t.logpdf(x, np.inf, 0.3, x[0])),
    "counts out of range": lambda x: np.sum(stats.poisson.pmf([-1, 2], x[0])),
    "lists": lambda x: np.sum(stats.norm.cdf([x[0], x[1]], [0.1, x[2]])),
    "a quantile": lambda x: stats.beta.ppf(x[1], 2.0, 3.0),
    "the Dirichlet density": lambda x: stats.dirichlet.pdf([0.2, 0.3, 0.5], x),
    "a correlation": lambda x: stats.multivariate_normal.logpdf(
        [0.2, 0.4], x[:2], np.array([[1.0, 0.3 * x[2]], [0.3 * x[2], 1.5]])),
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_are_those_of_differences(name, mode):
    found = gradient(PROGRAMS[name], mode=mode)(POINT.copy())
    assert np.allclose(found, by_differences(PROGRAMS[name], POINT), rtol=2e-6, atol=1e-8)


def test_invalid_parameters_give_nan():
    seen = []

    def f(x):
        found = stats.norm.pdf(0.3, 0.0, -x[0])
        seen.append(float(found.value))
        return found

    gradient(f, mode="forward")(POINT)
    assert np.isnan(seen).all()


def test_second_derivatives():
    def f(x):
        return np.sum(stats.gamma.logpdf(x, 2.3, scale=x[0]))

    slopes = gradient(f, mode="forward")
    expected = [(slopes(POINT + h) - slopes(POINT - h)) / 2e-5 for h in 1e-5 * np.eye(3)]
    assert np.allclose(hessian(f)(POINT.copy()), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (lambda x: stats.gamma.cdf(1.2, x[0]), "gammainc by its argument 0"),
        (lambda x: stats.vonmises.ppf(x[0], 1.2), r"rv_continuous.ppf with the distribution"),
        (lambda x: stats.poisson.pmf(x[0], 1.2), "numbers that are not whole"),
        (lambda x: stats.multivariate_normal.pdf(x, cov=np.ones((3, 3)), allow_singular=True),
         "a singular covariance"),
    ],
)  # fmt: skip
def test_forms_without_derivative_are_refused_by_name(program, said):
    with pytest.raises(NotDifferentiable, match=said):
        gradient(program, mode="forward")(POINT)


def test_differentiating_imports_no_module_of_scipy():
    program = (
        "import sys, overlay.interpretations.autodiff as d; d.derivative(lambda x: x * x)(2.0);"
        "print([m for m in sys.modules if m.startswith('scipy')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]"
