"""Programs of reductions, products, transforms and complex numbers: forward and in reverse."""

import numpy as np
import pytest

from overlay.interpretations.autodiff import gradient

X = np.array([1.6, 0.7, 2.5, -1.1, 3.2, 0.9])


def filtered(v):
    signal = np.fft.ifft(np.fft.fft(v) * np.exp(-np.arange(6.0))).real
    signal[0] = 5 * signal[1]
    return np.sum(signal**2)


def standardised(v):
    rows = v.reshape(2, 3)
    rows = (rows - rows.mean(axis=1, keepdims=True)) / rows.std(axis=1, keepdims=True, ddof=1)
    return np.einsum("ij,kj->", rows, rows**2) + np.max(rows, axis=0).sum()


def through_complex_numbers(v):
    z = v[:3] + 1j * v[3:]
    return (abs(z) ** 3 * np.angle(z)).sum() + (z**2.5).imag.sum() + abs(z[0]) ** 3


def written_views(v):
    table = v.reshape(3, 2)
    table[1] = np.cumprod(table[0]) * np.prod(table[2])
    return np.sum(np.sort(table, axis=None) * X)


def of_lists(v):
    return np.max([v[0], v[1] * v[2]]) * np.var([v[3], v[4] ** 2, 1.0]) + np.dot(
        [v[0], v[5]], X[:2]
    )


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(
    "f", [filtered, standardised, through_complex_numbers, written_views, of_lists]
)
def test_gradients_agree_with_differences(f, mode):
    moves = 1e-6 * np.eye(6)
    expected = [(f(X + move) - f(X - move)) / 2e-6 for move in moves]
    assert np.allclose(gradient(f, mode=mode)(X), expected, rtol=1e-5, atol=1e-6)
