"""Loops: a ``for`` or ``while`` as one statement, which runs backwards where its turns do."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from inversion.branches import absorb
from inversion.errors import NotInvertible
from inversion.passes import SIMPLIFY
from inversion.plan import Plan, plan
from inversion.program import Operand, Program, Statement, Variable, listed
from inversion.structured import Structured, generated
from primitives import Integers
from primitives.relation import Mode

__all__ = ["Backwards", "Bounds", "Loop", "Part"]

TRIPS = "trips"  # the coordinate that says how often a while loop has run


@dataclass(frozen=True)
class Part:
    """A stretch of a loop's turn: statements, and conditions that must hold."""

    statements: tuple[Statement, ...] = ()
    holds: tuple[tuple[Operand, bool], ...] = ()


@dataclass(frozen=True)
class Bounds:
    """The range that a loop counts through: the variables for its start, stop and step, and the
    one that counts."""

    start: Variable
    stop: Variable
    step: Variable
    index: Variable


@dataclass(frozen=True)
class Backwards(Mode):
    """A loop solved for the state that it begins with.

    forwards: state that is known at the beginning, and needs nothing else. last: how the state
    at the end follows from what the loop gives. turn: how the state before a turn follows from
    that after it.
    """

    forwards: tuple[Variable, ...] = ()
    last: Plan | None = None
    turn: Plan | None = None

    def parts(self) -> list[tuple[str, Any]]:
        """The plans for the end, where there is something to solve, and for each turn."""
        named = [("at the end", self.last), ("each turn, the last one first", self.turn)]
        return [(what, plan) for what, plan in named if plan is not None and plan.steps]


@dataclass(frozen=True, eq=False)
class Loop(Structured):
    """A loop as an equation between what it begins with and what it gives.

    state: what changes from turn to turn, as it is before a turn. before: what a turn does up to
    the point where the loop may be left, after: what it does from there on. condition: whether it
    is left (``leaves``) or goes on; None where it counts through ``bounds``. following: the state
    after a turn. gives: what results are made of, where the loop is left. numeric: whether roots
    are looked for in a turn. max_trips: how often it may run, where it does not count.
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
    numeric: bool
    max_trips: int
    _modes: dict[frozenset[str], Mode | None] = field(default_factory=dict)

    @property
    def free(self) -> tuple[Variable, ...]:
        """The variables from outside that do not change."""
        statements = (*self.before.statements, *self.after.statements)
        inside = {*self.state, *(v for s in statements for v in s.results)}
        if self.bounds is not None:
            inside.add(self.bounds.index)
        mentioned: list[Operand] = [v for s in statements for v in s.variables]
        mentioned += [*self.following, *self.gives]
        mentioned += [value for part in (self.before, self.after) for value, _ in part.holds]
        mentioned += [] if self.condition is None else [self.condition]
        found = (v for v in dict.fromkeys(mentioned) if isinstance(v, Variable))
        return tuple(v for v in found if v not in inside)

    @property
    def limits(self) -> tuple[Variable, ...]:
        """The variables of the range, where it counts."""
        at = self.bounds
        return () if at is None else (at.start, at.stop, at.step)

    @property
    def inputs(self) -> tuple[Variable, ...]:
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

    def around(
        self, before: Sequence[Statement], after: Sequence[Statement], gives: Sequence[Variable]
    ) -> Statement | None:
        """A loop takes no other statements in."""
        return None

    # ---- planning ----

    def _planned(self, unknown: frozenset[str]) -> Mode | None:
        axes = (*self.outputs, *self.axes)
        known = tuple(axis for axis in axes if axis not in unknown)
        order = tuple(axis for axis in axes if axis in unknown)
        if unknown <= frozenset(self.outputs):
            return Backwards(order, generated, known, {})
        if any(v.name in unknown for v in (*self.free, *self.limits)):
            return None
        forwards = self._forwards([v for v in self.state if v.name not in unknown])
        back = [v for v in self.state if v not in forwards]
        try:
            last = self._plan(self._last(), [*known, *_names(forwards)], back)
            turn = self._plan(self._turn(), [*self._after(back), *_names(forwards)], back)
        except NotInvertible:
            return None
        if len(turn.parameters) or (last.free and any(v.name in known for v in back)):
            return None
        if any(p.name in axes for p in last.parameters):
            return None
        coordinates = {} if self.bounds is not None else {TRIPS: Integers(0, self.max_trips)}
        coordinates |= {p.name: p.domain for p in last.parameters}
        lines = dict.fromkeys(coordinates, self.where) | {p.name: p.line for p in last.parameters}
        return Backwards(
            order, generated, (*known, *coordinates), coordinates, generated, self.axes,
            lines=lines, forwards=tuple(forwards), last=last, turn=turn,
        )  # fmt: skip

    def _plan(self, program: Program, known: Sequence[str], unknown: Sequence[Variable]) -> Plan:
        """The plan for some state, all else known but what is not among the known axes."""
        simple = functools.reduce(lambda p, rewrite: rewrite(p), SIMPLIFY, program)
        given = [axis for axis in simple.axes if axis in known or self._is_given(axis)]
        given = [axis for axis in given if axis not in _names(unknown)]
        return plan(absorb(simple), given, {}, numeric=self.numeric)

    def _is_given(self, axis: str) -> bool:
        index = () if self.bounds is None else (self.bounds.index,)
        return axis in _names((*self.free, *index))

    def _last(self) -> Program:
        """From the state where the loop is left to what it gives."""
        holds = self.before.holds
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
        for statement in reversed((*self.before.statements, *self.after.statements)):
            if not wanted.isdisjoint(statement.results):
                wanted.update(statement.arguments)
                kept.append(statement)
        return reversed(kept)


def _names(variables: Iterable[Variable]) -> list[str]:
    return [v.name for v in variables]
