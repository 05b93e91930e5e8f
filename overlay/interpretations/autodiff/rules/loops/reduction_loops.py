"""Pullbacks of reductions of all elements of an array, and of sums so far."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "average_back",
    "average_weights_back",
    "corrcoef_first_back",
    "corrcoef_second_back",
    "cov_first_back",
    "cov_second_back",
    "cumsum_back",
    "extreme_back",
    "nan_cumprod_back",
    "nan_cumsum_back",
    "nan_mean_back",
    "nan_prod_back",
    "nan_std_back",
    "nan_sum_back",
    "nan_var_back",
    "ptp_back",
]


def extreme_back(d: Any, ret: Any, a: Any) -> Any:
    flat = np.ravel(a)
    found = np.zeros(flat.size)
    for i in range(flat.size):
        if flat[i] == ret:
            found[i] = d
            break
    return found.reshape(a.shape)


def ptp_back(d: Any, ret: Any, a: Any) -> Any:
    flat = np.ravel(a)
    low = high = 0
    for i in range(flat.size):
        if flat[i] < flat[low]:
            low = i
        if flat[i] > flat[high]:
            high = i
    found = np.zeros(flat.size)
    found[high] += d
    found[low] -= d
    return found.reshape(a.shape)


def average_back(d: Any, ret: Any, a: Any, axis: Any = None, weights: Any = None) -> Any:
    found = np.zeros(a.size)
    if weights is None:
        found[:] = d / a.size
    else:
        flat = np.ravel(weights)
        total = np.sum(flat)
        for i in range(flat.size):
            found[i] = d * flat[i] / total
    return found.reshape(a.shape)


def average_weights_back(d: Any, ret: Any, a: Any, axis: Any = None, weights: Any = None) -> Any:
    flat = np.ravel(a)
    total = np.sum(weights)
    found = np.zeros(flat.size)
    for i in range(flat.size):
        found[i] = d * (flat[i] - ret) / total
    return found.reshape(weights.shape)


def cumsum_back(d: Any, ret: Any, a: Any, axis: Any = None) -> Any:
    found = np.ravel(d).copy()
    length, inner = a.size, 1
    if axis is not None:
        for k in range(a.ndim):
            if k == axis or k == axis + a.ndim:
                length, inner = a.shape[k], 1
            else:
                inner *= a.shape[k]
    # the elements of one sum are ``inner`` places apart
    for place in range(found.size - inner - 1, -1, -1):
        if (place // inner) % length != length - 1:
            found[place] += found[place + inner]
    return found.reshape(a.shape)


# ---- without nan ---------------------------------------------------------------------------


def _of_numbers(flat: Any) -> tuple[Any, Any]:
    """The number of elements that are not nan, and their sum."""
    count, total = 0, 0.0
    for x in flat:
        if not np.isnan(x):
            count += 1
            total += x
    return count, total


def nan_sum_back(d: Any, ret: Any, a: Any) -> Any:
    flat = np.ravel(a)
    found = np.zeros(flat.size)
    for i in range(flat.size):
        if not np.isnan(flat[i]):
            found[i] = d
    return found.reshape(a.shape)


def nan_mean_back(d: Any, ret: Any, a: Any) -> Any:
    flat = np.ravel(a)
    count, _ = _of_numbers(flat)
    found = np.zeros(flat.size)
    for i in range(flat.size):
        if not np.isnan(flat[i]):
            found[i] = d / count
    return found.reshape(a.shape)


def nan_var_back(d: Any, ret: Any, a: Any) -> Any:
    flat = np.ravel(a)
    count, total = _of_numbers(flat)
    found = np.zeros(flat.size)
    for i in range(flat.size):
        if not np.isnan(flat[i]):
            found[i] = d * 2.0 * (flat[i] - total / count) / count
    return found.reshape(a.shape)


def nan_std_back(d: Any, ret: Any, a: Any) -> Any:
    flat = np.ravel(a)
    count, total = _of_numbers(flat)
    found = np.zeros(flat.size)
    for i in range(flat.size):
        if not np.isnan(flat[i]):
            found[i] = d * (flat[i] - total / count) / (count * ret)
    return found.reshape(a.shape)


def nan_prod_back(d: Any, ret: Any, a: Any) -> Any:
    flat = np.ravel(a)
    found = np.zeros(flat.size)
    before = d
    for i in range(flat.size):
        if not np.isnan(flat[i]):
            found[i] = before
            before = before * flat[i]
    after = 1.0
    for i in range(flat.size - 1, -1, -1):
        if not np.isnan(flat[i]):
            found[i] *= after
            after *= flat[i]
    return found.reshape(a.shape)


def nan_cumsum_back(d: Any, ret: Any, a: Any) -> Any:
    flat = np.ravel(a)
    found = np.zeros(flat.size)
    total = 0.0
    for i in range(flat.size - 1, -1, -1):
        total += d[i]
        if not np.isnan(flat[i]):
            found[i] = total
    return found.reshape(a.shape)


def nan_cumprod_back(d: Any, ret: Any, a: Any) -> Any:
    flat = np.ravel(a)
    found = np.zeros(flat.size)
    total = 0.0
    for i in range(flat.size - 1, -1, -1):
        total += d[i]
        if not np.isnan(flat[i]):
            found[i] = total * ret[i - 1] if i > 0 else total
            total *= flat[i]
    return found.reshape(a.shape)


# ---- covariances ---------------------------------------------------------------------------


def _in_rows(m: Any) -> Any:
    """A matrix of the variables, one in each row, and each less its mean."""
    own = np.ravel(m)
    rows = m.shape[0] if m.ndim == 2 else 1
    own = own.copy().reshape((rows, own.size // rows))
    for i in range(rows):
        mean = np.sum(own[i]) / own.shape[1]
        for k in range(own.shape[1]):
            own[i, k] -= mean
    return own


def _of_covariances(d: Any, mine: Any, other: Any, start: Any, other_start: Any) -> Any:
    """The part of the cotangent of some rows that is due to their covariances with others. start:
    the place of the first of the rows among all."""
    found = np.zeros(mine.shape)
    for i in range(mine.shape[0]):
        for j in range(other.shape[0]):
            weight = d[start + i, other_start + j] + d[other_start + j, start + i]
            for k in range(mine.shape[1]):
                found[i, k] += weight * other[j, k]
    return found


def cov_first_back(d: Any, ret: Any, m: Any, y: Any = None) -> Any:
    x = _in_rows(m)
    found = _of_covariances(d, x, x, 0, 0)
    if y is not None:
        found += _of_covariances(d, x, _in_rows(y), 0, x.shape[0])
    return (found / (x.shape[1] - 1)).reshape(m.shape)


def cov_second_back(d: Any, ret: Any, m: Any, y: Any = None) -> Any:
    x, other = _in_rows(m), _in_rows(y)
    found = _of_covariances(d, other, other, x.shape[0], x.shape[0])
    found += _of_covariances(d, other, x, x.shape[0], 0)
    return (found / (x.shape[1] - 1)).reshape(y.shape)


def _normalised(rows: Any) -> Any:
    """Rows divided by their lengths, in place; and their lengths."""
    lengths = np.zeros(rows.shape[0])
    for i in range(rows.shape[0]):
        lengths[i] = np.sqrt(np.sum(rows[i] * rows[i]))
        for k in range(rows.shape[1]):
            rows[i, k] /= lengths[i]
    return lengths


def _across(change: Any, rows: Any, lengths: Any) -> None:
    """Keep of changes of rows the part across the rows, divided by their lengths."""
    for i in range(rows.shape[0]):
        along = np.sum(change[i] * rows[i])
        for k in range(rows.shape[1]):
            change[i, k] = (change[i, k] - along * rows[i, k]) / lengths[i]


def corrcoef_first_back(d: Any, ret: Any, x: Any, y: Any = None) -> Any:
    mine = _in_rows(x)
    lengths = _normalised(mine)
    found = _of_covariances(d, mine, mine, 0, 0)
    if y is not None:
        other = _in_rows(y)
        _normalised(other)
        found += _of_covariances(d, mine, other, 0, mine.shape[0])
    _across(found, mine, lengths)
    return found.reshape(x.shape)


def corrcoef_second_back(d: Any, ret: Any, x: Any, y: Any = None) -> Any:
    other, mine = _in_rows(x), _in_rows(y)
    _normalised(other)
    lengths = _normalised(mine)
    found = _of_covariances(d, mine, mine, other.shape[0], other.shape[0])
    found += _of_covariances(d, mine, other, other.shape[0], 0)
    _across(found, mine, lengths)
    return found.reshape(y.shape)
