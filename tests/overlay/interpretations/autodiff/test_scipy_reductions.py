"""Sums and shares of exponentials over axes: in both modes, and differentiated again."""

import numpy as np
import pytest
import scipy.special

from overlay import Context, MethodTable
from overlay.interpretations.autodiff import NotDifferentiable, gradient, hessian

X = np.array([[0.9, 0.25, 0.4], [0.35, 1.1, 0.15]])
W = X**2 + 0.3
LOG_SUM, SOFT, LOG_SOFT = (
    scipy.special.logsumexp,
    scipy.special.softmax,
    scipy.special.log_softmax,
)

# fmt: off
FORMS = {
    "all":           lambda x: LOG_SUM(x),
    "axis":          lambda x: np.sum(W[0] * LOG_SUM(x, axis=0)),
    "last axis":     lambda x: np.sum(W[:, 0] * LOG_SUM(x, -1)),
    "kept axis":     lambda x: np.sum(W * x * LOG_SUM(x, axis=1, keepdims=True)),
    "all kept":      lambda x: np.sum(W * x * LOG_SUM(x, keepdims=True)),
    "several axes":  lambda x: LOG_SUM(x, axis=(0, 1)),
    "softmax":       lambda x: np.sum(W * SOFT(x)),
    "softmax axis":  lambda x: np.sum(W * SOFT(x, axis=1)),
    "log softmax":   lambda x: np.sum(W * LOG_SOFT(x)),
    "log axis":      lambda x: np.sum(W * LOG_SOFT(x, 0)),
}
# fmt: on


def differences(f, step=1e-5):
    """The derivatives of a function by each number in an array."""
    moves = step * np.eye(X.size).reshape(X.size, *X.shape)
    found = [(f(X + move) - f(X - move)) / (2 * step) for move in moves]
    return np.array(found).reshape(*X.shape, *np.shape(found[0]))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("name", FORMS)
def test_gradients_and_their_derivatives_agree_with_differences(name, mode):
    f = FORMS[name]
    assert np.allclose(gradient(f, mode=mode)(X), differences(f), rtol=1e-7, atol=1e-9)
    second = differences(gradient(f))
    assert np.allclose(hessian(f, mode=mode)(X), second, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_large_numbers_do_not_overflow(mode):
    found = gradient(lambda x: LOG_SUM(x), mode=mode)(np.array([1000.0, 1000.0]))
    assert found.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_returned_sign_is_refused_by_the_name_of_the_function(mode):
    with pytest.raises(NotDifferentiable, match="logsumexp"):
        gradient(lambda x: LOG_SUM(x, return_sign=True)[0], mode=mode)(X)


def test_a_method_of_a_table_in_force_is_called():
    table = MethodTable("doubled")
    table.overlay(scipy.special.log_softmax)(lambda x, axis=None: 2.0 * x)
    found = Context(table)(gradient(lambda x: np.sum(LOG_SOFT(x))), X)
    assert np.array_equal(found, np.full(X.shape, 2.0))
