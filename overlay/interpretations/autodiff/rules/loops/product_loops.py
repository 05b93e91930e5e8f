"""Pullbacks of products of vectors and matrices, of convolutions and of powers."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "convolve_first_back",
    "convolve_second_back",
    "correlate_first_back",
    "correlate_second_back",
    "cross_first_back",
    "cross_second_back",
    "kron_first_back",
    "kron_second_back",
    "vander_back",
    "vdot_first_back",
    "vdot_second_back",
]


def vdot_first_back(d: Any, ret: Any, a: Any, b: Any) -> Any:
    return d * b


def vdot_second_back(d: Any, ret: Any, a: Any, b: Any) -> Any:
    return d * a


# ---- of three components -------------------------------------------------------------------


def _rows_of_three(a: Any) -> Any:
    if a.ndim > 2:
        raise ValueError("cross products of stacks of matrices have no compiled pullback")
    return np.ravel(a).reshape((a.size // 3, 3))


def _cross_back(d: Any, of: Any, other: Any, sign: Any) -> Any:
    """The cotangent of one factor: the product of the other with d, times the sign."""
    found = np.zeros((of.size // 3, 3))
    by, ds = _rows_of_three(other), _rows_of_three(d)
    if of.ndim > 2:
        raise ValueError("cross products of stacks of matrices have no compiled pullback")
    for k in range(ds.shape[0]):
        i, j = k % found.shape[0], k % by.shape[0]
        for c in range(3):
            m, n = (c + 1) % 3, (c + 2) % 3
            found[i, c] += sign * (by[j, m] * ds[k, n] - by[j, n] * ds[k, m])
    return found.reshape(of.shape)


def cross_first_back(d: Any, ret: Any, a: Any, b: Any) -> Any:
    return _cross_back(d, a, b, 1.0)


def cross_second_back(d: Any, ret: Any, a: Any, b: Any) -> Any:
    return _cross_back(d, b, a, -1.0)


# ---- Kronecker products --------------------------------------------------------------------


def _matrix(a: Any) -> Any:
    if a.ndim > 2:
        raise ValueError("Kronecker products of stacks of matrices have no compiled pullback")
    if a.ndim == 1:
        return np.ravel(a).reshape((1, a.size))
    return np.ravel(a).reshape((a.shape[0], a.size // a.shape[0]))


def kron_first_back(d: Any, ret: Any, a: Any, b: Any) -> Any:
    x, y, ds = _matrix(a), _matrix(b), _matrix(d)
    found = np.zeros(x.shape)
    for i in range(ds.shape[0]):
        for j in range(ds.shape[1]):
            k, m = i // y.shape[0], j // y.shape[1]
            found[k, m] += ds[i, j] * y[i % y.shape[0], j % y.shape[1]]
    return found.reshape(a.shape)


def kron_second_back(d: Any, ret: Any, a: Any, b: Any) -> Any:
    x, y, ds = _matrix(a), _matrix(b), _matrix(d)
    found = np.zeros(y.shape)
    for i in range(ds.shape[0]):
        for j in range(ds.shape[1]):
            k, m = i % y.shape[0], j % y.shape[1]
            found[k, m] += ds[i, j] * x[i // y.shape[0], j // y.shape[1]]
    return found.reshape(b.shape)


# ---- convolutions --------------------------------------------------------------------------


def _convolved_back(d: Any, of: Any, other: Any) -> Any:
    # in each mode as many are cut from the beginning as from the end, or one fewer
    start = (of.size + other.size - 1 - d.size) // 2
    found = np.zeros(of.size)
    for k in range(d.size):
        for i in range(max(0, k + start - other.size + 1), min(of.size, k + start + 1)):
            found[i] += d[k] * other[k + start - i]
    return found


def convolve_first_back(d: Any, ret: Any, a: Any, v: Any, mode: Any = "full") -> Any:
    return _convolved_back(d, a, v)


def convolve_second_back(d: Any, ret: Any, a: Any, v: Any, mode: Any = "full") -> Any:
    return _convolved_back(d, v, a)


def _start_of_correlation(d: Any, a: Any, v: Any) -> Any:
    """The shift of the second factor for the first result."""
    cut = a.size + v.size - 1 - d.size
    start = cut - cut // 2 if v.size > a.size else cut // 2
    return start - (v.size - 1)


def correlate_first_back(d: Any, ret: Any, a: Any, v: Any, mode: Any = "valid") -> Any:
    start = _start_of_correlation(d, a, v)
    found = np.zeros(a.size)
    for k in range(d.size):
        for i in range(v.size):
            j = k + start + i
            if 0 <= j < a.size:
                found[j] += d[k] * v[i]
    return found


def correlate_second_back(d: Any, ret: Any, a: Any, v: Any, mode: Any = "valid") -> Any:
    start = _start_of_correlation(d, a, v)
    found = np.zeros(v.size)
    for k in range(d.size):
        for i in range(v.size):
            j = k + start + i
            if 0 <= j < a.size:
                found[i] += d[k] * a[j]
    return found


# ---- powers ---------------------------------------------------------------------------------


def vander_back(d: Any, ret: Any, x: Any, N: Any = None, increasing: Any = False) -> Any:  # noqa: N803
    found = np.zeros(x.size)
    columns = d.shape[1]
    for i in range(x.size):
        power = 1.0
        for k in range(1, columns):
            found[i] += d[i, k if increasing else columns - 1 - k] * k * power
            power *= x[i]
    return found
