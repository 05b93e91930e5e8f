"""Rules of norms of vectors and matrices."""

import numpy as np

from overlay.interpretations.autodiff.rules.array_rule import defined, smooth, takes_lists
from overlay.interpretations.autodiff.rules.drawn_calls import call, complexes, floats

__all__ = ["NORMS"]


def _direction(x):
    """Each element by its absolute value; 0 for 0."""
    size = np.abs(x)
    return x / np.where(size == 0, 1.0, size)


def _first(rows, pick):
    """Ones where ``pick`` chooses along the last axis, zeros elsewhere."""
    chosen = np.expand_dims(pick(rows, axis=-1), -1)
    return 1.0 * (np.arange(np.shape(rows)[-1]) == chosen)


def _of_vector(x, ret, order):
    """The gradient of the norm along the last axis. ret: the norm, with that axis."""
    size = np.abs(x)
    if order is None or order == 2:
        return x / ret
    if order == 0:
        return 0.0 * x
    if np.isinf(order):
        return _direction(x) * _first(size, np.argmax if order > 0 else np.argmin)
    if order == 1:
        return _direction(x)
    return _direction(x) * (size / ret) ** (order - 1)


def _of_matrix(x, ret, order):
    """The gradient of the norm of the last two axes."""
    if order is None or order == "fro":
        return x / ret
    if order in (2, -2, "nuc"):
        u, s, v = np.linalg.svd(x, full_matrices=False)
        if order != "nuc":
            place = 0 if order == 2 else np.shape(s)[-1] - 1
            u, v = u[..., place : place + 1], v[..., place : place + 1, :]
        return np.matmul(u, v)
    pick = np.argmax if order > 0 else np.argmin
    if np.isinf(order):  # of sums of rows
        return _direction(x) * np.expand_dims(_first(np.sum(np.abs(x), axis=-1), pick), -1)
    return _direction(x) * np.expand_dims(_first(np.sum(np.abs(x), axis=-2), pick), -2)


def _gradient(ret, x, order, axis):
    if axis is None:
        if order is None:
            return x / ret
        axis = tuple(range(np.ndim(x)))
    axes = axis if isinstance(axis, tuple) else (axis,)
    last = tuple(range(-len(axes), 0))
    moved = np.moveaxis(x, axes, last)
    kept = np.reshape(ret, (*np.shape(moved)[: -len(axes)], *(1 for _ in axes)))
    found = (_of_vector if len(axes) == 1 else _of_matrix)(moved, kept, order)
    return np.moveaxis(found, last, axes)


def _norm_jvp(t, ret, x, ord=None, axis=None, keepdims=False):
    terms = np.real(np.conj(_gradient(ret, x, ord, axis)) * t)
    return np.sum(terms, axis=axis, keepdims=keepdims)


def _norm_vjp(d, ret, x, ord=None, axis=None, keepdims=False):
    if axis is not None and not keepdims:
        axes = axis if isinstance(axis, tuple) else (axis,)
        d = np.expand_dims(d, tuple(k % np.ndim(x) for k in axes))
    return d * _gradient(ret, x, ord, axis)


def _vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    if axis is not None and not isinstance(axis, tuple):
        return np.linalg.norm(x, ord, axis, keepdims)
    axes = tuple(range(np.ndim(x))) if axis is None else tuple(k % np.ndim(x) for k in axis)
    moved = np.moveaxis(x, axes, tuple(range(-len(axes), 0)))
    rows = np.reshape(moved, (*np.shape(moved)[: np.ndim(x) - len(axes)], -1))
    found = np.linalg.norm(rows, ord, -1)
    if not keepdims:
        return found
    return np.reshape(found, [1 if k in axes else n for k, n in enumerate(np.shape(x))])


def _matrix_norm(x, /, *, keepdims=False, ord="fro"):
    return np.linalg.norm(x, ord, (-2, -1), keepdims)


ORDERS = (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
NORMS = takes_lists(
    smooth(
        np.linalg.norm,
        _norm_jvp,
        _norm_vjp,
        call(floats(2, 3, 2)),
        call([floats(), floats()]),
        *(
            call(kind(4), order)
            for kind in (floats, complexes)
            for order in (None, 0, 1, 2, 3, 0.5, np.inf, -np.inf, -2)
        ),
        *(call(kind(3, 2), order) for kind in (floats, complexes) for order in ORDERS),
        *(call(floats(2, 3, 2), order, (0, 2), keepdims=True) for order in ORDERS),
        call(floats(2, 3), axis=1),
        call(floats(2, 3), 3, axis=0, keepdims=True),
        call(complexes(2, 3), 1, axis=-1),
        call(floats(2, 3, 2), 2, axis=(2, 0)),
        data=("x",),
    ),
    *(
        defined(
            np.linalg.vector_norm,
            _vector_norm,
            call(floats(2, 3)),
            call(floats(2, 3), axis=1),
            call(floats(2, 3, 2), axis=(0, 2), keepdims=True, ord=3),
        )
        for _ in range(hasattr(np.linalg, "vector_norm"))
    ),
    *(
        defined(
            np.linalg.matrix_norm,
            _matrix_norm,
            call(floats(2, 3)),
            call(floats(2, 3, 3), ord="nuc", keepdims=True),
        )
        for _ in range(hasattr(np.linalg, "matrix_norm"))
    ),
)
