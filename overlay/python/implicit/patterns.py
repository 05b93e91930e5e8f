"""Class patterns of ``match``, and the length that sequence patterns ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from overlay.python.implicit.protocols import PLAIN, derives, in_python, lookup

if TYPE_CHECKING:
    from overlay.python.implicit import Implicit

__all__ = ["Patterns"]

_MATCHES_ITSELF = (*(bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple),)


class Patterns:
    """What the instructions of ``match`` do."""

    def __init__(self, implicit: Implicit) -> None:
        self.implicit = implicit

    def resolve_class(self, count: int) -> Callable[[Any, Any, tuple[str, ...]], Any]:
        """Of a class pattern with ``count`` positions, the subject, the class and the names:
        what to call, or None."""

        def match(subject: Any, cls: Any, names: tuple[str, ...]) -> Any:
            return self.matched(subject, cls, names, count)

        def of(subject: Any, cls: Any, names: tuple[str, ...]) -> Any:
            quiet = not in_python(lookup(type(cls), "__instancecheck__"))
            return None if quiet and id(type(subject)) in PLAIN else match

        return of

    def resolve_keys(self, subject: Any, keys: tuple[Any, ...]) -> Any:
        """What to call for a mapping pattern, or None."""
        kind = type(subject)
        return self.of_keys if in_python(lookup(kind, "get")) else None

    def of_keys(self, subject: Any, keys: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """What a mapping has under these keys, or None where one is missing."""
        seen, found = set[Any](), list[Any]()
        get = None
        for key in keys:
            if key in seen:
                raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
            seen.add(key)
            if get is None:
                get = self.implicit.callees[self.implicit.attributes.read(subject, "get")]
            value = get(key, _ABSENT)
            if value is _ABSENT:
                return None
            found.append(value)
        return tuple(found)

    def matched(self, subject: Any, cls: Any, names: tuple[str, ...], count: int) -> Any:
        """The attributes that a class pattern with ``count`` positions and these names asks
        for, or None where it does not match."""
        from overlay.python.implicit.builtin_functions import _checked

        kind: Any = type(cls)
        if not issubclass(kind, type):
            raise TypeError("called match pattern must be a class")
        if not _checked(self.implicit, "__instancecheck__", isinstance, subject, cls):
            return None
        seen, found = list[Any](), list[Any]()
        try:
            for name in self._positions(cls, count, found, subject):
                self._read(subject, cls, name, seen, found)
            for name in names:
                self._read(subject, cls, name, seen, found)
        except _NoMatch:
            return None
        return tuple(found)

    def _positions(self, cls: Any, count: int, found: list[Any], subject: Any) -> tuple[Any, ...]:
        if not count:
            return ()
        try:
            names = self.implicit.attributes.read(cls, "__match_args__")
        except AttributeError:
            names = ()
            if any(derives(cls, each) for each in _MATCHES_ITSELF):
                _allow(cls, 1, count)
                found.append(subject)
                return ()
        if type(names) is not tuple:
            raise TypeError(
                f"{cls.__name__}.__match_args__ must be a tuple (got {type(names).__name__})"
            )
        _allow(cls, len(names), count)
        for name in names[:count]:
            if type(name) is not str:
                raise TypeError(
                    f"__match_args__ elements must be strings (got {type(name).__name__})"
                )
        return names[:count]

    def _read(self, subject: Any, cls: Any, name: str, seen: list[Any], found: list[Any]) -> None:
        if name in seen:
            raise TypeError(f"{cls.__name__}() got multiple sub-patterns for attribute {name!r}")
        seen.append(name)
        try:
            found.append(self.implicit.attributes.read(subject, name))
        except AttributeError:
            raise _NoMatch from None


_ABSENT: Any = object()


class _NoMatch(Exception):
    pass


def _allow(cls: Any, allowed: int, count: int) -> None:
    if count > allowed:
        plural = "" if allowed == 1 else "s"
        raise TypeError(
            f"{cls.__name__}() accepts {allowed} positional sub-pattern{plural} ({count} given)"
        )
