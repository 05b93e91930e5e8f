"""Detection of numbers that are not finite."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

__all__ = ["INFINITY", "NAN", "flags_of", "is_made"]

NAN, INFINITY = 1, 2


def flags_of(values: Iterable[Any]) -> int:
    """Bit flags of numbers, arrays, and lists and tuples of these: NAN if any is or contains a NaN,
    INFINITY if any is or contains an infinity."""
    flags = 0
    for value in values:
        kind = type(value)  # the __class__ of values of other interpretations may be another type
        if issubclass(kind, float):
            flags |= NAN if math.isnan(value) else INFINITY if math.isinf(value) else 0
        elif issubclass(kind, complex):
            flags |= flags_of((value.real, value.imag))
        elif issubclass(kind, list):
            flags |= flags_of(list.__iter__(value))
        elif issubclass(kind, tuple):  # tuple's own method: a subclass may refuse iteration
            flags |= flags_of(tuple.__iter__(value))
        elif issubclass(kind, (np.ndarray, np.inexact)) and value.dtype.kind in "fc":
            flags |= NAN if bool(np.isnan(value).any()) else 0
            flags |= INFINITY if bool(np.isinf(value).any()) else 0
    return flags


def is_made(result: int, given: int, infinities: bool) -> bool:
    """Whether the operation itself produced a NaN, or, with ``infinities``, an infinity. result,
    given: the flags of its result and arguments."""
    if result & NAN and not given & NAN:
        return True
    return infinities and bool(result & INFINITY) and not given
