"""Repetition as one statement: one iteration is lifted, with variables for the loop-carried
values.
"""

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
    """One iteration of a loop, as two paths: before and after the exit test.

    condition: the exit test; if true, the loop is left (``leaves``) or continues; None where the
    range decides. following: the names' values after the iteration. ends: the exits of the loop,
    each with a flag where there are several.
    """

    before: Way
    condition: Operand | None
    leaves: bool
    after: Way
    following: dict[str, Value]
    ends: dict[Place, End]
    flags: dict[Place, Operand]


class Repeating(ABC):
    """Builder of the loop statement for a repeated iteration, from its loop-carried values.

    where: ``file:line`` of its beginning. word: prefix of the statement's name. bounds, counts:
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
        """Lift one iteration from a state."""

    def repeated(self, begin: dict[str, Value]) -> Found:
        """Add the statement for all iterations, which begin with these values, and return its
        exit. Iterations are lifted until the types of the state are stable.
        """
        wide = begin
        while True:  # until no type is widened any more
            state = {name: self.fresh(name, value) for name, value in wide.items()}
            turn = self.turn(state)
            wider = {n: self.wider(n, value, turn.following[n]) for n, value in wide.items()}
            if all(same_kinds(wider[name], wide[name]) for name in wide):
                return self.stated(state, turn, begin)
            wide = wider

    def most_turns(self) -> int:
        """The maximum number of iterations: that of a known range, or max_trips."""
        return self.lifter.max_trips

    def limits(self) -> tuple[Operand, ...]:
        """The start, stop and step of the range that it counts through."""
        return ()

    @property
    def line(self) -> str:
        """The line number of its beginning."""
        return self.where.rpartition(":")[2]

    def wider(self, name: str, one: Value, other: Value) -> Value:
        """The first value, widened to the common types of both."""
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
        """A value of the same structure with new variables for its numbers."""
        if isinstance(value, Tupled):
            return Tupled(value.kind, tuple(self.fresh(name, item) for item in value.items))
        if isinstance(value, (Variable, Constant)):
            made = self.lifter.variable(name, value.kind, "turn")
            self.lifter.arrays.joined(made, (value,))
            return made
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
        """Values converted to the types of the state, at the end of a path."""
        outer, self.lifter.statements = self.lifter.statements, way.statements
        try:
            return [
                self.lifter.converted(replace(site, name=v.name), value, v.kind)
                for v, value in zip(formals, values, strict=True)
            ]
        finally:
            self.lifter.statements = outer


class Outside:
    """Values of names outside of a loop: values computed in an iteration become results of the
    loop.
    """

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
            self.turns.lifter.arrays.joined(self.results[-1], (value,))
        return self.results[self.gives.index(value)]
