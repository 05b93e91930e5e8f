"""Values of interpretations: what stands for a plain value in a program that is interpreted.

A class says what its values stand for, and where they are known:

``__overlay_underlying__``: the name of an attribute; in compiled code that of a field. It holds
the value that dispatch takes such a value for, where no method accepts it as it is.
``__overlay_interpreted__ = True``: its values are known to interpreted code alone. A function that
is compiled by numba is interpreted in a context where it is given one.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from overlay.core.own_builtins import __builtins__  # noqa: F401
from overlay.core.target import type_attribute

__all__ = [
    "UNDERLYING",
    "has_underlying",
    "is_interpreted",
    "plain_values",
    "stands_for_another",
    "underlying",
]

UNDERLYING: Final = "__overlay_underlying__"
_INTERPRETED: Final = "__overlay_interpreted__"


def is_interpreted(value: Any) -> bool:
    """Whether it is such a value, or a tuple or list with one in it: of a list, in which all are
    of one type where code is compiled, the first part is looked at."""
    kind = type(value)
    if type_attribute(kind, _INTERPRETED) is True:
        return True
    if issubclass(kind, tuple):
        return any(map(is_interpreted, tuple.__iter__(value)))
    return issubclass(kind, list) and any(map(is_interpreted, list.__getitem__(value, slice(1))))


def has_underlying(value: Any) -> bool:
    """Whether dispatch may take a value for another one."""
    kind = type(value)
    if kind is float or kind is int:
        return False
    if type_attribute(kind, UNDERLYING) is not None:
        return True
    if kind is tuple:
        return any(map(has_underlying, value))
    return _is_array_of_objects(value) and value.size > 0 and has_underlying(value.flat[0])


def stands_for_another(value: Any) -> bool:
    """Whether it is a value of an interpretation itself: it may say, as ``__class__``, that it is
    of the class of the value that it stands for, and dispatch has to go by its type."""
    return type_attribute(type(value), UNDERLYING) is not None


def underlying(value: Any) -> Any:
    """The plain value that a value of an interpretation stands for; itself for any other."""
    while (name := type_attribute(type(value), UNDERLYING)) is not None:
        value = getattr(value, name)
    if type(value) is tuple:
        return tuple(map(underlying, value)) if any(map(has_underlying, value)) else value
    if _is_array_of_objects(value) and has_underlying(value):
        plain = [underlying(item) for item in value.flat]
        return sys.modules["numpy"].array(plain).reshape(value.shape)
    return value


def plain_values(args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Arguments with the plain values that they stand for; None where they are these."""
    return tuple(map(underlying, args)) if any(map(has_underlying, args)) else None


def _is_array_of_objects(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and type(value) is numpy.ndarray and value.dtype == object
