"""Values of interpretations: objects that represent plain values, such as dual numbers.

A class declares by attributes which plain value its instances represent, and which code takes them:

``__overlay_underlying__``: the name of the attribute (in compiled code the field) that holds the
plain value. Dispatch uses that value where no method accepts the instance as it is.
``__overlay_interpreted__ = True``: only interpreted code takes the instances. A function compiled
by numba is interpreted in a context where it is given one.
    A function that has the attribute runs interpreted alone.
``__overlay_level__``: the nesting level, an integer, of numbers in compiled code. They are named
tuples whose fields are zero for a plain number, except the underlying one. There a variable that is
a plain number, or one of a level further out, on one path and such a number on another is one on
both.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from overlay.core.own_builtins import __builtins__
from overlay.core.target import type_attribute

__all__ = [
    "INTERPRETED",
    "LEVEL",
    "UNDERLYING",
    "has_underlying",
    "interpreted_alone",
    "is_interpreted",
    "plain_values",
    "stands_for_another",
    "underlying",
]

UNDERLYING: Final = "__overlay_underlying__"
LEVEL: Final = "__overlay_level__"
INTERPRETED: Final = "__overlay_interpreted__"
_PLAIN: Final = frozenset((float, int, bool, complex, str))


def interpreted_alone[F: Callable[..., Any]](function: F) -> F:
    """Decorator: compiled code refuses to call the function, and says what to do."""
    setattr(function, INTERPRETED, True)
    return function


def is_interpreted(value: Any) -> bool:
    """Whether only interpreted code takes a value, or an element of a tuple or list."""
    kind = type(value)
    if type_attribute(kind, INTERPRETED) is True:
        return True
    if issubclass(kind, tuple):
        return any(map(is_interpreted, tuple.__iter__(value)))
    if not issubclass(kind, list):
        return False
    kinds = set(map(type, list.__iter__(value))) - _PLAIN  # most lists have plain numbers only
    return bool(kinds) and any(map(is_interpreted, list.__iter__(value)))


def has_underlying(value: Any) -> bool:
    """Whether a value, or an element of a tuple or object array, represents a plain value."""
    kind = type(value)
    if kind is float or kind is int:
        return False
    if type_attribute(kind, UNDERLYING) is not None:
        return True
    if kind is tuple:
        return any(map(has_underlying, value))
    return _is_array_of_objects(value) and value.size > 0 and has_underlying(value.flat[0])


def stands_for_another(value: Any) -> bool:
    """Whether the value itself represents a plain value. Its ``__class__`` may be that of the plain
    value, so dispatch has to use its type.
    """
    return type_attribute(type(value), UNDERLYING) is not None


def underlying(value: Any) -> Any:
    """The plain value that a value represents; any other value itself."""
    while (name := type_attribute(type(value), UNDERLYING)) is not None:
        value = getattr(value, name)
    if type(value) is tuple:
        return tuple(map(underlying, value)) if any(map(has_underlying, value)) else value
    if _is_array_of_objects(value) and has_underlying(value):
        plain = [underlying(item) for item in value.flat]
        return sys.modules["numpy"].array(plain).reshape(value.shape)
    return value


def plain_values(args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The plain values that arguments represent; None where all are plain already."""
    return tuple(map(underlying, args)) if any(map(has_underlying, args)) else None


def _is_array_of_objects(value: Any) -> bool:
    arrays = getattr(sys.modules.get("numpy"), "ndarray", None)  # its import may be under way
    return type(value) is arrays and value.dtype == object
