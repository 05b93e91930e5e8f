"""Arrays of intervals, which are object arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from overlay import MethodTable, call_next, nonoverlay
from overlay.interpretations.intervals.interval_numbers import Interval, objects_in, objects_of
from overlay.interpretations.intervals.interval_rules import RULES
from overlay.interpretations.intervals.methods import declare

__all__ = ["fill_arrays"]


def holds_intervals(array: Any) -> bool:
    """Whether an array is an object array that contains intervals."""
    return array.dtype == object and any(isinstance(item, Interval) for item in array.flat)


def _aligned(x: Any, y: Any) -> Any:
    """Two object arrays broadcast to one shape; None where both are arrays of numbers."""
    if object not in (getattr(x, "dtype", None), getattr(y, "dtype", None)):
        return None
    return np.broadcast_arrays(objects_of(x), objects_of(y))


def _collected(items: list[Any], shape: tuple[int, ...]) -> Any:
    """An object array of these items, or a boolean array if all of them are."""
    found = objects_in(items, shape)
    return (
        found.astype(bool) if all(isinstance(item, (bool, np.bool_)) for item in items) else found
    )


def _elementwise(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A function applied to each item, with dispatch."""
    aligned, collected = nonoverlay(_aligned), nonoverlay(_collected)

    def one(x: Any) -> Any:
        if x.dtype != object:
            return call_next(x)
        return collected([function(item) for item in x.flat], x.shape)

    def two(x: Any, y: Any) -> Any:
        pairs = aligned(x, y)
        if pairs is None:
            return call_next(x, y)
        first, second = pairs
        items = [function(a, b) for a, b in zip(first.flat, second.flat, strict=True)]
        return collected(items, first.shape)

    return one if count == 1 else two


def _rounded(x: Any, digits: int) -> Any:
    if x.dtype != object:
        return call_next(x, digits)
    return nonoverlay(_collected)([round(item, digits) for item in x.flat], x.shape)


def _made_for_intervals(*args: Any, **named: Any) -> Any:
    """A new array of floats as an object array, so that the program can store intervals in it."""
    found = call_next(*args, **named)
    return found.astype(object) if found.dtype == np.float64 else found


def _largest_item(function: Callable[..., Any]) -> Callable[..., Any]:
    def of_array(x: Any) -> Any:
        if not nonoverlay(holds_intervals)(x):
            return call_next(x)
        return functools.reduce(function, list(x.flat))

    return of_array


def _fill_variances(table: MethodTable) -> None:
    """Declare variance and standard deviation over all items. Those of ``numpy`` square by
    multiplication, whose enclosure may be negative."""

    @table.overlay(np.var)
    def variance(
        a: np.ndarray, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0
    ) -> Any:
        if axis is not None or not nonoverlay(holds_intervals)(a):
            return call_next(a, axis, dtype, out, ddof)
        apart = a - np.sum(a) / a.size
        return np.sum(apart**2) / (a.size - ddof)

    @table.overlay(np.std)
    def deviation(
        a: np.ndarray, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0
    ) -> Any:
        if axis is not None or not nonoverlay(holds_intervals)(a):
            return call_next(a, axis, dtype, out, ddof)
        return np.sqrt(np.var(a, ddof=ddof))


def _close(x: Any, y: Any, rtol: Any, atol: Any) -> bool:
    return abs(x - y) <= atol + rtol * abs(y)


def _fill_choices(table: MethodTable) -> None:
    """Declare functions that numpy computes by the element types of arrays."""

    @table.overlay(np.isclose, precedence=1)
    def close(
        a: Interval, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: Any = False
    ) -> Any:
        return _close(a, b, rtol, atol)

    @table.overlay(np.isclose)
    def close_to(
        a: Any, b: Interval, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: Any = False
    ) -> Any:
        return _close(a, b, rtol, atol)

    @table.overlay(np.select)
    def selected(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
        if not nonoverlay(_may_hold)([*choicelist, default]):
            return call_next(condlist, choicelist, default)
        found = default
        for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
            found = np.where(condition, choice, found)
        return found


def _may_hold(given: list[Any]) -> bool:
    """Whether one of these is an interval, or an array or list with intervals."""
    return any(isinstance(x, Interval) or holds_intervals(np.asarray(x)) for x in given)


def _clipped(x: Any, least: Any, most: Any) -> Any:
    return np.minimum(np.maximum(x, least), most)


def _clipped_array(x: Any, least: Any, most: Any) -> Any:
    if not nonoverlay(holds_intervals)(x):
        return call_next(x, least, most)
    return _clipped(x, least, most)


def _as_floats(a: Any, dtype: Any, *args: Any, **named: Any) -> Any:
    """``ndarray.astype``: intervals are floats."""
    if not nonoverlay(_stay_floats)(a, dtype):
        return call_next(a, dtype, *args, **named)
    return call_next(a, object, *args, **named)


def _stay_floats(array: Any, dtype: Any) -> bool:
    return holds_intervals(array) and np.dtype(dtype) == np.float64


MAKERS = (
    *(np.zeros, np.ones, np.empty, np.full, np.zeros_like, np.ones_like, np.empty_like),
    np.arange,
)


def fill_arrays(table: MethodTable) -> None:
    """Declare the methods for arrays of intervals."""
    for target, whole in ((min, np.min), (max, np.max)):
        declare(table, whole, _largest_item(target), (np.ndarray,))
    arities = {f: rule.arity for rule in RULES for f in rule.spellings}
    for function, arity in (*arities.items(), (np.isnan, 1), (np.isfinite, 1)):
        if isinstance(function, np.ufunc):
            _declare_elementwise(table, function, arity)
    declare(table, np.round, _elementwise(round, 1), (np.ndarray,))
    declare(table, np.round, _rounded, (np.ndarray, int))
    _fill_variances(table)
    _fill_choices(table)
    declare(table, np.clip, _clipped, (Interval, Any, Any))
    declare(table, np.clip, _clipped_array, (np.ndarray, Any, Any))
    _as_floats.__annotations__ = {"a": np.ndarray, "dtype": Any}
    table.overlay(np.ndarray.astype)(_as_floats)
    for target in MAKERS:
        table.overlay(target)(_made_for_intervals)


def _declare_elementwise(table: MethodTable, function: Any, arity: int) -> None:
    if arity == 1:
        declare(table, function, _elementwise(function, 1), (np.ndarray,))
        return
    declare(table, function, _elementwise(function, 2), (np.ndarray, Any), precedence=1)
    declare(table, function, _elementwise(function, 2), (Any, np.ndarray))
