"""Loops: a ``for`` or ``while`` as one statement about the state of its iterations."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from inversion.program.statements import Constant, Operand, Program, Statement, Variable, listed
from inversion.program.structured import Narrowed, Structured, needed
from primitives.relation import Mode

__all__ = ["Bounds", "CountedRange", "Loop", "Part"]


@dataclass(frozen=True)
class Part:
    """A part of an iteration of a loop: statements, and conditions that must hold."""

    statements: tuple[Statement, ...] = ()
    holds: tuple[tuple[Operand, bool], ...] = ()


@dataclass(frozen=True)
class Bounds:
    """The range of a counting loop: the variables for its start, stop and step, and the index."""

    start: Variable
    stop: Variable
    step: Variable
    index: Variable


@dataclass(frozen=True)
class CountedRange:
    """The range of a loop with other exits: the state variable that counts, the stop and step, and
    the condition to continue.
    """

    at: Variable
    stop: Operand
    step: Operand
    more: Operand


@dataclass(frozen=True, eq=False)
class Loop(Structured):
    """A loop as an equation between its initial state and its results.

    state: the variables that change, before an iteration. before: the part of an iteration up to
    the exit; after: the rest. condition: whether the loop exits (``leaves``) or continues; None if
    it counts through ``bounds``. following: the state after an iteration. gives: the results at the
    exit. root_finding: whether an iteration may use root finding. max_trips: the largest number of
    iterations of a loop that does not count; for one that does, the largest number of iterations
    with choices. ends: conditions that hold at the exit. counts: its range, if it has other exits.
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
    counts: CountedRange | None = None
    _modes: dict[frozenset[str], Mode | None] = field(default_factory=dict)
    _reasons: list[str] = field(default_factory=list[str])

    @property
    def is_counted(self) -> bool:
        """Whether a range bounds the number of iterations, and not ``max_trips``."""
        return self.bounds is not None or self.counts is not None

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
        """The variables of the range of a counting loop."""
        at = self.bounds
        return () if at is None else (at.start, at.stop, at.step)

    def _inputs(self) -> tuple[Variable, ...]:
        """The initial state, the variables that do not change, and the range."""
        return (*self.state, *self.free, *self.limits)

    # ---- as a statement rule ----

    def rows(self) -> list[str]:
        """The lines of text for an iteration."""
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
        """The loop without state that no statement needs."""
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

    # ---- programs to solve ----

    def last(self) -> Program:
        """The program from the state at the exit to the results."""
        holds = (*self.before.holds, *self.ends)
        if self.condition is not None:
            holds = ((self.condition, self.leaves), *holds)
        return Program(
            self.name, (*self.state, *self.free), self.before.statements,
            dict(zip(self.outputs, self.gives, strict=True)), self.where, holds=holds,
        )  # fmt: skip

    def turn(self) -> Program:
        """The program from the state before an iteration to the state after it."""
        holds = (*self.before.holds, *self.after.holds)
        if self.condition is not None:
            holds = ((self.condition, not self.leaves), *holds)
        index = () if self.bounds is None else (self.bounds.index,)
        return Program(
            self.name, (*self.state, *self.free, *index),
            (*self.before.statements, *self.after.statements),
            dict(zip(self.after_turn(self.state), self.following, strict=True)),
            self.where, holds=holds,
        )  # fmt: skip

    def after_turn(self, state: Iterable[Variable]) -> list[str]:
        return [f"{v.name} after" for v in state]

    def slice_for(self, state: Sequence[Variable]) -> Iterator[Statement]:
        """The statements of an iteration on which some state depends."""
        following = dict(zip(self.state, self.following, strict=True))
        wanted: set[Operand] = {following[v] for v in state}
        kept: list[Statement] = []
        for statement in reversed(self.inside):
            if not wanted.isdisjoint(statement.results):
                wanted.update(statement.arguments)
                kept.append(statement)
        return reversed(kept)
