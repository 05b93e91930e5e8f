"""Interval arithmetic: a method table of transfer functions for operators and elementary
functions."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from overlay import sets
from overlay.analysis.abstract_values import (
    BOTTOM,
    FLOAT,
    INF,
    INT,
    NUMBER,
    Kind,
    Number,
    made,
)
from overlay.catalogue import FUNCTIONS, MathFunction
from overlay.core.table import MethodTable
from overlay.sets import Bounds, Piece, integer_bounds

__all__ = ["limited", "table"]

table = MethodTable("intervals")
_TRUTH = made(0, 1, "int")


def _kind(one: Number, other: Number) -> Kind:
    if one.kind == other.kind == "int":
        return "int"
    return "float" if "float" in (one.kind, other.kind) else "number"


def _any(kind: Kind) -> Number:
    return {"int": INT, "float": FLOAT, "number": NUMBER}[kind]


def _infinite(*values: Number) -> bool:
    return any(bound in (INF, -INF) for v in values for bound in (v.low, v.high))


def _enclosed(
    whole: Callable[[Piece, Piece], Piece],
    real: Callable[[Bounds, Bounds], Bounds],
    one: Number,
    other: Number,
) -> Any:
    """The interval of an operation's result. whole, real: its enclosures on integers and on real
    numbers; the latter is outward-rounded, so it encloses results on floats."""
    kind = _kind(one, other)
    if kind == "int":
        return made(*whole(one.bounds, other.bounds), kind, one.nan or other.nan)
    return _enclosed_floats(real, one, other, kind)


def _enclosed_floats(
    real: Callable[[Bounds, Bounds], Bounds], one: Number, other: Number, kind: Kind
) -> Any:
    try:
        low, high = real(_as_floats(one), _as_floats(other))
    except OverflowError:
        return _any(kind)
    nan = one.nan or other.nan or _infinite(one, other)
    overflows = one.kind == other.kind == "float" and (low == -INF or high == INF)
    return made(low, high, kind, nan or overflows)


def _as_floats(x: Number) -> Bounds:
    """The bounds as floats. Raises OverflowError for one beyond all floats."""
    low = x.low if isinstance(x.low, float) else sets.of_integer(x.low)[0]
    return low, x.high if isinstance(x.high, float) else sets.of_integer(x.high)[1]


@table.overlay(operator.add)
def add(x: Number, y: Number) -> Any:
    found = _enclosed(integer_bounds.add, sets.add, x, y)
    if found.kind != "int":
        return found
    limits = {key: k + int(y.high) for key, k in x.ceilings if y.high != INF}
    for key, k in y.ceilings:
        if x.high != INF:
            limits[key] = min(k + int(x.high), limits.get(key, k + int(x.high)))
    return limited(found, limits)


@table.overlay(operator.sub)
def sub(x: Number, y: Number) -> Any:
    found = _enclosed(integer_bounds.subtract, sets.subtract, x, y)
    if found.kind != "int":
        return found
    return limited(found, {key: k - int(y.low) for key, k in x.ceilings if y.low != -INF})


def limited(value: Number, limits: dict[Any, int]) -> Any:
    """A number with upper bounds by lengths. limits: an offset by the key of each length."""
    ceilings = tuple(sorted(limits.items(), key=lambda pair: repr(pair[0])))
    return made(value.low, value.high, value.kind, value.nan, value.nonzero, ceilings)


@table.overlay(operator.mul)
def mul(x: Number, y: Number) -> Any:
    return _enclosed(integer_bounds.multiply, sets.multiply, x, y)


@table.overlay(operator.truediv)
def truediv(x: Number, y: Number) -> Any:
    if y.low <= 0 <= y.high:
        return FLOAT if _kind(x, y) != "number" else NUMBER
    return _enclosed_floats(sets.divide, x, y, "float")


@table.overlay(operator.floordiv)
def floordiv(x: Number, y: Number) -> Any:
    kind = _kind(x, y)
    if kind != "int":
        return _any(kind)
    found = made(*integer_bounds.floor_divide(x.bounds, y.bounds), kind, x.nan or y.nan)
    if x.low >= 0 and y.low >= 0:
        less = 1 if x.low >= 1 and y.low >= 2 else 0
        return limited(found, {key: k - less for key, k in x.ceilings})
    return found


@table.overlay(operator.mod)
def mod(x: Number, y: Number) -> Any:
    kind = _kind(x, y)
    if kind != "int":
        nan = x.nan or y.nan or _infinite(x, y) or y.has_zero
        return made(min(0, y.low), max(0, y.high), kind, nan)
    found = made(*integer_bounds.remainder(x.bounds, y.bounds), kind)
    if y.low < 0:
        return found
    limits = {key: k - 1 for key, k in y.ceilings}
    return limited(found, limits | dict(x.ceilings) if x.low >= 0 else limits)


@table.overlay(operator.neg)
def neg(x: Number) -> Any:
    return made(*integer_bounds.negative(x.bounds), x.kind, x.nan, x.nonzero)


@table.overlay(operator.pos)
def pos(x: Number) -> Any:
    return x


@table.overlay(abs)
def absolute(x: Number) -> Any:
    if x.low >= 0:
        return x
    return made(*integer_bounds.magnitude(x.bounds), x.kind, x.nan, x.nonzero)


@table.overlay(min)
def minimum(x: Number, y: Number) -> Any:
    limits = dict(x.ceilings)
    for key, k in y.ceilings:
        limits[key] = min(k, limits.get(key, k))
    # beside a NaN, the smaller of two numbers is the first
    high = x.high if y.nan else min(x.high, y.high)
    found = made(min(x.low, y.low), high, _either(x, y), x.nan, x.nonzero and y.nonzero)
    return limited(found, limits) if x.kind == y.kind == "int" else found


@table.overlay(max)
def maximum(x: Number, y: Number) -> Any:
    known = dict(y.ceilings)
    common = {key: max(k, known[key]) for key, k in x.ceilings if key in known}
    low = x.low if y.nan else max(x.low, y.low)
    found = made(low, max(x.high, y.high), _either(x, y), x.nan, x.nonzero and y.nonzero)
    return limited(found, common) if x.kind == y.kind == "int" else found


def _either(x: Number, y: Number) -> Kind:
    return x.kind if x.kind == y.kind else "number"


@table.overlay(int)
def to_int(x: Number) -> Any:
    if x.kind == "int":
        return x
    low = x.low if x.low == -INF else math.trunc(x.low)
    return made(low, x.high if x.high == INF else math.trunc(x.high), "int")


@table.overlay(float)
def to_float(x: Number) -> Any:
    if x.kind == "float":
        return x
    try:
        low, high = float(x.low), float(x.high)
    except OverflowError:
        return FLOAT
    return made(low, high, "float", x.nan)


@table.overlay(bool)
def to_bool(x: Number) -> Any:
    return made(0, 1, "int") if x.has_zero else made(1, 1, "int")


@table.overlay(operator.not_)
def not_(x: Number) -> Any:
    return _TRUTH


def _comparison(x: Number, y: Number) -> Any:
    return _TRUTH


for _each in (
    *(operator.lt, operator.le, operator.gt, operator.ge),
    *(operator.eq, operator.ne),
):
    table.overlay(_each)(_comparison)


# ---- the catalogue ------------------------------------------------------------------------


def _of_function(f: MathFunction) -> Callable[..., Any]:
    """The transfer function of a catalogue function. Arguments outside its domain are left out:
    there it raises."""

    def found(*args: Number) -> Any:
        try:
            bounds = f.enclosure(*map(_as_floats, args))
        except OverflowError:
            return FLOAT
        nan = any(x.nan for x in args) or _infinite(*args)
        return made(*bounds, "float", nan) if not sets.is_empty(bounds) else BOTTOM

    def of_one(x: Number) -> Any:
        return found(x)

    def of_two(x: Number, y: Number) -> Any:
        return found(x, y)

    return of_one if f.arity == 1 else of_two


for _function in FUNCTIONS:
    table.overlay(_function.function)(_of_function(_function))
