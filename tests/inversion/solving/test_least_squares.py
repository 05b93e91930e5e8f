"""Least-squares fits, compared with those of scipy."""

import math
from typing import Annotated

import numpy as np
import pytest
from scipy import optimize

from inversion import Fit, NoSolution, NotInvertible, WrongArguments, choose, invert
from primitives import Reals

TIMES = np.arange(8) / 2


def decay(a: float, k: float, c: float):
    return a * np.exp(-k * TIMES) + c


def logistic(top: float, rate: float):  # D. M. Bates and D. G. Watts, Nonlinear Regression
    return (
        top / (1 + math.exp(-rate)),
        top / (1 + math.exp(-2 * rate)),
        top / (1 + math.exp(-3 * rate)),
        top / (1 + math.exp(-4 * rate)),
    )


NOISY = decay(2.5, 1.3, 0.5) + np.random.default_rng(0).normal(0, 0.05, 8)


def peer(**options):
    return optimize.curve_fit(
        lambda t, a, k, c: a * np.exp(-k * t) + c, TIMES, NOISY, (1.0, 1.0, 0.0), **options
    )


@pytest.mark.parametrize("start", [None, (1.0, 1.0, 0.0)])
def test_a_fit_is_that_of_scipy_with_its_errors(start):
    found = invert(decay).fit(NOISY, start=start)
    best, covariance = peer()
    assert isinstance(found, Fit)
    assert found.converged
    assert list(found.values.values()) == pytest.approx(best, rel=1e-6)
    assert np.allclose(found.covariance, covariance, rtol=1e-4)
    assert found.residual == pytest.approx(decay(**found.values) - NOISY)
    assert found.cost == pytest.approx((found.residual**2).sum() / 2)


def test_noise_gives_absolute_errors_and_weights_count():
    noise = np.linspace(0.02, 0.2, 8)
    found = invert(decay).fit(NOISY, noise=noise)
    best, covariance = peer(sigma=noise, absolute_sigma=True)
    assert list(found.values.values()) == pytest.approx(best, rel=1e-5)
    assert np.allclose(found.errors, np.sqrt(np.diag(covariance)), rtol=1e-4)
    weighted = invert(decay).fit(NOISY, weights=1 / noise**2)
    assert list(weighted.values.values()) == pytest.approx(best, rel=1e-5)


def test_domains_are_bounds():
    def line(a: Annotated[float, Reals(0, 1)], b: float):
        return a + b, 2 * a + b, 3 * a + b

    found = invert(line).fit((1.0, 3.0, 5.0))  # a slope of 2
    assert found["a"] == pytest.approx(1.0, abs=1e-6)
    assert found["b"] == pytest.approx(1.0, abs=1e-5)


def test_more_results_than_unknowns_are_exact_where_they_agree_and_else_name_the_fit():
    inverse = invert(logistic)
    assert logistic(*inverse(logistic(3.0, 0.8))) == pytest.approx(logistic(3.0, 0.8), rel=1e-9)
    with pytest.raises(NoSolution) as caught:
        inverse((2.0, 2.4, 2.8, 2.7))
    assert caught.value.help is not None
    assert "inv.fit" in caught.value.help


def test_known_inputs_and_known_parts_stay():
    inverse = choose(logistic, known=("return[0]", "return[2]", "top"))
    values = logistic(3.0, 0.8)
    found = inverse.fit(values[0] + 0.01, values[2] - 0.01, 3.0)
    assert set(found.values) == {"rate"}
    assert abs(found["rate"] - 0.8) < 0.05
    assert found.residual.shape == (2,)


def test_complex_results_are_fitted():
    def response(r: float, tau: float):
        return r / (1 + 1j * tau), r / (1 + 2j * tau), r / (1 + 4j * tau)

    found = invert(response).fit(response(5.0, 0.3))
    assert found.values == pytest.approx({"r": 5.0, "tau": 0.3}, rel=1e-6)


def test_what_nothing_tells_has_no_covariance():
    square = invert(lambda x, y: (x + y, x - y), float, float)
    assert square.fit((1.0, 2.0)).covariance is None
    assert np.allclose(square.fit((1.0, 2.0), noise=1.0).covariance, np.eye(2) / 2)
    flat = invert(lambda x, y: (x + y, 2 * (x + y), 3 * (x + y)), float, float)
    assert flat.fit((1.0, 2.0, 3.5)).covariance is None


def test_bad_options_are_refused():
    inverse = invert(logistic)
    for options in ({"noise": 0.0}, {"noise": (1.0, 2.0)}, {"weights": -1.0}):
        with pytest.raises(WrongArguments):
            inverse.fit((1.0, 2.0, 3.0, 4.0), **options)
    with pytest.raises(NotInvertible):
        invert(lambda n: n + 1, int).fit(3)
