"""What a loop is made of, and the modes in which it is solved. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from inversion.planning.plan import Plan
from inversion.program.statements import Operand, Statement, Variable
from primitives.relation import Mode

__all__ = ["BEYOND", "TRIPS", "Backwards", "Bounds", "Counted", "Counts", "Part"]

TRIPS, BEYOND = "trips", "beyond"
"""What coordinates are called where no variable is: how often a loop has run, and how far the end
of a range is from its last item."""


@dataclass(frozen=True)
class Part:
    """A stretch of a loop's turn: statements, and conditions that must hold."""

    statements: tuple[Statement, ...] = ()
    holds: tuple[tuple[Operand, bool], ...] = ()


@dataclass(frozen=True)
class Bounds:
    """The range that a loop counts through: the variables for its start, stop and step, and the
    one that counts."""

    start: Variable
    stop: Variable
    step: Variable
    index: Variable


@dataclass(frozen=True)
class Counts:
    """The range of a loop that may be left before its end: the state that counts, the stop and
    step, and the condition that it goes on."""

    at: Variable
    stop: Operand
    step: Operand
    more: Operand


@dataclass(frozen=True)
class Backwards(Mode):
    """A loop solved for the state that it begins with.

    forwards: state that is known at the beginning, and needs nothing else. last: how the state
    at the end follows from what the loop gives. turn: how the state before a turn follows from
    that after it. overwritten: state that a turn gives and does not read. at_end, each: the
    coordinate that each parameter of these plans is, in ``each`` one for every turn. begins: the
    coordinate for what is overwritten, as it is before the first turn. to_the_end: the range that
    is gone through to its end, where that is known; else trips is the coordinate that says how
    often the loop has run.
    """

    forwards: tuple[Variable, ...] = ()
    last: Plan | None = None
    turn: Plan | None = None
    overwritten: tuple[Variable, ...] = ()
    at_end: Mapping[str, str] = field(default_factory=dict[str, str])
    each: Mapping[str, str] = field(default_factory=dict[str, str])
    begins: Mapping[Variable, str] = field(default_factory=dict[Variable, str])
    to_the_end: tuple[Operand, Operand, Operand] | None = None
    trips: str | None = None

    def parts(self) -> list[tuple[str, Any, Mapping[str, str]]]:
        """The plans for the end, where there is something to solve, and for each turn."""
        begins = {v.name: coordinate for v, coordinate in self.begins.items()}
        named = [
            ("at the end", self.last, self.at_end),
            ("each turn, the last one first", self.turn, {**self.each, **begins}),
        ]
        return [part for part in named if part[1] is not None and part[1].steps]


@dataclass(frozen=True)
class Counted(Mode):
    """A loop solved for the end of its range: it is run to see when it gives what is known. Of
    several numbers of turns it is the one closest to a coordinate, ``trips``. beyond: the one that
    says how far the end is from the last item."""

    trips: str = TRIPS
    beyond: str = BEYOND
