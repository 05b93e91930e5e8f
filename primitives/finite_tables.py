"""Finite tables: the entry at an index or key, and whether a key is in a table.

Each is a relation of one unknown for one table, made when a program needs it. Keys and entries are
numbers of one type, or strings. Entries that are floats are found up to rounding.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from primitives.domains import Bool, Domain, Integers, Reals, Strings, domain_of
from primitives.errors import NoSolution
from primitives.relation import Relation, parametric, relation

__all__ = ["RTOL", "FiniteTable", "Members", "entry", "membership"]

RTOL = 1e-9
"""The relative distance up to which a float counts as an entry."""
Key = Any


class FiniteTable:
    """A function given by its keys and their entries."""

    def __init__(self, keys: tuple[Key, ...], entries: tuple[Any, ...]) -> None:
        self.keys = keys
        self.entries = entries
        self.held = dict(zip(keys, entries, strict=True))
        self.__name__ = "table"

    def __call__(self, key: Key) -> Any:
        """The entry of a key. Raises NoSolution if it has none."""
        try:
            return self.held[key]
        except KeyError:
            raise NoSolution("the table has no such key") from None

    def keys_of(self, entry: Any) -> list[Key]:
        """The keys of an entry; for a float, of the entries closest to it, up to rounding."""
        if not isinstance(entry, float):
            return [key for key, found in self.held.items() if found == entry]
        near = [0.0 if found == entry else abs(found - entry) for found in self.entries]
        least = min((far for far in near if not math.isnan(far)), default=math.inf)
        if not least <= RTOL * abs(entry):
            return []
        return [key for key, far in zip(self.keys, near, strict=True) if far == least]


class Members:
    """A function that is true for the members of a finite set, and false for all other values."""

    def __init__(self, keys: tuple[Key, ...]) -> None:
        self.keys = keys
        self.held = frozenset(keys)
        self.__name__ = "is_member"

    def __call__(self, key: Key) -> bool:
        """Return whether it is a member."""
        return key in self.held


def _range_of(values: tuple[Any, ...]) -> Domain | None:
    """The domain of all numbers from the smallest to the largest of these."""
    kind = type(values[0])
    if kind is float:
        return Reals(min(values), max(values)) if min(values) < max(values) else None
    if kind is str:
        lengths = list(map(len, values))
        return Strings("".join(sorted({*"".join(values)})), min(lengths), max(lengths))
    if kind is bool or domain_of(kind) is None or not isinstance(values[0], int):
        return domain_of(kind)
    return Integers(min(values), max(values))


def _keys_domain(kind: Any, keys: tuple[Key, ...]) -> Domain | None:
    if kind in (float, str, bool):
        return domain_of(kind)
    return Integers(int(min(keys)), int(max(keys)), kind=kind)


def entry(kind: Any, keys: tuple[Key, ...], entries: tuple[Any, ...]) -> Relation:
    """The relation of ``table[a]`` for a table of these keys and entries.

    kind: the type of a.
    """
    keys = tuple(kind(key) for key in keys)
    return _entry(kind, keys, entries, type(entries[0]))


@functools.lru_cache(maxsize=4096)
def _entry(kind: Any, keys: tuple[Key, ...], entries: tuple[Any, ...], returns: Any) -> Relation:
    table = FiniteTable(keys, entries)
    most = max(1, *(len(table.keys_of(value)) for value in entries))  # the index of NaN is 0
    domain = _keys_domain(kind, keys)
    return relation(
        table, kind, "return = table(a)", returns=returns, codomain=_range_of(entries),
        domain=None if domain is None else {"a": domain},
        ret=_forward(table),
        a=_backward(table, most),
        edges="a key that is not in the table is refused",
    )  # fmt: skip


def _forward(function: Callable[[Key], Any]) -> Callable[..., Any]:
    def found(a: Key) -> Any:
        return function(a)

    return found


def _backward(table: FiniteTable, most: int) -> Any:
    def one(ret: Any) -> Key:
        return key_of(table, ret, 0)

    def chosen(ret: Any, which: int) -> Key:
        return key_of(table, ret, which)

    def place(ret: Any, a: Key) -> tuple[int]:
        found = table.keys_of(ret)
        return (found.index(a) if a in found else 0,)

    if most == 1:
        return one
    return parametric(chosen, which=Integers(0, most - 1), recover=place)


def key_of(table: FiniteTable, ret: Any, which: int) -> Key:
    """The key of an entry; of several keys the one with a number, or the last."""
    found = table.keys_of(ret)
    if not found:
        raise NoSolution("the table has no such entry")
    return found[min(which, len(found) - 1)]


def membership(kind: Any, keys: tuple[Key, ...]) -> Relation:
    """The relation of ``a in keys``. kind: the type of a."""
    return _membership(kind, tuple(kind(key) for key in keys))


@functools.lru_cache(maxsize=4096)
def _membership(kind: Any, keys: tuple[Key, ...]) -> Relation:
    members = Members(keys)
    domain = domain_of(kind)
    assert domain is not None

    def solved(ret: bool, which: int, other: Key) -> Key:
        if ret:
            return keys[which]
        return beyond(members.held, other)

    def recovered(ret: bool, a: Key) -> tuple[int, Key]:
        return (keys.index(a), domain.default) if ret else (0, a)

    return relation(
        members, kind, "return = is_member(a)", returns=bool,
        codomain=Bool,
        ret=_forward(members),
        a=parametric(
            solved, which=Integers(0, len(keys) - 1), other=domain, recover=recovered,
        ),
        edges="if the result is false, a is other, or the next value above it that is not a member",
    )  # fmt: skip


def beyond(members: frozenset[Key], other: Key) -> Key:
    """``other``; if it is a member, the next value above it that is not."""
    while other in members:
        if isinstance(other, bool):
            if len(members) > 1:
                raise NoSolution("every value of the type is a member")
            return not other
        other = other + (" " if isinstance(other, str) else 1)
    return other
