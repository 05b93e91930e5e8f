"""What compiled code has read of the program when it was compiled: globals, closures, code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from overlay.compiled import words
from overlay.compiled.fingerprint import MENTIONED, Fingerprint, Untold, is_copied
from overlay.compiled.words import Word

__all__ = ["Watch"]

MISSING: Final = object()
# Constants that are the same where they are equal.
PLAIN: Final = (bool, int, float, complex, str, bytes)
MOST_ITEMS: Final = 20_000


class Watch:
    """What some functions have read: every name, with the value that it had."""

    def __init__(self) -> None:
        self._functions: dict[int, tuple[FunctionType, Any, Any]] = {}
        self._globals: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        self._modules: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        self._cells: dict[int, tuple[CellType, Any]] = {}
        self._contents: dict[int, tuple[Any, str | None]] = {}

    def add(self, function: FunctionType) -> None:
        """A function has been compiled."""
        if id(function) in self._functions:
            return
        self._functions[id(function)] = function, function.__code__, function.__defaults__
        names = set(_names(function.__code__))
        read = self._read(self._globals, function.__globals__, names)
        for cell in function.__closure__ or ():
            content = _content(cell)
            self._cells[id(cell)] = cell, content
            read.append(content)
        while read:
            value = read.pop()
            if is_copied(value) and id(value) not in self._contents:
                self._contents[id(value)] = value, _digest(value)
            if type(value) is ModuleType and id(vars(value)) not in self._modules:
                held = names & vars(value).keys()
                read += self._read(self._modules, vars(value), held)

    @staticmethod
    def _read(
        kept: dict[int, tuple[dict[str, Any], dict[str, Any]]],
        namespace: dict[str, Any],
        names: set[str],
    ) -> list[Any]:
        values = kept.setdefault(id(namespace), (namespace, {}))[1]
        found = {name: namespace.get(name, MISSING) for name in names}
        values.update((name, value) for name, value in found.items() if name not in values)
        return list(found.values())

    def words(self) -> Iterator[Word]:
        """Words of memory that differ when something may have changed."""
        for function, _, _ in self._functions.values():
            yield from words.of_code(function)
        for namespace, values in self._globals.values():
            yield from words.of_names(namespace, values)
        for namespace, _ in self._modules.values():
            yield from words.of_dict(namespace)
        for cell, _ in self._cells.values():
            yield from words.of_cell(cell)

    def changed(self) -> bool:
        """Whether a name is bound to something else by now, or a function has other code."""
        return (
            any(
                f.__code__ is not code or f.__defaults__ is not defaults
                for f, code, defaults in self._functions.values()
            )
            or any(
                not _same(namespace.get(name, MISSING), value)
                for kept in (self._globals, self._modules)
                for namespace, values in kept.values()
                for name, value in values.items()
            )
            or any(not _same(_content(cell), value) for cell, value in self._cells.values())
        )

    def altered(self, values: Iterable[Any]) -> bool:
        """Whether one of these, copied into code when that was compiled, has other contents by
        now, or may have."""
        found = (self._contents[id(value)] for value in values if id(value) in self._contents)
        return any(digest is None or _digest(value) != digest for value, digest in found)


def _digest(value: Any) -> str | None:
    """Of the contents; None where there are too many, or where they cannot be told."""
    if type(value) is not np.ndarray and len(value) > MOST_ITEMS:
        return None
    found = Fingerprint(lambda _function, _number: MENTIONED)
    try:
        found.value(value)
    except Untold:
        return ""  # which code that is kept cannot depend on
    return found.digest()


def _names(code: CodeType) -> Iterator[str]:
    """The names that a function's code, and that of functions in it, may look up."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    plain = type(one) in PLAIN and type(one) is type(other)
    return plain and (one == other and repr(one) == repr(other))
