"""Loops: one turn is gone through, with variables in the place of what changes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from inversion.errors import NotInvertible
from inversion.lifting.ends import (
    At,
    End,
    Exit,
    Found,
    Nowhere,
    Place,
    Several,
    Way,
    end_at,
    names_at,
    not_followed,
)
from inversion.lifting.values import (
    Iterating,
    Object,
    Range,
    Site,
    Tupled,
    Value,
    numbers_in,
    read,
    same_kinds,
    shown_kind,
    variables_in,
)
from inversion.loops import Bounds, Counts, Loop
from inversion.numba_ir import Next
from inversion.program import Constant, Operand, Statement, Variable

if TYPE_CHECKING:
    from inversion.lifting.ways import Walk

MOST_TURNS = 1000
"""More turns than this of loops that are written out are not gone through."""


def looped(walk: Walk, label: int, known: dict[str, Value], stops: frozenset[int]) -> Found | None:
    """A loop as one statement: where it leads. None where its turns are gone through one by one,
    for they are few and known."""
    walk.lifter.turns += 1
    cycle, block = walk.code.loops[label], walk.code.blocks[label]
    if walk.lifter.turns > MOST_TURNS:
        raise NotInvertible(
            f"cannot invert {walk.site.name}: its loops have more than {MOST_TURNS} turns "
            "that are known beforehand",
            where=block.ops[0].where,
            help="loop over a range",
        )
    inner = replace(walk, leaving=cycle.labels if cycle.simple else frozenset())
    inside = stops | {label} | (frozenset() if cycle.after is None else {cycle.after})
    made = Turns(inner, label, known, inside)
    nexts = [op for op in block.ops if isinstance(op, Next)]
    iterator = read(known, nexts[0].source, nexts[0].where) if nexts else None
    if isinstance(iterator, Iterating):
        return None if iterator.over is None else made.statement()
    first = walk.lifter.apart(lambda: inner.turn(label, dict(known), inside)).found
    if isinstance(first, Exit):
        return None if isinstance(first.condition, Constant) else made.statement()
    goes_on = isinstance(first, Several) and isinstance(first.flags.get(label), Variable)
    return made.statement() if goes_on else None


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


class Turns:
    """One turn of a loop, gone through with variables in the place of what changes."""

    def __init__(
        self, walk: Walk, label: int, known: dict[str, Value], stops: frozenset[int]
    ) -> None:
        self.walk = walk
        self.lifter = walk.lifter
        self.label = label
        self.known = known
        self.stops = stops
        blocks = walk.code.blocks
        self.where = blocks[label].ops[0].where
        cycle = walk.code.loops[label]
        assigned = {op.name for inside in cycle.labels for op in blocks[inside].ops}
        self.names = [n for n in known if n in assigned and n in blocks[label].live]
        self.names = [n for n in self.names if not isinstance(known[n], (Object, Iterating))]
        self.bounds: Bounds | None = None
        self.counts: Counts | None = None
        self.counter = f"i_{self.line}.count"  # no name that numba gives

    def statement(self) -> Found:
        """Add the statement for the loop; where it leads."""
        begin = {name: self.known[name] for name in self.names}
        counted = self.counted()
        if counted is not None and not self.walk.leaving:
            begin[self.counter] = counted.start
        while True:  # until no type is widened any more
            state = {name: self.fresh(name, value) for name, value in begin.items()}
            turn = self.turn(state)
            wider = {name: self.wider(name, value, turn.following[name])
                     for name, value in begin.items()}  # fmt: skip
            if all(same_kinds(wider[name], begin[name]) for name in begin):
                break
            begin = wider
        given = {name: self.known.get(name, value) for name, value in begin.items()}
        return self.stated(state, turn, given)

    def counted(self) -> Range | None:
        """The range that it counts through."""
        for op in self.walk.code.blocks[self.label].ops:
            found = self.known.get(op.source) if isinstance(op, Next) else None
            if isinstance(found, Iterating):
                return found.over
        return None

    def fresh(self, name: str, value: Value) -> Value:
        """Variables in the place of the numbers of a value."""
        if isinstance(value, Tupled):
            return Tupled(value.kind, tuple(self.fresh(name, item) for item in value.items))
        if isinstance(value, (Variable, Constant)):
            return Variable(self.lifter.fresh(name), value.kind)
        raise NotInvertible(
            f"{name} is a {shown_kind(value)}, and changes in a loop",
            where=self.where,
            help="let numbers and tuples of numbers change",
        )

    def turn(self, state: Mapping[str, Value]) -> Turn:
        """Go through a turn."""
        return self.simple(state) if self.walk.leaving else self.several(state)

    def simple(self, state: Mapping[str, Value]) -> Turn:
        """Go through a turn of a loop that is left at one place, which each turn comes to."""
        lifter, inside = self.lifter, {**self.known, **state}
        for op in self.walk.code.blocks[self.label].ops:
            found = self.known.get(op.source) if isinstance(op, Next) else None
            if isinstance(found, Iterating) and isinstance(op, Next):
                names = [lifter.fresh(f"{n}_{self.line}") for n in ("start", "stop", "step", "i")]
                start, stop, step, index = (Variable(name, int) for name in names)
                self.bounds = Bounds(start, stop, step, index)
                inside[op.source] = Iterating(found.over, (index,))
        before = lifter.apart(lambda: self.walk.turn(self.label, inside, self.stops))
        leave = before.found
        if not isinstance(leave, Exit):
            raise never_left(self.where)
        onward = replace(self.walk, leaving=frozenset())
        after = lifter.apart(lambda: onward.run(leave.inside, dict(leave.known), self.stops))
        if not isinstance(after.found, At) or after.found.label != self.label:
            raise not_followed(self.where)
        condition = leave.condition
        assert isinstance(condition, (Variable, Constant, Object))
        ends: dict[Place, End] = {leave.outside: At(leave.outside, leave.known)}
        return Turn(
            before, None if isinstance(condition, Object) else condition, leave.leaves, after,
            after.found.known, ends, {},
        )  # fmt: skip

    def several(self, state: Mapping[str, Value]) -> Turn:
        """Go through a turn of a loop that is left at several places: where one of them is come
        to, and where the next turn begins, are ways like others."""
        inside, more = {**self.known, **state}, dict[str, Value]()

        def go() -> Found:
            more.update(self.count(inside, state))
            return self.walk.turn(self.label, inside, self.stops)

        way = self.lifter.apart(go)
        if not isinstance(way.found, Several) or self.label not in way.found.ends:
            raise never_left(self.where)
        ends, flags = dict(way.found.ends), dict(way.found.flags)
        on, goes_on = ends.pop(self.label), flags.pop(self.label)
        assert isinstance(on, At)
        nothing = Way(Nowhere(), [], [])
        following = {**on.known, **more}
        return Turn(way, goes_on, False, nothing, following, ends, flags if len(ends) > 1 else {})

    def count(self, inside: dict[str, Value], state: Mapping[str, Value]) -> dict[str, Value]:
        """Let a turn know where its range has come to, and whether that goes on; the state after
        it."""
        over = self.counted()
        if over is None:
            return {}
        site, at = replace(self.walk.site, where=self.where, overlaid=False), state[self.counter]

        def stated(target: Callable[..., Any], *operands: Value) -> Value:
            name = replace(site, name=f"i_{self.line}")
            return self.lifter.call(name, (target,), operands, {})

        if isinstance(over.step, Constant):
            more = stated(operator.lt if over.step.value > 0 else operator.gt, at, over.stop)
        else:
            left = stated(operator.mul, stated(operator.sub, over.stop, at), over.step)
            more = stated(operator.gt, left, Constant(0))
        assert isinstance(more, (Variable, Constant))
        assert isinstance(at, Variable)
        self.counts = Counts(at, over.stop, over.step, more)
        for op in self.walk.code.blocks[self.label].ops:
            if isinstance(op, Next):
                inside[op.source] = Iterating(over, (at,), more)
        return {self.counter: stated(operator.add, at, over.step)}

    @property
    def line(self) -> str:
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
                return Variable(str(one), kind)
        raise NotInvertible(
            f"{name} is a {shown_kind(one)} before a turn of the loop and a "
            f"{shown_kind(other)} after it",
            where=self.where,
            help="give it the same type on both",
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
        whole = turn.before if turn.condition is not None and not self.walk.leaving else turn.after
        following = self.within(whole, site, formals, values)
        outside = Outside(self, turn, formals)
        ends = {place: outside.end(place, end) for place, end in turn.ends.items()}
        flags = {
            place: outside.number("returns" if place is None else "ends", flag)
            for place, flag in turn.flags.items()
        }
        word = "for" if self.counted() is not None else "while"
        rule = Loop(
            self.lifter.fresh(f"{word}_{self.line}"), tuple(formals), turn.before.part,
            turn.condition, turn.leaves, turn.after.part, tuple(following), tuple(outside.gives),
            tuple(outside.results), self.bounds if turn.condition is None else None, self.where,
            self.lifter.numeric, self.most_turns(), counts=self.counts,
        )  # fmt: skip
        arguments = (*given, *rule.free, *(self.limits() if rule.bounds is not None else ()))
        if rule.results:
            made = Statement(rule, rule.results, arguments, self.where)
            self.lifter.statements.append(made)
        return Several(ends, flags) if len(ends) > 1 else next(iter(ends.values()))

    def within(
        self, way: Way, site: Site, formals: list[Variable], values: list[Operand]
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

    def most_turns(self) -> int:
        """How many turns there are at most: those of a range that is known, or max_trips."""
        ends = [end.value for end in self.limits() if isinstance(end, Constant)]
        return len(range(*ends)) if len(ends) == 3 else self.lifter.max_trips

    def limits(self) -> tuple[Operand, ...]:
        over = self.counted()
        return () if over is None else (over.start, over.stop, over.step)


class Outside:
    """What the names stand for outside of a loop: of what a turn computes, results of the loop."""

    def __init__(self, turns: Turns, turn: Turn, formals: Sequence[Variable]) -> None:
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
        blocks, name = self.turns.walk.code.blocks, self.turns.walk.site.name
        live = frozenset[str]() if place is None else blocks[place].live
        values = names_at(end, live)
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
            self.results.append(Variable(self.turns.lifter.fresh(name), value.kind))
            self.gives.append(value)
        return self.results[self.gives.index(value)]


def never_left(where: str) -> NotInvertible:
    """The refusal of a loop without an end."""
    return NotInvertible(
        "cannot invert a loop that is never left",
        where=where,
        help="leave it by its condition, break or return",
    )
