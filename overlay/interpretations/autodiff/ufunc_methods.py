"""Methods of ufuncs of active arguments, defined by calls of the ufunc."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from overlay import nonoverlay
from overlay.interpretations.autodiff.duals import primal

__all__ = ["METHODS_OF_UFUNCS"]

NONE: Any = getattr(np, "_NoValue", None)


def _log_of_sum(log: Any, exp: Any, below: Any) -> Callable[..., Any]:
    def reduced(
        a: Any, axis: Any = None, keepdims: bool = False, where: Any = True, **begin: Any
    ) -> Any:
        # the largest exponents, so that none overflows
        shift = np.max(primal(a), axis=axis, keepdims=True, initial=-np.inf, where=where)
        shift = np.where(np.isinf(shift), 0.0, shift)
        total = np.sum(exp(a - shift), axis=axis, keepdims=True, where=where)
        found = log(total) + shift
        if begin:
            found = below(begin["initial"], found)
        shape = np.shape(np.sum(primal(a), axis=axis, keepdims=keepdims))
        return np.reshape(found, shape) if shape else np.ravel(found)[0]

    return reduced


REDUCING: dict[Any, Callable[..., Any]] = {
    np.add: np.sum,
    np.multiply: np.prod,
    np.maximum: np.max,
    np.minimum: np.min,
    np.logaddexp: _log_of_sum(np.log, np.exp, np.logaddexp),
    np.logaddexp2: _log_of_sum(np.log2, np.exp2, np.logaddexp2),
}
"""Functions with rules that reduce as a ufunc does."""
ACCUMULATING: dict[Any, Callable[..., Any]] = {np.add: np.cumsum, np.multiply: np.cumprod}
"""Functions with rules that accumulate as a ufunc does."""


def _ones(a: Any) -> Any:
    """A plain array in the shape of another."""
    made: Any = nonoverlay(np.ones)
    return made(np.shape(a))


def _first(a: Any, axis: int) -> Any:
    """The array with an axis first, which may be that of one number."""
    return a if axis == 0 else np.moveaxis(a, axis, 0)


def reduce(
    ufunc: Any,
    array: Any,
    axis: Any = 0,
    *,
    keepdims: bool = False,
    initial: Any = NONE,
    where: Any = True,
) -> Any:
    """``ufunc.reduce``: the results of a chain of calls along axes."""
    a = np.asarray(array)
    begin = () if initial is NONE or initial is None else (initial,)
    plain = nonoverlay(ufunc.reduce)(
        _ones(a),
        axis=axis,
        keepdims=keepdims,
        where=where,
        **({"initial": 1.0} if begin else {}),
    )  # numpy raises its errors
    if ufunc in REDUCING:
        named = {"initial": initial} if begin else {}
        return REDUCING[ufunc](a, axis=axis, keepdims=keepdims, where=where, **named)
    if axis is None:
        axes = tuple(range(np.ndim(a)))
    else:
        axes = tuple(k % np.ndim(a) for k in (axis if isinstance(axis, tuple) else (axis,)))
    order = (*axes, *(k for k in range(np.ndim(a)) if k not in axes))
    shape = np.shape(a)
    rest = tuple(shape[k] for k in order[len(axes) :])
    moved = np.reshape(np.transpose(a, order), (-1, *rest)) if axes else np.expand_dims(a, 0)
    chosen = None
    if where is not True:
        chosen = np.reshape(np.transpose(np.broadcast_to(where, shape), order), (-1, *rest))
    if chosen is not None and not begin:
        begin = (ufunc.identity,)
    total = begin[0] if begin else None
    for i in range(len(moved)):
        found = moved[i] if total is None else ufunc(total, moved[i])
        total = found if chosen is None else np.where(chosen[i], found, total)
    if total is None:
        return plain
    return np.reshape(np.broadcast_to(total, rest), np.shape(plain))


def accumulate(ufunc: Any, array: Any, axis: int = 0) -> Any:
    """``ufunc.accumulate``: all results of a chain of calls along an axis."""
    a = np.asarray(array)
    nonoverlay(ufunc.accumulate)(_ones(a), axis)  # numpy raises its errors
    if ufunc in ACCUMULATING:
        return ACCUMULATING[ufunc](a, axis)
    parts = _first(a, axis)
    if not len(parts):
        return a
    found = [parts[0]]
    for i in range(1, len(parts)):
        found.append(ufunc(found[-1], parts[i]))
    return np.moveaxis(np.stack(found), 0, axis)


def reduceat(ufunc: Any, array: Any, indices: Any, axis: int = 0) -> Any:
    """``ufunc.reduceat``: reductions of slices along an axis."""
    a = np.asarray(array)
    nonoverlay(ufunc.reduceat)(_ones(a), indices, axis)
    parts, starts = _first(a, axis), [int(i) for i in np.asarray(indices)]
    found: list[Any] = []
    for start, stop in zip(starts, [*starts[1:], len(parts)], strict=True):
        found.append(reduce(ufunc, parts[start:stop]) if start < stop else parts[start])
    return np.moveaxis(np.stack(found), 0, axis)


def outer(ufunc: Any, first: Any, second: Any, **named: Any) -> Any:
    """``ufunc.outer``: the results for all pairs of elements."""
    a, b = np.asarray(first), np.asarray(second)
    return ufunc(np.reshape(a, (*np.shape(a), *[1] * np.ndim(b))), b, **named)


def at(ufunc: Any, a: Any, indices: Any, *operand: Any) -> None:
    """``ufunc.at``: writes the results for elements, one after the other where an element is named
    several times."""
    places = np.reshape(np.arange(np.size(a)), np.shape(a))[indices]
    flat = np.ravel(places)
    values = [np.ravel(np.broadcast_to(b, np.shape(places))) for b in operand]
    rank = _occurrences(flat)
    for turn in range(int(np.max(rank, initial=-1)) + 1):
        chosen = np.nonzero(rank == turn)[0]
        where = np.unravel_index(flat[chosen], np.shape(a))
        a[where] = ufunc(a[where], *(b[chosen] for b in values))


def _occurrences(places: Any) -> Any:
    """For each place how often it stands before."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    starts = np.searchsorted(ordered, ordered)
    found = np.arange(len(places))
    found[order] = np.arange(len(places)) - starts
    return found


METHODS_OF_UFUNCS: dict[str, Callable[..., Any]] = {
    "reduce": reduce,
    "accumulate": accumulate,
    "reduceat": reduceat,
    "outer": outer,
    "at": at,
}
