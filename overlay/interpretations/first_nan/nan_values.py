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
            plain = complex.__pos__(value)  # a subclass may have attributes of its own
            flags |= flags_of((plain.real, plain.imag))
        elif issubclass(kind, list):
            flags |= flags_of(list.__iter__(value))
        elif issubclass(kind, tuple):  # tuple's own method: a subclass may refuse iteration
            flags |= flags_of(tuple.__iter__(value))
        elif issubclass(kind, (np.ndarray, np.inexact)):
            plain = _plain_array(value)
            if plain.dtype.kind in "fc":
                flags |= NAN if bool(np.isnan(plain).any()) else 0
                flags |= INFINITY if bool(np.isinf(plain).any()) else 0
    return flags


def _plain_array(value: Any) -> Any:
    """The numbers of an array, without the ``__array_ufunc__`` of its class. A masked array stays:
    numbers below its mask do not count."""
    kind = type(value)
    if issubclass(kind, np.ndarray) and not issubclass(kind, np.ma.MaskedArray):
        return np.ndarray.view(value, np.ndarray)
    return value


def is_made(result: int, given: int, infinities: bool) -> bool:
    """Whether the operation itself produced a NaN, or, with ``infinities``, an infinity. result,
    given: the flags of its result and arguments."""
    if result & NAN and not given & NAN:
        return True
    return infinities and bool(result & INFINITY) and not given
