"""Ways through a function: its blocks one after the other, both ways of a fork, joined again."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

from inversion.errors import NotInvertible
from inversion.lifting import self_calls
from inversion.lifting.array_methods import array_attribute
from inversion.lifting.exits import (
    At,
    Exit,
    Found,
    Nowhere,
    Place,
    Returned,
    Several,
    Way,
    ends_of,
    flag_of,
    not_followed,
    places_of,
)
from inversion.lifting.iterations import looped
from inversion.lifting.joining import Join
from inversion.lifting.lifted_values import (
    UNROLLED,
    Again,
    BoundMethod,
    CallSite,
    KnownObject,
    Named,
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
    unpacked,
    value_of,
)
from inversion.lifting.numba_blocks import (
    ApplyOp,
    Argument,
    AttributeOp,
    Build,
    BuildList,
    CopyOp,
    First,
    ForkOp,
    FunctionCode,
    Item,
    Iterate,
    Jump,
    Literal,
    Next,
    Op,
    Raise,
    ReturnOp,
    Second,
    UnknownOp,
    Unpack,
    refused,
)
from inversion.lifting.sequence_calls import bound_method
from inversion.program.branches import Arm, branch
from inversion.program.statements import Constant, Variable
from overlay.code.record import attribute_held, is_same
from primitives.arrays.domain import is_array, shape_of
from primitives.sequences.lists import is_sequence

if TYPE_CHECKING:
    from inversion.lifting.lifter import Lifter
    from inversion.lifting.recursion import Calls


DEEPEST = 64
"""Branches that stand inside one another more often than this are not gone into."""


MOST_WAYS = 512
"""More ways through a function than this are not gone."""


@dataclass(frozen=True)
class Walk:
    """A function that is gone through: its code, its arguments. leaving: the labels of the loop of
    which a turn is gone through up to where it may be left; none where that is a way like any.
    calls: the calls of the function by itself, where these are turns of a loop."""

    lifter: Lifter
    site: CallSite
    code: FunctionCode
    given: Values
    leaving: frozenset[int] = frozenset()
    calls: Calls | None = None

    def run(self, label: int, known: dict[str, Value], stops: frozenset[int]) -> Found:
        """Go through blocks from a label to one of the stops, or to the end."""
        return self.went(At(label, known), stops)

    def went(self, found: Found, stops: frozenset[int]) -> Found:
        """Go on from where the first block has led."""
        while isinstance(found, At) and found.label not in stops:
            label, known = found.label, found.known
            loop = looped(self, label, known, stops) if label in self.code.loops else None
            found = self.block(label, known, stops) if loop is None else loop
        if isinstance(found, Several) and not {p for p in found.ends if p is not None} <= stops:
            raise not_followed(self.site.where)
        return found

    def live_at(self, place: Place) -> frozenset[str]:
        """The names that are needed at a place, or later."""
        if place is None:
            return frozenset()
        if place == self_calls.AGAIN:
            assert self.calls is not None
            return self.calls.live
        return self.code.blocks[place].live

    def turn(self, label: int, known: dict[str, Value], stops: frozenset[int]) -> Found:
        """Go through a turn of the loop that begins at a label, which is one of the stops."""
        return self.went(self.block(label, known, stops), stops)

    def block(self, label: int, known: dict[str, Value], stops: frozenset[int]) -> Found:
        """Go through one block."""
        block = self.code.blocks[label]
        if isinstance(block.end, Raise):
            return Nowhere()
        for op in block.ops:
            try:
                known[op.name] = self._op(op, known)
            except self_calls.Deeper:
                return Nowhere()
            if isinstance(op, Next):
                known[op.source] = advanced(known[op.source])
        match block.end:
            case ReturnOp(name=name, where=where):
                return self_calls.returned(self.calls, read(known, name, where))
            case Jump(label=label):
                return At(label, known)
            case ForkOp() as fork:
                return self._forked(fork, known, stops)

    def _forked(self, fork: ForkOp, known: dict[str, Value], stops: frozenset[int]) -> Found:
        """Where a fork leads."""
        condition = read(known, fork.condition, fork.where)
        labels = fork.then, fork.orelse
        out = [self._leads_out(label) for label in labels]
        if any(out):
            outside, inside = labels if out[0] else labels[::-1]
            return Exit(condition, out[0], known, outside, inside)
        if not isinstance(condition, Variable):
            return At(fork.then if is_true(condition) else fork.orelse, known)
        self._count(fork)
        inner = stops if fork.join is None else stops | {fork.join}
        ways = self._ways(labels, known, inner)
        if self._part_again(fork, ways, stops):
            ways = self._ways(labels, known, stops)
        for taken, (way, other) in enumerate((ways, ways[::-1])):
            if _leads_nowhere(other, way):  # then the condition is known
                self.lifter.holds.append((condition, not taken))
                self.lifter.statements += way.statements
                self.lifter.holds += way.holds
                return way.found
        return self._joined(fork, condition, ways, known)

    def _ways(
        self, labels: Sequence[int], known: dict[str, Value], stops: frozenset[int]
    ) -> list[Way]:
        return [
            self.lifter.apart(lambda label=label: self.run(label, dict(known), stops))
            for label in labels
        ]

    def _part_again(self, fork: ForkOp, ways: Sequence[Way], stops: frozenset[int]) -> bool:
        """Whether ways are not the same from where they meet: one of them may return what the
        function gives for other arguments, or come there in the next turn of a loop only."""
        places = {p for way in ways for p in places_of(way.found)}
        meets = len(places) > 1 and fork.join in places and fork.join not in stops
        return meets or any(map(self._calls_itself, ways))

    def _calls_itself(self, way: Way) -> bool:
        """Whether a name stands for what the function's call of itself gives."""
        end = way.found
        return (
            isinstance(end, At)
            and end.label != self_calls.AGAIN
            and any(isinstance(end.known.get(name), Again) for name in self.live_at(end.label))
        )

    def _leads_out(self, label: int) -> bool:
        """Whether a label stands outside of the loop up to whose exit a turn is gone through."""
        outside = bool(self.leaving) and label not in self.leaving
        return outside and label in self.code.returning

    def _count(self, fork: ForkOp) -> None:
        self.lifter.ways += 1
        many = self.lifter.ways > MOST_WAYS
        if not many and self.lifter.depth <= DEEPEST:
            return
        why = f"there are more than {MOST_WAYS} ways through it"
        raise NotInvertible(
            f"cannot invert {self.site.name}: "
            + (why if many else f"it branches {DEEPEST} times in a row"),
            where=fork.where,
            help="move a part with branches of its own into a function with a relation",
        )

    def _joined(
        self, fork: ForkOp, condition: Variable, ways: list[Way], known: Mapping[str, Value]
    ) -> Found:
        """One branch statement for two ways, and what the names stand for after it."""
        found = [way.found for way in ways]
        assert all(isinstance(one, (At, Returned, Several)) for one in found)
        sides = [one for one in found if isinstance(one, (At, Returned, Several))]
        ends = [ends_of(one) for one in sides]
        joined = Join(self, fork, ways, known)
        places = list(dict.fromkeys(place for side in ends for place in side))
        after = {place: joined.end(place, [side.get(place) for side in ends]) for place in places}
        flags = {
            place: joined.flag(place, flag_of(sides[0], place), flag_of(sides[1], place))
            for place in places
            if len(places) > 1
        }
        if joined.results:
            self._branch(fork, condition, ways, joined)
        return Several(after, flags) if len(places) > 1 else after[places[0]]

    def _branch(self, fork: ForkOp, condition: Variable, ways: list[Way], joined: Join) -> None:
        gives = zip(*joined.gives, strict=True)
        first, second = (
            Arm(tuple(way.statements), tuple(given), tuple(way.holds))
            for way, given in zip(ways, gives, strict=True)
        )
        name = self.lifter.fresh(f"if_{fork.where.rpartition(':')[2]}")
        results = tuple(joined.results)
        self.lifter.statements.append(
            branch(
                name,
                condition,
                (first, second),
                results,
                fork.where,
                root_finding=self.lifter.root_finding,
            )
        )

    def _at(self, op: Op) -> CallSite:
        """Where a call stands."""
        return replace(self.site, name=op.name, where=op.where)

    def _attribute(self, op: Op, base: Value, name: str) -> Value:
        if isinstance(base, (Variable, Constant)) and is_array(base.kind):
            return array_attribute(self.lifter, self._at(op), base, name)
        if isinstance(base, KnownObject) and not isinstance(base.value, ModuleType):
            found = attribute_held(base.value, name)
            if is_same(attribute_held(base.value, name), found):  # a property may make it anew
                self.lifter.attributes.append((base.value, name, found))
        return bound_method(base, name) or attribute_of(op, base, name)

    def _item(self, op: Op, source: Value, index: Any) -> Value:
        if is_array(source.kind) or (isinstance(source, Variable) and is_sequence(source.kind)):
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

        if isinstance(op, (Item, Unpack, Iterate)) and isinstance(value(op.source), Again):
            raise self_calls.used_otherwise(replace(self.site, where=op.where), "its items")
        match op:
            case Argument(index=index):
                return self.given[index]
            case Literal(value=held):
                return value_of(held)
            case CopyOp(source=source):
                return value(source)
            case AttributeOp(base=base, attribute=attribute):
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
            case ApplyOp(function=function, args=args, kwargs=kwargs, fallback=fallback):
                targets = (function,) if fallback is None else (function, fallback)
                given = [value(name) for name in args]
                if isinstance(function, str):
                    called = value(function)
                    if isinstance(called, BoundMethod):
                        called, given = KnownObject(called.function), [called.instance, *given]
                    targets = (function_in(op, called),)
                named = {key: value(name) for key, name in kwargs.items()}
                return self.lifter.call(self._at(op), targets, given, named)
            case UnknownOp(what=what, where=where, help=help):
                raise refused(what, where, help)
            case _:
                raise refused(type(op).__name__, op.where)


def _leads_nowhere(way: Way, other: Way) -> bool:
    """Whether a way raises, or returns None where the other returns numbers."""
    if isinstance(way.found, Returned) and isinstance(other.found, Returned):
        value = way.found.value
        return isinstance(value, KnownObject) and value.value is None and value != other.found.value
    return isinstance(way.found, Nowhere)
