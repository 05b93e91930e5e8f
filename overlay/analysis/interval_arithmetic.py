"""What code does to intervals of numbers: transfer functions, in a method table over the code's
targets."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from overlay import enclosures
from overlay.analysis.abstract_values import (
    BOTTOM,
    FLOAT,
    INF,
    INT,
    NUMBER,
    Bound,
    Interval,
    Kind,
    made,
)
from overlay.catalogue import FUNCTIONS, MathFunction
from overlay.core.table import MethodTable
from overlay.enclosures import Bounds

__all__ = ["limited", "table"]

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


def _of_integers(operation: Callable[[Bound, Bound], Bound], one: Interval, other: Interval) -> Any:
    """The interval of an operation on integers that is monotone in each argument, in one or the
    other way. Where a bound cannot be told, it is left open."""
    try:
        found = [operation(a, b) for a in (one.low, one.high) for b in (other.low, other.high)]
    except (OverflowError, ZeroDivisionError):
        return INT
    if any(math.isnan(x) for x in found if isinstance(x, float)):
        return INT
    return made(min(found), max(found), "int", one.nan or other.nan)


def _enclosed(
    enclosure: Callable[[Bounds, Bounds], Bounds], one: Interval, other: Interval, kind: Kind
) -> Any:
    """The interval of an operation on floats: that of real numbers, to which each result is
    rounded."""
    try:
        low, high = enclosure(_bounds(one), _bounds(other))
    except OverflowError:
        return _any(kind)
    nan = one.nan or other.nan or _infinite(one, other)
    overflows = one.kind == other.kind == "float" and (low == -INF or high == INF)
    return made(low, high, kind, nan or overflows)


def _bounds(x: Interval) -> Bounds:
    """As floats; one beyond all floats is an OverflowError."""
    low = x.low if isinstance(x.low, float) else enclosures.of_integer(x.low)[0]
    return low, x.high if isinstance(x.high, float) else enclosures.of_integer(x.high)[1]


@table.overlay(operator.add)
def add(x: Interval, y: Interval) -> Any:
    kind = _kind(x, y)
    if kind != "int":
        return _enclosed(enclosures.add, x, y, kind)
    found = _of_integers(operator.add, x, y)
    if not isinstance(found, Interval):
        return found
    limits = {key: k + int(y.high) for key, k in x.ceilings if y.high != INF}
    for key, k in y.ceilings:
        if x.high != INF:
            limits[key] = min(k + int(x.high), limits.get(key, k + int(x.high)))
    return limited(found, limits)


@table.overlay(operator.sub)
def sub(x: Interval, y: Interval) -> Any:
    kind = _kind(x, y)
    if kind != "int":
        return _enclosed(enclosures.subtract, x, y, kind)
    found = _of_integers(operator.sub, x, y)
    if not isinstance(found, Interval):
        return found
    return limited(found, {key: k - int(y.low) for key, k in x.ceilings if y.low != -INF})


def limited(value: Interval, limits: dict[Any, int]) -> Any:
    """An integer that lies below these lengths, each plus a number."""
    ceilings = tuple(sorted(limits.items(), key=lambda pair: repr(pair[0])))
    return made(value.low, value.high, value.kind, value.nan, value.nonzero, ceilings)


@table.overlay(operator.mul)
def mul(x: Interval, y: Interval) -> Any:
    kind = _kind(x, y)
    if kind != "int":
        return _enclosed(enclosures.multiply, x, y, kind)
    return _of_integers(_product, x, y)


def _product(a: Bound, b: Bound) -> Bound:
    """Of bounds of integers, of which the infinite ones stand for any large integer."""
    return 0 if a == 0 or b == 0 else a * b


@table.overlay(operator.truediv)
def truediv(x: Interval, y: Interval) -> Any:
    if y.low <= 0 <= y.high:
        return FLOAT if _kind(x, y) != "number" else NUMBER
    return _enclosed(enclosures.divide, x, y, "float")


@table.overlay(operator.floordiv)
def floordiv(x: Interval, y: Interval) -> Any:
    kind = _kind(x, y)
    if kind != "int":
        return _any(kind)
    if y.low >= 0:  # a division by zero gives nothing
        found = _of_integers(_quotient, x, made(max(y.low, 1), max(y.high, 1), "int"))
        less = 1 if x.low >= 1 and y.low >= 2 else 0
        limits = {key: k - less for key, k in x.ceilings}
        return limited(found, limits) if x.low >= 0 and found != BOTTOM else found
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
        return limited(made(0, max(min(high, x.high), 0), "int"), limits)
    found = made(min(low, 0), max(high, 0), kind, nan)
    if kind == "int" and y.low >= 0:
        return limited(found, {key: k - 1 for key, k in y.ceilings})
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
    limits = dict(x.ceilings)
    for key, k in y.ceilings:
        limits[key] = min(k, limits.get(key, k))
    # beside a NaN, the smaller of two numbers is the first
    high = x.high if y.nan else min(x.high, y.high)
    found = made(min(x.low, y.low), high, _either(x, y), x.nan, x.nonzero and y.nonzero)
    return limited(found, limits) if x.kind == y.kind == "int" else found


@table.overlay(max)
def maximum(x: Interval, y: Interval) -> Any:
    known = dict(y.ceilings)
    common = {key: max(k, known[key]) for key, k in x.ceilings if key in known}
    low = x.low if y.nan else max(x.low, y.low)
    found = made(low, max(x.high, y.high), _either(x, y), x.nan, x.nonzero and y.nonzero)
    return limited(found, common) if x.kind == y.kind == "int" else found


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


# ---- the catalogue ------------------------------------------------------------------------


def _of_function(f: MathFunction) -> Callable[..., Any]:
    """What a function of the catalogue gives, where it gives anything: it raises elsewhere."""

    def found(*args: Interval) -> Any:
        try:
            bounds = f.enclosure(*map(_bounds, args))
        except OverflowError:
            return FLOAT
        nan = any(x.nan for x in args) or _infinite(*args)
        return made(*bounds, "float", nan) if not enclosures.is_empty(bounds) else BOTTOM

    def of_one(x: Interval) -> Any:
        return found(x)

    def of_two(x: Interval, y: Interval) -> Any:
        return found(x, y)

    return of_one if f.arity == 1 else of_two


for _function in FUNCTIONS:
    table.overlay(_function.function)(_of_function(_function))
