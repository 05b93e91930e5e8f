"""Modes of loops: iterations are undone one by one, or the loop runs until the known results
appear.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from inversion.errors import NotInvertible
from inversion.passes.all_passes import simplified
from inversion.planning.parameters import Coordinates
from inversion.planning.plan import Plan
from inversion.planning.planner import plan
from inversion.planning.repeated import Repeated, size_of
from inversion.program.loops import Loop
from inversion.program.statements import Operand, Program, Variable
from inversion.program.structured import generated, planned
from primitives import Integers
from primitives.relation import Mode

__all__ = ["BEYOND", "TRIPS", "BackwardLoop", "Counted"]

TRIPS, BEYOND = "trips", "beyond"
"""Names of coordinates without a variable: the number of iterations, and the distance from the last
item of a range to its end.
"""


@dataclass(frozen=True)
class BackwardLoop(Mode):
    """A loop solved for its initial state.

    forwards: state that is known initially, and depends only on known state. last: the plan from
    the results of the loop to its final state. turn: the plan from the state after an iteration to
    the state before it. overwritten: state that an iteration sets and does not read. at_end, each:
    the coordinates of the parameters of these plans; those in ``each`` have a value for every
    iteration. begins: the coordinates of the initial values of overwritten state. to_the_end: the
    range that is iterated to its end, if it is known; otherwise trips is the coordinate for the
    number of iterations.
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
        """The plan for the end, if something is to be solved there, and the plan for each
        iteration.
        """
        begins = {v.name: coordinate for v, coordinate in self.begins.items()}
        named = [
            ("at the end", self.last, self.at_end),
            ("each turn, the last one first", self.turn, {**self.each, **begins}),
        ]
        return [part for part in named if part[1] is not None and part[1].steps]


@dataclass(frozen=True)
class Counted(Mode):
    """A loop solved for the end of its range: it runs until it gives the known results.

    If several numbers of iterations give them, the one closest to the coordinate ``trips`` is
    chosen. beyond: the coordinate for the distance from the last item to the end.
    """

    trips: str = TRIPS
    beyond: str = BEYOND


MOST_VALUES = 100_000
"""The largest number of values of one choice, over all iterations, for which a loop is solved."""


@planned.register(Loop)
def _planned(loop: Loop, unknown: frozenset[str]) -> Mode | None:
    axes = (*loop.outputs, *loop.axes)
    known, order = loop.divided(unknown)
    if unknown <= frozenset(loop.outputs):
        return BackwardLoop(order, generated, known, {})
    if loop.bounds is not None and unknown == frozenset((loop.bounds.stop.name,)):
        return _counted(loop, order, known)
    fixed = [v.name for v in (*loop.free, *loop.limits) if v.name in unknown]
    if fixed:
        return loop.not_planned(f"{', '.join(fixed)} is equal in each iteration")
    forwards = _forwards(loop, [v for v in loop.state if v.name not in unknown])
    back = [v for v in loop.state if v not in forwards]
    try:
        last = _plan(loop, loop.last(), [*known, *_names(forwards)], back)
        overwritten, turn = _turn_plan(loop, forwards, back)
    except NotInvertible as error:
        return loop.not_planned(error)
    begun = [v for v in back if v.name in known and v not in overwritten]
    chosen = [v for v in (*last.free, *turn.free) if v not in overwritten]
    if begun and any(v.kind in (float, complex) for v in chosen):
        # the initial state would rarely equal the known one
        names = ", ".join(_names(begun))
        return loop.not_planned(f"its initial {names} is known, and choices would change it")
    coordinates = Coordinates(axes)
    to_the_end = _to_the_end(loop, forwards, last)
    trips = None
    if to_the_end is None:
        trips = coordinates.add(TRIPS, Integers(0, loop.max_trips))
    at_end = coordinates.of(last.parameters)
    begins = {
        v: coordinates.add(p.name, p.domain, p.label)
        for v, p in turn.free.items() if v in overwritten and v.name in unknown
    }  # fmt: skip
    each = coordinates.of(
        replace(p, domain=Repeated(p.domain, loop.max_trips))
        for p in turn.parameters if p.name not in _names(overwritten)
    )  # fmt: skip
    if any(size_of(domain) > MOST_VALUES for domain in coordinates.domains.values()):
        return loop.not_planned(
            f"its iterations need more than {MOST_VALUES} values of one choice: give a smaller "
            "max_trips"
        )
    return BackwardLoop(
        order, generated, (*known, *coordinates.domains), coordinates.domains, generated,
        loop.axes, labels=coordinates.labels, forwards=tuple(forwards), last=last, turn=turn,
        overwritten=overwritten, at_end=at_end, each=each, begins=begins,
        to_the_end=to_the_end, trips=trips,
    )  # fmt: skip


def _counted(loop: Loop, order: tuple[str, ...], known: tuple[str, ...]) -> Counted:
    """The mode for the end of a loop's range."""
    coordinates = Coordinates((*loop.outputs, *loop.axes))
    trips = coordinates.add(TRIPS, Integers(0, loop.max_trips))
    beyond = coordinates.add(BEYOND, Integers(0, None))
    return Counted(
        order, generated, (*known, *coordinates.domains), coordinates.domains, generated,
        loop.axes, labels=coordinates.labels, last_resort=True, trips=trips, beyond=beyond,
    )  # fmt: skip


def _to_the_end(
    loop: Loop, forwards: Sequence[Variable], last: Plan
) -> tuple[Operand, Operand, Operand] | None:
    """The range that determines the number of iterations; None if there is none."""
    if loop.bounds is not None:
        return loop.bounds.start, loop.bounds.stop, loop.bounds.step
    at = loop.counts
    if at is None or at.at not in forwards or (at.more, False) not in last.program.holds:
        return None
    return at.at, at.stop, at.step


def _turn_plan(
    loop: Loop, forwards: Sequence[Variable], back: Sequence[Variable]
) -> tuple[tuple[Variable, ...], Plan]:
    """The state that an iteration overwrites, which need not be known after it, and the plan that
    undoes an iteration.
    """
    overwritten = tuple(v for v in back if v not in _read_in_a_turn(loop))
    kept = [v for v in back if v not in overwritten]
    program = loop.turn()
    if overwritten:
        turn = _plan(loop, program, [*loop.after_turn(kept), *_names(forwards)], back)
        if set(turn.free) <= set(overwritten):
            return overwritten, turn
    return (), _plan(loop, program, [*loop.after_turn(back), *_names(forwards)], back)


def _read_in_a_turn(loop: Loop) -> set[Variable]:
    """The state that an iteration reads."""
    parts = (loop.before, loop.after)
    read: set[Operand] = {a for part in parts for s in part.statements for a in s.arguments}
    read.update(value for part in parts for value, _ in part.holds)
    read.update(f for v, f in zip(loop.state, loop.following, strict=True) if f != v)
    read.update([] if loop.condition is None else [loop.condition])
    unchanged = {v for v, f in zip(loop.state, loop.following, strict=True) if f == v}
    return {v for v in loop.state if v in read or v in unchanged}


def _plan(loop: Loop, program: Program, known: Sequence[str], unknown: Sequence[Variable]) -> Plan:
    """The plan for some state, if all other axes are known."""
    simple = simplified(program)
    given = [axis for axis in simple.axes if axis in known or _is_given(loop, axis)]
    given = [axis for axis in given if axis not in _names(unknown)]
    return plan(simple, given, {}, root_finding=loop.root_finding)


def _is_given(loop: Loop, axis: str) -> bool:
    index = () if loop.bounds is None else (loop.bounds.index,)
    return axis in _names((*loop.free, *index))


def _forwards(loop: Loop, known: Sequence[Variable]) -> list[Variable]:
    """The state that depends only on known state."""
    found = list(known)
    following = dict(zip(loop.state, loop.following, strict=True))
    while True:
        others = set(loop.state) - set(found)
        kept = [v for v in found if _reads(loop, following[v]).isdisjoint(others)]
        if kept == found:
            return found
        found = kept


def _reads(loop: Loop, operand: Operand) -> set[Variable]:
    """The state from which an operand is computed."""
    made = {v: s for part in (loop.before, loop.after) for s in part.statements
            for v in s.results}  # fmt: skip
    waiting, seen = [operand], set[Operand]()
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            if isinstance(one, Variable) and one in made:
                waiting += made[one].arguments
    return {v for v in loop.state if v in seen}


def _names(variables: Iterable[Variable]) -> list[str]:
    return [v.name for v in variables]
