"""Emulation of single precision in double-precision code."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overlay import Context, MethodTable, call_next, nonoverlay, recurse
from overlay.contexts.rules_alone import runs_alone
from overlay.interpretations.precision.operations import (
    ARRAY_BINARY,
    ARRAY_UNARY,
    BINARY,
    COMPARISONS,
    REDUCTIONS,
    UNARY,
    add_for_numbers,
    add_operators_of_arrays,
)

__all__ = ["lowered", "single_precision"]

Array = NDArray[np.float64]
_ONE = np.float64(1.0)
_PRODUCTS: tuple[Callable[..., Any], ...] = (operator.matmul, np.dot)


@nonoverlay
def rounded(x: Any) -> Any:
    """A number rounded to single precision, as a double of its class: a scalar of numpy stays one,
    with numpy's division by zero. Complex numbers, such as a root of a negative one, are not
    rounded. (numba's ``float`` leaves single-precision numbers as they are.)"""
    if isinstance(x, complex) or not math.isfinite(x):
        return x
    return 0.0 * x + float(np.float64(np.float32(x)))


@nonoverlay
def narrowed(x: Any) -> Any:
    """An array converted to single precision."""
    return x.astype(np.float32)


@nonoverlay
def widened(x: Any) -> Any:
    """A number or array converted to double precision."""
    return np.multiply(x, _ONE)


_narrow = nonoverlay(np.float32)


def _add_numbers(table: MethodTable, target: Any) -> None:
    def both(a: Any, b: Any) -> Any:
        return rounded(call_next(rounded(a), rounded(b)))

    def left(a: Any, b: Any) -> Any:
        return rounded(call_next(rounded(a), b))

    def right(a: Any, b: Any) -> Any:
        return rounded(call_next(a, rounded(b)))

    add_for_numbers(table, target, (float, float), both)
    add_for_numbers(table, target, (float, int), left)
    add_for_numbers(table, target, (int, float), right)


def _add_ratio(table: MethodTable) -> None:
    """Division of integers, whose result is a float."""

    def ratio(a: Any, b: Any) -> Any:
        return rounded(call_next(a, b))

    add_for_numbers(table, operator.truediv, (int, int), ratio)


def _add_comparison(table: MethodTable, target: Any) -> None:
    def compare(a: Any, b: Any) -> Any:
        return call_next(rounded(a), rounded(b))

    add_for_numbers(table, target, (float, float), compare)


def _add_unary(table: MethodTable, target: Any) -> None:
    @table.overlay(target)
    def number(a: float) -> Any:
        return rounded(call_next(rounded(a)))


def _add_arrays(table: MethodTable, target: Any) -> None:
    @table.overlay(target)
    def both(a: Array, b: Array) -> Any:
        return widened(call_next(narrowed(a), narrowed(b)))

    @table.overlay(target)
    def left(a: Array, b: float | int) -> Any:
        return widened(call_next(narrowed(a), _narrow(b)))

    @table.overlay(target)
    def right(a: float | int, b: Array) -> Any:
        return widened(call_next(_narrow(a), narrowed(b)))


def _add_products(table: MethodTable, target: Any) -> None:
    @table.overlay(target)
    def product(a: Array, b: Array) -> Any:
        return widened(call_next(narrowed(a), narrowed(b)))


def _add_array(table: MethodTable, target: Any) -> None:
    @table.overlay(target)
    def array(a: Array) -> Any:
        return widened(call_next(narrowed(a)))


def _add_reduction(table: MethodTable, target: Any) -> None:
    @table.overlay(target)
    def reduced(a: Array) -> Any:
        return widened(call_next(narrowed(a)))


def _made() -> MethodTable:
    table = MethodTable("single precision")
    for add, targets in (
        (_add_numbers, BINARY),
        (_add_comparison, COMPARISONS),
        (_add_unary, UNARY),
        (_add_arrays, ARRAY_BINARY),
        (_add_array, ARRAY_UNARY),
        (_add_products, _PRODUCTS),
        (_add_reduction, REDUCTIONS),
    ):
        for target in targets:
            add(table, target)
    _add_ratio(table)
    for kinds in ((Array, Array), (Array, float | int), (float | int, Array)):
        add_operators_of_arrays(table, kinds)
    return table


single_precision = Context(_made())
"""The context in which operations on floats and arrays of floats round their operands and results
to single precision. The values stay Python floats and float64 arrays."""


@runs_alone
def lowered(*functions: Callable[..., Any]) -> Context:
    """A context in which some functions, with all that they call, run in single precision.

    Parameters
    ----------
    *functions : callable
        The functions.

    Returns
    -------
    Context
        The context; other functions run in double precision.

    Examples
    --------
    >>> from overlay.interpretations.precision import lowered
    >>> def third(x):
    ...     return x / 3.0
    >>> lowered(third)(lambda: third(1.0) == 1.0 / 3.0)
    False
    """
    table = MethodTable("lowered")
    for function in functions:
        table.overlay(function)(_in_single_precision(function))
    return Context(table)


def _in_single_precision(function: Callable[..., Any]) -> Callable[..., Any]:
    def low(*args: Any) -> Any:
        return recurse(single_precision, function, *args)

    return low
