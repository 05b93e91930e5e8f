"""Loops: a ``for`` or ``while`` as one statement, which runs backwards where its turns do."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from inversion.errors import NotInvertible
from inversion.passes.simplifying import SIMPLIFY
from inversion.planning.plan import Plan, plan
from inversion.planning.repeated import Repeated, size_of
from inversion.program.branches import absorb
from inversion.program.loop_modes import BEYOND, TRIPS, Backwards, Bounds, Counted, Counts, Part
from inversion.program.statements import Constant, Operand, Program, Statement, Variable, listed
from inversion.program.structured import Coordinates, Narrowed, Structured, generated, needed
from primitives import Integers
from primitives.relation import Mode

__all__ = ["Loop"]

MOST_VALUES = 100_000
"""A loop whose turns need more values than this for one choice is not solved."""


@dataclass(frozen=True, eq=False)
class Loop(Structured):
    """A loop as an equation between what it begins with and what it gives.

    state: what changes from turn to turn, as it is before a turn. before: what a turn does up to
    the point where the loop may be left, after: what it does from there on. condition: whether it
    is left (``leaves``) or goes on; None where it counts through ``bounds``. following: the state
    after a turn. gives: what results are made of, where the loop is left. root_finding: whether
    roots are looked for in a turn. max_trips: how often it may run, where it does not count; where
    it does, for how many turns there are choices at most. ends: conditions that hold where it is
    left. counts: its range, where that is not the only thing that ends it.
    """

    name: str
    state: tuple[Variable, ...]
    before: Part
    condition: Operand | None
    leaves: bool
    after: Part
    following: tuple[Operand, ...]
    gives: tuple[Operand, ...]
    results: tuple[Variable, ...]
    bounds: Bounds | None
    where: str
    root_finding: bool
    max_trips: int
    ends: tuple[tuple[Operand, bool], ...] = ()
    counts: Counts | None = None
    _modes: dict[frozenset[str], Mode | None] = field(default_factory=dict)
    _reasons: list[str] = field(default_factory=list[str])

    @property
    def inside(self) -> tuple[Statement, ...]:
        return (*self.before.statements, *self.after.statements)

    @functools.cached_property
    def free(self) -> tuple[Variable, ...]:
        """The variables from outside that do not change."""
        statements = self.inside
        inside = {*self.state, *(v for s in statements for v in s.results)}
        if self.bounds is not None:
            inside.add(self.bounds.index)
        mentioned: list[Operand] = [v for s in statements for v in s.variables]
        mentioned += [*self.following, *self.gives]
        mentioned += [value for part in (self.before, self.after) for value, _ in part.holds]
        mentioned += [value for value, _ in self.ends]
        mentioned += [] if self.condition is None else [self.condition]
        found = (v for v in dict.fromkeys(mentioned) if isinstance(v, Variable))
        return tuple(v for v in found if v not in inside)

    @property
    def limits(self) -> tuple[Variable, ...]:
        """The variables of the range, where it counts."""
        at = self.bounds
        return () if at is None else (at.start, at.stop, at.step)

    def _inputs(self) -> tuple[Variable, ...]:
        """The state at the beginning, what does not change, and the range."""
        return (*self.state, *self.free, *self.limits)

    # ---- as a rule ----

    def rows(self) -> list[str]:
        """A turn."""
        rows = listed(self.before.statements, self.before.holds)
        if self.condition is not None:
            rows.append(f"  leave if {self.condition} is {self.leaves}")
        rows += listed(self.after.statements, self.after.holds)
        pairs = zip(self.state, self.following, strict=True)
        rows += [f"  then {v} = {operand}" for v, operand in pairs]
        return [*rows, f"  give {', '.join(map(str, self.gives))}"]

    # ---- rewriting ----

    def where_gives(self, statement: Statement, result: Variable, is_true: bool) -> Narrowed | None:
        at = statement.results.index(result)
        give = self.gives[at]
        never = isinstance(give, Constant) and bool(give.value) is not is_true
        if never or len(statement.results) == 1:
            return None
        ends = ((give, is_true),) if isinstance(give, Variable) else ()
        closed = replace(self, ends=(*self.ends, *ends), _modes={}, _reasons=[])
        rest = closed.giving(statement, [v for v in statement.results if v != result])
        return Narrowed((rest,), (), {result: Constant(is_true)})

    def giving(self, statement: Statement, wanted: Sequence[Variable]) -> Statement:
        actual: dict[Operand, Operand] = dict(zip(self.inputs, statement.arguments, strict=True))
        given = dict(zip(statement.results, self.gives, strict=True))
        rest = replace(
            self,
            gives=tuple(given[v] for v in wanted),
            results=tuple(wanted),
            _modes={},
            _reasons=[],
        )._reduced()
        return Statement(rest, tuple(wanted), tuple(actual[v] for v in rest.inputs), self.where)

    def _reduced(self) -> Loop:
        """The loop without the state that nothing needs."""
        parts = (self.before, self.after)
        wanted: set[Operand] = {*self.gives, *(value for value, _ in self.ends)}
        wanted |= {value for part in parts for value, _ in part.holds}
        wanted |= set() if self.condition is None else {self.condition}
        following = dict(zip(self.state, self.following, strict=True))
        while True:
            kept = needed(self.inside, wanted)
            more = {following[v] for v in self.state if v in wanted} - wanted
            if not more:
                break
            wanted |= more
        state = tuple(v for v in self.state if v in wanted)
        before, after = (
            Part(tuple(s for s in part.statements if s in kept), part.holds) for part in parts
        )
        return replace(
            self, state=state, before=before, after=after,
            following=tuple(following[v] for v in state), _modes={}, _reasons=[],
        )  # fmt: skip

    # ---- planning ----

    def _planned(self, unknown: frozenset[str]) -> Mode | None:
        axes = (*self.outputs, *self.axes)
        known, order = self.divided(unknown)
        if unknown <= frozenset(self.outputs):
            return Backwards(order, generated, known, {})
        if self.bounds is not None and unknown == frozenset((self.bounds.stop.name,)):
            return self._counted(order, known)
        fixed = [v.name for v in (*self.free, *self.limits) if v.name in unknown]
        if fixed:
            return self._not_planned(f"{', '.join(fixed)} is the same in each turn")
        forwards = self._forwards([v for v in self.state if v.name not in unknown])
        back = [v for v in self.state if v not in forwards]
        try:
            last = self._plan(self._last(), [*known, *_names(forwards)], back)
            overwritten, turn = self._turn_plan(forwards, back)
        except NotInvertible as error:
            return self._not_planned(error)
        begun = [v for v in back if v.name in known and v not in overwritten]
        chosen = [v for v in (*last.free, *turn.free) if v not in overwritten]
        if begun and any(v.kind in (float, complex) for v in chosen):
            # rarely would it begin with what is known
            names = ", ".join(_names(begun))
            return self._not_planned(f"it begins with a known {names}, and choices change that")
        coordinates = Coordinates(axes)
        to_the_end = self._to_the_end(forwards, last)
        trips = None
        if to_the_end is None:
            trips = coordinates.add(TRIPS, Integers(0, self.max_trips))
        at_end = coordinates.of(last.parameters)
        begins = {
            v: coordinates.add(p.name, p.domain, p.label)
            for v, p in turn.free.items() if v in overwritten and v.name in unknown
        }  # fmt: skip
        each = coordinates.of(
            replace(p, domain=Repeated(p.domain, self.max_trips))
            for p in turn.parameters if p.name not in _names(overwritten)
        )  # fmt: skip
        if any(size_of(domain) > MOST_VALUES for domain in coordinates.domains.values()):
            return self._not_planned(
                f"its turns need more than {MOST_VALUES} values of one choice: make max_trips less"
            )
        return Backwards(
            order, generated, (*known, *coordinates.domains), coordinates.domains, generated,
            self.axes, labels=coordinates.labels, forwards=tuple(forwards), last=last, turn=turn,
            overwritten=overwritten, at_end=at_end, each=each, begins=begins,
            to_the_end=to_the_end, trips=trips,
        )  # fmt: skip

    def _counted(self, order: tuple[str, ...], known: tuple[str, ...]) -> Counted:
        """The mode for the end of its range."""
        coordinates = Coordinates((*self.outputs, *self.axes))
        trips = coordinates.add(TRIPS, Integers(0, self.max_trips))
        beyond = coordinates.add(BEYOND, Integers(0, None))
        return Counted(
            order, generated, (*known, *coordinates.domains), coordinates.domains, generated,
            self.axes, labels=coordinates.labels, last_resort=True, trips=trips, beyond=beyond,
        )  # fmt: skip

    def _to_the_end(
        self, forwards: Sequence[Variable], last: Plan
    ) -> tuple[Operand, Operand, Operand] | None:
        """The range that tells how often it has run."""
        if self.bounds is not None:
            return self.bounds.start, self.bounds.stop, self.bounds.step
        at = self.counts
        if at is None or at.at not in forwards or (at.more, False) not in last.program.holds:
            return None
        return at.at, at.stop, at.step

    def _turn_plan(
        self, forwards: Sequence[Variable], back: Sequence[Variable]
    ) -> tuple[tuple[Variable, ...], Plan]:
        """How a turn is undone, and the state that it overwrites, which need not be known after
        it."""
        overwritten = tuple(v for v in back if v not in self._read_in_a_turn())
        kept = [v for v in back if v not in overwritten]
        program = self._turn()
        if overwritten:
            turn = self._plan(program, [*self._after(kept), *_names(forwards)], back)
            if set(turn.free) <= set(overwritten):
                return overwritten, turn
        return (), self._plan(program, [*self._after(back), *_names(forwards)], back)

    def _read_in_a_turn(self) -> set[Variable]:
        """The state that a turn reads."""
        parts = (self.before, self.after)
        read: set[Operand] = {a for part in parts for s in part.statements for a in s.arguments}
        read.update(value for part in parts for value, _ in part.holds)
        read.update(f for v, f in zip(self.state, self.following, strict=True) if f != v)
        read.update([] if self.condition is None else [self.condition])
        unchanged = {v for v, f in zip(self.state, self.following, strict=True) if f == v}
        return {v for v in self.state if v in read or v in unchanged}

    def _plan(self, program: Program, known: Sequence[str], unknown: Sequence[Variable]) -> Plan:
        """The plan for some state, all else known but what is not among the known axes."""
        simple = functools.reduce(lambda p, rewrite: rewrite(p), SIMPLIFY, program)
        given = [axis for axis in simple.axes if axis in known or self._is_given(axis)]
        given = [axis for axis in given if axis not in _names(unknown)]
        return plan(absorb(simple), given, {}, root_finding=self.root_finding)

    def _is_given(self, axis: str) -> bool:
        index = () if self.bounds is None else (self.bounds.index,)
        return axis in _names((*self.free, *index))

    def _last(self) -> Program:
        """From the state where the loop is left to what it gives."""
        holds = (*self.before.holds, *self.ends)
        if self.condition is not None:
            holds = ((self.condition, self.leaves), *holds)
        return Program(
            self.name, (*self.state, *self.free), self.before.statements,
            dict(zip(self.outputs, self.gives, strict=True)), self.where, holds=holds,
        )  # fmt: skip

    def _turn(self) -> Program:
        """From the state before a turn to that after it."""
        holds = (*self.before.holds, *self.after.holds)
        if self.condition is not None:
            holds = ((self.condition, not self.leaves), *holds)
        index = () if self.bounds is None else (self.bounds.index,)
        return Program(
            self.name, (*self.state, *self.free, *index),
            (*self.before.statements, *self.after.statements),
            dict(zip(self._after(self.state), self.following, strict=True)),
            self.where, holds=holds,
        )  # fmt: skip

    def _after(self, state: Iterable[Variable]) -> list[str]:
        return [f"{v.name} after" for v in state]

    def _forwards(self, known: Sequence[Variable]) -> list[Variable]:
        """The state that follows from known state alone."""
        found = list(known)
        following = dict(zip(self.state, self.following, strict=True))
        while True:
            others = set(self.state) - set(found)
            kept = [v for v in found if self._reads(following[v]).isdisjoint(others)]
            if kept == found:
                return found
            found = kept

    def _reads(self, operand: Operand) -> set[Variable]:
        """The state that an operand is computed from."""
        made = {v: s for part in (self.before, self.after) for s in part.statements
                for v in s.results}  # fmt: skip
        waiting, seen = [operand], set[Operand]()
        while waiting:
            one = waiting.pop()
            if one not in seen:
                seen.add(one)
                if isinstance(one, Variable) and one in made:
                    waiting += made[one].arguments
        return {v for v in self.state if v in seen}

    def slice_for(self, state: Sequence[Variable]) -> Iterator[Statement]:
        """The statements of a turn that some state needs."""
        following = dict(zip(self.state, self.following, strict=True))
        wanted: set[Operand] = {following[v] for v in state}
        kept: list[Statement] = []
        for statement in reversed(self.inside):
            if not wanted.isdisjoint(statement.results):
                wanted.update(statement.arguments)
                kept.append(statement)
        return reversed(kept)


def _names(variables: Iterable[Variable]) -> list[str]:
    return [v.name for v in variables]
