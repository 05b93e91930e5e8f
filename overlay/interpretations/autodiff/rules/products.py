"""Rules of sums and products of arrays."""

import operator

import numpy as np

from overlay.interpretations.autodiff.rules.array_rule import linear, multilinear

__all__ = ["PRODUCTS"]


def _array(*shape):
    return lambda rng: (rng.normal(size=shape),)


def _two(first, second):
    return lambda rng: (rng.normal(size=first), rng.normal(size=second))


def spread_back(d, a, axis, keepdims):
    """The cotangent of a sum over axes, in the shape of the array that was summed."""
    if axis is not None and not keepdims:
        axes = axis if isinstance(axis, tuple) else (axis,)
        places = sorted(k % len(np.shape(a)) for k in axes)
        for place in places:
            d = np.expand_dims(d, place)
    return np.broadcast_to(d, np.shape(a))


def _sum(d, ret, a, axis=None, dtype=None, keepdims=False, initial=0.0, where=True):
    return np.where(where, spread_back(d, a, axis, keepdims), 0.0)


def _mean(d, ret, a, axis=None, dtype=None, keepdims=False, where=True):
    count = np.sum(np.broadcast_to(where, np.shape(a)), axis=axis, keepdims=True)
    if not keepdims:
        d = d / (np.squeeze(count, axis=axis) if axis is not None else np.sum(count))
        return np.where(where, spread_back(d, a, axis, False), 0.0)
    return np.where(where, np.broadcast_to(d / count, np.shape(a)), 0.0)


def _matmul_a(d, ret, a, b):
    first, second = len(np.shape(a)), len(np.shape(b))
    if second == 1:
        found = np.expand_dims(d, -1) * np.conj(b) if first > 1 else d * np.conj(b)
    elif first == 1:
        found = np.matmul(np.expand_dims(d, -2), np.conj(np.swapaxes(b, -1, -2)))[..., 0, :]
    else:
        found = np.matmul(d, np.conj(np.swapaxes(b, -1, -2)))
    return summed_to(found, np.shape(a))


def _matmul_b(d, ret, a, b):
    first, second = len(np.shape(a)), len(np.shape(b))
    if first == 1:
        found = np.conj(a) * d if second == 1 else np.conj(a)[:, None] * np.expand_dims(d, -2)
    elif second == 1:
        found = np.matmul(np.conj(np.swapaxes(a, -1, -2)), np.expand_dims(d, -1))[..., 0]
    else:
        found = np.matmul(np.conj(np.swapaxes(a, -1, -2)), d)
    return summed_to(found, np.shape(b))


def summed_to(d, shape):
    """A cotangent summed over the axes that were broadcast from a shape."""
    while len(np.shape(d)) > len(shape):
        d = np.sum(d, axis=0)
    for axis, length in enumerate(shape):
        if length == 1 and d.shape[axis] != 1:
            d = np.sum(d, axis=axis, keepdims=True)
    return d


# fmt: off
PRODUCTS = (
    linear(np.sum, _sum, _array(2, 3), lambda rng: (rng.normal(size=(2, 3)), {"axis": 1}),
           lambda rng: (rng.normal(size=(2, 3)), {"axis": (0, 1), "keepdims": True}),
           lambda rng: (rng.normal(size=3), {"where": np.array([True, False, True])}),
           compiled=(0, 2)),
    linear(np.mean, _mean, _array(2, 3), lambda rng: (rng.normal(size=(2, 3)), {"axis": 1}),
           lambda rng: (rng.normal(size=(2, 3)), {"axis": 0, "keepdims": True}), compiled=(0, 2)),
    multilinear(np.matmul, (_matmul_a, _matmul_b), _two((2, 3), (3, 2)), _two(3, (3, 2)),
                _two((2, 3), 3), _two(3, 3), _two((2, 2, 3), (3, 2)), parameters="a, b",
                also=(operator.matmul,)),
)
# fmt: on
