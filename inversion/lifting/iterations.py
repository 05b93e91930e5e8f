"""Lifting of loops: one iteration is lifted, with variables for the loop-carried values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inversion.errors import NotInvertible
from inversion.lifting.array_objects import arrays_in
from inversion.lifting.exits import At, End, Exit, Found, Nowhere, Place, Several, Way, not_followed
from inversion.lifting.function_code import iterators
from inversion.lifting.heap import frozen, thawed
from inversion.lifting.lifted_values import (
    HeapObject,
    Iterating,
    Known,
    KnownObject,
    Meaningless,
    Range,
    Tupled,
    Value,
    heap_of,
    is_cell,
    items_in_turn,
    read,
    refused,
)
from inversion.lifting.repeating import Repeating, Turn
from inversion.program.loops import Bounds, CountedRange
from inversion.program.statements import Constant, Operand, Variable
from overlay.code.body import Apply, Block, is_step
from overlay.code.operators import PLAIN

if TYPE_CHECKING:
    from inversion.lifting.execution_paths import Walk

MOST_TURNS = 1000
"""The largest number of unrolled iterations in a program."""


def looped(walk: Walk, label: int, known: Known, stops: frozenset[int]) -> Found | None:
    """Lift a loop as one statement, and return its exit; None if the loop is unrolled instead,
    because its iterations are few and known.
    """
    walk.lifter.turns += 1
    cycle, block = walk.code.loops[label], walk.code.blocks[label]
    if walk.lifter.turns > MOST_TURNS:
        raise NotInvertible(
            f"cannot invert {walk.site.name}: its unrolled loops have more than {MOST_TURNS} "
            "iterations",
            where=block.where,
            help="write the loop over a range, which is not unrolled",
        )
    if label not in walk.code.returning:
        raise never_left(block.where)
    inner = replace(walk, leaving=cycle.labels if cycle.simple else frozenset())
    inside = stops | {label} | (frozenset() if cycle.after is None else {cycle.after})
    made = Turns(inner, label, known, inside)
    asked = iterators(block)
    iterator = read(known, asked[0], block.where) if asked else None
    if isinstance(iterator, Iterating):
        return None if iterator.over is None else _stated_or_unrolled(made, asked, iterator.over)
    first = walk.lifter.apart(lambda: inner.turn(label, dict(known), inside)).found
    if isinstance(first, Exit):
        return None if isinstance(first.condition, Constant) else made.statement()
    goes_on = isinstance(first, Several) and isinstance(first.flags.get(label), Variable)
    return made.statement() if goes_on else None


def _stated_or_unrolled(made: Turns, iterators: list[str], over: Range) -> Found | None:
    """Lift a loop over a range as one statement. If that is refused and the range is a constant,
    the loop is unrolled.
    """
    lifter, items = made.lifter, items_in_turn(over, MOST_TURNS)
    if items is None:
        return made.statement()
    count, holds, ways, turns = len(lifter.statements), len(lifter.holds), lifter.ways, lifter.turns
    try:
        return made.statement()
    except NotInvertible:
        del lifter.statements[count:], lifter.holds[holds:]
        lifter.ways, lifter.turns, lifter.known = ways, turns, made.known
    for name in iterators:
        made.known[name] = Iterating(None, items)
    return None


class Turns(Repeating):
    """Builder of the statement of a ``for`` or ``while`` loop."""

    def __init__(self, walk: Walk, label: int, known: Known, stops: frozenset[int]) -> None:
        blocks = walk.code.blocks
        super().__init__(walk, blocks[label].where)
        self.label = label
        self.iterators = iterators(blocks[label])
        self.known = known
        self.stops = stops
        cycle = walk.code.loops[label]
        assigned = {name for inside in cycle.labels for name in blocks[inside].sets}
        assigned |= {name for inside in cycle.labels for name in _written(blocks[inside])}
        live = walk.code.live[label]
        still = KnownObject, Iterating, Meaningless
        self.names = [n for n in known if n in assigned and n in live]
        self.names = [
            n for n in self.names if not isinstance(known[n], still) and not is_cell(known[n])
        ]
        own = set(self.iterators)
        self.constant = {
            n: value for n, value in known.items()
            if n in assigned and n in live - own and isinstance(value, (KnownObject, Iterating))
        }  # fmt: skip
        self.before = heap_of(known)
        self.grown = {name for inside in cycle.labels for name in blocks[inside].grown}
        self.writes = any(
            isinstance(each, Apply)
            and (each.function is operator.setitem or each.function in PLAIN)
            for inside in cycle.labels
            for each in blocks[inside].statements
        )
        self.counter = f"i_{self.line}.count"  # no variable has this name

    def statement(self) -> Found:
        """Add the statement for the loop, and return its exit."""
        begin: Known = {name: frozen(self.known, self.known[name]) for name in self.names}
        counted = self.counted()
        if counted is not None and not self.walk.leaving:
            begin[self.counter] = counted.start
        self.word = "while" if counted is None else "for"
        return self.repeated(begin)

    def within_turn(self, state: Known) -> Known:
        """The values of names at the beginning of an iteration."""
        inside = {**self.known, **{k: v for k, v in state.items() if isinstance(k, HeapObject)}}
        for name, value in state.items():
            if not isinstance(name, HeapObject):
                if isinstance(value, Variable) and isinstance(self.known.get(name), HeapObject):
                    shared = self.is_shared(self.known.get(name))
                    inside[name] = found = HeapObject(list, fixed=shared)
                    inside[found] = value
                    continue
                inside[name] = thawed(inside, value, fixed=self.is_shared(self.known.get(name)))
        return inside

    def is_shared(self, value: Value | None) -> bool:
        """Return whether an object has several names, or is part of another one, before
        the loop.
        """
        if not isinstance(value, HeapObject):
            return False
        names = [key for key, held in self.known.items() if held is value and not is_step(key)]
        inside = (held for held in self.before.values() if isinstance(held, Tupled))
        return len(names) > 1 or any(value in held.items for held in inside)

    def counted(self) -> Range | None:
        """The range over which the loop counts, or None."""
        for name in self.iterators:
            found = self.known.get(name)
            if isinstance(found, Iterating):
                return found.over
        return None

    def turn(self, state: Known) -> Turn:
        """Lift one iteration from a state."""
        return self.simple(state) if self.walk.leaving else self.several(state)

    def same_arrays(self, following: Known, state: Known) -> None:
        """Refuse an iteration that writes to an array of which another name is not part of the
        state.
        """
        live = self.walk.code.live[self.label]
        for name, before in self.known.items():
            changed = name in live and name not in state and following.get(name, before) != before
            if changed and any(arrays_in(before)):
                help = "write to it by the name that it has before the loop"
                raise refused(f"a write in a loop to the array of {name}", self.where, help)
        bases = [self.lifter.arrays.base(v) for n in self.names for v in arrays_in(self.known[n])]
        others = [
            self.lifter.arrays.base(v)
            for n, value in self.known.items()
            if n in live and n not in self.names
            for v in arrays_in(value)
        ]
        shared = len(set(bases)) < len(bases) or not set(bases).isdisjoint(others)
        if shared and self.writes:
            help = "write only to arrays that have one name"
            raise refused("a write in a loop to an array with several names", self.where, help)

    def simple(self, state: Known) -> Turn:
        """Lift an iteration of a loop with a single exit, which every iteration reaches."""
        lifter, inside = self.lifter, self.within_turn(state)
        for asked in self.iterators:
            found = self.known.get(asked)
            if isinstance(found, Iterating):
                names = [lifter.fresh(f"{n}_{self.line}") for n in ("start", "stop", "step", "i")]
                start, stop, step, index = (Variable(name, int) for name in names)
                self.bounds = Bounds(start, stop, step, index)
                inside[asked] = Iterating(found.over, (index,))
        before = lifter.apart(lambda: self.walk.turn(self.label, inside, self.stops))
        leave = before.found
        if not isinstance(leave, Exit):
            raise never_left(self.where)
        onward = replace(self.walk, leaving=frozenset())
        after = lifter.apart(lambda: onward.run(leave.inside, dict(leave.known), self.stops))
        if not isinstance(after.found, At) or after.found.label != self.label:
            raise not_followed(self.where)
        self.same_arrays(after.found.known, state)
        condition = leave.condition
        assert isinstance(condition, (Variable, Constant, KnownObject))
        ends: dict[Place, End] = {leave.outside: At(leave.outside, leave.known)}
        return Turn(
            before, None if isinstance(condition, KnownObject) else condition, leave.leaves, after,
            after.found.known, ends, {},
        )  # fmt: skip

    def several(self, state: Known) -> Turn:
        """Lift an iteration of a loop with several exits. The exits, and the continuation with the
        next iteration, are ordinary paths.
        """
        inside, more = self.within_turn(state), Known()

        def go() -> Found:
            more.update(self.count(inside, state))
            return self.walk.turn(self.label, inside, self.stops)

        way = self.lifter.apart(go)
        if not isinstance(way.found, Several) or self.label not in way.found.ends:
            raise never_left(self.where)
        ends, flags = dict(way.found.ends), dict(way.found.flags)
        on, goes_on = ends.pop(self.label), flags.pop(self.label)
        assert isinstance(on, At)
        self.same_arrays(on.known, state)
        nothing = Way(Nowhere(), [], [])
        following = {**on.known, **more}
        return Turn(way, goes_on, False, nothing, following, ends, flags if len(ends) > 1 else {})

    def count(self, inside: Known, state: Known) -> Known:
        """Set the iterators to the current value of the range, and the condition for the next
        iteration. Returns the next value of the counter, by name.
        """
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
        self.counts = CountedRange(at, over.stop, over.step, more)
        for asked in self.iterators:
            inside[asked] = Iterating(over, (at,), more)
        return {self.counter: stated(operator.add, at, over.step)}

    def most_turns(self) -> int:
        ends = [end.value for end in self.limits() if isinstance(end, Constant)]
        return len(range(*ends)) if len(ends) == 3 else self.lifter.max_trips

    def limits(self) -> tuple[Operand, ...]:
        over = self.counted()
        return () if over is None else (over.start, over.stop, over.step)


def _written(block: Block) -> set[str]:
    """The variables to whose items a block assigns."""
    return {
        each.args[0]
        for each in block.statements
        if isinstance(each, Apply) and each.function is operator.setitem
    }


def never_left(where: str) -> NotInvertible:
    """The error for a loop without an exit."""
    return NotInvertible(
        "cannot invert a loop that is never left",
        where=where,
        help="leave the loop by its condition, break or return",
    )
