"""Call sites of rewritten code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from overlay.python.callees import Callees

__all__ = ["Site"]

_NOTHING = object()


class Site:
    """What one call site of rewritten code has learnt: a constant of that code.

    The code compares its callee with ``key`` by identity and takes ``to``; else it takes
    ``site[callee]``. ``to`` is written before ``key`` and stays a valid callee of the last key
    for ever, so that a thread that read an old key never calls the wrong function: a site
    learns one callee, the first that can be kept, and no other.
    """

    __slots__ = ("__weakref__", "arity", "callees", "key", "learnt", "to")

    def __init__(self, callees: Callees, arity: int | None) -> None:
        self.callees = callees
        self.arity = arity
        self.key: Any = _NOTHING
        self.to: Callable[..., Any] | None = None
        self.learnt: Any = _NOTHING

    def __getitem__(self, callee: Any) -> Any:
        found, keep = self.callees.find(callee, self.arity)
        if keep and (self.learnt is _NOTHING or self.learnt is callee):
            self.to = found
            self.learnt = callee
            self.key = callee
        return found

    def forget(self, callee: Any) -> None:
        """Look ``callee`` up again at the next call."""
        if self.learnt is callee:
            self.key = _NOTHING
