"""Call sites of rewritten code."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any

from overlay.table import LOCK

if TYPE_CHECKING:
    from overlay.python.callees import Callees

__all__ = ["Site"]

_NOTHING = object()
_MANY = object()


class Site:
    """What one call site of rewritten code has learnt: a constant of that code.

    The code compares its callee with ``key`` by identity and takes ``to``; else it takes
    ``site[callee]``. ``to`` is written before ``key`` and stays a valid callee of the last key
    for ever, so that a thread that read an old key never calls the wrong function: a site
    learns one callee, the first that can be kept, and no other.
    """

    __slots__ = ("__weakref__", "arity", "callees", "key", "known", "learnt", "to")

    def __init__(self, callees: Callees, arity: int | None) -> None:
        self.callees = callees
        self.known = callees.known
        self.arity = arity
        self.key: Any = _NOTHING
        self.to: Callable[..., Any] | None = None
        self.learnt: Any = _NOTHING

    def __getitem__(self, callee: Any) -> Any:
        if self.learnt is not _NOTHING and self.learnt is not callee:
            bound = type(callee) is MethodType
            function = callee.__func__ if bound else callee
            entry = self.known.get(id(function))
            if entry is not None and entry[0] is function:
                found = entry[1] if entry[2] is None else entry[2](self.arity)
                return MethodType(found, callee.__self__) if bound else found
        return self._learn(callee)

    def _learn(self, callee: Any) -> Any:
        found, keep = self.callees.find(callee, self.arity)
        if not keep and type(callee) is not MethodType:
            return found
        with LOCK:
            if self.learnt is _NOTHING:
                # what cannot be a key still says that this site has more than one callee
                self.learnt = callee if keep else _MANY
            # the map may have changed since: what it says now is what is kept
            entry = self.known.get(id(callee))
            if self.learnt is callee and entry is not None and entry[0] is callee:
                self.to = entry[1] if entry[2] is None else entry[2](self.arity)
                self.key = callee
        return found

    def release(self) -> None:
        """Keep nothing, now or later."""
        self.learnt = _MANY
        self.key = _NOTHING
        self.to = None

    def forget(self, callee: Any) -> None:
        """Look ``callee`` up again at the next call."""
        if self.learnt is callee:
            self.key = _NOTHING
