"""Arrays of one shape with all their tangents as rows of plain numbers.

A rule that computes many sums of multiples, such as the steps of a solver, computes each as one
operation on a row, and records it as one map on a tape.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from overlay.interpretations.autodiff.applying import levels_of, without_lists
from overlay.interpretations.autodiff.duals import Active
from overlay.interpretations.autodiff.levels import Level
from overlay.interpretations.autodiff.linear_tape import TapeTangent

__all__ = ["ActiveRows", "OtherLevel", "TangentTable", "table_of"]


class OtherLevel(Exception):
    """A value is active in levels that its table has no columns for."""

    def __init__(self, levels: set[Level]) -> None:
        super().__init__("a value is active in other levels than those of its table")
        self.levels = levels


class Row(NamedTuple):
    """One or several values with their tangents. places: those on the tape."""

    numbers: Any
    places: Any


def table_of(levels: set[Level], shape: tuple[int, ...]) -> TangentTable | ActiveRows:
    """The table for values of one shape that are active in these levels."""
    ordered = sorted(levels, key=lambda level: level.depth)
    if any(level.is_taped for level in ordered[1:]):
        return ActiveRows()
    return TangentTable(levels, shape)


class ActiveRows:
    """Values as they are, active in any levels: also in one on a tape inside others, whose places
    are no tangents of those around."""

    def rows(self, count: int) -> list[Any]:
        """Several rows, not set yet."""
        return [0.0] * count

    def row(self, x: Any) -> Any:
        """The row of a value."""
        return without_lists(x)

    def fill(self, rows: list[Any], k: int, x: Any) -> None:
        """Set a row to that of a value, or of a list of numbers."""
        x = without_lists(x)
        rows[k] = np.asarray(x, float) if type(x) in (list, tuple) else +x

    def move(self, rows: list[Any], source: int, into: int) -> None:
        """Copy a row."""
        rows[into] = rows[source]

    def value(self, row: Any) -> Any:
        """The value of a row."""
        return +row

    def sum(self, row: Any, factors: Any, rows: list[Any]) -> Any:
        """The sum of a row and multiples of the first of some rows."""
        for factor, each in zip(factors, rows, strict=False):
            if factor != 0:
                row = row + each * float(factor)
        return row


class TangentTable:
    """Values of one shape, active in these levels, as rows of numbers."""

    def __init__(self, levels: set[Level], shape: tuple[int, ...]) -> None:
        ordered = sorted(levels, key=lambda level: level.depth)
        self._forward = [level for level in ordered if not level.is_taped]
        self._taped = next((level for level in ordered if level.is_taped), None)
        self._tape: Any = None
        self._shape = shape
        self._size = (math.prod(level.count + 1 for level in self._forward), *shape)

    def rows(self, count: int) -> Row:
        """Several rows of zeros."""
        size = (count, *self._size)
        return Row(np.zeros(size), None if self._taped is None else np.zeros(size, np.int64))

    def row(self, x: Any) -> Row:
        """The row of a value."""
        found = self.rows(1)
        self.fill(found, 0, x)
        return Row(found.numbers[0], None if found.places is None else found.places[0])

    def fill(self, rows: Row, k: int, x: Any) -> None:
        """Set a row to that of a value, or of a list of numbers."""
        if rows.places is not None:
            rows.places[k] = 0
        if type(x) in (list, tuple):
            for j, each in enumerate(x):
                self._set(rows, k, j, each)
        else:
            self._set(rows, k, ..., x)

    def _set(self, rows: Row, k: int, j: Any, x: Any) -> None:
        for i, part in enumerate(_parts(x, self._forward)):
            value = part
            if isinstance(part, Active):
                if part.level is not self._taped:
                    raise OtherLevel(levels_of(x))
                tangent = part.tangents[0]
                self._tape, rows.places[k, i, j], value = tangent.tape, tangent.places, part.value
            rows.numbers[k, i, j] = value

    def move(self, rows: Row, source: int, into: int) -> None:
        """Copy a row."""
        rows.numbers[into] = rows.numbers[source]
        if rows.places is not None:
            rows.places[into] = rows.places[source]

    def value(self, row: Row) -> Any:
        """The value of a row."""
        return _joined(self._plain_parts(row), self._forward)

    def _plain_parts(self, row: Row) -> Iterator[Any]:
        for i, numbers in enumerate(row.numbers):
            if self._taped is None or self._tape is None:
                yield numbers
            else:
                tangent = TapeTangent(self._tape, row.places[i], self._shape)
                yield self._taped.array(numbers, (tangent,))

    def sum(self, row: Row, factors: Any, rows: Row) -> Row:
        """The sum of a row and multiples of the first of some rows."""
        count = len(factors)
        numbers = row.numbers + np.tensordot(factors, rows.numbers[:count], 1)
        if self._taped is None:
            return Row(numbers, None)
        if self._tape is None:
            return Row(numbers, row.places)
        places = np.concatenate((row.places[None], rows.places[:count]))
        weights = np.concatenate(((1.0,), factors))
        source = TapeTangent(self._tape, places, places.shape)

        def back(d: Any) -> list[Any]:
            return [np.multiply.outer(weights, d)]

        (tangent,) = self._tape.record([numbers], [source], back)
        return Row(numbers, tangent.places)


def _parts(x: Any, levels: list[Level]) -> list[Any]:
    """A value and its tangents, by levels from the outermost to the innermost."""
    if not levels:
        return [x]
    *outer, level = levels
    if isinstance(x, (level.number, level.array)):
        every = (x.value, *x.tangents)
    else:
        every = (x, *[0.0] * level.count)
    return [part for each in every for part in _parts(each, outer)]


def _joined(parts: Iterator[Any], levels: list[Level]) -> Any:
    """The value of which these are the parts."""
    if not levels:
        return next(parts)
    *outer, level = levels
    value, *tangents = (_joined(parts, outer) for _ in range(level.count + 1))
    return level.array(value, tuple(tangents))
