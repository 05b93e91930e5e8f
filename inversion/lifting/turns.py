"""Loops: one turn is gone through, with variables in the place of what changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from inversion.errors import NotInvertible
from inversion.lifting.values import (
    Exit,
    Iterating,
    Object,
    Site,
    Tupled,
    Value,
    numbers_in,
    read,
    same_kinds,
    shown_kind,
    two_exits,
    variables_in,
)
from inversion.loops import Bounds, Loop
from inversion.numba_ir import Next
from inversion.program import Constant, Operand, Statement, Variable

if TYPE_CHECKING:
    from inversion.lifting.ways import Walk, Way

MOST_TURNS = 1000
"""More turns than this of loops that are written out are not gone through."""


def looped(walk: Walk, label: int, known: dict[str, Value]) -> tuple[int, dict[str, Value]] | None:
    """A loop as one statement: where it leads, and what the names stand for there. None where its
    turns are gone through one by one, for they are few and known."""
    walk.lifter.turns += 1
    block = walk.code.blocks[label]
    if walk.lifter.turns > MOST_TURNS:
        raise NotInvertible(
            f"cannot invert {walk.site.name}: its loops have more than {MOST_TURNS} turns "
            "that are known beforehand",
            where=block.ops[0].where,
            help="loop over a range",
        )
    inner = replace(walk, turn=label, loop=walk.code.loops[label])
    nexts = [op for op in block.ops if isinstance(op, Next)]
    iterator = read(known, nexts[0].source, nexts[0].where) if nexts else None
    if isinstance(iterator, Iterating):
        if iterator.over is None:
            return None
    else:
        first = walk.lifter.apart(lambda: inner.run(label, dict(known), None)).found
        if not isinstance(first, Exit) or isinstance(first.condition, Constant):
            return None
    return Turns(inner, label, known).statement()


class Turns:
    """One turn of a loop, gone through with variables in the place of what changes."""

    def __init__(self, walk: Walk, label: int, known: dict[str, Value]) -> None:
        self.walk = walk
        self.lifter = walk.lifter
        self.label = label
        self.known = known
        blocks = walk.code.blocks
        self.where = blocks[label].ops[0].where
        assigned = {op.name for inside in walk.loop for op in blocks[inside].ops}
        self.names = [n for n in known if n in assigned and n in blocks[label].live]
        self.names = [n for n in self.names if not isinstance(known[n], (Object, Iterating))]
        self.bounds: Bounds | None = None

    def statement(self) -> tuple[int, dict[str, Value]]:
        """Add the statement for the loop."""
        begin = {name: self.known[name] for name in self.names}
        while True:  # until no type is widened any more
            state = {name: self.fresh(name, value) for name, value in begin.items()}
            before, leave, after = self.turn(state)
            assert isinstance(after.found, dict)
            following = {name: after.found[name] for name in self.names}
            wider = {name: self.wider(name, begin[name], following[name]) for name in self.names}
            if all(same_kinds(wider[name], begin[name]) for name in self.names):
                break
            begin = wider
        return self.stated(state, before, leave, after, following)

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

    def turn(self, state: Mapping[str, Value]) -> tuple[Way, Exit, Way]:
        """Go through a turn: up to where the loop may be left, and from there on."""
        lifter, inside = self.lifter, {**self.known, **state}
        for op in self.walk.code.blocks[self.label].ops:
            found = self.known.get(op.source) if isinstance(op, Next) else None
            if isinstance(found, Iterating) and isinstance(op, Next):
                names = [lifter.fresh(f"{n}_{self.line}") for n in ("start", "stop", "step", "i")]
                start, stop, step, index = (Variable(name, int) for name in names)
                self.bounds = Bounds(start, stop, step, index)
                inside[op.source] = Iterating(found.over, (index,))
        before = lifter.apart(lambda: self.walk.run(self.label, inside, None))
        leave = before.found
        if not isinstance(leave, Exit):
            raise NotInvertible(
                "cannot invert a loop that is left in the middle of a function, or never",
                where=self.where,
                help="leave it by its condition or by one break",
            )
        go_on = dict(leave.known)
        after = lifter.apart(lambda: self.walk.run(leave.inside, go_on, self.label))
        if not isinstance(after.found, dict):
            raise two_exits(self.where)
        return before, leave, after

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

    def stated(
        self,
        state: Mapping[str, Value],
        before: Way,
        leave: Exit,
        after: Way,
        following: Mapping[str, Value],
    ) -> tuple[int, dict[str, Value]]:
        formals = [v for name in self.names for v in variables_in(state[name])]
        site = replace(self.walk.site, where=self.where)
        values = [v for name in self.names for v in numbers_in(self.known[name])]
        given = [
            self.lifter.converted(replace(site, name=v.name), value, v.kind)
            for v, value in zip(formals, values, strict=True)
        ]
        values = [v for name in self.names for v in numbers_in(following[name])]
        after_found = self.within(after, site, formals, values)
        inner = {*formals, *(v for s in before.statements for v in s.results)}
        if self.bounds is not None:
            inner.add(self.bounds.index)
        results: list[Variable] = []
        gives: list[Operand] = []

        def outside(name: str, value: Value) -> Value:
            if isinstance(value, Tupled):
                return Tupled(value.kind, tuple(outside(name, item) for item in value.items))
            if not isinstance(value, Variable) or value not in inner:
                return value
            results.append(Variable(self.lifter.fresh(name), value.kind))
            gives.append(value)
            return results[-1]

        live = self.walk.code.blocks[leave.outside].live
        known = {n: outside(n, v) for n, v in leave.known.items() if n in live}
        counted = isinstance(leave.condition, Object)
        word = "for" if counted else "while"
        rule = Loop(
            self.lifter.fresh(f"{word}_{self.line}"), tuple(formals), before.part,
            None if counted else condition_of(leave), leave.leaves, after.part, tuple(after_found),
            tuple(gives), tuple(results), self.bounds if counted else None, self.where,
            self.lifter.numeric, self.lifter.max_trips,
        )  # fmt: skip
        arguments = (*given, *rule.free, *self.limits())
        if results:
            self.lifter.statements.append(Statement(rule, tuple(results), arguments, self.where))
        return leave.outside, known

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

    def limits(self) -> tuple[Operand, ...]:
        for op in self.walk.code.blocks[self.label].ops:
            found = self.known.get(op.source) if isinstance(op, Next) else None
            if isinstance(found, Iterating) and found.over is not None:
                return found.over.start, found.over.stop, found.over.step
        return ()


def condition_of(leave: Exit) -> Operand:
    assert isinstance(leave.condition, (Variable, Constant))
    return leave.condition
