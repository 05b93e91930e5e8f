"""What the engine keeps, and how much."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterator
from typing import Any, TypeVar

from overlay.code.own_builtins import __builtins__  # noqa: F401

__all__ = ["WeakObjects", "limited"]

T = TypeVar("T")

_MOST = 10_000


def limited(kept: dict[Any, Any]) -> dict[Any, Any]:
    """``kept`` itself, without its older half where it has grown large: code that a program
    makes for ever, and uses once, is not kept for ever."""
    if len(kept) > _MOST:
        for key in list(kept)[: _MOST // 2]:
            kept.pop(key, None)
    return kept


class WeakObjects[T]:
    """Objects, told apart by identity, each until it is gone. No function written in Python runs
    when one goes: it would be seen by whoever watches the program."""

    def __init__(self) -> None:
        self._kept: dict[int, weakref.ref[Any]] = {}

    def add(self, thing: T) -> None:
        """Keep it."""
        key = id(thing)
        self._kept[key] = weakref.ref(thing, functools.partial(self._kept.pop, key))

    def clear(self) -> None:
        """Keep none."""
        self._kept.clear()

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[T]:
        found = [reference() for reference in list(self._kept.values())]
        return (thing for thing in found if thing is not None)
