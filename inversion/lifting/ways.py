"""Ways through a function: its blocks one after the other, both ways of a fork, joined again."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from inversion.branches import Arm, branch
from inversion.errors import NotInvertible
from inversion.lifting import turns
from inversion.lifting.arrays import array_attribute
from inversion.lifting.values import (
    UNROLLED,
    Broken,
    Exit,
    Named,
    Object,
    Site,
    Tupled,
    Value,
    Values,
    advanced,
    attribute_of,
    function_in,
    is_true,
    item_at,
    item_of_pair,
    iterator_over,
    more_of_pair,
    next_of,
    read,
    shown_kind,
    two_exits,
    unpacked,
    value_of,
)
from inversion.loops import Part
from inversion.numba_ir import (
    Apply,
    Argument,
    Attribute,
    Build,
    BuildList,
    Code,
    Copy,
    First,
    Fork,
    Item,
    Iterate,
    Jump,
    Literal,
    Next,
    Op,
    Raise,
    Return,
    Second,
    Unknown,
    Unpack,
    refused,
)
from inversion.program import Constant, Operand, Statement, Variable
from primitives.arrays.domain import is_array, shape_of

if TYPE_CHECKING:
    from inversion.lifting.lifter import Lifter


@dataclass(frozen=True)
class Returned:
    """What a way through a function gives at its end."""

    value: Value


class Nowhere:
    """A way through a function that raises."""


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


Found = Returned | dict[str, Value] | Nowhere | Exit


DEEPEST = 64
"""Branches that stand inside one another more often than this are not gone into."""


MOST_WAYS = 512
"""More ways through a function than this are not gone."""


@dataclass(frozen=True)
class Walk:
    """A function that is gone through: its code, its arguments. turn: the first label of the loop a
    turn of which is gone through; loop: the labels of that."""

    lifter: Lifter
    site: Site
    code: Code
    given: Values
    turn: int | None = None
    loop: frozenset[int] = frozenset()

    def run(
        self, label: int, known: dict[str, Value], stop: int | None
    ) -> Returned | dict[str, Value] | Nowhere | Exit:
        """Go through blocks from one label to another, or to the end: what the names stand for
        there, or what is returned."""
        while label != stop:
            if label in self.code.loops and label != self.turn:
                looped = turns.looped(self, label, known)
                if looped is not None:
                    label, known = looped
                    continue
            block = self.code.blocks[label]
            if isinstance(block.end, Raise):
                return Nowhere()
            for op in block.ops:
                known[op.name] = self._op(op, known)
                if isinstance(op, Next):
                    known[op.source] = advanced(known[op.source])
            match block.end:
                case Return(name=name, where=where):
                    return Returned(read(known, name, where))
                case Jump(label=label):
                    continue
                case Fork() as fork:
                    found = self._forked(fork, known)
            if isinstance(found, int):
                label = found
            elif isinstance(found, dict):
                known = found
                assert fork.join is not None
                label = fork.join
            else:
                return found
        return known

    def _forked(
        self, fork: Fork, known: dict[str, Value]
    ) -> int | Returned | dict[str, Value] | Nowhere | Exit:
        """Where a fork leads: to a label, or to what both ways give."""
        condition = read(known, fork.condition, fork.where)
        inside = [label in self.loop for label in (fork.then, fork.orelse)]
        if self.loop and not all(inside):
            if not any(inside):
                raise two_exits(fork.where)
            labels = (fork.orelse, fork.then) if inside[0] else (fork.then, fork.orelse)
            return Exit(condition, not inside[0], known, *labels)
        if not isinstance(condition, Variable):
            return fork.then if is_true(condition) else fork.orelse
        self.lifter.ways += 1
        if self.lifter.ways > MOST_WAYS or self.lifter.depth > DEEPEST:
            much = f"there are more than {MOST_WAYS} ways through it"
            raise NotInvertible(
                f"cannot invert {self.site.name}: "
                + (
                    much
                    if self.lifter.ways > MOST_WAYS
                    else f"it branches {DEEPEST} times in a row"
                ),
                where=fork.where,
                help="move a part with branches of its own into a function with a relation",
            )
        ways = [self._way(label, known, fork) for label in (fork.then, fork.orelse)]
        if any(isinstance(way.found, Exit) for way in ways):
            raise two_exits(fork.where)
        for taken, (way, other) in enumerate((ways, ways[::-1])):
            if _leads_nowhere(other, way):  # then the condition is known
                self.lifter.holds.append((condition, not taken))
                self.lifter.statements += way.statements
                self.lifter.holds += way.holds
                return way.found
        return self._joined(fork, condition, ways)

    def _way(self, label: int, known: dict[str, Value], fork: Fork) -> Way:
        """Go one way of a fork, with statements of its own."""
        return self.lifter.apart(lambda: self.run(label, dict(known), fork.join))

    def _joined(
        self, fork: Fork, condition: Variable, ways: list[Way]
    ) -> Returned | dict[str, Value]:
        """One branch statement for two ways, and what the names stand for after it."""
        first, second = (way.found for way in ways)
        if isinstance(first, Returned) and isinstance(second, Returned):
            pairs = {self.site.name: (first.value, second.value)}
        else:
            assert isinstance(first, dict)
            assert isinstance(second, dict)
            assert fork.join is not None
            live = self.code.blocks[fork.join].live
            pairs = {
                name: (first[name], second[name])
                for name in first
                if name in live and name in second
            }
        joined = Join(self, fork, ways)
        after = {name: joined.value(name, *pair) for name, pair in pairs.items()}
        if joined.results:
            gives = zip(*joined.gives, strict=True)
            arms = [
                Arm(tuple(way.statements), tuple(given), tuple(way.holds))
                for way, given in zip(ways, gives, strict=True)
            ]
            name = f"if_{fork.where.rpartition(':')[2]}"
            name = self.lifter.fresh(name)
            self.lifter.statements.append(
                branch(
                    name,
                    condition,
                    (arms[0], arms[1]),
                    tuple(joined.results),
                    fork.where,
                    numeric=self.lifter.numeric,
                )
            )
        if isinstance(first, Returned):
            return Returned(read(after, self.site.name, fork.where))
        return after

    def _at(self, op: Op) -> Site:
        """Where a call stands."""
        return replace(self.site, name=op.name, where=op.where)

    def _attribute(self, op: Op, base: Value, name: str) -> Value:
        if isinstance(base, (Variable, Constant)) and is_array(base.kind):
            return array_attribute(self.lifter, self._at(op), base, name)
        return attribute_of(op, base, name)

    def _item(self, op: Op, source: Value, index: Any) -> Value:
        if is_array(source.kind):
            given = [source, value_of(index)]
            return self.lifter.call(self._at(op), (operator.getitem,), given, {})
        return item_at(op, source, index)

    def _items(self, op: Op, value: Value) -> Value:
        """An array with few rows as the tuple of these."""
        rows = shape_of(value.kind)[:1]
        if not rows or rows[0] > UNROLLED:
            return value
        return Tupled(tuple, tuple(self._item(op, value, i) for i in range(rows[0])))

    def _op(self, op: Op, known: Named) -> Value:
        def value(name: str) -> Value:
            return read(known, name, op.where)

        match op:
            case Argument(index=index):
                return self.given[index]
            case Literal(value=held):
                return value_of(held)
            case Copy(source=source):
                return value(source)
            case Attribute(base=base, attribute=attribute):
                return self._attribute(op, value(base), attribute)
            case BuildList(items=items):
                return Tupled(list, tuple(map(value, items)))
            case Build(items=items):
                return Tupled(tuple, tuple(map(value, items)))
            case Item(source=source, index=index):
                return self._item(op, value(source), index)
            case Iterate(source=source):
                return iterator_over(op, self._items(op, value(source)))
            case Next(source=source):
                return next_of(op, value(source))
            case First(source=source):
                return item_of_pair(op, value(source))
            case Second(source=source):
                return more_of_pair(op, value(source))
            case Unpack(source=source, count=count):
                return unpacked(op, value(source), count)
            case Apply(function=function, args=args, kwargs=kwargs, fallback=fallback):
                targets = (function,) if fallback is None else (function, fallback)
                if isinstance(function, str):
                    targets = (function_in(op, value(function)),)
                return self.lifter.call(
                    self._at(op),
                    targets,
                    [value(name) for name in args],
                    {key: value(name) for key, name in kwargs.items()},
                )
            case Unknown(what=what, where=where):
                raise refused(what, where)
            case _:
                raise refused(type(op).__name__, op.where)


def _leads_nowhere(way: Way, other: Way) -> bool:
    """Whether a way raises, or returns None where the other returns numbers."""
    if isinstance(way.found, Returned) and isinstance(other.found, Returned):
        value = way.found.value
        return isinstance(value, Object) and value.value is None and value != other.found.value
    return isinstance(way.found, Nowhere)


class Join:
    """Finds what two ways give in common; where they differ, a branch has a result."""

    def __init__(self, walk: Walk, fork: Fork, ways: list[Way]) -> None:
        self.walk = walk
        self.lifter = walk.lifter
        self.fork = fork
        self.ways = ways
        self.results: list[Variable] = []
        self.gives: list[tuple[Operand, Operand]] = []

    def value(self, name: str, then: Value, orelse: Value) -> Value:
        """What a name stands for where both ways have met."""
        if then == orelse:
            return then
        if isinstance(then, Tupled) and isinstance(orelse, Tupled):
            if then.kind is orelse.kind and len(then.items) == len(orelse.items):
                pairs = zip(then.items, orelse.items, strict=True)
                return Tupled(then.kind, tuple(self.value(name, *pair) for pair in pairs))
        elif isinstance(then, (Variable, Constant)) and isinstance(orelse, (Variable, Constant)):
            return self.number(name, then, orelse)
        return Broken(
            NotInvertible(
                f"a value is a {shown_kind(then)} on one way and a {shown_kind(orelse)} on the "
                "other",
                where=self.fork.where,
                help="give it the same type on both",
            )
        )

    def number(self, name: str, then: Operand, orelse: Operand) -> Variable:
        kind = then.kind
        if then.kind is not orelse.kind:
            if not {then.kind, orelse.kind} <= {int, float, bool}:
                raise NotInvertible(
                    f"{name} is of type {shown_kind(then)} on one way and of type "
                    f"{shown_kind(orelse)} on the other",
                    where=self.fork.where,
                    help="convert one of them",
                )
            kind = float if float in (then.kind, orelse.kind) else int
        site = replace(self.walk.site, name=name, where=self.fork.where)
        given = [
            self.converted(site, value, kind, way)
            for value, way in zip((then, orelse), self.ways, strict=True)
        ]
        result = Variable(self.lifter.fresh(name), kind)
        self.results.append(result)
        self.gives.append((given[0], given[1]))
        return result

    def converted(self, site: Site, value: Operand, kind: Any, way: Way) -> Operand:
        """A value in the type that both ways have, converted on its way."""
        outer, self.lifter.statements = self.lifter.statements, way.statements
        try:
            return self.lifter.converted(site, value, kind)
        finally:
            self.lifter.statements = outer
