"""A bounded store of what was used last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar

from overlay.core.table import LOCK
from overlay.plugins.plugin import identity

__all__ = ["Kept", "copies_key"]

V = TypeVar("V")

# Values that are the same where ``metadata_key`` calls them equal.
PLAIN: Final = (type(None), bool, int, float, complex, str, bytes)
_PLAIN: Final = {id(kind) for kind in PLAIN}  # a metaclass may have an ``__eq__`` of its own


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


def copies_key(context: Any, changes: dict[str, Any], metadata_key: Any) -> Hashable:
    """What copies of one context with other metadata or plugins are told apart by.

    metadata_key: gives the key of plain metadata; other objects are told apart by identity.
    """
    metadata = changes.get("metadata", context.metadata)
    plugins = tuple(map(identity, changes.get("plugins", context.plugins)))
    return (metadata_key(metadata) if _is_plain(metadata) else id(metadata)), plugins


def _is_plain(value: Any) -> bool:
    return id(type(value)) in _PLAIN or (type(value) is tuple and all(map(_is_plain, value)))
