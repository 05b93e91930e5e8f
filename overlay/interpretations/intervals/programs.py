"""What interpreted programs need beside the rules: plain numbers, containers, arrays, classes."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from overlay import MethodTable, call_next, nonoverlay
from overlay.enclosures import above, below
from overlay.interpretations.intervals.interval import Interval, bounds_of
from overlay.interpretations.intervals.methods import declare
from overlay.interpretations.intervals.rules import ORDER, RULES, Rule

__all__ = ["fill_containers", "fill_plain", "holds_intervals"]


# ---- plain numbers ------------------------------------------------------------------------

_EXACT = (*(rule.function for rule in ORDER), abs, operator.neg, operator.pos)
_OF_INTEGERS = (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod)


def fill_plain(table: MethodTable) -> None:
    """Declare methods for plain numbers, of which the program rounds results: they give
    intervals where the real result is no float."""
    for rule in RULES:
        if rule.function in _EXACT:
            continue
        for types in itertools.product((float, int), repeat=rule.arity):
            if rule.function in _OF_INTEGERS and float not in types:
                continue
            for function in rule.spellings:
                declare(table, function, _plain(rule), types)


def _plain(rule: Rule) -> Callable[..., Any]:
    def one(x: Any) -> Any:
        found = nonoverlay(_enclosed)(rule, x)
        return call_next(x) if found is None else found

    def two(x: Any, y: Any) -> Any:
        found = nonoverlay(_enclosed)(rule, x, y)
        return call_next(x, y) if found is None else found

    return one if rule.arity == 1 else two


def _enclosed(rule: Rule, *args: Any) -> Any:
    """What a function gives of plain numbers: an interval where that is no float; None where
    the program's own result, or error, is what counts."""
    if not all(map(math.isfinite, args)):
        return None
    if rule.function is operator.pow and all(isinstance(x, int) for x in args) and args[1] >= 0:
        return None
    bounds = [bounds_of(x) for x in args]
    if rule.defined(*bounds) < 1:
        return None
    low, high = rule.enclosure(*bounds)
    return low if low == high else Interval(low, high)


# ---- containers ---------------------------------------------------------------------------


def _sum(items: Any, start: Any = 0) -> Any:
    for item in items:
        start = start + item
    return start


def _product(items: Any, start: Any = 1) -> Any:
    for item in items:
        start = start * item
    return start


def _distance(p: Any, q: Any) -> Any:
    return math.sqrt(_sum([(x - y) ** 2 for x, y in zip(p, q, strict=True)]))


def _extreme(function: Callable[..., Any]) -> Callable[..., Any]:
    """The smallest or largest item, pair by pair: intervals have no order."""

    def of_items(items: Any) -> Any:
        given = list(items)
        if not any(isinstance(item, Interval) for item in given):
            return call_next(given)
        found = given[0]
        for item in given[1:]:
            found = function(found, item)
        return found

    return of_items


def _of_several(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(x: Any, y: Any, z: Any, *others: Any) -> Any:
        return function([x, y, z, *others])

    return method


def _of_class(x: Any, classes: Any) -> bool:
    """An interval is asked for as the float that it stands for."""
    wanted = classes if nonoverlay(isinstance)(classes, tuple) else (classes,)
    return Interval in wanted or nonoverlay(isinstance)(0.0, wanted)


def _to_digits(x: Any, digits: int) -> Any:
    return nonoverlay(_rounded)(x, digits)


def _rounded(x: Interval, digits: int) -> Interval:
    return Interval(below(round(x.low, digits)), above(round(x.high, digits)))


# ---- arrays -------------------------------------------------------------------------------


def holds_intervals(array: Any) -> bool:
    """Whether an array is of objects, some of which are intervals."""
    return array.dtype == object and any(isinstance(item, Interval) for item in array.flat)


def _interval(item: Any) -> Any:
    return Interval(item) if isinstance(item, (int, float)) else item


_intervals = np.frompyfunc(_interval, 1, 1)


def _elementwise(count: int) -> Callable[..., Any]:
    """Functions of arrays of objects call methods of the items, which floats do not have."""

    def one(x: Any) -> Any:
        return call_next(nonoverlay(_intervals)(x) if x.dtype == object else x)

    def two(x: Any, y: Any) -> Any:
        if object in (getattr(x, "dtype", None), getattr(y, "dtype", None)):
            x, y = nonoverlay(_intervals)(x), nonoverlay(_intervals)(y)
        return call_next(x, y)

    return one if count == 1 else two


def _made_for_intervals(*args: Any, **named: Any) -> Any:
    """Arrays of floats that the program makes may be written to: as objects they hold intervals."""
    found = call_next(*args, **named)
    return found.astype(object) if found.dtype == np.float64 else found


def _largest_item(function: Callable[..., Any]) -> Callable[..., Any]:
    def of_array(x: Any) -> Any:
        if not nonoverlay(holds_intervals)(x):
            return call_next(x)
        return functools.reduce(function, list(x.flat))

    return of_array


MAKERS = (np.zeros, np.ones, np.empty, np.full, np.zeros_like, np.ones_like, np.empty_like)


def fill_containers(table: MethodTable) -> None:
    """Declare what becomes of sequences and arrays with intervals."""
    for target in (sum, math.fsum):
        table.overlay(target)(_sum)
    table.overlay(math.prod)(_product)
    table.overlay(math.dist)(_distance)
    for target, ufunc, whole in ((min, np.minimum, np.min), (max, np.maximum, np.max)):
        declare(table, target, _extreme(target), (Any,))
        table.overlay(target)(_of_several(target))
        declare(table, whole, _largest_item(target), (np.ndarray,))
        declare(table, ufunc, _elementwise(2), (np.ndarray, np.ndarray))
    declare(table, isinstance, _of_class, (Interval, Any))
    for target in (round, np.round):
        declare(table, target, _to_digits, (Interval, int))
    for rule in RULES:
        for function in rule.spellings:
            if isinstance(function, np.ufunc):
                for types in itertools.product((np.ndarray, Any), repeat=rule.arity):
                    if np.ndarray in types:
                        declare(table, function, _elementwise(rule.arity), types)
    for target in MAKERS:
        table.overlay(target)(_made_for_intervals)
