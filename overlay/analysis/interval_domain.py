"""Interval domain: numbers by bounds, arrays by their lengths."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from overlay.analysis.abstract_values import (
    BOTTOM,
    FLOAT,
    INF,
    INT,
    TOP,
    Array,
    BuiltinObject,
    Ceilings,
    ItemValues,
    Iteration,
    KnownValue,
    Number,
    made,
    number,
)
from overlay.analysis.interval_containers import table
from overlay.analysis.lattice import Domain
from overlay.analysis.machine_numbers import settled, whole
from overlay.core.public_names import hides
from overlay.core.signature import array_type
from overlay.sets import Bound
from overlay.sets.integer_bounds import inner

__all__ = ["Intervals"]

# the negation of each comparison, by the comparison's identity
_ORDER: dict[int, Callable[[Any, Any], Any]] = {
    id(operator.lt): operator.ge,
    id(operator.le): operator.gt,
    id(operator.gt): operator.le,
    id(operator.ge): operator.lt,
    id(operator.eq): operator.ne,
    id(operator.ne): operator.eq,
}


@hides(*(name for name in vars(Domain) if not name.startswith("_")))  # what the interpreter calls
class Intervals(Domain):
    """Interval domain: intervals of numbers, arrays by lengths, tuples, iterators, constants.

    Parameters
    ----------
    bits : int or None
        The size of the program's integers, which wrap around; None for Python's, which do not.

    Examples
    --------
    >>> from overlay.analysis import Intervals, integers
    >>> Intervals().join(integers(0, 3), integers(8, 9))
    int [0, 9]
    """

    top = TOP
    bottom = BOTTOM
    table = table

    def __init__(self, bits: int | None = None) -> None:
        self.bits = bits

    def __repr__(self) -> str:
        return f"Intervals({'' if self.bits is None else self.bits})"

    def in_compiled_code(self) -> Intervals:
        return Intervals(64) if self.bits is None else self

    # ---- the lattice ----

    def join(self, one: Any, other: Any) -> Any:
        return self._merged(one, other, _hull)

    def widen(self, old: Any, new: Any) -> Any:
        return self._merged(old, new, _widened if self.bits is None else self._widened_to_bits)

    def _widened_to_bits(self, old: Number, new: Number) -> Any:
        assert self.bits is not None
        found = _widened(old, new)
        return _met(found, whole(self.bits)) if found.kind == "int" else found

    def _merged(self, one: Any, other: Any, numbers: Callable[[Number, Number], Any]) -> Any:
        if one == other or other == BOTTOM:
            return one
        if one == BOTTOM:
            return other
        if isinstance(one, Number) and isinstance(other, Number):
            return numbers(one, other)
        if isinstance(one, Array) and isinstance(other, Array):
            return self._merged_arrays(one, other, numbers)
        if isinstance(one, ItemValues) and isinstance(other, ItemValues):
            if len(one.items) != len(other.items):
                return TOP
            pairs = zip(one.items, other.items, strict=True)
            return ItemValues(tuple(self._merged(a, b, numbers) for a, b in pairs))
        if isinstance(one, Iteration) and isinstance(other, Iteration):
            return Iteration(self._merged(one.item, other.item, numbers))
        return TOP

    def _merged_arrays(
        self, one: Array, other: Array, numbers: Callable[[Number, Number], Any]
    ) -> Any:
        if len(one.shape) != len(other.shape):
            return TOP
        pairs = zip(one.shape, other.shape, strict=True)
        keys = (a if a == b else None for a, b in zip(one.keys, other.keys, strict=True))
        item = self._merged(one.item, other.item, numbers)
        return Array(tuple(numbers(a, b) for a, b in pairs), item, tuple(keys))

    def is_below(self, one: Any, other: Any) -> bool:
        return self.join(other, one) == other

    # ---- code ----

    def constant(self, value: Any) -> Any:
        if type(value) in (bool, int, float):
            return number(value)
        if type(value) in (np.float64, np.int64):
            return number(value.item())
        if type(value) is tuple:
            return ItemValues(tuple(self.constant(item) for item in value))
        if type(value) is np.ndarray:
            return Array(tuple(number(n) for n in value.shape), TOP, (None,) * value.ndim)
        return KnownValue(value)

    def known(self, value: Any) -> tuple[Any] | None:
        return (value.value,) if isinstance(value, KnownValue) else None

    def hint(self, value: Any) -> Any:
        if isinstance(value, Number):
            if value.kind == "float":
                return float
            integer = int | bool if value.low <= 1 and value.high >= 0 else int
            return integer if value.kind == "int" else float | integer
        if isinstance(value, Array):
            return array_type(None, len(value.shape))
        if isinstance(value, ItemValues):
            return tuple
        return value.cls if isinstance(value, BuiltinObject) else None

    def parameter(self, place: int, hint: Any) -> Any:
        if hint is bool:
            return made(0, 1, "int")
        if hint is int:
            return INT if self.bits is None else whole(self.bits)
        if hint is float:
            return FLOAT
        ndim = getattr(hint, "ndim", None) if type(hint) is type(array_type(None, 1)) else None
        if ndim is None:
            return TOP
        item = FLOAT if getattr(hint, "dtype", None) is np.float64 else TOP
        length = made(0, INF if self.bits is None else whole(self.bits).high, "int")
        return Array((length,) * ndim, item, tuple((place, axis) for axis in range(ndim)))

    def settled(self, function: Callable[..., Any], args: Sequence[Any], value: Any) -> Any:
        return value if self.bits is None else settled(self.bits, function, args, value)

    def generated(self, item: Any) -> Any:
        return Iteration(item)

    def instance(self, cls: Any) -> Any:
        return TOP

    def assume(self, function: Callable[..., Any], args: Sequence[Any], truth: bool) -> Any:
        if any(value == BOTTOM for value in args):
            return tuple(args)
        if function is bool:
            return self._assume_true(args[0], truth)
        if id(function) not in _ORDER or not all(isinstance(v, Number) for v in args):
            return tuple(args)
        one, other = args
        if not truth:
            if (one.nan or other.nan) and function is not operator.ne:
                return tuple(args)
            function = _ORDER[id(function)]
        found = _compared(function, one, other)
        return None if BOTTOM in found else found

    @staticmethod
    def _assume_true(value: Any, truth: bool) -> Any:
        if not isinstance(value, Number):
            return (value,)
        if truth:
            found = _with(value, nonzero=True)
        else:
            found = _met(value, made(0, 0, value.kind)) if value.has_zero else BOTTOM
        return None if found == BOTTOM else (found,)

    def backwards(self, function: Callable[..., Any], args: Sequence[Any], result: Any) -> Any:
        if function is not len or not isinstance(result, Number):
            return tuple(args)
        if len(args) != 1 or not isinstance(args[0], Array) or not args[0].shape:
            return tuple(args)
        (held,) = args
        length = _met(held.shape[0], result)
        if length == BOTTOM:
            return (BOTTOM,)
        return (Array((length, *held.shape[1:]), held.item, held.keys),)


@table.overlay(iter)
def iterate_tuple(x: ItemValues) -> Any:
    return Iteration(functools.reduce(Intervals().join, x.items, BOTTOM))


# ---- numbers ------------------------------------------------------------------------------


def _hull(one: Number, other: Number) -> Any:
    low, high = min(one.low, other.low), max(one.high, other.high)
    if one.kind != other.kind:  # compiled code converts the integer to a float, perhaps inexactly
        low, high = _outward(low, -INF), _outward(high, INF)
    return made(
        low,
        high,
        one.kind if one.kind == other.kind else "number",
        one.nan or other.nan,
        one.nonzero and other.nonzero,
        _common(one.ceilings, other.ceilings, max),
    )


def _outward(bound: Bound, end: float) -> Bound:
    """A bound no tighter than an integer's nearest float; for integers beyond all floats it is
    infinite, where ``of_integer`` raises an error."""
    if not isinstance(bound, int) or abs(bound) < 2**53:
        return bound
    try:
        return math.nextafter(float(bound), end)
    except OverflowError:
        return end


def _widened(old: Number, new: Number) -> Any:
    hull: Number = _hull(old, new)
    before = dict(old.ceilings)
    return made(
        old.low if hull.low >= old.low else (0 if hull.low >= 0 else -INF),
        old.high if hull.high <= old.high else INF,
        hull.kind,
        hull.nan,
        hull.nonzero,
        tuple((key, k) for key, k in hull.ceilings if before.get(key) == k),
    )


def _common(one: Ceilings, other: Ceilings, chosen: Callable[[int, int], int]) -> Ceilings:
    known = dict(other)
    return tuple((key, chosen(k, known[key])) for key, k in one if key in known)


def _with(value: Number, *, nonzero: bool = False, ceilings: Ceilings = ()) -> Any:
    kept = dict(value.ceilings)
    for key, k in ceilings:
        kept[key] = min(k, kept.get(key, k))
    limits = tuple(sorted(kept.items(), key=lambda pair: repr(pair[0])))
    nonzero = nonzero or value.nonzero
    return made(value.low, value.high, value.kind, value.nan, nonzero, limits)


def _met(value: Number, other: Number) -> Any:
    """The meet of ``value`` with the bounds of ``other``; the kind is that of ``value``."""
    nonzero = value.nonzero or other.nonzero
    low, high = max(value.low, other.low), min(value.high, other.high)
    if value.kind == "int":
        low, high = inner(low, high)
    found = made(low, high, value.kind, False, nonzero, value.ceilings)
    return found if found == BOTTOM else _with(found, ceilings=other.ceilings)


def _compared(function: Callable[..., Any], one: Number, other: Number) -> tuple[Any, Any]:
    """Both operands, refined by a comparison that is true."""
    if function is operator.ne:
        return _apart(one, other), _apart(other, one)
    if function is operator.eq:
        return _met(one, other), _met(other, one)
    if function in (operator.gt, operator.ge):
        swapped = operator.lt if function is operator.gt else operator.le
        high, low = _compared(swapped, other, one)
        return low, high
    step = 1 if function is operator.lt and one.kind == other.kind == "int" else 0
    ceilings = tuple((key, k - step) for key, k in other.ceilings) if one.kind == "int" else ()
    below = made(-INF, other.high - step, "number", ceilings=ceilings)
    return _met(one, below), _met(other, made(one.low + step, INF, "number"))


def _apart(one: Number, other: Number) -> Any:
    """``one``, refined by being unequal to ``other``."""
    if other.nan or other.low != other.high or one.kind != "int":
        zero = other.low == other.high == 0 and not other.nan
        return _with(one, nonzero=True) if zero else one
    low = one.low + 1 if one.low == other.low else one.low
    high = one.high - 1 if one.high == other.low else one.high
    nonzero = one.nonzero or other.low == 0
    return made(low, high, one.kind, one.nan, nonzero, one.ceilings)
