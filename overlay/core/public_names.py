"""Names that tab completion shows: of public modules, and of public classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

__all__ = ["completes", "hidden_names", "hides"]

T = TypeVar("T", bound=type)


def completes(names: Iterable[str]) -> Callable[[], list[str]]:
    """``__dir__`` of a public module: these names alone, and none that it imports for its own use.
    The module writes ``__dir__ = completes(__all__)``; a package with ``lazy_names`` has it from
    there."""
    shown = sorted(names)
    return shown.copy


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
