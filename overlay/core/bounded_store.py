"""A bounded cache that evicts the least recently used entry."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeVar

from overlay.core.own_builtins import __builtins__
from overlay.core.table import LOCK

__all__ = ["Kept"]

V = TypeVar("V")


class Kept[V]:
    """Cache of at most ``limit`` values; the least recently used one is evicted."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._found: OrderedDict[Hashable, V] = OrderedDict()

    def __len__(self) -> int:
        return len(self._found)

    def found(self, key: Hashable, make: Callable[[], V]) -> V:
        """The value under a key, made and stored now if missing."""
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
