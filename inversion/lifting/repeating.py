"""What is done again and again, as one statement: a turn of it is gone through, with variables in
the place of what changes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from inversion.errors import NotInvertible
from inversion.lifting.exits import (
    End,
    Found,
    Nowhere,
    Place,
    Several,
    Way,
    end_at,
    names_at,
)
from inversion.lifting.lifted_values import (
    CallSite,
    Tupled,
    Value,
    numbers_in,
    same_kinds,
    shown_kind,
    shown_name,
    variables_in,
)
from inversion.program.loops import Bounds, CountedRange, Loop
from inversion.program.statements import Constant, Operand, Statement, Variable

if TYPE_CHECKING:
    from inversion.lifting.execution_paths import Walk


@dataclass(frozen=True)
class Turn:
    """One turn of a loop: up to where it may be left, and from there on.

    condition: whether it is left (``leaves``) or goes on; None where the range says. following:
    what the names stand for after it. ends: where the loop leads, each with a flag where there are
    several.
    """

    before: Way
    condition: Operand | None
    leaves: bool
    after: Way
    following: dict[str, Value]
    ends: dict[Place, End]
    flags: dict[Place, Operand]


class Repeating(ABC):
    """A turn that is repeated: what changes in it, by name, and the statement for all turns.

    where: ``file:line`` of its beginning. word: what the statement is called after. bounds, counts:
    the range that it counts through.
    """

    def __init__(self, walk: Walk, where: str) -> None:
        self.walk = walk
        self.lifter = walk.lifter
        self.where = where
        self.word = "while"
        self.bounds: Bounds | None = None
        self.counts: CountedRange | None = None

    @abstractmethod
    def turn(self, state: Mapping[str, Value]) -> Turn:
        """Go through a turn."""

    def repeated(self, begin: dict[str, Value]) -> Found:
        """Add the statement for all turns, the first of which begins with these values; where it
        leads."""
        wide = begin
        while True:  # until no type is widened any more
            state = {name: self.fresh(name, value) for name, value in wide.items()}
            turn = self.turn(state)
            wider = {n: self.wider(n, value, turn.following[n]) for n, value in wide.items()}
            if all(same_kinds(wider[name], wide[name]) for name in wide):
                return self.stated(state, turn, begin)
            wide = wider

    def most_turns(self) -> int:
        """How many turns there are at most: those of a range that is known, or max_trips."""
        return self.lifter.max_trips

    def limits(self) -> tuple[Operand, ...]:
        """The start, stop and step of the range that it counts through."""
        return ()

    @property
    def line(self) -> str:
        """The number of its line."""
        return self.where.rpartition(":")[2]

    def wider(self, name: str, one: Value, other: Value) -> Value:
        """The first, in the types that both need."""
        if isinstance(one, Tupled) and isinstance(other, Tupled):
            if one.kind is other.kind and len(one.items) == len(other.items):
                pairs = zip(one.items, other.items, strict=True)
                return Tupled(one.kind, tuple(self.wider(name, *pair) for pair in pairs))
        elif isinstance(one, (Variable, Constant)) and isinstance(other, (Variable, Constant)):
            if one.kind is other.kind:
                return one
            if {one.kind, other.kind} <= {int, float, bool}:
                kind = float if float in (one.kind, other.kind) else int
                return Variable(str(one), kind, one.source if isinstance(one, Variable) else "")
        raise NotInvertible(
            f"{shown_name(name)} is a {shown_kind(one)} before a turn of the loop and a "
            f"{shown_kind(other)} after it",
            where=self.where,
            help="give it the same type on both",
        )

    def fresh(self, name: str, value: Value) -> Value:
        """Variables in the place of the numbers of a value."""
        if isinstance(value, Tupled):
            return Tupled(value.kind, tuple(self.fresh(name, item) for item in value.items))
        if isinstance(value, (Variable, Constant)):
            return self.lifter.variable(name, value.kind, "turn")
        raise NotInvertible(
            f"{shown_name(name)} is a {shown_kind(value)}, and changes in a loop",
            where=self.where,
            help="let numbers and tuples of numbers change",
        )

    # ---- the statement ----

    def stated(self, state: Mapping[str, Value], turn: Turn, begin: Mapping[str, Value]) -> Found:
        formals = [v for value in state.values() for v in variables_in(value)]
        site = replace(self.walk.site, where=self.where)
        values = [v for name in state for v in numbers_in(begin[name])]
        given = [
            self.lifter.converted(replace(site, name=v.name), value, v.kind)
            for v, value in zip(formals, values, strict=True)
        ]
        values = [v for name in state for v in numbers_in(turn.following[name])]
        last = turn.before if isinstance(turn.after.found, Nowhere) else turn.after
        following = self.within(last, site, formals, values)
        outside = Outside(self, turn, formals)
        ends = {place: outside.end(place, end) for place, end in turn.ends.items()}
        flags = {
            place: outside.number("returns" if place is None else "ends", flag)
            for place, flag in turn.flags.items()
        }
        rule = Loop(
            self.lifter.fresh(f"{self.word}_{self.line}"), tuple(formals), turn.before.part,
            turn.condition, turn.leaves, turn.after.part, tuple(following), tuple(outside.gives),
            tuple(outside.results), self.bounds if turn.condition is None else None, self.where,
            self.lifter.root_finding, self.most_turns(), counts=self.counts,
        )  # fmt: skip
        arguments = (*given, *rule.free, *(self.limits() if rule.bounds is not None else ()))
        if rule.results:
            made = Statement(rule, rule.results, arguments, self.where)
            self.lifter.statements.append(made)
        return Several(ends, flags) if len(ends) > 1 else next(iter(ends.values()))

    def within(
        self, way: Way, site: CallSite, formals: list[Variable], values: list[Operand]
    ) -> list[Operand]:
        """Values in the types of the state, converted at the end of a turn."""
        outer, self.lifter.statements = self.lifter.statements, way.statements
        try:
            return [
                self.lifter.converted(replace(site, name=v.name), value, v.kind)
                for v, value in zip(formals, values, strict=True)
            ]
        finally:
            self.lifter.statements = outer


class Outside:
    """What the names stand for outside of a loop: of what a turn computes, results of the loop."""

    def __init__(self, turns: Repeating, turn: Turn, formals: Sequence[Variable]) -> None:
        self.turns = turns
        self.results: list[Variable] = []
        self.gives: list[Operand] = []
        self.inner: set[Operand] = {
            *formals,
            *(v for s in turn.before.statements for v in s.results),
        }
        if turns.bounds is not None:
            self.inner.add(turns.bounds.index)

    def end(self, place: Place, end: End) -> End:
        name = self.turns.walk.site.name
        values = names_at(end, self.turns.walk.live_at(place))
        found = {n: self.value(name if place is None else n, v) for n, v in values.items()}
        return end_at(place, found, self.turns.where)

    def value(self, name: str, value: Value) -> Value:
        if isinstance(value, Tupled):
            return Tupled(value.kind, tuple(self.value(name, item) for item in value.items))
        return self.number(name, value) if isinstance(value, Variable) else value

    def number(self, name: str, value: Operand) -> Operand:
        if value not in self.inner:
            return value
        if value not in self.gives:
            self.results.append(self.turns.lifter.variable(name, value.kind, self.turns.word))
            self.gives.append(value)
        return self.results[self.gives.index(value)]
