"""What intervals are of numbers as compiled code has them: integers wrap around."""

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
    """Any integer of this many bits, one of which is the sign."""
    return made(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1, "int")


def _has_values(f: MathFunction, args: Sequence[Any]) -> bool:
    """Whether a function has a value for all numbers of these intervals."""
    first, last = f.ends
    inside = all(first <= x.low and x.high <= last for x in args)
    return inside and f.defined(*((x.low, x.high) for x in args)) == 1


def settled(bits: int, function: Callable[..., Any], args: Sequence[Any], value: Any) -> Any:
    """What an operation gives that gave ``value`` if its numbers were Python's, and raised
    nothing: where Python raises an error, compiled code may go on."""
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
