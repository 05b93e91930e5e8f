"""Functions of samples of numbers: of ``statistics`` and ``math``."""

import math
import statistics

import numpy as np
import pytest

from overlay.interpretations.autodiff import NotDifferentiable, gradient, hessian, jvp

SAMPLE = [1.0, 2.5, 4.0, 0.5]


@pytest.mark.parametrize("mode", ["auto", "forward"])
@pytest.mark.parametrize(
    "f",
    [
        *(statistics.mean, statistics.fmean, statistics.variance, statistics.pvariance),
        *(statistics.stdev, statistics.pstdev, statistics.geometric_mean, math.fsum, math.prod),
    ],
    ids=lambda f: f.__name__ if callable(f) else f,
)
def test_the_gradient_of_a_function_of_a_sample_agrees_with_differences(f, mode):
    found = gradient(f, mode=mode)(SAMPLE)
    for i in range(len(SAMPLE)):
        up, down = (
            [x + (h if i == k else 0.0) for k, x in enumerate(SAMPLE)] for h in (1e-5, -1e-5)
        )
        assert math.isclose(found[i], (f(up) - f(down)) / 2e-5, rel_tol=1e-6, abs_tol=1e-9)


def test_functions_of_two_samples():
    by_p, by_q = gradient(math.dist)([1.0, 2.0], [4.0, 6.0])
    assert np.allclose(by_p, [-0.6, -0.8])
    assert np.allclose(by_q, [0.6, 0.8])
    by_x, _ = gradient(statistics.correlation)([1.0, 2.0, 4.0], [2.0, 1.0, 5.0])
    assert abs(by_x.sum()) < 1e-12  # moving all alike changes nothing


def test_the_value_is_that_of_the_function_and_second_derivatives_are_taken():
    many = [0.1] * 3 + [1e16, -1e16]
    value, _ = jvp(math.fsum, (many,), ([1.0] * 5,))
    assert value == math.fsum(many)
    assert np.allclose(hessian(statistics.pvariance)([1.0, 2.0]), [[0.5, -0.5], [-0.5, 0.5]])


def test_exact_fractions_of_active_numbers_are_refused():
    with pytest.raises(NotDifferentiable, match="exact fractions"):
        gradient(statistics.harmonic_mean)(SAMPLE)
