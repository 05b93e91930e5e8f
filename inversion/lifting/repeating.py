"""Repetition as one statement: one iteration is lifted, with variables for the
loop-carried values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import CellType
from typing import TYPE_CHECKING, Any

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
from inversion.lifting.heap import frozen, is_mutable
from inversion.lifting.lifted_values import (
    HeapObject,
    Known,
    KnownObject,
    Meaningless,
    Tupled,
    Value,
    numbers_in,
    same_kinds,
    shown_kind,
    shown_name,
    variables_in,
)
from inversion.lifting.mixed_numbers import OfWays, joined_kinds
from inversion.lifting.sequence_calls import sequence_of
from inversion.program.loops import Bounds, CountedRange, Loop
from inversion.program.statements import Constant, EmptyList, Operand, Statement, Variable
from overlay.core.short_repr import a_or_an
from primitives.sequences.lists import ELEMENTS, is_list

if TYPE_CHECKING:
    from inversion.lifting.execution_paths import Walk


@dataclass(frozen=True)
class Turn:
    """One iteration of a loop, as two paths: before and after the exit test.

    condition: the exit test; if it is true, the loop is left (``leaves``) or continued; None if the
    range decides. following: the values of names after the iteration. ends: the exits of the loop;
    each has a flag if there are several.
    """

    before: Way
    condition: Operand | None
    leaves: bool
    after: Way
    following: Known
    ends: dict[Place, End]
    flags: dict[Place, Operand]

    @property
    def end(self) -> Way:
        """The path at whose end the next iteration begins."""
        return self.before if isinstance(self.after.found, Nowhere) else self.after


class Repeating(ABC):
    """Builder of the loop statement for a repeated iteration, from its loop-carried values.

    where: ``file:line`` of its beginning. word: the prefix of the statement's name. bounds, counts:
    the range over which it counts. before: the contents of objects before it. constant: the names
    of known objects, which are no part of the state unless an iteration gives them another value.
    """

    def __init__(self, walk: Walk, where: str) -> None:
        self.walk = walk
        self.lifter = walk.lifter
        self.where = where
        self.before: Known = {}
        self.constant: Known = {}
        self.word = "while"
        self.bounds: Bounds | None = None
        self.counts: CountedRange | None = None

    @abstractmethod
    def turn(self, state: Known) -> Turn:
        """Lift one iteration from a state."""

    def repeated(self, begin: Known) -> Found:
        """Add the statement for all iterations, which begin with these values, and return its exit.

        Iterations are lifted until the types of the state are stable. The contents of objects that
        an iteration changes become part of the state.
        """
        begin = with_texts(begin)
        wide = begin
        while True:  # until no type is widened further
            state = {name: self.fresh(shown(name), value) for name, value in wide.items()}
            turn = self.turn(state)
            changed = with_texts(self.changed(turn.following, wide))
            if changed:
                begin, wide = {**begin, **changed}, {**wide, **changed}
                continue
            turn = replace(turn, following={
                n: self.as_state(turn, self.ended(turn.following, n, state), wide[n]) for n in wide
            })  # fmt: skip
            varying = [n for n in wide if _varies_in_length(wide[n], turn.following[n])]
            if varying:
                for name in varying:
                    begin = {**begin, name: self.as_list(begin[name], turn.following[name])}
                wide = {**wide, **{name: begin[name] for name in varying}}
                continue
            wider = {n: self.wider(shown(n), value, turn.following[n]) for n, value in wide.items()}
            if all(same_kinds(wider[name], wide[name]) for name in wide):
                return self.stated(state, turn, begin)
            wide = wider

    def changed(self, following: Known, state: Known) -> Known:
        """The contents, before the loop, of further objects that an iteration changes, and further
        names that get another value.
        """
        found = {
            key: value
            for key, value in self.before.items()
            if isinstance(key, HeapObject) and key not in state and following[key] != value
        }
        for name, value in self.constant.items():
            if name not in state and following.get(name, value) != value:
                if value.kind is not str:
                    raise self.another(name, value, following[name])
                found[name] = value
        return found

    def ended(self, following: Known, name: Any, state: Known) -> Value:
        """The value of a name of the state after an iteration."""
        value = following[name]
        if isinstance(name, HeapObject):
            if isinstance(value, Meaningless):
                raise value.error
            return value
        return frozen(following, value, self.where)

    def as_state(self, turn: Turn, value: Value, state: Value) -> Value:
        """A value after an iteration in the form of the state: a string is one operand there."""
        if isinstance(value, Tupled) and value.is_like(state):
            pairs = zip(value.items, state.items, strict=True)
            return value.of(self.as_state(turn, *pair) for pair in pairs)
        if state.kind is value.kind is str and isinstance(state, (Variable, Constant)):
            site = replace(self.walk.site, where=self.where)
            return self.within(turn.end, lambda: sequence_of(self.lifter, site, value))
        return value

    def as_list(self, value: Value, following: Value) -> Operand:
        """A list or string as one operand, the form in which a loop carries one with an unknown
        number of items. The type of a list is that of the items that it has, or will get.
        """
        site = replace(self.walk.site, where=self.where)
        if isinstance(value, Tupled) and not value.items and isinstance(following, Tupled):
            kinds = {item.kind for item in following.items}
            if len(kinds) == 1 and kinds <= set(ELEMENTS):
                return EmptyList([], kinds.pop())
        found = sequence_of(self.lifter, site, value)
        if not isinstance(found, (Variable, Constant)):
            raise NotInvertible(
                f"{a_or_an(shown_kind(value))} has another number of items after an iteration "
                "of the loop",
                where=self.where,
                help="use a list of numbers for each part, or loop over a known number of items",
            )
        return found

    def most_turns(self) -> int:
        """The largest number of iterations: that of a known range, or max_trips."""
        return self.lifter.max_trips

    def limits(self) -> tuple[Operand, ...]:
        """The start, stop and step of the range over which it counts."""
        return ()

    @property
    def line(self) -> str:
        """The line number of its beginning."""
        return self.where.rpartition(":")[2]

    def wider(self, name: str, one: Value, other: Value) -> Value:
        """The first value, widened to the common types of both."""
        if isinstance(one, Tupled) and isinstance(other, Tupled):
            if one.is_like(other):
                pairs = zip(one.items, other.items, strict=True)
                return one.of(self.wider(name, *pair) for pair in pairs)
            if one.kind is other.kind is CellType:
                raise NotInvertible(
                    "a variable that an inner function uses may be used before it has a value",
                    where=self.where,
                    help="give it a value before the loop",
                )
            if one.kind is other.kind and is_mutable(one.kind):
                raise NotInvertible(
                    f"{a_or_an(shown_kind(one))} has another number of items after an "
                    "iteration of the loop",
                    where=self.where,
                    help="use a list of numbers for each part, or loop over a known number of "
                    "items",
                )
        elif one == other:
            return one
        elif isinstance(one, (Variable, Constant)) and isinstance(other, (Variable, Constant)):
            if one.kind is other.kind:
                return one
            if {one.kind, other.kind} <= {int, float, bool}:
                kind = float if float in (one.kind, other.kind) else int
                return Variable(str(one), kind, one.source if isinstance(one, Variable) else "")
        raise self.another(name, one, other)

    def another(self, name: str, one: Value, other: Value) -> NotInvertible:
        """The error for a name with values that have no common type."""
        after = shown_kind(other)
        return NotInvertible(
            f"{shown_name(name)} is {a_or_an(shown_kind(one))} before an iteration of the loop and "
            f"{'another' if after == shown_kind(one) else 'a'} {after} after it",
            where=self.where,
            help="give it the same type in every iteration",
        )

    def fresh(self, name: str, value: Value) -> Value:
        """A value of the same structure with new variables for its numbers."""
        if isinstance(value, Tupled):
            return value.of(self.fresh(name, item) for item in value.items)
        if isinstance(value, HeapObject):
            return value
        if isinstance(value, (Variable, Constant)):
            made = self.lifter.variable(name, value.kind, "turn")
            self.lifter.arrays.joined(made, (value,))
            return made
        raise NotInvertible(
            f"{shown_name(name)} is {a_or_an(shown_kind(value))}, and changes in a loop",
            where=self.where,
            help="change only numbers and tuples of numbers in a loop",
        )

    # ---- the statement ----

    def stated(self, state: Known, turn: Turn, begin: Known) -> Found:
        formals = [v for value in state.values() for v in variables_in(value)]
        site = replace(self.walk.site, where=self.where)
        values = [v for name in state for v in numbers_in(begin[name])]
        given = [
            self.lifter.converted(replace(site, name=v.name), value, v.kind)
            for v, value in zip(formals, values, strict=True)
        ]
        values = [v for name in state for v in numbers_in(turn.following[name])]
        for formal, value in zip(formals, values, strict=True):
            kinds = joined_kinds(self.lifter, (value,))
            if kinds:
                self.lifter.mixed[formal] = OfWays(kinds)
        following = self.within(turn.end, lambda: [
            self.lifter.converted(replace(site, name=v.name), value, v.kind)
            for v, value in zip(formals, values, strict=True)
        ])  # fmt: skip
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

    def within[T](self, way: Way, go: Callable[[], T]) -> T:
        """The result of a call at the end of a path, with its statements there."""
        outer, self.lifter.statements = self.lifter.statements, way.statements
        try:
            return go()
        finally:
            self.lifter.statements = outer


def with_texts(values: Known) -> Known:
    """Values with constant strings as operands."""
    return {name: _with_texts(value) for name, value in values.items()}


def _with_texts(value: Value) -> Value:
    if isinstance(value, Tupled):
        return value.of(map(_with_texts, value.items))
    if isinstance(value, KnownObject) and isinstance(value.value, str):
        return Constant(str(value.value))
    return value


def _varies_in_length(value: Value, following: Value) -> bool:
    """Return whether a list or string has a different number of items after an iteration."""
    if not isinstance(value, Tupled) or value.kind not in (list, str):
        return False
    if isinstance(following, Tupled):
        return following.kind is value.kind and len(following.items) != len(value.items)
    kind = following.kind
    return isinstance(following, (Variable, Constant)) and (
        kind is str if value.kind is str else is_list(kind)
    )


def shown(name: Any) -> str:
    """The name for a value of the state: that of a variable, or of the class of an object."""
    if isinstance(name, HeapObject):
        return "a shared variable" if name.kind is CellType else name.kind.__name__
    return name


class Outside:
    """Values of names outside a loop: values computed in an iteration become results of
    the loop.
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
        found: Known = {
            n: self.value(name if place is None else shown(n), v) for n, v in values.items()
        }
        return end_at(place, found, self.turns.where)

    def value(self, name: str, value: Value) -> Value:
        if isinstance(value, Tupled):
            return value.of(self.value(name, item) for item in value.items)
        return self.number(name, value) if isinstance(value, Variable) else value

    def number(self, name: str, value: Operand) -> Operand:
        if value not in self.inner:
            return value
        if value not in self.gives:
            self.results.append(self.turns.lifter.variable(name, value.kind, self.turns.word))
            self.gives.append(value)
            self.turns.lifter.arrays.joined(self.results[-1], (value,))
            kinds = joined_kinds(self.turns.lifter, (value,))
            if kinds:
                self.turns.lifter.mixed[self.results[-1]] = OfWays(kinds)
        return self.results[self.gives.index(value)]
