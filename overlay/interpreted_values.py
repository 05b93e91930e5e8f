"""Values that only interpreted code knows: of classes with ``__overlay_interpreted__ = True``.

A function that is compiled by numba is interpreted in a context where it is given one.
"""

from __future__ import annotations

from typing import Any, Final

from overlay.target import type_attribute

__all__ = ["is_interpreted"]

_NAME: Final = "__overlay_interpreted__"


def is_interpreted(value: Any) -> bool:
    """Whether it is such a value, or a tuple or list with one in it: of a list, in which all are
    of one type where code is compiled, the first part is looked at."""
    kind = type(value)
    if type_attribute(kind, _NAME) is True:
        return True
    if issubclass(kind, tuple):
        return any(map(is_interpreted, tuple.__iter__(value)))
    return issubclass(kind, list) and any(map(is_interpreted, list.__getitem__(value, slice(1))))
