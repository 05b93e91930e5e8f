"""Lossless JSON serialisation of values, without pickle: reading a file from others runs no
code."""

from __future__ import annotations

import base64
import datetime
import decimal
import fractions
import io
import pathlib
import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from overlay import OverlayError
from overlay.contexts.rules_alone import runs_alone
from overlay.core.short_repr import a_or_an

__all__ = ["NotRecordable", "from_data", "to_data"]


class NotRecordable(OverlayError):
    """A value cannot be written to a file as data.

    Examples
    --------
    >>> from overlay.interpretations.record_replay import to_data
    >>> to_data(object())  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    overlay.interpretations.record_replay.recorded_data.NotRecordable: an object cannot be recorded
    """


class RecordedType(NamedTuple):
    """A serialisable type: its name in files, and the conversions to and from data."""

    name: str
    type: type
    to: Callable[[Any], Any]
    back: Callable[[Any], Any]


def _each(values: Any) -> list[Any]:
    return [to_data(value) for value in values]


def _all(made: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda data: made(from_data(part) for part in data)


def _text_of(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


def _array_to(value: Any) -> str:
    if value.dtype.hasobject:
        raise _refused(value)
    file = io.BytesIO()
    np.save(file, value, allow_pickle=False)
    return _text_of(file.getvalue())


def _array_back(data: str) -> Any:
    return np.load(io.BytesIO(base64.b64decode(data)), allow_pickle=False)


def _dict_to(value: dict[Any, Any]) -> list[Any]:
    return [[to_data(k), to_data(v)] for k, v in value.items()]


def _dict_back(data: list[Any]) -> dict[Any, Any]:
    return {from_data(k): from_data(v) for k, v in data}


def _bytearray_back(data: str) -> bytearray:
    return bytearray(base64.b64decode(data))


def _complex_to(value: complex) -> list[float]:
    return [value.real, value.imag]


def _complex_back(parts: list[float]) -> complex:
    return complex(*parts)


def _span_to(span: datetime.timedelta) -> list[int]:
    return [span.days, span.seconds, span.microseconds]


def _span_back(parts: list[int]) -> datetime.timedelta:
    return datetime.timedelta(*parts)


def _moment_to(moment: Any) -> list[Any]:
    if type(moment.tzinfo) not in (type(None), datetime.timezone):
        raise _refused(moment)
    return [moment.isoformat(), moment.fold]


def _moment_back(kind: Any) -> Callable[[Any], Any]:
    return lambda parts: kind.fromisoformat(parts[0]).replace(fold=parts[1])


_PLAIN = (type(None), bool, int, float, str)
_KINDS = (
    RecordedType("list", list, _each, _all(list)),
    RecordedType("tuple", tuple, _each, _all(tuple)),
    RecordedType("set", set, _each, _all(set)),
    RecordedType("frozenset", frozenset, _each, _all(frozenset)),
    RecordedType("dict", dict, _dict_to, _dict_back),
    RecordedType("bytes", bytes, _text_of, base64.b64decode),
    RecordedType("bytearray", bytearray, _text_of, _bytearray_back),
    RecordedType("complex", complex, _complex_to, _complex_back),
    RecordedType("date", datetime.date, str, datetime.date.fromisoformat),
    RecordedType("time", datetime.time, _moment_to, _moment_back(datetime.time)),
    RecordedType("datetime", datetime.datetime, _moment_to, _moment_back(datetime.datetime)),
    RecordedType(
        "timedelta",
        datetime.timedelta,
        _span_to,
        _span_back,
    ),
    RecordedType("Decimal", decimal.Decimal, str, decimal.Decimal),
    RecordedType("Fraction", fractions.Fraction, str, fractions.Fraction),
    RecordedType("UUID", uuid.UUID, str, uuid.UUID),
    RecordedType("path", type(pathlib.Path()), str, pathlib.Path),
    RecordedType("array", np.ndarray, _array_to, _array_back),
)
_BY_TYPE = {kind.type: kind for kind in _KINDS}
_BY_NAME = {kind.name: kind for kind in _KINDS}


@runs_alone
def to_data(value: Any) -> Any:
    """A value as JSON data.

    Parameters
    ----------
    value : object
        Numbers, text, bytes, dates, paths, numpy arrays and scalars, and lists, tuples, sets and
        dicts of these.

    Returns
    -------
    object
        Data that the ``json`` module writes.

    Raises
    ------
    NotRecordable
        The value, or a part of it, is of another type.

    Examples
    --------
    >>> from overlay.interpretations.record_replay import from_data, to_data
    >>> to_data((1, 2.5))
    {'tuple': [1, 2.5]}
    >>> from_data(to_data((1, 2.5)))
    (1, 2.5)
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, np.generic):
        return {"scalar": _array_to(np.asarray(value))}
    kind = _BY_TYPE.get(type(value))
    if kind is None:
        raise _refused(value)
    return {kind.name: kind.to(value)}


@runs_alone
def from_data(data: Any) -> Any:
    """The value that ``to_data`` converted to data.

    Parameters
    ----------
    data : object
        The result of ``to_data``, as the ``json`` module reads it.

    Returns
    -------
    object
        An equal value of the same type.

    Examples
    --------
    >>> from overlay.interpretations.record_replay import from_data
    >>> from_data({"tuple": [1, 2.5]})
    (1, 2.5)
    """
    if not isinstance(data, dict):
        return data
    ((name, inner),) = data.items()
    return _array_back(inner)[()] if name == "scalar" else _BY_NAME[name].back(inner)


def _refused(value: Any) -> NotRecordable:
    return NotRecordable(
        f"{a_or_an(type(value).__qualname__)} cannot be recorded: it is not data",
        help="record a function whose result is data, further in or further out, or give this one "
        "an Adapter: record(path, {function: Adapter(to_data, from_data)}, ...)",
    )
