"""Pullbacks of decompositions and other functions of one matrix, as numba computes them."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "cholesky_back",
    "cond_back",
    "eig_back",
    "eigh_back",
    "eigvals_back",
    "eigvalsh_back",
    "lstsq_first_back",
    "lstsq_second_back",
    "matrix_power_back",
    "norm_back",
    "pinv_back",
    "qr_back",
    "slogdet_back",
    "svd_back",
    "trace_back",
]


def _product(a: Any, b: Any) -> Any:
    """The product of two matrices. One loop for all layouts: numba compiles BLAS for each."""
    found = np.zeros((a.shape[0], b.shape[1]))
    _add_product(found, a, b, 1.0)
    return found


def _add_product(into: Any, a: Any, b: Any, sign: Any) -> None:
    """Add the product of two matrices, times a number."""
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                into[i, j] += sign * a[i, k] * b[k, j]


def _transposed(a: Any) -> Any:
    found = np.zeros((a.shape[1], a.shape[0]))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            found[j, i] = a[i, j]
    return found


def _columns(a: Any, count: Any) -> Any:
    """A copy of the first columns, in the memory layout of rows."""
    found = np.zeros((a.shape[0], count))
    for i in range(a.shape[0]):
        for j in range(count):
            found[i, j] = a[i, j]
    return found


def _rows(a: Any) -> Any:
    """A copy in the memory layout of rows."""
    return _columns(a, a.shape[1])


def _largest(values: Any) -> Any:
    """The largest absolute value."""
    found = 0.0
    for x in values:
        found = max(found, abs(x))
    return found


def _uses(d: Any, first: Any, last: Any) -> bool:
    """Whether a cotangent of some columns is not zero."""
    for i in range(d.shape[0]):
        for j in range(first, last):
            if d[i, j] != 0.0:
                return True
    return False


def _onto_lower(a: Any) -> Any:
    """The cotangent of the lower triangle, which alone is read of a symmetric matrix."""
    found = np.zeros(a.shape)
    for i in range(a.shape[0]):
        for j in range(i):
            found[i, j] = a[i, j] + a[j, i]
        found[i, i] = a[i, i]
    return found


def _gap(x: Any, y: Any, largest: Any, n: Any) -> Any:
    """The inverse of ``y - x``; 0 where they coincide."""
    return 0.0 if abs(y - x) <= 2e-15 * n * largest else 1.0 / (y - x)


# ---- traces, determinants, Cholesky, QR ----------------------------------------------------


def trace_back(d: Any, ret: Any, a: Any, offset: Any = 0) -> Any:
    found = np.zeros(a.shape)
    rows, columns = a.shape
    for i in range(max(0, -offset), min(rows, columns - offset)):
        found[i, i + offset] = d
    return found


def slogdet_back(d: Any, ret: Any, a: Any) -> Any:
    return d[1] * _transposed(np.linalg.inv(a))


def cholesky_back(d: Any, ret: Any, a: Any) -> Any:
    # by S. P. Smith, "Differentiation of the Cholesky algorithm" (1995)
    found, by = np.zeros(a.shape), _rows(d)
    for i in range(a.shape[0] - 1, -1, -1):
        for j in range(i, -1, -1):
            if j == i:
                found[i, i] = 0.5 * by[i, i] / ret[i, i]
            else:
                found[i, j] = by[i, j] / ret[j, j]
                by[j, j] -= found[i, j] * ret[i, j]
            for k in range(j):
                by[i, k] -= found[i, j] * ret[j, k]
                by[j, k] -= found[i, j] * ret[i, k]
    return found


def qr_back(d: Any, ret: Any, a: Any) -> Any:
    q, r, d_q = _rows(ret[0]), ret[1], _rows(d[0])
    rows, columns = a.shape
    count = q.shape[1]
    d_r = np.zeros(r.shape)
    for i in range(count):
        for j in range(i, columns):
            d_r[i, j] = d[1][i, j]
    along = _product(_transposed(q), d_q)
    turn = _rows(along)
    _add_product(turn, d_r, _transposed(r), -1.0)
    low = np.zeros((count, count))
    for i in range(count):
        for j in range(i):
            low[i, j] = turn[i, j] - turn[j, i]
    square = _product(q, low)
    if rows > count:
        _add_product(d_q, q, along, -1.0)
        for i in range(rows):
            for j in range(count):
                square[i, j] += d_q[i, j]
    # from the right, divided by the transpose of the square part of R
    for i in range(rows):
        for j in range(count - 1, -1, -1):
            total = square[i, j]
            for k in range(j + 1, count):
                total -= square[i, k] * r[j, k]
            square[i, j] = total / r[j, j]
    found = _product(q, d_r)
    for i in range(rows):
        for j in range(count):
            found[i, j] += square[i, j]
    return found


# ---- eigenvalues ---------------------------------------------------------------------------


def _eigh_back(d: Any, values: Any, vectors: Any) -> Any:
    """The cotangent by the eigenvalues."""
    n = values.size
    found = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            for k in range(n):
                found[i, j] += vectors[i, k] * d[k] * vectors[j, k] * (1.0 if i == j else 2.0)
    return found


def eigvalsh_back(d: Any, ret: Any, a: Any) -> Any:
    values, vectors = np.linalg.eigh(a)
    return _eigh_back(d, values, vectors)


def eigh_back(d: Any, ret: Any, a: Any) -> Any:
    values, vectors = ret[0], _rows(ret[1])
    n = values.size
    largest = _largest(values)
    inner = _product(_transposed(vectors), d[1])
    for i in range(n):
        for j in range(n):
            if i == j:
                inner[i, i] = d[0][i]
            else:
                inner[i, j] *= _gap(values[i], values[j], largest, n)
    found = _product(_product(vectors, inner), _transposed(vectors))
    for i in range(n):
        for j in range(n):
            coincide = i != j and _gap(values[i], values[j], largest, n) == 0.0
            if coincide and _uses(d[1], i, i + 1):
                found[:] = np.nan  # these vectors are not unique
    return _onto_lower(found)


def _eig_back(d: Any, d_vectors: Any, values: Any, vectors: Any) -> Any:
    n = values.size
    largest = _largest(values)
    changes = _rows(d_vectors)
    for k in range(n):
        along = 0.0
        for i in range(n):
            along += vectors[i, k] * changes[i, k]
        for i in range(n):
            changes[i, k] -= along * vectors[i, k]
    back = _transposed(vectors)
    inner = _product(back, changes)
    for i in range(n):
        for j in range(n):
            if i == j:
                inner[i, i] = d[i]
            else:
                inner[i, j] *= _gap(values[i], values[j], largest, n)
    found = _product(_transposed(np.linalg.inv(_rows(vectors))), _product(inner, back))
    for i in range(n):
        for j in range(n):
            coincide = i != j and _gap(values[i], values[j], largest, n) == 0.0
            if coincide and _uses(d_vectors, i, i + 1):
                found[:] = np.nan  # these vectors are not unique
    return found


def eig_back(d: Any, ret: Any, a: Any) -> Any:
    return _eig_back(d[0], d[1], ret[0], ret[1])


def eigvals_back(d: Any, ret: Any, a: Any) -> Any:
    values, vectors = np.linalg.eig(a)
    return _eig_back(d, np.zeros(vectors.shape), values, vectors)


# ---- singular values -----------------------------------------------------------------------


def svd_back(d: Any, ret: Any, a: Any, full_matrices: Any = True) -> Any:
    s = ret[1]
    n = s.size
    d_u, d_v = _rows(d[0]), _transposed(d[2])
    if _uses(d_u, n, d_u.shape[1]) or _uses(d_v, n, d_v.shape[1]):
        raise ValueError("the further vectors of svd are not unique: pass full_matrices=False")
    u, v = _columns(ret[0], n), _columns(_transposed(ret[2]), n)
    d_u, d_v = _columns(d_u, n), _columns(d_v, n)
    of_u, of_v = _product(_transposed(u), d_u), _product(_transposed(v), d_v)
    inner = np.zeros((n, n))
    is_bad = False
    for i in range(n):
        for j in range(n):
            if i == j:
                inner[i, i] += d[1][i]
                continue
            gap = _gap(s[i], s[j], s[0], n)
            plus = 1.0 / (s[i] + s[j]) if s[i] + s[j] > 0.0 else 0.0
            both = gap * (of_u[i, j] + of_v[i, j])
            apart = plus * (of_u[i, j] - of_v[i, j])
            inner[i, j] += 0.5 * (both + apart)
            inner[j, i] += 0.5 * (both - apart)
            if gap == 0.0 and (_uses(d_u, i, i + 1) or _uses(d_v, i, i + 1)):
                is_bad = True  # these vectors are not unique
    found = _product(_product(u, inner), _transposed(v))
    if u.shape[0] > n:
        _add_product(d_u, u, of_u, -1.0)
        _divide_columns(d_u, s)
        _add_product(found, d_u, _transposed(v), 1.0)
    if v.shape[0] > n:
        _add_product(d_v, v, of_v, -1.0)
        _divide_columns(d_v, s)
        _add_product(found, u, _transposed(d_v), 1.0)
    if is_bad:
        found[:] = np.nan
    return found


def _divide_columns(a: Any, by: Any) -> None:
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] /= by[j]


def cond_back(d: Any, ret: Any, x: Any) -> Any:
    u, s, vh = np.linalg.svd(x)
    last = s.size - 1
    found = np.zeros(x.shape)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            largest = u[i, 0] * vh[0, j]
            smallest = u[i, last] * vh[last, j]
            found[i, j] = d * (largest - ret * smallest) / s[last]
    return found


# ---- powers --------------------------------------------------------------------------------


def matrix_power_back(d: Any, ret: Any, a: Any, n: Any) -> Any:
    base = np.linalg.inv(a) if n < 0 else _rows(a)
    size, count = a.shape[0], abs(n)
    powers = np.zeros((count + 1, size, size))
    for i in range(size):
        powers[0, i, i] = 1.0
    for k in range(count):
        powers[k + 1] = _product(powers[k], base)
    found, change, back = np.zeros((size, size)), _rows(d), _transposed(base)
    for k in range(count - 1, -1, -1):
        _add_product(found, _transposed(powers[k]), change, 1.0)
        change = _product(change, back)
    return -_product(_product(back, found), back) if n < 0 else found


# ---- pseudoinverses ------------------------------------------------------------------------


def _pinv_back(d: Any, pinv: Any, a: Any) -> Any:
    by, change = _transposed(pinv), _transposed(d)
    found = np.zeros(a.shape)
    left = _product(_product(change, pinv), by)
    right = _product(_product(by, pinv), change)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            found[i, j] = left[i, j] + right[i, j]
    _add_product(found, _product(by, d), by, -1.0)
    _add_product(found, _product(a, pinv), left, -1.0)
    _add_product(found, _product(right, pinv), a, -1.0)
    return found


def pinv_back(d: Any, ret: Any, a: Any) -> Any:
    return _pinv_back(_rows(d), _rows(ret), a)


def _column(b: Any) -> Any:
    return np.ravel(b).reshape((b.shape[0], b.size // b.shape[0]))


def _of_rank(u: Any, s: Any, vh: Any, rank: Any) -> Any:
    """The pseudoinverse of the rank that least squares has found."""
    found = np.zeros((vh.shape[1], u.shape[0]))
    for k in range(rank):
        for i in range(found.shape[0]):
            for j in range(found.shape[1]):
                found[i, j] += vh[k, i] * u[j, k] / s[k]
    return found


def _by_residuals(d: Any, a: Any, x: Any, b: Any) -> Any:
    """The cotangent of the residuals, by those of their squares."""
    rest = _rows(b)
    _add_product(rest, a, x, -1.0)
    for i in range(rest.shape[0]):
        for j in range(rest.shape[1]):
            rest[i, j] *= 2.0 * d[j]
    return rest


def lstsq_first_back(d: Any, ret: Any, a: Any, b: Any) -> Any:
    x, by = _column(ret[0]), _column(b)
    u, s, vh = np.linalg.svd(a, False)
    found = _pinv_back(_product(_column(d[0]), _transposed(by)), _of_rank(u, s, vh, ret[2]), a)
    if ret[1].size > 0:
        _add_product(found, _by_residuals(d[1], a, x, by), _transposed(x), -1.0)
    for k in range(d[3].size):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                found[i, j] += d[3][k] * u[i, k] * vh[k, j]
    return found


def lstsq_second_back(d: Any, ret: Any, a: Any, b: Any) -> Any:
    u, s, vh = np.linalg.svd(a, False)
    found = _product(_transposed(_of_rank(u, s, vh, ret[2])), _column(d[0]))
    if ret[1].size > 0:
        rest = _by_residuals(d[1], a, _column(ret[0]), _column(b))
        for i in range(rest.shape[0]):
            for j in range(rest.shape[1]):
                found[i, j] += rest[i, j]
    return found.reshape(b.shape)


# ---- norms ---------------------------------------------------------------------------------


def norm_back(d: Any, ret: Any, x: Any, ord: Any) -> Any:
    if x.ndim != 1:
        raise ValueError("norms of matrices by an order have no compiled pullback")
    found = np.zeros(x.size)
    for i in range(x.size):
        size = abs(x[i])
        sign = 0.0 if x[i] == 0.0 else x[i] / size
        if np.isinf(ord):
            if size == ret:
                found[i] = d * sign
                break
        elif ord == 1:
            found[i] = d * sign
        elif ord != 0:
            found[i] = d * sign * (size / ret) ** (ord - 1.0)
    return found
