"""Small linear systems by Gaussian elimination, without a library, so that it compiles quickly."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["eliminated", "put_column"]

SINGULAR = 1e-13
"""With rows and columns scaled to 1, a pivot up to this size is only rounding."""


def put_column(a: Any, j: int, there: Any, base: Any) -> None:
    """Set column j of ``a`` to the difference between ``there`` and ``base``."""
    for i in range(a.shape[0]):
        a[i, j] = there[i] - base[i]


def scales(a: Any, of_rows: bool) -> Any:
    """The largest absolute value in each row or column; 1 if all are 0."""
    count, others = (a.shape[0], a.shape[1]) if of_rows else (a.shape[1], a.shape[0])
    found = np.ones(count)
    for i in range(count):
        size = 0.0
        for j in range(others):
            size = max(size, abs(a[i, j] if of_rows else a[j, i]))
        if size > 0:
            found[i] = size
    return found


def scaled(a: Any, rows: Any, columns: Any) -> Any:
    """The matrix with rows and columns divided by these."""
    found = np.empty(a.shape)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            found[i, j] = a[i, j] / rows[i] / columns[j]
    return found


def pivot_of(a: Any, k: int) -> tuple[int, int]:
    """The position of the largest element, from row and column k on."""
    row, column = k, k
    for i in range(k, a.shape[0]):
        for j in range(k, a.shape[1]):
            if abs(a[i, j]) > abs(a[row, column]):
                row, column = i, j
    return row, column


def triangular(a: Any, b: Any, order: Any) -> int:
    """Eliminate in place, with pivots moved to the front; return the rank. ``order`` records the
    column permutation.
    """
    for k in range(min(a.shape[0], a.shape[1])):
        row, column = pivot_of(a, k)
        if abs(a[row, column]) <= SINGULAR:
            return k
        for j in range(a.shape[1]):
            a[k, j], a[row, j] = a[row, j], a[k, j]
        b[k], b[row] = b[row], b[k]
        for i in range(a.shape[0]):
            a[i, k], a[i, column] = a[i, column], a[i, k]
        order[k], order[column] = order[column], order[k]
        for i in range(k + 1, a.shape[0]):
            part = a[i, k] / a[k, k]
            for j in range(k, a.shape[1]):
                a[i, j] -= part * a[k, j]
            b[i] -= part * b[k]
    return min(a.shape[0], a.shape[1])


def eliminated(a: Any, wanted: Any, near: Any) -> Any:
    """The x with ``a @ x = wanted``, by Gaussian elimination with complete pivoting. Undetermined
    unknowns are taken from ``near``; redundant equations are ignored.
    """
    high, wide = a.shape
    rows = scales(a, True)
    columns = scales(scaled(a, rows, np.ones(wide)), False)
    a, b, order = scaled(a, rows, columns), np.empty(high), np.arange(wide)
    for i in range(high):
        b[i] = wanted[i] / rows[i]
    rank = triangular(a, b, order)
    x = np.empty(wide)
    for j in range(wide):
        x[j] = near[j] * columns[j]
    for k in range(rank - 1, -1, -1):
        total = b[k]
        for j in range(k + 1, wide):
            total -= a[k, j] * x[order[j]]
        x[order[k]] = total / a[k, k]
    for j in range(wide):
        x[j] /= columns[j]
    return x
