"""Lookups in containers of known items, by an index or key that depends on the arguments, and
membership.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inversion.errors import NotInvertible
from inversion.lifting.lifted_values import (
    CallSite,
    Constant,
    KnownObject,
    Tupled,
    Value,
    Variable,
    is_known,
    plain,
    refused,
    shown_kind,
    value_of,
)
from inversion.lifting.mixed_numbers import MIXED, Items, in_widest_type
from overlay.core.short_repr import a_or_an
from primitives.finite_tables import entry, membership

if TYPE_CHECKING:
    from inversion.lifting.lifter import Lifter

__all__ = ["Lookup", "looked_up", "member"]


@dataclass(frozen=True)
class Lookup:
    """A function that returns the items of a container by key or index."""

    held: Tupled

    def __call__(self, key: Any) -> None:
        """Never called: makes the object callable."""


def looked_up(lifter: Lifter, site: CallSite, held: Tupled, index: Value) -> Value:
    """The item of a container at an index, or for a key, that depends on the arguments."""
    if isinstance(index, Tupled):
        return _by_parts(lifter, site, held, index)
    if not isinstance(index, Variable):
        help = "write the choice with if, with a constant index in each branch"
        what = f"an item by {a_or_an(shown_kind(index))} that depends on the arguments"
        raise refused(what, site.where, help)
    count = len(held.items)
    keys = (*range(count), *range(-count, 0)) if held.keys is None else held.keys
    items = (*held.items, *held.items) if held.keys is None else held.items
    inside = lifter.domains.get(index)
    entries = {
        key: item
        for key, item in zip(keys, items, strict=True)
        if _fits(key, index.kind) and (inside is None or inside.contains(key))
    }
    return _entries(lifter, site, entries, index)


def _fits(key: Any, kind: Any) -> bool:
    """Return whether a variable of a type may equal a key."""
    if kind is str:
        return isinstance(key, str)
    return isinstance(key, (int, float)) and (kind is float or key == int(key))


def _entries(lifter: Lifter, site: CallSite, entries: dict[Any, Value], index: Value) -> Value:
    """The entry for a key that depends on the arguments."""
    assert isinstance(index, Variable)
    if not entries:
        help = "give the container an item for each value of the index"
        what = "an item of an empty container, by an index that depends on the arguments"
        raise refused(what, site.where, help)
    items = list(entries.values())
    if all(item == items[0] for item in items[1:]):
        there = member(lifter, site, Tupled(tuple, tuple(map(value_of, entries))), index)
        if isinstance(there, Variable):
            lifter.holds.append((there, True))
        return items[0]
    if isinstance(items[0], Tupled) and all(map(items[0].is_like, items[1:])):
        columns = zip(*(item.items for item in items if isinstance(item, Tupled)), strict=True)
        found = (
            _entries(lifter, site, dict(zip(entries, column, strict=True)), index)
            for column in columns
        )
        return items[0].of(found)
    if all(map(is_known, items)):
        values = list(map(plain, items))
        rows = _rows(values)
        if rows is not None:
            return _entries(lifter, site, dict(zip(entries, rows, strict=True)), index)
        kinds = {type(value) for value in values}
        if len(kinds) == 1 and kinds <= {*MIXED, complex, str}:
            return lifter.state(site, entry(index.kind, tuple(entries), tuple(values)), [index])
        if kinds <= {*MIXED}:
            return _of_mixed_types(lifter, site, dict(zip(entries, values, strict=True)), index)
    if all(isinstance(item, (Variable, Constant)) for item in items):
        keys = tuple(map(Constant, entries))
        args = index, Tupled(tuple, keys), Tupled(tuple, tuple(items))
        return lifter.called(site, KnownObject(item_at_key), args)
    raise NotInvertible(
        "an item is read by an index or key that depends on the arguments, from a container whose "
        "items are not numbers, strings, or rows of them with one structure",
        where=site.where,
        help="keep one list or dict for each part, or write the choice with if",
    )


def _of_mixed_types(
    lifter: Lifter, site: CallSite, entries: dict[Any, Any], index: Variable
) -> Value:
    """The entry for a key in a table of numbers of several types, in the widest of them."""
    values = in_widest_type(list(entries.values()))
    if values is None:
        help = "write all of them as floats, or keep the integers in a separate table"
        what = "an item of a table of floats, and of integers that no float equals"
        raise refused(what, site.where, help)

    def member_of(site: CallSite, part: Mapping[Any, Value]) -> Value:
        return member(lifter, site, Tupled(tuple, tuple(map(value_of, part))), index)

    def look(site: CallSite, part: Mapping[Any, Value]) -> Value:
        return _entries(lifter, site, dict(part), index)

    found = lifter.state(site, entry(index.kind, tuple(entries), tuple(values)), [index])
    if isinstance(found, Variable):
        lifter.mixed[found] = Items(index, entries, look, member_of)
    return found


def _rows(values: list[Any]) -> list[Tupled] | None:
    """Known lists or tuples of one length as structures; else None."""
    if not all(isinstance(value, (list, tuple, dict)) for value in values):
        return None
    first = values[0]
    if any(type(value) is not type(first) or len(value) != len(first) for value in values):
        return None
    if isinstance(first, dict):
        keys: list[Any] = list(first)
        if any(value.keys() != first.keys() for value in values):
            return None
        return [Tupled(dict, tuple(value_of(v[k]) for k in keys), tuple(keys)) for v in values]
    kind = tuple if isinstance(first, list) else type(first)
    return [Tupled(kind, tuple(map(value_of, value))) for value in values]


def item_at_key(key: Any, keys: Any, items: Any) -> Any:
    """The item for a key. This function is lifted, with known keys."""
    for each, item in zip(keys, items, strict=True):
        if key == each:
            return item
    raise KeyError(key)


def _by_parts(lifter: Lifter, site: CallSite, held: Tupled, index: Tupled) -> Value:
    """The item for a key that is a tuple, some parts of which depend on the arguments. If each key
    of the first part has the same keys of the others, there is one table for each part.
    """
    if held.keys is None:
        help = "write the indices one after the other, as in x[i][j], or use a dict"
        raise refused("an item of a list by a tuple", site.where, help)
    parts = index.items
    fitting = {
        key: item
        for key, item in zip(held.keys, held.items, strict=True)
        if isinstance(key, tuple)
        and len(key) == len(parts)
        and all(plain(part) == at for part, at in zip(parts, key, strict=True) if is_known(part))
    }
    inner: dict[Any, dict[Any, Value]] = {}
    for key, item in fitting.items():
        inner.setdefault(key[0], {})[key[1:]] = item
    rows = list(inner.values())
    if not rows or any(row.keys() != rows[0].keys() for row in rows):
        keys = Tupled(tuple, tuple(map(value_of, fitting)))
        args = index, keys, Tupled(tuple, tuple(fitting.values()))
        return lifter.called(site, KnownObject(item_at_key), args)
    if len(parts) == 1:
        found = {key: row[()] for key, row in inner.items()}
    else:
        rest = index.of(parts[1:])
        found = {
            key: looked_up(lifter, site, Tupled(dict, tuple(row.values()), tuple(row)), rest)
            for key, row in inner.items()
        }
    if is_known(parts[0]):
        return found[plain(parts[0])]
    return _entries(lifter, site, found, parts[0])


def member(lifter: Lifter, site: CallSite, held: Tupled, item: Value) -> Value:
    """Return whether a container has an item, or a dict has a key."""
    items = held.items if held.keys is None else tuple(map(value_of, held.keys))
    if isinstance(item, Variable) and all(map(is_known, items)):
        keys = tuple(dict.fromkeys(k for k in map(plain, items) if _fits_exactly(k, item.kind)))
        if not keys:
            return Constant(False)
        return lifter.state(site, membership(item.kind, keys), [item])
    if is_known(item) and all(map(is_known, items)):
        return Constant(plain(item) in [plain(each) for each in items])

    def added(found: Value, each: Value) -> Value:
        same = lifter.call(site, (operator.eq,), (each, item), {})
        if isinstance(found, Constant):
            return Constant(True) if found.value else same
        if isinstance(same, Constant):
            return Constant(True) if same.value else found
        return lifter.call(site, (operator.or_,), (found, same), {})

    return functools.reduce(added, items, Constant(False))


def _fits_exactly(key: Any, kind: Any) -> bool:
    return isinstance(key, (str, int, float)) and _fits(key, kind)
