"""Functions of arrays that are defined by others: the definition of each, as a Python function that
is inlined.

Definitions in the registry of derivatives are inlined from there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from overlay.interpretations.autodiff.rules.array_rules import array_rule_of

__all__ = ["definition_of"]


def _full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    found = np.array(np.broadcast_to(fill_value, shape))
    return found if dtype is None else found.astype(dtype)


def _full_like(a: Any, fill_value: Any, dtype: Any = None) -> Any:
    found = np.array(np.broadcast_to(fill_value, np.shape(a)))
    return found.astype(a.dtype if dtype is None else dtype)


def _var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    where: Any = True,
    mean: Any = None,
    correction: Any = 0,
) -> Any:
    middle = mean
    if middle is None:
        middle = np.mean(a, axis=axis, keepdims=True, where=where)
    distance = a - middle
    squares = np.abs(distance) ** 2 if np.iscomplexobj(a) else distance**2
    shown = np.broadcast_to(where, np.shape(a)) * 1.0
    count = np.sum(shown, axis=axis, keepdims=keepdims)
    total = np.sum(squares, axis=axis, keepdims=keepdims, where=where)
    return total / (count - ddof - correction)


def _std(a: Any, *args: Any, **named: Any) -> Any:
    return np.sqrt(_var(a, *args, **named))


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    if isinstance(axis, tuple) and (len(axis) > 2 or (ord is not None and ord != "fro")):
        raise ValueError("a norm of matrices of this order has no definition here")
    if ord == 0 or ord == "nuc":
        raise ValueError("a norm of this order has no definition here")
    if np.ndim(x) == 1 and axis is not None:
        axis = None
    if axis is None and (ord is None or (ord == 2 and np.ndim(x) == 1) or ord == "fro"):
        if not keepdims and not np.iscomplexobj(x):
            flat = np.ravel(x)
            return np.sqrt(np.dot(flat, flat))
        ord = None
    elif axis is None and np.ndim(x) > 1:
        raise ValueError("a norm of a matrix of this order has no definition here")
    if ord == np.inf:
        return np.max(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == -np.inf:
        return np.min(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(np.abs(x), axis=axis, keepdims=keepdims)
    if ord is None or ord == 2 or ord == "fro":
        squares = np.abs(x) ** 2 if np.iscomplexobj(x) else x * x
        return np.sqrt(np.sum(squares, axis=axis, keepdims=keepdims))
    return np.sum(np.abs(x) ** ord, axis=axis, keepdims=keepdims) ** (1 / ord)


def _det(a: Any) -> Any:
    if np.ndim(a) != 2:
        raise ValueError("the determinants of several matrices have no definition here")
    n = np.shape(a)[0]
    if n == 1:
        return a[0, 0]
    if n == 2:
        return a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
    total = 0.0
    for k in range(n):
        rest = np.delete(a[1:], k, axis=1)
        total = total + (-1) ** k * a[0, k] * np.linalg.det(rest)
    return total


def _ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    most = np.max(a, axis=axis, keepdims=keepdims)
    return most - np.min(a, axis=axis, keepdims=keepdims)


def _median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False
) -> Any:
    if keepdims or isinstance(axis, tuple):
        raise ValueError("a median of several axes has no definition here")
    if axis is None:
        a = np.ravel(a)
        axis = 0
    count = np.shape(a)[axis]
    ordered = np.sort(np.moveaxis(a, axis, -1))
    if count % 2:
        return ordered[..., count // 2]
    return (ordered[..., count // 2 - 1] + ordered[..., count // 2]) / 2


def _sinc(x: Any) -> Any:
    y = np.pi * np.where(x == 0, 1.0e-20, x)
    return np.sin(y) / y


def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    found = default
    count = len(condlist)
    for k in range(count):
        found = np.where(condlist[count - 1 - k], choicelist[count - 1 - k], found)
    return found


def _clip(a: Any, a_min: Any = None, a_max: Any = None) -> Any:
    if a_min is not None:
        a = np.maximum(a, a_min)
    return a if a_max is None else np.minimum(a, a_max)


def _interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    if period is not None:
        raise ValueError("a period has no definition here")
    found = fp[0] if left is None else left
    for i in range(len(xp) - 1):
        slope = (fp[i + 1] - fp[i]) / (xp[i + 1] - xp[i])
        found = np.where(x >= xp[i], fp[i] + (x - xp[i]) * slope, found)
    return np.where(x > xp[-1], fp[-1] if right is None else right, found)


def _outer(a: Any, b: Any) -> Any:
    return np.ravel(a)[:, None] * np.ravel(b)


def _polyval(p: Any, x: Any) -> Any:
    total = 0.0 * x
    for i in range(np.shape(p)[0]):
        total = total * x + p[i]
    return total


def _vander(x: Any, N: Any = None, increasing: Any = False) -> Any:  # noqa: N803
    count = len(x) if N is None else N
    powers = np.arange(count) if increasing else np.arange(count - 1, -1, -1)
    return x[:, None] ** powers


def _isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Any:
    return np.abs(a - b) <= atol + rtol * np.abs(b)


DEFINITIONS: Mapping[Any, Callable[..., Any]] = {
    np.full: _full,
    np.full_like: _full_like,
    np.var: _var,
    np.std: _std,
    np.linalg.norm: _norm,
    np.linalg.det: _det,
    np.ptp: _ptp,
    np.median: _median,
    np.sinc: _sinc,
    np.select: _select,
    np.clip: _clip,
    np.interp: _interp,
    np.outer: _outer,
    np.polyval: _polyval,
    np.vander: _vander,
    np.isclose: _isclose,
}
"""Definitions that replace a rule, or a definition of the registry, which reads plain values."""


def definition_of(target: Any) -> Callable[..., Any] | None:
    """The Python function that defines a function of arrays; None if there is none."""
    if type(target).__hash__ is None:
        return None
    if target in DEFINITIONS:
        return DEFINITIONS[target]
    rule = array_rule_of(target)
    return rule.by if rule is not None and rule.kind == "defined" else None
