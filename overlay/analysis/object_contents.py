"""ObjectContents of the containers and objects that analysed code makes, by where they are made."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from types import CellType
from typing import Any

from overlay.analysis.abstract_values import BOTTOM, TOP, ItemValues, Iteration, KnownValue
from overlay.analysis.kind_functions import Kinds, MethodOfObject
from overlay.code.constants import Captured

__all__ = ["ITEM", "KEY", "ObjectContents"]

ITEM, KEY = "item", "key"
# the number of changes of a slot after which it may hold anything
_MOST = 12
_EMPTY = CellType()


class ObjectContents:
    """Flow-insensitive contents: for each site and slot the join of all values that are written
    there.

    A site is a place that makes containers, or a class whose objects are made; its slots are
    ``ITEM``, ``KEY``, and the names of attributes. A site is lost if code that is not analysed
    has an object of it: its slots hold anything. The contents grow while the program is analysed,
    and the analysis is repeated until they do not change.
    """

    def __init__(self, join: Callable[[Any, Any], Any]) -> None:
        self.changed = False
        self._join = join
        self._slots: dict[Any, dict[str, Any]] = {}
        self._lost: set[Any] = set()
        self._changes: dict[tuple[Any, str], int] = {}

    def read(self, sites: frozenset[Any] | None, slot: str) -> Any:
        """The join of a slot of these sites; TOP if they are not all known."""
        if sites is None or not self.follows(sites):
            return TOP
        found: Any = BOTTOM
        for site in sites:
            found = self._join(found, self._slots.get(site, {}).get(slot, BOTTOM))
        return found

    def follows(self, sites: frozenset[Any] | None) -> bool:
        """Whether all values that are written to these sites are known."""
        return sites is not None and sites.isdisjoint(self._lost)

    def write(self, sites: frozenset[Any] | None, slot: str, value: Any) -> None:
        """Join a value into a slot of these sites."""
        if sites is None:
            self.lose((value,))
            return
        for site in sites:
            if site in self._lost:
                self.lose((value,))
                continue
            slots = self._slots.setdefault(site, {})
            old = slots.get(slot, BOTTOM)
            new = self._join(old, value)
            if new != old:
                key = site, slot
                self._changes[key] = self._changes.get(key, 0) + 1
                if self._changes[key] > _MOST and new != TOP:
                    self.lose((new,))
                    new = TOP
                slots[slot] = new
                self.changed = True

    def lose(self, values: Iterable[Any]) -> None:
        """Mark as lost all sites that can be reached from these values."""
        todo = list(values)
        while todo:
            value = todo.pop()
            if isinstance(value, Kinds):
                for site in (value.sites or frozenset()) - self._lost:
                    self._lost.add(site)
                    self.changed = True
                    todo += self._slots.pop(site, {}).values()
            else:
                todo += _parts(value)

    def holds(self, value: Any, is_meant: Callable[[type], bool]) -> bool:
        """Whether some object that can be reached from a value may be of a class that is meant."""
        todo, seen = [value], set[Any]()
        while todo:
            each = todo.pop()
            if isinstance(each, Kinds):
                if any(map(is_meant, each.types)):
                    return True
                for site in (each.sites or frozenset()) - seen:
                    seen.add(site)
                    todo += self._slots.get(site, {}).values()
            else:
                todo += _parts(each)
        return False


def _parts(value: Any) -> list[Any]:
    """The abstract values inside one that is more than a class."""
    if isinstance(value, ItemValues):
        return list(value.items)
    if isinstance(value, Iteration):
        return [value.item]
    if isinstance(value, MethodOfObject):
        return [value.receiver]
    function = value.value if isinstance(value, KnownValue) else None
    if type(function) is functools.partial:
        given = (*function.args, *function.keywords.values())
        return [
            KnownValue(function.func),
            *(each.value for each in given if type(each) is Captured),
        ]
    held = getattr(function, "__defaults__", None) or ()
    cells = getattr(function, "__closure__", None) or ()
    found: list[Any] = []
    for each in (*held, *(cell.cell_contents for cell in cells if cell != _EMPTY)):
        if type(each) is Captured:
            found.append(each.value)
    return found
