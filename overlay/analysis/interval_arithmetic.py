"""What code does to intervals: transfer functions, in a method table over the code's targets."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from overlay.analysis.body import advance, first, pack, pick, succeeds, unpack
from overlay.analysis.values import (
    BOTTOM,
    FLOAT,
    INF,
    INT,
    NUMBER,
    TOP,
    Array,
    Bound,
    Interval,
    Items,
    Iteration,
    Kind,
    Known,
    made,
)
from overlay.table import MethodTable

__all__ = ["table"]

table = MethodTable("intervals")
_TRUTH = made(0, 1, "int")


def _kind(one: Interval, other: Interval) -> Kind:
    if one.kind == other.kind == "int":
        return "int"
    return "float" if "float" in (one.kind, other.kind) else "number"


def _any(kind: Kind) -> Interval:
    return {"int": INT, "float": FLOAT, "number": NUMBER}[kind]


def _infinite(*values: Interval) -> bool:
    return any(bound in (INF, -INF) for v in values for bound in (v.low, v.high))


def _corners(
    operation: Callable[[Bound, Bound], Bound], one: Interval, other: Interval, kind: Kind
) -> Any:
    """The interval of an operation that is monotone in each argument, in one or the other way.

    Where a bound cannot be told, such as that of 0 * infinity, it is left open.
    """
    nan = one.nan or other.nan or (kind != "int" and _infinite(one, other))
    try:
        found = [operation(a, b) for a in (one.low, one.high) for b in (other.low, other.high)]
        if kind != "int":
            found = [float(x) for x in found]
    except (OverflowError, ZeroDivisionError):
        return _any(kind)
    if any(math.isnan(x) for x in found if isinstance(x, float)):
        return _any(kind)
    low, high = min(found), max(found)
    if kind == "int" or (one.kind == other.kind == "float"):
        overflows = kind != "int" and (low == -INF or high == INF)
        return made(low, high, kind, nan or overflows)
    # one operand may be an integer that no float equals
    return made(math.nextafter(low, -INF), math.nextafter(high, INF), kind, nan)


@table.overlay(operator.add)
def add(x: Interval, y: Interval) -> Any:
    kind = _kind(x, y)
    found = _corners(operator.add, x, y, kind)
    if kind != "int" or not isinstance(found, Interval):
        return found
    limits = {key: k + int(y.high) for key, k in x.ceilings if y.high != INF}
    for key, k in y.ceilings:
        if x.high != INF:
            limits[key] = min(k + int(x.high), limits.get(key, k + int(x.high)))
    return _limited(found, limits)


@table.overlay(operator.sub)
def sub(x: Interval, y: Interval) -> Any:
    kind = _kind(x, y)
    found = _corners(operator.sub, x, y, kind)
    if kind != "int" or not isinstance(found, Interval):
        return found
    return _limited(found, {key: k - int(y.low) for key, k in x.ceilings if y.low != -INF})


def _limited(value: Interval, limits: dict[Any, int]) -> Any:
    ceilings = tuple(sorted(limits.items(), key=lambda pair: repr(pair[0])))
    return made(value.low, value.high, value.kind, value.nan, value.nonzero, ceilings)


@table.overlay(operator.mul)
def mul(x: Interval, y: Interval) -> Any:
    kind = _kind(x, y)
    return _corners(_product if kind == "int" else operator.mul, x, y, kind)


def _product(a: Bound, b: Bound) -> Bound:
    """Of bounds of integers, of which the infinite ones stand for any large integer."""
    return 0 if a == 0 or b == 0 else a * b


@table.overlay(operator.truediv)
def truediv(x: Interval, y: Interval) -> Any:
    if y.low <= 0 <= y.high:
        return FLOAT if _kind(x, y) != "number" else NUMBER
    found = _corners(operator.truediv, x, y, "float")
    nudged = not (x.kind == y.kind == "float") and isinstance(found, Interval)
    if nudged:
        low, high = math.nextafter(found.low, -INF), math.nextafter(found.high, INF)
        found = made(low, high, "float", found.nan)
    return found


@table.overlay(operator.floordiv)
def floordiv(x: Interval, y: Interval) -> Any:
    kind = _kind(x, y)
    if kind != "int":
        return _any(kind)
    if y.low >= 0:  # a division by zero gives nothing
        found = _corners(_quotient, x, made(max(y.low, 1), max(y.high, 1), "int"), "int")
        less = 1 if x.low >= 1 and y.low >= 2 else 0
        limits = {key: k - less for key, k in x.ceilings}
        return _limited(found, limits) if x.low >= 0 and found != BOTTOM else found
    if y.high <= 0:
        return floordiv(neg(x), neg(y))
    size = max(abs(x.low), abs(x.high))
    return made(-size, size, "int")


def _quotient(a: Bound, b: Bound) -> Bound:
    if b == INF:
        return -1 if a < 0 else 0
    return a if a in (INF, -INF) else a // b


@table.overlay(operator.mod)
def mod(x: Interval, y: Interval) -> Any:
    kind = _kind(x, y)
    nan = kind != "int" and (x.nan or y.nan or _infinite(x, y) or y.has_zero)
    step = 1 if kind == "int" else 0
    low = y.low + step if y.low < 0 else 0
    high = y.high - step if y.high > 0 else 0
    if kind == "int" and x.low >= 0 and y.low >= 0:
        limits = {key: k - 1 for key, k in y.ceilings} | dict(x.ceilings)
        return _limited(made(0, max(min(high, x.high), 0), "int"), limits)
    found = made(min(low, 0), max(high, 0), kind, nan)
    if kind == "int" and y.low >= 0:
        return _limited(found, {key: k - 1 for key, k in y.ceilings})
    return found


@table.overlay(operator.neg)
def neg(x: Interval) -> Any:
    return made(-x.high, -x.low, x.kind, x.nan, x.nonzero)


@table.overlay(operator.pos)
def pos(x: Interval) -> Any:
    return x


@table.overlay(abs)
def absolute(x: Interval) -> Any:
    if x.low >= 0:
        return x
    low = -x.high if x.high < 0 else 0
    return made(low, max(-x.low, x.high), x.kind, x.nan, x.nonzero)


@table.overlay(min)
def minimum(x: Interval, y: Interval) -> Any:
    nan = x.nan or y.nan
    limits = dict(x.ceilings)
    for key, k in y.ceilings:
        limits[key] = min(k, limits.get(key, k))
    # the smaller of a number and a NaN is whichever comes first
    high = max(x.high, y.high) if nan else min(x.high, y.high)
    found = made(min(x.low, y.low), high, _either(x, y), nan, x.nonzero and y.nonzero)
    return found if nan or not isinstance(found, Interval) else _limited(found, limits)


@table.overlay(max)
def maximum(x: Interval, y: Interval) -> Any:
    nan = x.nan or y.nan
    common = {
        key: max(k, dict(y.ceilings)[key]) for key, k in x.ceilings if y.ceiling(key) is not None
    }
    low = min(x.low, y.low) if nan else max(x.low, y.low)
    found = made(low, max(x.high, y.high), _either(x, y), nan, x.nonzero and y.nonzero)
    return found if nan or not isinstance(found, Interval) else _limited(found, common)


def _either(x: Interval, y: Interval) -> Kind:
    return x.kind if x.kind == y.kind else "number"


@table.overlay(int)
def to_int(x: Interval) -> Any:
    if x.kind == "int":
        return x
    low = x.low if x.low == -INF else math.trunc(x.low)
    return made(low, x.high if x.high == INF else math.trunc(x.high), "int")


@table.overlay(float)
def to_float(x: Interval) -> Any:
    if x.kind == "float":
        return x
    try:
        low, high = float(x.low), float(x.high)
    except OverflowError:
        return FLOAT
    return made(low, high, "float", x.nan)


@table.overlay(bool)
def to_bool(x: Interval) -> Any:
    return made(0, 1, "int") if x.has_zero else made(1, 1, "int")


@table.overlay(operator.not_)
def not_(x: Interval) -> Any:
    return _TRUTH


def _comparison(x: Interval, y: Interval) -> Any:
    return _TRUTH


for _each in (
    *(operator.lt, operator.le, operator.gt, operator.ge),
    *(operator.eq, operator.ne),
):
    table.overlay(_each)(_comparison)


@table.overlay(math.sqrt)
def sqrt(x: Interval) -> Any:
    if x.low < 0 or x.high == INF or x.nan:
        return made(0.0, INF, "float", x.nan or x.high == INF)
    try:
        low, high = math.sqrt(x.low), math.sqrt(x.high)
    except OverflowError:
        return made(0.0, INF, "float")
    return made(max(math.nextafter(low, -INF), 0.0), math.nextafter(high, INF), "float")


# ---- ranges and loops ---------------------------------------------------------------------


@table.overlay(range)
def range_to(stop: Interval) -> Any:
    return range_from(made(0, 0, "int"), stop)


@table.overlay(range)
def range_from(start: Interval, stop: Interval) -> Any:
    found = made(start.low, stop.high - 1, "int")
    if found == BOTTOM:
        return Iteration(BOTTOM)
    return Iteration(_limited(found, {key: k - 1 for key, k in stop.ceilings}))


@table.overlay(range)
def range_by(start: Interval, stop: Interval, step: Interval) -> Any:
    if step.low >= 0:
        return range_from(start, stop)
    if step.high <= 0:
        found = made(stop.low + 1, start.high, "int")
        if found == BOTTOM:
            return Iteration(BOTTOM)
        return Iteration(_limited(found, dict(start.ceilings)))
    low, high = min(start.low, stop.low + 1), max(start.high, stop.high - 1)
    return Iteration(made(low, high, "int"))


@table.overlay(iter)
def iterate(x: Iteration) -> Any:
    return x


@table.overlay(iter)
def iterate_array(x: Array) -> Any:
    return Iteration(_row(x))


@table.overlay(advance)
def advanced(x: Iteration) -> Any:
    return x


@table.overlay(first)
def first_of(x: Iteration) -> Any:
    return x.item


@table.overlay(succeeds)
def succeeds_of(x: Iteration) -> Any:
    return _TRUTH


# ---- arrays and tuples --------------------------------------------------------------------


def _row(x: Array) -> Any:
    if len(x.shape) == 1:
        return x.item
    return Array(x.shape[1:], x.item, x.keys[1:]) if x.shape else TOP


@table.overlay(len)
def length(x: Array) -> Any:
    if not x.shape:
        return TOP
    limits = {} if x.keys[0] is None else {x.keys[0]: 0}
    return _limited(x.shape[0], dict(x.shape[0].ceilings) | limits)


@table.overlay(len)
def length_of_tuple(x: Items) -> Any:
    return made(len(x.items), len(x.items), "int")


@table.overlay(pack)
def packed(*items: object) -> Any:
    return Items(items)


@table.overlay(unpack)
def unpacked(x: object, count: Interval) -> Any:
    return Items((x.item if isinstance(x, Iteration) else TOP,) * int(count.low))


@table.overlay(unpack)
def unpacked_tuple(x: Items, count: Interval) -> Any:
    return x if len(x.items) == count.low else BOTTOM


@table.overlay(pick)
def picked(x: Items, place: Interval) -> Any:
    return x.items[int(place.low)]


@table.overlay(operator.getitem)
def item(x: Array, index: Interval) -> Any:
    return _row(x)


@table.overlay(operator.getitem)
def item_at(x: Array, index: Items) -> Any:
    whole = all(isinstance(i, Interval) for i in index.items)
    if not whole or len(index.items) > len(x.shape):
        return TOP
    n = len(index.items)
    return x.item if n == len(x.shape) else Array(x.shape[n:], x.item, x.keys[n:])


@table.overlay(slice)
def cut(*parts: object) -> Any:
    return Known(slice)


@table.overlay(operator.getitem)
def part(x: Array, index: Known) -> Any:
    if not x.shape or not (index.value is slice or type(index.value) is slice):
        return TOP
    longest = length(x)
    size = made(0, longest.high, "int", ceilings=longest.ceilings)
    return Array((size, *x.shape[1:]), x.item, (None, *x.keys[1:]))


@table.overlay(operator.getitem)
def item_of_tuple(x: Items, index: Interval) -> Any:
    places = range(-len(x.items), len(x.items))
    if index.low != index.high or index.low not in places:
        return TOP
    return x.items[int(index.low)]


@table.overlay(operator.setitem)
def put(x: Array, index: object, value: object) -> Any:
    return Known(None)


@table.overlay(getattr)
def attribute(x: Array, name: Known) -> Any:
    if name.value == "shape":
        return Items(
            tuple(length(Array((n,), TOP, (k,))) for n, k in zip(x.shape, x.keys, strict=True))
        )
    if name.value == "ndim":
        return made(len(x.shape), len(x.shape), "int")
    if name.value == "size" and len(x.shape) == 1:
        return length(x)
    return TOP


@table.overlay(getattr)
def attribute_of_known(x: Known, name: Known) -> Any:
    from overlay.analysis.intervals import Intervals

    if type(x.value) is not type(math):
        return TOP
    found = x.value.__dict__.get(name.value)
    return TOP if found is None else Intervals().constant(found)


def _new(lengths: Interval) -> Any:
    return Array((made(max(lengths.low, 0), max(lengths.high, 0), "int"),), FLOAT, (None,))


for _each in (np.zeros, np.ones, np.empty):
    table.overlay(_each)(_new)
