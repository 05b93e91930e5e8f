"""A bounded store of what was used last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeVar

from overlay.core.own_builtins import __builtins__  # noqa: F401
from overlay.core.table import LOCK

__all__ = ["Kept"]

V = TypeVar("V")


class Kept[V]:
    """Holds what was used last under a key, ``limit`` of them at most."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._found: OrderedDict[Hashable, V] = OrderedDict()

    def __len__(self) -> int:
        return len(self._found)

    def found(self, key: Hashable, make: Callable[[], V]) -> V:
        """What is kept under a key: made now where there is nothing."""
        with LOCK:
            known = self._found.get(key)
            if known is not None:
                self._found.move_to_end(key)
                return known
        made = make()
        with LOCK:
            known = self._found.setdefault(key, made)
            self._found.move_to_end(key)
            if len(self._found) > self._limit:
                self._found.popitem(last=False)
        return known
