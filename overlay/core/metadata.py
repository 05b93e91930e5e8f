"""Comparison of contexts' metadata, by a key."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Any

from overlay.core.errors import OverlayError
from overlay.core.location import caller
from overlay.core.own_builtins import __builtins__

__all__ = ["metadata_key"]


_PLAIN = (int, str, bool, bytes, type(None))
_EQUAL_AND_DIFFERENT = {
    *(("decimal", "Decimal"), ("datetime", "datetime"), ("datetime", "time")),
    ("numpy", "inexact"),
}
"""Classes, by module and name, whose ``==`` ignores part of a value: trailing zeros, the time zone,
the sign of zero."""


def metadata_key(metadata: Any) -> Hashable:
    """A key that is equal for equal metadata of equal types, compared recursively.

    ``1``, ``True`` and ``1.0`` have different keys, and so have ``(1,)`` and ``(True,)``, ``0.0``
    and ``-0.0``, ``Decimal("1.0")`` and ``Decimal("1.00")``. Looks into tuples, frozensets and
    frozen dataclasses; anything else is compared by its type and by its own ``==``. Raises
    OverlayError where a part cannot be hashed.

    >>> metadata_key((1, "a")) == metadata_key((True, "a"))
    False
    """
    return _key(metadata, metadata, "metadata")


def _key(value: Any, whole: Any, path: str) -> Hashable:
    kind: Any = type(value)
    if kind in _PLAIN:
        return kind, value
    if issubclass(kind, tuple):
        items = enumerate(tuple.__iter__(value))  # a subclass may override __iter__
        return kind, tuple(_key(v, whole, f"{path}[{i}]") for i, v in items)
    if issubclass(kind, frozenset):
        items = frozenset.__iter__(value)
        return kind, frozenset(_key(v, whole, f"an element of {path}") for v in items)
    if kind in (float, complex):
        parts = (value.real, value.imag)
        return kind, *map(float.hex, parts)
    if any((c.__module__, c.__name__) in _EQUAL_AND_DIFFERENT for c in kind.__mro__):
        return kind, repr(value), value
    parameters: Any = getattr(kind, "__dataclass_params__", None)
    if parameters is not None and parameters.frozen and parameters.eq:
        fields = [f.name for f in dataclasses.fields(kind) if f.compare]
        return kind, *(_key(getattr(value, n), whole, f"{path}.{n}") for n in fields)
    try:
        hash(value)
    except TypeError as error:
        inside = "" if value is whole else f": {path} is {value!r}"
        raise OverlayError(
            f"metadata of a context must be hashable, not {whole!r}{inside}",
            where=caller(),
            help="use a tuple or a frozen dataclass; what changes goes into state=",
        ) from error
    return kind, value
