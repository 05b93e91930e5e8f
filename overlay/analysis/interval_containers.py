"""Transfer functions of the interval domain for ranges, iterators, arrays and tuples."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from overlay.analysis.abstract_values import (
    BOTTOM,
    FLOAT,
    TOP,
    Array,
    BuiltinObject,
    ItemValues,
    Iteration,
    KnownValue,
    Number,
    made,
)
from overlay.analysis.interval_arithmetic import limited, table
from overlay.code.marks import advance, first, new, pack, pick, succeeds, unpack
from overlay.core.target import type_attribute

__all__ = ["table"]

_TRUTH = made(0, 1, "int")


# ---- ranges and loops ---------------------------------------------------------------------


@table.overlay(range)
def range_to(stop: Number) -> Any:
    return range_from(made(0, 0, "int"), stop)


@table.overlay(range)
def range_from(start: Number, stop: Number) -> Any:
    found = made(start.low, stop.high - 1, "int")
    if found == BOTTOM:
        return Iteration(BOTTOM)
    return Iteration(limited(found, {key: k - 1 for key, k in stop.ceilings}))


@table.overlay(range)
def range_by(start: Number, stop: Number, step: Number) -> Any:
    if step.low >= 0:
        return range_from(start, stop)
    if step.high <= 0:
        found = made(stop.low + 1, start.high, "int")
        if found == BOTTOM:
            return Iteration(BOTTOM)
        return Iteration(limited(found, dict(start.ceilings)))
    low, high = min(start.low, stop.low + 1), max(start.high, stop.high - 1)
    return Iteration(made(low, high, "int"))


@table.overlay(iter)
def iterate(x: Iteration) -> Any:
    return x


@table.overlay(iter)
def iterate_array(x: Array) -> Any:
    return Iteration(_row(x))


@table.overlay(enumerate)
def counted(x: Array) -> Any:
    if not x.shape:
        return TOP
    places = range_to(length(x))
    return Iteration(ItemValues((places.item, _row(x))))


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
    return limited(x.shape[0], dict(x.shape[0].ceilings) | limits)


@table.overlay(len)
def length_of_tuple(x: ItemValues) -> Any:
    return made(len(x.items), len(x.items), "int")


@table.overlay(pack)
def packed(*items: object) -> Any:
    return ItemValues(items)


@table.overlay(unpack)
def unpacked(x: object, count: Number) -> Any:
    return ItemValues((x.item if isinstance(x, Iteration) else TOP,) * int(count.low))


@table.overlay(unpack)
def unpacked_tuple(x: ItemValues, count: Number) -> Any:
    return x if len(x.items) == count.low else BOTTOM


@table.overlay(pick)
def picked(x: ItemValues, place: Number) -> Any:
    return x.items[int(place.low)]


@table.overlay(operator.getitem)
def item(x: Array, index: Number) -> Any:
    return _row(x)


@table.overlay(operator.getitem)
def item_at(x: Array, index: ItemValues) -> Any:
    whole = all(isinstance(i, Number) for i in index.items)
    if not whole or len(index.items) > len(x.shape):
        return TOP
    n = len(index.items)
    return x.item if n == len(x.shape) else Array(x.shape[n:], x.item, x.keys[n:])


@table.overlay(slice)
def cut(*parts: object) -> Any:
    return KnownValue(slice)


@table.overlay(operator.getitem)
def part(x: Array, index: KnownValue) -> Any:
    if not x.shape or not (index.value is slice or type(index.value) is slice):
        return TOP
    longest = length(x)
    size = made(0, longest.high, "int", ceilings=longest.ceilings)
    return Array((size, *x.shape[1:]), x.item, (None, *x.keys[1:]))


@table.overlay(operator.getitem)
def item_of_tuple(x: ItemValues, index: Number) -> Any:
    places = range(-len(x.items), len(x.items))
    if index.low != index.high or index.low not in places:
        return TOP
    return x.items[int(index.low)]


@table.overlay(operator.setitem)
def put(x: Array, index: object, value: object) -> Any:
    return KnownValue(None)


@table.overlay(getattr)
def attribute(x: Array, name: KnownValue) -> Any:
    if name.value == "shape":
        return ItemValues(
            tuple(length(Array((n,), TOP, (k,))) for n, k in zip(x.shape, x.keys, strict=True))
        )
    if name.value == "ndim":
        return made(len(x.shape), len(x.shape), "int")
    if name.value == "size" and len(x.shape) == 1:
        return length(x)
    return _method(np.ndarray, name.value)


@table.overlay(getattr)
def attribute_of_object(x: BuiltinObject, name: KnownValue) -> Any:
    return _method(x.cls, name.value)


def _method(cls: Any, name: str) -> Any:
    """A method written in C, without its receiver; TOP for another attribute."""
    found = type_attribute(cls, name)
    return KnownValue(found) if type(found) is type(list.append) else TOP


@table.overlay(new)
def new_object(cls: KnownValue) -> Any:
    return BuiltinObject(cls.value)


def _new(lengths: Number) -> Any:
    return Array((made(max(lengths.low, 0), max(lengths.high, 0), "int"),), FLOAT, (None,))


for _each in (np.zeros, np.ones, np.empty):
    table.overlay(_each)(_new)
