"""Digests that identify pickled objects by content, so that copies are recognized."""

from __future__ import annotations

import hashlib
import pickle
import threading
from typing import Any

from overlay.core.own_builtins import __builtins__
from overlay.core.pickling import pickler_by_value

__all__ = ["content_of"]


class _Writing(threading.local):
    def __init__(self) -> None:
        self.owners: set[int] = set()


_writing = _Writing()


def content_of(owner: Any, parts: tuple[Any, ...]) -> str | None:
    """A digest of an object's parts as the active pickler writes them.

    A process that reads the object several times recognizes it by the digest, which changes with
    the parts. None while the object itself is being digested, and where its parts cannot be
    pickled.
    """
    if id(owner) in _writing.owners:
        return None
    dumps = getattr(pickler_by_value(), "dumps", pickle.dumps)
    _writing.owners.add(id(owner))
    try:
        return hashlib.blake2b(dumps(parts), digest_size=16).hexdigest()
    except Exception:  # the pickler of the parts raises the error again
        return None
    finally:
        _writing.owners.discard(id(owner))
