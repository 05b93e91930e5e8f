"""Plain data: numbers, text, and containers and arrays of these.

Computing with plain data, copying and comparing it runs no code of the program.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

__all__ = ["NotPlain", "check", "is_immutable", "is_sent_as_it_is", "same", "snapshot"]

_SCALARS: Final = (int, float, complex, bool, str, bytes, type(None), range)
_CONTAINERS: Final = (list, tuple, dict, set, frozenset)
_DEEPEST: Final = 20
_NUMERIC: Final = "biufcSUmM"
"""The kinds of arrays whose items are values, not objects or records."""


class NotPlain(Exception):
    """A value is not plain data."""


def is_immutable(value: Any) -> bool:
    """Whether a value is immutable plain data."""
    kind: Any = type(value)
    if kind in _SCALARS or isinstance(value, np.number | np.bool_):
        return True
    return kind in (tuple, frozenset) and all(map(is_immutable, value))


def check(value: Any, depth: int = 0) -> None:
    """Raise NotPlain if a value is not plain data."""
    kind: Any = type(value)
    if kind in _SCALARS or isinstance(value, np.number | np.bool_):
        return
    if kind is np.ndarray and value.dtype.kind in _NUMERIC:
        return
    if kind not in _CONTAINERS or depth > _DEEPEST:
        raise NotPlain(kind.__name__)
    for part in value:
        check(part, depth + 1)
    if kind is dict:
        for part in value.values():
            check(part, depth + 1)


def is_sent_as_it_is(value: Any) -> bool:
    """Whether another process receives an identical value: plain data with contiguous, writable
    arrays."""
    try:
        check(value)
    except NotPlain:
        return False
    return _in_one_piece(value)


def _in_one_piece(value: Any) -> bool:
    if type(value) is np.ndarray:
        return value.flags.forc and value.flags.writeable
    if type(value) is dict:
        return all(map(_in_one_piece, value.values()))
    return type(value) not in (list, tuple) or all(map(_in_one_piece, value))


def snapshot(value: Any) -> Any:
    """A copy of plain data that shares nothing mutable with it. Raises NotPlain for other
    values."""
    check(value)
    return _copy(value)


def _copy(value: Any) -> Any:
    kind: Any = type(value)
    if kind is np.ndarray:
        return value.copy(order="K")
    if kind is dict:
        return {_copy(key): _copy(part) for key, part in value.items()}
    return kind([_copy(part) for part in value]) if kind in _CONTAINERS else value


def same(one: Any, other: Any) -> bool:
    """Whether two values are plain data that differ at most in identity."""
    kind: Any = type(one)
    if kind is not type(other):
        return False
    if kind is np.ndarray:
        return _layout(one) == _layout(other) and _same_bits(one, other)
    if kind in (list, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if kind is dict:
        return same(list(one.items()), list(other.items()))
    if kind in (set, frozenset):
        return same(list(one), list(other))
    if isinstance(one, float | complex | np.inexact):
        return bool(one == other) and repr(one) == repr(other)
    return (kind in _SCALARS or isinstance(one, np.generic)) and bool(one == other)


def _layout(array: Any) -> Any:
    return array.dtype, array.shape, array.strides, array.flags.writeable


def _same_bits(one: Any, other: Any) -> bool:
    if not (one.flags.c_contiguous and one.nbytes % 8 == 0 and one.ndim):
        return one.tobytes() == other.tobytes()
    words = (each.reshape(-1).view(np.uint8).view(np.int64) for each in (one, other))
    return bool(np.array_equal(*words))
