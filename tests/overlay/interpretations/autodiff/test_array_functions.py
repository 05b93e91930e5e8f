"""Functions that rearrange, repeat or add up arrays: backwards, forwards and compiled."""

import math

import numpy as np
import pytest

from overlay import Context
from overlay.interpretations.autodiff import autodiff, gradient

X = np.array([1.6, 0.7, 2.5, -1.1, 3.2, 0.9])
W = np.arange(1.0, 7.0)

# fmt: off
FUNCTIONS = {
    "diff":          lambda v: np.sum(np.diff(v) ** 2 * W[1:]),
    "sort":          lambda v: np.sum(np.sort(v) * W),
    "trace":         lambda v: np.trace(np.outer(v, v[:4])),
    "roll":          lambda v: np.sum(np.roll(v, 2) * v * W),
    "tile":          lambda v: np.sum(np.tile(v, 2) ** 3),
    "repeat":        lambda v: np.sum(np.repeat(v, 2) ** 3),
    "cumprod":       lambda v: np.sum(np.cumprod(v) * W),
    "product":       lambda v: math.prod(v),
    "exact sum":     lambda v: math.fsum(v * v),
    "logarithm":     lambda v: math.log(v[0], v[2]) + math.log(v[4], 2.0),
    "counted":       lambda v: np.sum(v * np.arange(6.0) + v * np.arange(6)),
    "polynomial":    lambda v: np.polyval(v, 2.0) + np.polyval(W, v[0]) + np.sum(np.polyval(v, v)),
    "median":        lambda v: np.median(v) * np.median(v[1:]),
}
# fmt: on


def slopes(f, x, step=1e-5):
    moves = step * np.eye(len(x))
    return np.array([(f(x + move) - f(x - move)) / (2 * step) for move in moves])


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_agree_with_differences(name, mode):
    f = FUNCTIONS[name]
    assert np.allclose(gradient(f, mode=mode)(X), slopes(f, X), rtol=1e-6, atol=1e-6)


def joined(v):
    pair = np.stack((v, v * v))
    return np.sum(pair[0] * np.roll(pair[1], 1)) + np.sum(np.concatenate((v, pair[1])) ** 2)


def test_they_are_compiled():
    found = Context().jit(lambda x: autodiff(joined, x))(X)
    assert np.allclose(found, gradient(joined, mode="forward")(X))
    assert np.allclose(found, slopes(joined, X), rtol=1e-6, atol=1e-6)


def test_products_with_zeros_among_them():
    x = np.array([2.0, 0.0, 3.0])
    assert np.allclose(gradient(lambda v: np.sum(np.cumprod(v)), mode="reverse")(x), [1.0, 8.0, 0])


@pytest.mark.parametrize(
    "f",
    [
        lambda v: np.sum(np.diff(v.reshape(2, 3)) ** 2),
        lambda v: np.sum(np.sort(v.reshape(2, 3))[0]),
        lambda v: np.sum(v * np.arange(v[0], v[0] + 6.0)),
        lambda v: np.sum(np.diff(v, 2) ** 2),
    ],
)
def test_other_forms_are_not_taken_for_these(f):
    assert np.allclose(gradient(f, mode="reverse")(X), gradient(f, mode="forward")(X))
