"""Whether something that compiled code has read of the program is another by now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any

from overlay.code.record import Reading
from overlay.compiled import name_words as words
from overlay.compiled.name_words import Word
from overlay.core.target import generic_state

__all__ = ["Watch"]


class Watch:
    """What some functions have read."""

    def __init__(self) -> None:
        self._readings: dict[int, Reading] = {}
        self._of_function: dict[int, Reading] = {}

    def add(self, function: FunctionType) -> Reading:
        """A function is compiled: what it reads."""
        known = self._of_function.get(id(function))
        if known is None or known.outdated():
            known = self._of_function[id(function)] = Reading(function)
            self.include(known)
        return known

    def include(self, reading: Reading) -> None:
        """Code is used that was compiled from what was read so."""
        self._readings[id(reading)] = reading

    def words(self) -> Iterator[Word]:
        """Words of memory that differ when something may have changed."""
        readings = self._readings.values()
        spaces: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        for reading in readings:
            yield from words.of_function(reading.function)
            for namespace, values in reading.spaces.values():
                spaces.setdefault(id(namespace), (namespace, {}))[1].update(values)
        for namespace, names in spaces.values():
            yield from words.of_names(namespace, names)
        for cell in {id(c): c for r in readings for c, _ in r.cells}.values():
            yield from words.of_cell(cell)
        for each in {id(g): g for r in readings for g, _ in r.generic}.values():
            state = generic_state(each)
            yield words.ALWAYS if state is None else words.of_count(state.changes)

        for each in {id(a): a for r in readings for a, _ in r.arrays}.values():
            yield from words.of_array(each)

    def changed(self) -> bool:
        """Whether one of the functions would read something else by now."""
        return any(reading.changed() for reading in self._readings.values())

    def altered(self, values: Iterable[Any]) -> bool:
        """Whether one of these, copied into code when that was compiled, has other contents by
        now, or may have."""
        given = list(values)
        return any(reading.altered(given) for reading in self._readings.values())
