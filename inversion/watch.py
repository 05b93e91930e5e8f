"""Whether what a function was read from has changed since: names, closure cells, tables."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from overlay import Context

__all__ = ["Watch"]

Read = tuple[Callable[[], Any], Any]


class Watch:
    """Remembers what global names and closure cells of functions stood for when it was made,
    and listens to a context's tables."""

    def __init__(self, functions: Iterable[types.FunctionType], context: Context | None) -> None:
        self._reads = [read for function in functions for read in _reads(function)]
        self._changed = False
        for table in context.tables if context is not None else ():
            table.listen(self)

    def table_changed(self, target: Any) -> None:
        """Called by the tables."""
        self._changed = True

    @property
    def changed(self) -> bool:
        """Whether anything has changed, at any time that this was asked."""
        if not self._changed:
            for read, value in self._reads:
                now = read()
                if now is not value and not _same_number(now, value):
                    self._changed = True
                    break
        return self._changed


def _reads(function: types.FunctionType) -> Iterator[Read]:
    """How to read each name that a function's code mentions, and what it stands for now."""
    names = function.__code__.co_names
    spaces = [function.__globals__]
    for name in names:
        value = function.__globals__.get(name)
        if isinstance(value, types.ModuleType):
            spaces.append(vars(value))
    readers: list[Callable[[], Any]] = [partial(getattr, function, "__code__")]
    readers += [partial(space.get, name) for space in spaces for name in names if name in space]
    readers += [
        partial(getattr, cell, "cell_contents", None) for cell in function.__closure__ or ()
    ]
    for reader in readers:
        yield reader, reader()


def _same_number(now: Any, before: Any) -> bool:
    return type(now) is type(before) and isinstance(now, (bool, int, float)) and now == before
