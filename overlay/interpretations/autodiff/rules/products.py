"""Rules of sums and products of arrays."""

import operator

import numpy as np

from overlay.interpretations.autodiff.rules.array_rule import multilinear

__all__ = ["PRODUCTS"]


def _two(first, second):
    return lambda rng: (rng.normal(size=first), rng.normal(size=second))


def _matmul_a(d, ret, a, b):
    if np.ndim(b) == 1:
        found = np.expand_dims(d, -1) * np.conj(b) if np.ndim(a) > 1 else d * np.conj(b)
    elif np.ndim(a) == 1:
        found = np.matmul(np.expand_dims(d, -2), np.conj(np.swapaxes(b, -1, -2)))[..., 0, :]
    else:
        found = np.matmul(d, np.conj(np.swapaxes(b, -1, -2)))
    return summed_to(found, np.shape(a))


def _matmul_b(d, ret, a, b):
    if np.ndim(a) == 1:
        found = np.conj(a) * d if np.ndim(b) == 1 else np.conj(a)[:, None] * np.expand_dims(d, -2)
    elif np.ndim(b) == 1:
        found = np.matmul(np.conj(np.swapaxes(a, -1, -2)), np.expand_dims(d, -1))[..., 0]
    else:
        found = np.matmul(np.conj(np.swapaxes(a, -1, -2)), d)
    return summed_to(found, np.shape(b))


def summed_to(d, shape):
    """A cotangent summed over the axes that were broadcast from a shape."""
    while np.ndim(d) > len(shape):
        d = np.sum(d, axis=0)
    for axis, length in enumerate(shape):
        if length == 1 and d.shape[axis] != 1:
            d = np.sum(d, axis=axis, keepdims=True)
    return d


# fmt: off
PRODUCTS = (
    multilinear(np.matmul, (_matmul_a, _matmul_b), _two((2, 3), (3, 2)), _two(3, (3, 2)),
                _two((2, 3), 3), _two(3, 3), _two((2, 2, 3), (3, 2)), parameters="a, b",
                also=(operator.matmul,)),
)
# fmt: on
