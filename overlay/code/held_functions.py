"""Containers that the program holds: which they are, and the functions and arrays in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from types import MemberDescriptorType
from typing import Any, Final

import numpy as np

from overlay.core.target import attributes_of, is_below, mro_of, type_attribute

__all__ = ["arrays_in", "changeable_in", "contents_of", "fields_of", "holds_functions", "items_of"]

# Containers nested deeper are not examined.
DEEPEST: Final = 4
# Nor are larger ones.
MOST_ITEMS: Final = 1000


def fields_of(value: Any) -> dict[str, Any] | None:
    """The fields of an instance of a dataclass or a named tuple, by name; None for other values."""
    kind: Any = type(value)
    if is_below(kind, tuple):
        names = type_attribute(kind, "_fields")
        return dict(zip(names, tuple.__iter__(value), strict=True)) if names else None
    names = type_attribute(kind, "__dataclass_fields__")
    if type(names) is not dict:
        return None
    held = _attributes_held(value)
    return {name: held[name] for name in names if name in held}


def _attributes_held(value: Any) -> dict[str, Any]:
    """The attributes in an instance's own ``__dict__``, or in its slots; no code of it runs."""
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        pass
    found: dict[str, Any] = {}
    for cls in mro_of(type(value)):
        for name, member in attributes_of(cls).items():
            if type(member) is MemberDescriptorType:
                with suppress(AttributeError):  # a slot that is not set
                    found.setdefault(name, member.__get__(value))
    return found


def items_of(value: Any) -> Iterable[Any]:
    """The values in a tuple, a list, a dict or an instance of a dataclass; none in other values."""
    kind: Any = type(value)
    if kind is list:
        return value
    if is_below(kind, tuple):
        return tuple.__iter__(value)
    if kind is dict:
        return value.copy().values()  # which another thread may change
    return (fields_of(value) or {}).values()


def contents_of(value: Any) -> dict[Any, Any]:
    """The items of a list by their place, those of a dict by their key, the fields of a dataclass
    by their name."""
    kind: Any = type(value)
    if kind is dict:
        return dict(value)
    return dict(enumerate(value)) if kind is list else fields_of(value) or {}


def holds_functions(value: Any, depth: int = DEEPEST) -> bool:
    """Whether a value is a container, at any depth of which there is a callable."""
    return depth > 0 and any(
        callable(item) or holds_functions(item, depth - 1)
        for item in islice(items_of(value), MOST_ITEMS)
    )


def arrays_in(value: Any, depth: int = DEEPEST) -> Iterator[Any]:
    """The arrays in a value, itself included."""
    if type(value) is np.ndarray:
        yield value
    elif depth:
        for item in islice(items_of(value), MOST_ITEMS):
            yield from arrays_in(item, depth - 1)


def changeable_in(value: Any, depth: int = DEEPEST) -> Iterator[Any]:
    """The containers in a value, itself included, whose contents may change."""
    kind: Any = type(value)
    params = type_attribute(kind, "__dataclass_params__")
    if kind is list or kind is dict or (params is not None and not params.frozen):
        yield value
    if depth:
        for item in items_of(value):
            yield from changeable_in(item, depth - 1)
