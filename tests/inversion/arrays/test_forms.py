"""The forms in which people write functions of arrays: the inverse returns the arguments."""

import numpy as np
import pytest

from inversion import invert

Z = np.zeros
M = np.array([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 0.0, 4.0]])


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def layer_norm(x):
    mean, variance = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    return 2 * (x - mean) / np.sqrt(variance + 1e-5) + 1


def unpacked(x):
    first, second = x
    return first + 2 * second, second


def weighted(x):
    total = 0.0
    for i, (value, weight) in enumerate(zip(x, [1.0, 2.0, 3.0])):  # noqa: B905
        total += i * weight * value + value
    return total


def radians_of_a_list(x):
    a, b, c = np.radians([x[0], 2 * x[1], x[2] - 1])
    return a + b, b, c


def far_items(x):
    found = 0.0
    for i in range(20):
        found = found + x[i]
    return found, x[1:]


FORMS = {
    "axes": (lambda x: x.sum(axis=(0, 2)), Z((2, 2, 2))),
    "kept axes": (lambda x: x / x.sum(axis=1, keepdims=True), Z((2, 3))),
    "masked sum": (lambda x: np.sum(x, where=np.array([True, False, True])), Z(3)),
    "first value": (lambda x: np.sum(x, initial=2.0), Z(3)),
    "mean of integers": (lambda x: np.mean(x), np.array([1, 2, 3])),
    "variance": (lambda x: np.var(x, ddof=1), Z(3)),
    "standard scores": (lambda x: (x - x.mean()) / x.std(), Z(4)),
    "norm": (lambda x: np.linalg.norm(x), Z(3)),
    "norms of rows": (lambda x: np.linalg.norm(x, axis=1), Z((2, 2))),
    "norm and direction": (lambda x: (x / np.linalg.norm(x), np.linalg.norm(x)), Z(3)),
    "softmax": (softmax, Z((2, 3))),
    "logarithm of a softmax": (lambda x: x - np.log(np.sum(np.exp(x))), Z(3)),
    "layer norm": (layer_norm, Z((2, 4))),
    "batch norm": (lambda x: (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5), Z((4, 2))),
    "cross product": (lambda x: np.cross(x, [1.0, 2.0, 3.0]), Z(3)),
    "outer product": (lambda x, y: np.outer(x, y), Z(2), Z(3)),
    "kronecker product": (lambda x: np.kron(x, M), Z((2, 2))),
    "einsum": (lambda x: np.einsum("ij,j->i", M, x), Z(3)),
    "tensordot": (lambda x: np.tensordot(M, x, 1), Z((3, 2))),
    "complex matrix": (lambda x: (M * 1j + 1) @ x, Z(3, complex)),
    "real times complex": (lambda x: (M * 1j + np.eye(3)) @ x, Z(3)),
    "integer matrix": (lambda x: np.array([[1, 2], [1, 3]]) @ x, np.array([1, 2])),
    "determinant": (lambda x: np.linalg.det(x), Z((3, 3))),
    "convolution": (lambda x: np.convolve(x, [1.0, 2.0, 0.5], "same"), Z(4)),
    "spectrum of reals": (lambda x: np.fft.rfft(x), Z(6)),
    "spectrum": (lambda x: np.fft.fft(x), Z(4, complex)),
    "spectrum in two axes": (lambda x: np.fft.fft2(x), Z((2, 2))),
    "trace": (lambda x: np.trace(x), Z((3, 3))),
    "gradient": (lambda x: np.gradient(x, 0.5), Z(4)),
    "differences from 0": (lambda x: np.diff(x, prepend=0.0), Z(3)),
    "numbers between": (lambda a, b: np.linspace(a, b, 4), float, float),
    "filled": (lambda a: np.full((2, 2), a), float),
    "like another": (lambda x: np.ones_like(x) + x, Z(3)),
    "grid": (lambda x, y: np.meshgrid(x, y)[0] + np.meshgrid(x, y)[1], Z(2), Z(3)),
    "polynomial": (lambda x: np.polyval([1.0, 0.0, 1.0], x), Z(3)),
    "coefficients": (lambda p: np.polyval(p, [0.0, 1.0, 2.0]), Z(3)),
    "table": (lambda x: np.interp(x, [0.0, 1.0, 2.0], [0.0, 2.0, 8.0]), Z(3)),
    "selected": (lambda x: np.select([x < 0, x < 1], [x, 2 * x], 3 * x - 1), Z(3)),
    "integers where": (lambda x: np.where(x > 100, 0, x), Z(3)),
    "clipped on one side": (lambda x: np.clip(x, None, 5.0), Z(3)),
    "rounded": (lambda x: np.round(x, 2), Z(3)),
    "median": (lambda x: np.median(x), Z(3)),
    "range of values": (lambda x: np.ptp(x), Z(3)),
    "angle and size": (lambda z: (np.angle(z), np.abs(z)), Z(3, complex)),
    "parts": (lambda z: (z.real, z.imag), Z(3, complex)),
    "another type": (lambda x: x.astype(complex) * 1j, Z(3)),
    "types of items": (lambda a, n: np.array([[a, n], [1, 2]]), float, int),
    "padded": (lambda x: np.pad(x, (1, 2), constant_values=2.5), Z(3)),
    "reflected": (lambda x: np.pad(x, 2, mode="reflect", reflect_type="odd"), Z(3)),
    "block": (lambda x: np.block([[x, M[:2]], [np.ones((1, 5))]]), Z((2, 2))),
    "pieces": (lambda x: np.split(x, 2)[1] - np.split(x, 2)[0], Z(4)),
    "ellipsis": (lambda x: x[..., ::-1] * 2, Z((2, 2))),
    "new axes": (lambda x: x[None, :, np.newaxis] * 2, Z(3)),
    "constant mask": (lambda x: x[np.array([True, False, True])], Z(3)),
    "unpacked": (unpacked, Z((2, 2))),
    "zipped": (weighted, Z(3)),
    "list of numbers": (radians_of_a_list, Z(3)),
    "items of many": (far_items, Z(20)),
    "sum of Python": (lambda x: (sum(x), x[1:]), Z(3)),
    "where the largest is": (lambda x: (x * 2, x.argmax()), Z(3)),
}


def drawn(kind, rng):
    if kind is float:
        return 1.5
    if kind is int:
        return 7
    if kind.dtype.kind == "i":
        return rng.integers(0, 5, kind.shape)
    found = rng.normal(size=kind.shape)
    return found + 1j * rng.normal(size=kind.shape) if kind.dtype.kind == "c" else found


@pytest.mark.parametrize("name", FORMS)
def test_the_arguments_are_given_back(name):
    f, *kinds = FORMS[name]
    inverse = invert(f, *kinds)
    rng = np.random.default_rng(1)
    args = [drawn(kind, rng) for kind in kinds]
    theta = inverse.recover(*args)
    spare = (theta,) if len(inverse.parameters) else ()
    answer = inverse(f(*args), *spare)
    assert all(np.allclose(a, b, rtol=1e-6, atol=1e-8) for a, b in zip(answer, args, strict=True))


NORMALISED = ("softmax", "logarithm of a softmax", "layer norm", "batch norm", "standard scores")


@pytest.mark.parametrize("name", NORMALISED)
def test_what_is_normalised_has_an_answer_without_theta(name):
    f, kind = FORMS[name]
    wanted = f(np.random.default_rng(2).normal(size=kind.shape))
    (found,) = invert(f, kind)(wanted)
    assert np.allclose(f(found), wanted)


def test_small_arrays_of_which_some_elements_are_known_are_planned_as_numbers():
    def moments(x):
        return x.max(), x.min(), x[1] * x[2]

    inverse = invert(moments, Z(3))
    x = np.array([0.5, 2.0, -1.0])
    assert np.allclose(inverse(moments(x), inverse.recover(x))[0], x)
