"""Where ways through a function lead: to a label, to what is returned, or nowhere."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from inversion.errors import NotInvertible
from inversion.lifting.lifted_values import Tupled, Value, read
from inversion.program.loops import Part
from inversion.program.statements import Constant, Operand, Statement, Variable


@dataclass(frozen=True)
class At:
    """A way that has come to a label; what the names stand for there."""

    label: int
    known: dict[str, Value]


@dataclass(frozen=True)
class Returned:
    """What a way through a function gives at its end."""

    value: Value


class Nowhere:
    """A way through a function that raises."""


@dataclass(frozen=True)
class Exit:
    """The point of a turn where a loop may be left. leaves: for which value of the condition;
    known: what the names stand for there."""

    condition: Value
    leaves: bool
    known: dict[str, Value]
    outside: int
    inside: int


End = At | Returned
Place = int | None  # a label; None where it returns


@dataclass(frozen=True)
class Several:
    """Ways that have come to different places. flags: for each place, whether that is it."""

    ends: Mapping[Place, End]
    flags: Mapping[Place, Operand]


Found = At | Returned | Nowhere | Exit | Several


@dataclass(frozen=True)
class Way:
    """One way from a fork: what it leads to, what it computes, and what must hold for it."""

    found: Found
    statements: list[Statement]
    holds: list[tuple[Operand, bool]]

    @property
    def part(self) -> Part:
        """What it adds to a turn of a loop."""
        return Part(tuple(self.statements), tuple(self.holds))


def ends_of(found: At | Returned | Several) -> dict[Place, End]:
    """The ends that ways have, by place."""
    if isinstance(found, Several):
        return dict(found.ends)
    return {found.label if isinstance(found, At) else None: found}


def places_of(found: Found) -> set[Place]:
    """The places that ways come to."""
    return set(ends_of(found)) if isinstance(found, (At, Returned, Several)) else set()


def flag_of(found: At | Returned | Several, place: Place) -> Operand:
    """Whether a way has come to a place."""
    if isinstance(found, Several):
        return found.flags.get(place, Constant(False))
    return Constant(place in ends_of(found))


def stand_in(value: Value, known: Collection[Operand]) -> Value:
    """Any value like this one, where nothing needs it; itself, where it is known there too."""
    if isinstance(value, Tupled):
        return Tupled(value.kind, tuple(stand_in(item, known) for item in value.items))
    if isinstance(value, Variable) and value not in known:
        return Constant(value.kind(0))
    return value


def names_at(end: End, live: frozenset[str]) -> dict[str, Value]:
    """What the names stand for at an end, those that are still needed."""
    if isinstance(end, Returned):
        return {RESULT: end.value}
    return {name: value for name, value in end.known.items() if name in live}


RESULT = "return"  # no name of a variable


def end_at(place: Place, values: dict[str, Value], where: str) -> End:
    """The end at a place with these values."""
    return Returned(read(values, RESULT, where)) if place is None else At(place, values)


def not_followed(where: str) -> NotInvertible:
    """The refusal of a jump that leads to an unexpected place."""
    return NotInvertible(
        "cannot invert a loop that is left like this: where its ways lead was not understood",
        where=where,
        help="leave it by its condition, break or return",
    )
