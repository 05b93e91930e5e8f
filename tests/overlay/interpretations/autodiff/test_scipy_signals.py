"""Derivatives of programs that design a filter and apply it."""

import numpy as np
import pytest
from scipy import signal

from overlay.interpretations.autodiff import NotDifferentiable, gradient
from tests.strangers.derivative_trials import by_differences

POINT = np.array([0.77, 0.43, 1.12, 0.9, 1.3])


def filtered(x):
    sections = signal.butter(4, 0.3, output="sos")
    return np.sum(signal.sosfilt(sections, x) ** 2)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_filter_is_designed_in_a_derivative(mode):
    found = gradient(filtered, mode=mode)(POINT.copy())
    assert np.allclose(found, by_differences(filtered, POINT), rtol=1e-6, atol=1e-8)


def test_an_active_design_is_refused_by_name():
    with pytest.raises(NotDifferentiable, match="butter with an active number"):
        gradient(lambda x: signal.butter(2, x[0])[0][0], mode="forward")(POINT / 2)
