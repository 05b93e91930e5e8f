"""Containers that the program holds: which they are, and the functions and arrays in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from types import MemberDescriptorType
from typing import Any, Final, NamedTuple

import numpy as np

from overlay.core.target import attributes_of, is_below, mro_of, type_attribute

__all__ = [
    "arrays_in",
    "changeable_in",
    "contents_of",
    "fields_of",
    "holds_functions",
    "is_plain_tuple",
    "items_of",
]

# Containers nested deeper are not examined.
DEEPEST: Final = 4
# Nor are larger ones.
MOST_ITEMS: Final = 1000


class _NamedItem(NamedTuple):
    item: Any


# The type of the fields of named tuples.
_ItemOfTuple: Final = type(type_attribute(_NamedItem, "item"))
_OWN_ATTRIBUTES: Final = (object.__getattribute__, tuple.__getattribute__)
_READING_TUPLES: Final = ("__getitem__", "__iter__", "__len__", "__contains__")


def is_plain_tuple(value: tuple[Any, ...]) -> bool:
    """Whether Python reads the items and fields of a tuple from the tuple itself: its class has no
    methods of its own for that."""
    kind: Any = type(value)
    own = all(type_attribute(kind, name) is getattr(tuple, name) for name in _READING_TUPLES)
    fields = fields_of(value)
    return own and (fields is None or len(fields_read(value)) == len(fields))


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


def fields_read(value: Any) -> dict[str, Any]:
    """The fields that Python reads from the instance: without those behind a descriptor of the
    class, and without all of a class that has a ``__getattribute__``."""
    kind: Any = type(value)
    if type_attribute(kind, "__getattribute__") not in _OWN_ATTRIBUTES:
        return {}
    held = fields_of(value) or {}
    return {name: item for name, item in held.items() if _gives_held(kind, name)}


def _gives_held(kind: type, name: str) -> bool:
    """Whether an attribute of an instance is what the instance holds under this name."""
    found: Any = type(type_attribute(kind, name))
    if found is MemberDescriptorType or found is _ItemOfTuple:
        return True
    return type_attribute(found, "__set__") is None and not is_below(kind, tuple)


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
