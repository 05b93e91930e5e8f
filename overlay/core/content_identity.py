"""What comes from other processes several times is told by its content."""

from __future__ import annotations

import hashlib
import pickle
import threading
from typing import Any

from overlay.core.own_builtins import __builtins__  # noqa: F401
from overlay.core.pickling import pickler_by_value

__all__ = ["content_of"]


class _Writing(threading.local):
    def __init__(self) -> None:
        self.owners: set[int] = set()


_writing = _Writing()


def content_of(owner: Any, parts: tuple[Any, ...]) -> str | None:
    """A digest of all that the pickler at work writes of an object's parts, by which who reads
    it several times knows it again; another one after a change. None within the object itself,
    and where the parts cannot be pickled."""
    if id(owner) in _writing.owners:
        return None
    dumps = getattr(pickler_by_value(), "dumps", pickle.dumps)
    _writing.owners.add(id(owner))
    try:
        return hashlib.blake2b(dumps(parts), digest_size=16).hexdigest()
    except Exception:  # whoever pickles the parts hears of it
        return None
    finally:
        _writing.owners.discard(id(owner))
