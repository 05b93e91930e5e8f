"""Pullbacks of interpolation, differences and integrals, of roots, and of numbers between
bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = [
    "diff_back",
    "ediff1d_back",
    "geomspace_first_back",
    "geomspace_last_back",
    "interp_back",
    "interp_places_back",
    "interp_values_back",
    "linspace_first_back",
    "linspace_last_back",
    "logspace_first_back",
    "logspace_last_back",
    "roots_back",
    "trapezoid_back",
    "trapezoid_places_back",
    "trapezoid_step_back",
    "unwrap_back",
]


def _row(x: Any) -> Any:
    """The elements of an array, or a number, in a row."""
    return np.ravel(np.asarray(x))


# ---- differences and integrals -------------------------------------------------------------


def diff_back(d: Any, ret: Any, a: Any, n: Any = 1) -> Any:
    length = a.shape[a.ndim - 1]
    ds = np.ravel(d)
    found = np.zeros(a.size)
    for row in range(a.size // length):
        start, count = row * length, length - n
        for i in range(count):
            found[start + i] = ds[row * count + i]
        for k in range(n):
            for i in range(count + k, -1, -1):
                before = found[start + i - 1] if i > 0 else 0.0
                found[start + i] = before - (found[start + i] if i < count + k else 0.0)
    return found.reshape(a.shape)


def ediff1d_back(d: Any, ret: Any, ary: Any) -> Any:
    found = np.zeros(ary.size)
    for i in range(d.size):
        found[i] -= d[i]
        found[i + 1] += d[i]
    return found.reshape(ary.shape)


def trapezoid_back(d: Any, ret: Any, y: Any, x: Any = None, dx: Any = 1.0) -> Any:
    length = y.shape[y.ndim - 1]
    found, ds = np.zeros(y.size), _row(d)
    for row in range(ds.size):
        for i in range(length - 1):
            k = row * length + i
            half = 0.5 * ds[row] * _step(x, dx, k, length)
            found[k] += half
            found[k + 1] += half
    return found.reshape(y.shape)


def _step(x: Any, dx: Any, k: Any, length: Any) -> Any:
    """The distance of a number and the next. k: its place, in rows of a length."""
    if x is None:
        return dx
    flat = np.ravel(x)
    i = k % length if flat.size == length else k
    return flat[i + 1] - flat[i]


def trapezoid_places_back(d: Any, ret: Any, y: Any, x: Any = None, dx: Any = 1.0) -> Any:
    length = y.shape[y.ndim - 1]
    flat, ds = np.ravel(y), _row(d)
    found = np.zeros(x.size)
    for row in range(ds.size):
        for i in range(length - 1):
            k = row * length + i
            at = i if x.size == length else k
            mean = 0.5 * ds[row] * (flat[k] + flat[k + 1])
            found[at] -= mean
            found[at + 1] += mean
    return found.reshape(x.shape)


def trapezoid_step_back(d: Any, ret: Any, y: Any, x: Any = None, dx: Any = 1.0) -> Any:
    return np.sum(d * ret) / dx if x is None else 0.0


def unwrap_back(d: Any, ret: Any, p: Any) -> Any:
    return d


# ---- interpolation -------------------------------------------------------------------------


def _interval(at: Any, xp: Any) -> Any:
    """The place of the last knot before a number, -1 for none; the last one beyond all."""
    if at < xp[0]:
        return -1
    low, high = 0, xp.size
    while high - low > 1:
        middle = (low + high) // 2
        if at >= xp[middle]:
            low = middle
        else:
            high = middle
    return low if at > xp[xp.size - 1] or low < xp.size - 1 else max(low - 1, 0)


def interp_back(d: Any, ret: Any, x: Any, xp: Any, fp: Any) -> Any:
    at, ds = _row(x), _row(d)
    found = np.zeros(at.size)
    for k in range(at.size):
        i = _interval(at[k], xp)
        if 0 <= i < xp.size - 1:
            found[k] = ds[k] * (fp[i + 1] - fp[i]) / (xp[i + 1] - xp[i])
    return _like(found, x)


def _like(found: Any, x: Any) -> Any:
    if isinstance(x, float):
        return found[0]
    return found.reshape(x.shape)


def interp_places_back(d: Any, ret: Any, x: Any, xp: Any, fp: Any) -> Any:
    at, ds = _row(x), _row(d)
    found = np.zeros(xp.size)
    for k in range(at.size):
        i = _interval(at[k], xp)
        if 0 <= i < xp.size - 1:
            width = xp[i + 1] - xp[i]
            slope, share = (fp[i + 1] - fp[i]) / width, (at[k] - xp[i]) / width
            found[i] -= ds[k] * slope * (1.0 - share)
            found[i + 1] -= ds[k] * slope * share
    return found


def interp_values_back(d: Any, ret: Any, x: Any, xp: Any, fp: Any) -> Any:
    at, ds = _row(x), _row(d)
    found = np.zeros(fp.size)
    for k in range(at.size):
        i = _interval(at[k], xp)
        if 0 <= i < xp.size - 1:
            share = (at[k] - xp[i]) / (xp[i + 1] - xp[i])
            found[i] += ds[k] * (1.0 - share)
            found[i + 1] += ds[k] * share
        else:
            found[max(i, 0)] += ds[k]
    return found


# ---- roots of polynomials ------------------------------------------------------------------


def roots_back(d: Any, ret: Any, p: Any) -> Any:
    found = np.zeros(p.size)
    for k in range(ret.size):
        slope = 0.0
        for i in range(p.size - 1):
            slope = slope * ret[k] + (p.size - 1 - i) * p[i]
        power = -d[k] / slope
        for i in range(p.size - 1, -1, -1):
            found[i] += power
            power *= ret[k]
    return found


# ---- numbers between bounds ----------------------------------------------------------------


def _share(i: Any, count: Any) -> Any:
    return i / (count - 1) if count > 1 else 0.0


def linspace_first_back(d: Any, ret: Any, start: Any, stop: Any, num: Any = 50) -> Any:
    total = 0.0
    for i in range(d.size):
        total += d[i] * (1.0 - _share(i, d.size))
    return total


def linspace_last_back(d: Any, ret: Any, start: Any, stop: Any, num: Any = 50) -> Any:
    total = 0.0
    for i in range(d.size):
        total += d[i] * _share(i, d.size)
    return total


def logspace_first_back(d: Any, ret: Any, start: Any, stop: Any, num: Any = 50) -> Any:
    total = 0.0
    for i in range(d.size):
        total += d[i] * ret[i] * (1.0 - _share(i, d.size))
    return total * math.log(10.0)


def logspace_last_back(d: Any, ret: Any, start: Any, stop: Any, num: Any = 50) -> Any:
    total = 0.0
    for i in range(d.size):
        total += d[i] * ret[i] * _share(i, d.size)
    return total * math.log(10.0)


def geomspace_first_back(d: Any, ret: Any, start: Any, stop: Any, num: Any = 50) -> Any:
    total = 0.0
    for i in range(d.size):
        total += d[i] * ret[i] * (1.0 - _share(i, d.size))
    return total / start


def geomspace_last_back(d: Any, ret: Any, start: Any, stop: Any, num: Any = 50) -> Any:
    total = 0.0
    for i in range(d.size):
        total += d[i] * ret[i] * _share(i, d.size)
    return total / stop
