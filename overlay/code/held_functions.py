"""Containers of functions that the program holds: which they are, and what is in them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any, Final

__all__ = ["changeable_in", "contents_of", "fields_of", "holds_functions", "items_of"]

# Containers nested deeper are not looked into.
DEEPEST: Final = 4


def fields_of(value: Any) -> dict[str, Any] | None:
    """The fields of an instance of a dataclass or a named tuple, by name; None for other values."""
    kind: Any = type(value)
    if issubclass(kind, tuple):
        names = getattr(kind, "_fields", None)
        return None if names is None else dict(zip(names, value, strict=True))
    if "__dataclass_fields__" not in vars(kind):
        return None
    names = [field.name for field in dataclasses.fields(kind)]
    return {name: getattr(value, name) for name in names if hasattr(value, name)}


def items_of(value: Any) -> Iterable[Any]:
    """The values in a tuple, a list, a dict or an instance of a dataclass; none in other values."""
    kind: Any = type(value)
    if kind is list or issubclass(kind, tuple):
        return value
    if kind is dict:
        return list(value.values())
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
        callable(item) or holds_functions(item, depth - 1) for item in items_of(value)
    )


def changeable_in(value: Any, depth: int = DEEPEST) -> Iterator[Any]:
    """The containers in a value, itself included, whose contents may change."""
    kind: Any = type(value)
    params = vars(kind).get("__dataclass_params__")
    if kind in (list, dict) or (params is not None and not params.frozen):
        yield value
    if depth:
        for item in items_of(value):
            yield from changeable_in(item, depth - 1)
