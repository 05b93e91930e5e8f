"""Adjustment of intervals to the numbers of compiled code, whose integers wrap around."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from overlay.analysis.abstract_values import BOTTOM, FLOAT, NUMBER, Number, made
from overlay.catalogue import FUNCTIONS, MathFunction

__all__ = ["settled", "whole"]

_OF_CATALOGUE = {id(f.function): f for f in FUNCTIONS}
_QUOTIENTS = (operator.floordiv, operator.ifloordiv)


def whole(bits: int) -> Any:
    """The interval of all signed integers of this many bits."""
    return made(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1, "int")


def _has_values(f: MathFunction, args: Sequence[Any]) -> bool:
    """Whether a function is defined for all numbers of these intervals."""
    first, last = f.ends
    inside = all(first <= x.low and x.high <= last for x in args)
    return inside and f.defined(*((x.low, x.high) for x in args)) == 1


def settled(bits: int, function: Callable[..., Any], args: Sequence[Any], value: Any) -> Any:
    """The result of an operation in compiled code. value: its result on Python's numbers without
    an error; where Python raises, compiled code may continue with another value."""
    f = _OF_CATALOGUE.get(id(function))
    if f is not None and not _has_values(f, args):
        return FLOAT
    if not isinstance(value, Number):
        return whole(bits) if value == BOTTOM and function is int else value
    if value.kind == "float":
        return value
    every = whole(bits)
    inside = every.low <= value.low and value.high <= every.high
    if value.kind == "number":
        return value if inside else NUMBER
    if not inside or (function is int and args[0].nan):
        return every
    if any(function is each for each in _QUOTIENTS) and args[1].has_zero:
        return made(min(value.low, 0), max(value.high, 0), "int")
    return value
