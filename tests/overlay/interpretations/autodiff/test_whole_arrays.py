"""Programs of reductions, products, transforms and complex numbers: forward and in reverse."""

import numpy as np
import pytest

from overlay.interpretations.autodiff import gradient, hessian

# numpy 2.5 warns of it
pytestmark = pytest.mark.filterwarnings("ignore:numpy.fix:DeprecationWarning")

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


def from_initial_values(v):
    sums = np.sum(v.reshape(2, 3), axis=1, initial=v[0]) * np.sum(v, initial=3.0)
    products = np.prod(v[:3], initial=v[5]) + np.sum(np.prod(v, axis=()) * X)
    return np.sum(sums * X[:2]) + products * np.max(v[3:], initial=2.0 * v[2])


def of_lists_elementwise(v):
    products = np.matmul([[v[0], v[1]], [v[2], 1.0]], [v[3], 2.0])
    sums = np.add([v[0], v[1]], [v[2], 3.0]) * np.sin([v[4], v[5]])
    chosen = np.where([True, False], [v[0], v[1]], [v[2], v[3]]) * np.clip([v[2], v[1]], 0.8, 2)
    return np.sum(products * sums * chosen) + np.power([v[0], v[2]], [v[1], 2.0])[0]


def sorted_in_place(v):
    rows = v.reshape(2, 3) * 2.0
    rows.sort(axis=0)
    rows[1].partition(1)
    return np.sum(rows * rows * X.reshape(2, 3)) + np.sum(v.clip(0.8, 2.0) * X)


def split_numbers(v):
    whole, rest = np.zeros(6), np.zeros(6)
    np.modf(v, out=(rest, whole))
    quotients, remainders = divmod(v, 0.7 * X[::-1] ** 2)
    scaled = np.frexp(v)[0] * np.divmod(v, 0.37)[1]
    return np.sum(rest * X + whole * v + quotients * remainders + scaled * np.fix(v))


def reduced_by_ufuncs(v):
    table = abs(v.reshape(2, 3))
    found = np.multiply.reduce(table, axis=1) * np.logaddexp.reduce(table, axis=1, initial=v[0])
    found = found + np.logaddexp2.reduce(np.where(table > 1, -np.inf, table), axis=1)
    most = np.maximum.reduce(table, axis=1, where=table < 3, initial=0.1)
    steps = np.multiply.accumulate(table, axis=1) * np.add.accumulate(table, axis=0)
    return np.sum(found * most) + np.sum(steps * X.reshape(2, 3)) * np.minimum.reduce(v)


def with_one_array_twice(v):
    differences = np.diff(v, prepend=v, append=v[:2])
    return np.sum(differences**3) + np.sum(np.kron(v, v) * np.sin(np.arange(36.0)))


def crossed(v):
    z = v[:3] + 1j * v[3:]
    return np.sum(np.cross(z, z**2 + np.array([1j, 0, 2])).imag * X[:3])


def windowed(v):
    return np.sum(np.kaiser(6, v[0]) * v) + np.sum(np.unique(v[:4]) * np.setdiff1d(v, v[4:]))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(
    "f",
    [
        *(filtered, standardised, through_complex_numbers, written_views, of_lists),
        *(from_initial_values, of_lists_elementwise, sorted_in_place, split_numbers),
        *(reduced_by_ufuncs, with_one_array_twice, crossed, windowed),
    ],
)
def test_gradients_agree_with_differences(f, mode):
    moves = 1e-6 * np.eye(6)
    expected = [(f(X + move) - f(X - move)) / 2e-6 for move in moves]
    assert np.allclose(gradient(f, mode=mode)(X), expected, rtol=1e-5, atol=1e-6)


SECOND = {
    "products": lambda v: np.prod(v) * np.sum(np.cumprod(v)),
    "conversions": lambda v: np.sum(np.asarray(v) ** 3 * np.array(v)) + np.add.reduce(v * v),
    "pads": lambda v: np.sum(np.pad(v, 1, mode="edge") ** 3),
    "initial values": lambda v: np.sum(v * v, initial=v[0]) * np.prod(v[:2], initial=v[3]),
    "lists": lambda v: np.sum(np.sin([v[0], v[1]]) * np.matmul([[v[2], 1.0]], [v[3], v[4]])),
    "in place": lambda v: np.sum(sorted_in_place(v) ** 2),
    "parts": lambda v: np.sum(np.modf(v)[0] ** 2 * np.frexp(v)[0] * np.divmod(v, 0.37)[1]),
    "ufuncs": lambda v: np.logaddexp.reduce(v) * np.multiply.reduce(v) * np.maximum.reduce(v),
    "windows": lambda v: np.sum(np.kaiser(6, v[0]) * v) * np.sum(np.interp(v, [-2, 4], [1, 3])),
    "fits": lambda v: np.sum(np.polyfit(v[:4] ** 2, v[2:], 1) ** 2),
    "matrices": lambda v: np.linalg.det(np.outer(v[:2], v[2:4]) + np.eye(2)) ** 2,
    "transforms": lambda v: np.sum(np.abs(np.fft.fft(v)) ** 3),
    "quantiles": lambda v: np.quantile(v, 0.3) ** 2 * np.median(v),
    "norms": lambda v: np.linalg.norm(v, 3) * np.std(v),
}


@pytest.mark.parametrize("f", SECOND.values(), ids=SECOND)
def test_second_derivatives_are_differences_of_gradients(f):
    slopes = gradient(f, mode="forward")
    expected = [(slopes(X + move) - slopes(X - move)) / 2e-5 for move in 1e-5 * np.eye(6)]
    for mode in ("forward", "auto"):
        assert np.allclose(hessian(f, mode=mode)(X), expected, rtol=1e-5, atol=1e-5)
    weighed = gradient(lambda v: np.sum(gradient(f, mode="forward")(v) * X), mode="reverse")
    assert np.allclose(weighed(X), X @ np.array(expected), rtol=1e-5, atol=1e-5)
