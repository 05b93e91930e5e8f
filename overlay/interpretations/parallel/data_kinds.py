"""Abstract values of purity proofs: kinds of plain data, and values that are no data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from types import CodeType
from typing import Any

from overlay.analysis.lattice import Domain
from overlay.interpretations.parallel.known_effects import computes
from overlay.interpretations.parallel.loop_data import is_immutable

__all__ = [
    "UNREAD",
    "DataKind",
    "DataMethod",
    "DefinedHere",
    "FromOutside",
    "KeysView",
    "KindLattice",
    "Produced",
    "is_class_of_data",
]


class DataKind(IntEnum):
    """Abstract kind of plain data: immutable; newly created in the call, with all it contains; new
    or possibly an array of others; or possibly shared."""

    IMMUTABLE = 0
    NEW = 1
    ARRAY = 2
    SHARED = 3


@dataclass(frozen=True, eq=False)
class FromOutside:
    """An object bound to an outer name, or an attribute of a module. what: its description.
    is_alone: whether it is certainly this object."""

    value: Any
    what: str
    where: str
    is_alone: bool = True


@dataclass(frozen=True)
class DataMethod:
    """A method of data of some kind. cls: whether it is unbound, read from the class."""

    owner: DataKind
    name: str
    cls: bool = False


@dataclass(frozen=True)
class KeysView:
    """The keys or items of a dict of some kind, which support set operations."""

    kind: DataKind


@dataclass(frozen=True)
class Produced:
    """A generator expression's generator, whose items are of some kind."""

    kind: DataKind


@dataclass(frozen=True)
class DefinedHere:
    """A function defined in the current code."""

    code: CodeType


UNREAD = object()
"""The abstract value about which nothing is known."""


def is_class_of_data(value: Any) -> bool:
    """Whether an object is a class of plain data, or of Python's exceptions."""
    return isinstance(value, type) and computes(value)


class KindLattice(Domain):
    """The lattice of these values: kinds in their order; values that are no data are
    incomparable."""

    top = UNREAD
    bottom = DataKind.IMMUTABLE

    def constant(self, value: Any) -> Any:
        """The kind of a constant of the program."""
        return DataKind.IMMUTABLE if is_immutable(value) else FromOutside(value, "a constant", "")

    def join(self, one: Any, other: Any) -> Any:
        """An upper bound of both; for two different objects from outside the first, with
        ``is_alone`` false."""
        if _same(one, other):
            return one
        plain = _plain(one), _plain(other)
        if None not in plain:
            kind = max(plain)
            return KeysView(kind) if KeysView in (type(one), type(other)) else kind
        for value in (one, other):
            if isinstance(value, FromOutside) and not is_class_of_data(value.value):
                return FromOutside(value.value, value.what, value.where, is_alone=False)
        return UNREAD

    def is_below(self, one: Any, other: Any) -> bool:
        """Whether ``one`` is below ``other``."""
        if _same(one, other):
            return True
        if isinstance(other, FromOutside) and not other.is_alone:
            return True
        joined = self.join(one, other)
        return _same(joined, other)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, FromOutside) and isinstance(other, FromOutside):
        return one.value is other.value and one.is_alone == other.is_alone
    return one is other or one == other


def _plain(value: Any) -> Any:
    """The kind of a value that can be used as data; None for others."""
    if isinstance(value, DataKind):
        return value
    if isinstance(value, KeysView):
        return value.kind
    is_class = isinstance(value, FromOutside) and is_class_of_data(value.value)
    return DataKind.IMMUTABLE if is_class else None
