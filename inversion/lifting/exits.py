"""Ends of execution paths: at a label, at a return, or at an exception."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from inversion.errors import NotInvertible
from inversion.lifting.lifted_values import (
    HeapObject,
    Known,
    Tupled,
    Value,
    heap_of,
    is_cell,
    read,
)
from inversion.program.loops import Part
from inversion.program.statements import Constant, Operand, Statement, Variable
from primitives.arrays.domain import element_of, is_array, shape_of


@dataclass(frozen=True)
class At:
    """The end of a path at a label. known: the values of names there."""

    label: int
    known: Known


@dataclass(frozen=True)
class Returned:
    """The end of a path at a return, with its value. heap: the contents of objects there."""

    value: Value
    heap: Known = field(default_factory=Known)


class Nowhere:
    """The end of a path that raises."""


@dataclass(frozen=True)
class Exit:
    """An exit test in an iteration of a loop. leaves: the value of the condition that leaves the
    loop. known: the values of names there. outside, inside: the labels that follow.
    """

    condition: Value
    leaves: bool
    known: Known
    outside: int
    inside: int


End = At | Returned
Place = int | None  # a label; None for a return


@dataclass(frozen=True)
class Several:
    """Paths with ends at different places. flags: for each place, the condition under which it is
    reached.
    """

    ends: Mapping[Place, End]
    flags: Mapping[Place, Operand]


Found = At | Returned | Nowhere | Exit | Several


@dataclass(frozen=True)
class Way:
    """One path from a fork: its end, its statements, and its path conditions."""

    found: Found
    statements: list[Statement]
    holds: list[tuple[Operand, bool]]

    @property
    def part(self) -> Part:
        """The path as a part of an iteration of a loop."""
        return Part(tuple(self.statements), tuple(self.holds))


def ends_of(found: At | Returned | Several) -> dict[Place, End]:
    """The ends of paths, by place."""
    if isinstance(found, Several):
        return dict(found.ends)
    return {found.label if isinstance(found, At) else None: found}


def places_of(found: Found) -> set[Place]:
    """The places that paths reach."""
    return set(ends_of(found)) if isinstance(found, (At, Returned, Several)) else set()


def flag_of(found: At | Returned | Several, place: Place) -> Operand:
    """The condition under which paths reach a place."""
    if isinstance(found, Several):
        return found.flags.get(place, Constant(False))
    return Constant(place in ends_of(found))


def stand_in(value: Value, known: Collection[Operand]) -> Value:
    """A placeholder with the structure and types of a value that is not used: variables that are
    unknown there become constants.
    """
    if isinstance(value, Tupled):
        return value.of(stand_in(item, known) for item in value.items)
    if isinstance(value, Variable) and value not in known:
        if is_array(value.kind):
            return Constant(np.zeros(shape_of(value.kind), np.dtype(element_of(value.kind))))
        return Constant(value.kind(0))
    return value


def names_at(end: End, live: frozenset[str]) -> Known:
    """The values of the live names at an end, and the contents of objects."""
    if isinstance(end, Returned):
        return {RESULT: end.value, **end.heap}
    return {
        name: value
        for name, value in end.known.items()
        if name in live or isinstance(name, HeapObject) or is_cell(value)
    }


RESULT = "return"  # no variable can have this name


def end_at(place: Place, values: Known, where: str) -> End:
    """The end at a place with these values."""
    if place is None:
        return Returned(read(values, RESULT, where), heap_of(values))
    return At(place, values)


def not_followed(where: str) -> NotInvertible:
    """The error for a jump to an unexpected place."""
    return NotInvertible(
        "cannot invert this loop: its exits cannot be analysed",
        where=where,
        help="leave the loop by its condition, break or return",
    )
