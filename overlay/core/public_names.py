"""Names of public classes that only these packages use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = ["hidden_names", "hides"]

T = TypeVar("T", bound=type)


def hides(*names: str) -> Callable[[T], T]:
    """Class decorator: leave attributes that only these packages use out of ``dir``, so that tab
    completion and the reference show what users need. A subclass hides them, too."""

    def decorated(cls: T) -> T:
        cls.__hidden__ = frozenset(names) | hidden_names(cls)
        cls.__dir__ = _shown  # type: ignore[assignment, method-assign]
        return cls

    return decorated


def hidden_names(cls: type) -> frozenset[str]:
    """The attributes of a class that are hidden."""
    return getattr(cls, "__hidden__", frozenset())


def _shown(self: object) -> list[str]:
    return [name for name in object.__dir__(self) if name not in hidden_names(type(self))]
