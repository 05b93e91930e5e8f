"""Causality assignment: each statement gets a variable for which it is solved, and a place in the
order of solving.

Statements are equations between unknowns. First, each equation with one remaining unknown is solved
for it. The rest is ordered backwards: a variable that occurs in only one equation can be solved
last, from that equation, which then no longer binds the others. An order without a loop exists
exactly if no equation remains; each step makes the choice with the least cost. Variables for which
no equation is solved are free.

A comparison gives little information on its operands. It is solved only for variables that nothing
else determines, and if that leaves a loop, it is only checked.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from inversion.errors import NotInvertible
from inversion.program.statements import Program, Statement, StatementRule, Variable
from primitives import Relation
from primitives.arrays.domain import element_of
from primitives.relation import Mode

__all__ = ["Order", "Solved", "bounded_orders", "causalise", "given_variables"]

FORWARD, JOINTLY, INNER, INPUT, PARTLY, LAST_RESORT = range(6)


@dataclass(frozen=True)
class Solved:
    """A statement solved by one mode of its relation, for these variables."""

    statement: Statement
    mode: Mode
    unknown: tuple[Variable, ...]


@dataclass(frozen=True)
class Order:
    """The order of solving a program: free variables are chosen, then statements are solved in
    order.

    core: the remaining statements, in a loop of the shared variables ``open``; first is solved
    before them, last after them. stuck: those of the core that alone bind a variable, for which
    they have no mode.
    """

    free: tuple[Variable, ...]
    first: tuple[Solved, ...]
    last: tuple[Solved, ...]
    core: tuple[Statement, ...]
    open: tuple[Variable, ...]
    stuck: tuple[tuple[Statement, Variable], ...]

    @property
    def solved(self) -> tuple[Solved, ...]:
        """All solved statements outside the core, in order."""
        return (*self.first, *self.last)


MOST_ORDERED = 100_000
"""The largest number of statements that are ordered for one inverse, which takes some seconds.
Nested branches multiply the number at each level.
"""

_ordered: ContextVar[Counter[str] | None] = ContextVar("ordered", default=None)


@contextmanager
def bounded_orders() -> Generator[None]:
    """Bound the statements that are ordered inside the block by ``MOST_ORDERED``."""
    token = _ordered.set(Counter())
    try:
        yield
    finally:
        _ordered.reset(token)


def causalise(program: Program, known: Iterable[Variable]) -> Order:
    """The order in which a program is solved, with these variables known.

    Raises NotInvertible where more statements than ``MOST_ORDERED`` are ordered for one inverse.
    """
    ordered = _ordered.get()
    if ordered is not None:
        ordered["statements"] += len(program.statements)
        if ordered["statements"] > MOST_ORDERED:
            raise NotInvertible(
                f"cannot invert {program.name}: ordering its nested branches and loops takes more "
                f"than {MOST_ORDERED} steps",
                where=program.where,
                help="invert its parts one by one, or a loop of fewer iterations",
            )
    return _Causality(program, known).order()


def given_variables(program: Program, known: Sequence[str]) -> list[Variable]:
    """The known variables: those of the known axes, and those of the conditions that hold."""
    operands = [*map(program.operand, known), *(value for value, _ in program.holds)]
    return [operand for operand in operands if isinstance(operand, Variable)]


class _Causality:
    def __init__(self, program: Program, known: Iterable[Variable]) -> None:
        self.program = program
        given = set(known)
        self.inputs = set(program.inputs)
        self.unknowns = [v for v in dict.fromkeys(program.variables) if v not in given]
        self.rank = {v: i for i, v in enumerate(self.unknowns)}
        # remaining equations, by number, each with its unknowns
        self.left: dict[int, set[Variable]] = {}
        self.users: dict[Variable, set[int]] = {v: set() for v in self.unknowns}
        for i, statement in enumerate(program.statements):
            self.left[i] = {v for v in statement.variables if v not in given}
            for variable in self.left[i]:
                self.users[variable].add(i)

    def order(self) -> Order:
        first = list(self.propagated())
        last = list(self.peeled())
        done = {v for step in (*first, *last) for v in step.unknown}
        statements = self.program.statements
        held = {v for unknown in self.left.values() for v in unknown}
        return Order(
            tuple(v for v in self.unknowns if v not in done and v in self.users and v not in held),
            tuple(first),
            tuple(reversed(last)),
            tuple(statements[i] for i in self.left),
            tuple(v for v in self.unknowns if v in held),
            tuple(
                (statements[i], variable)
                for i, unknown in self.left.items()
                for variable in sorted(unknown, key=self.rank.__getitem__)
                if len(self.users[variable]) == 1
            ),
        )

    # ---- forwards from known variables ----

    def propagated(self) -> Iterator[Solved]:
        """Solve the equations with one remaining unknown; equations without unknowns are only
        checks. Equations with a coordinate come last, because another equation may determine the
        unknown without a choice.
        """
        ready: list[tuple[bool, int]] = []
        for i in self.left:
            self.offer_ready(ready, i)
        while ready:
            chosen, i = heapq.heappop(ready)
            if i not in self.left or not self.is_ready(i):
                continue
            if not self.left[i]:
                del self.left[i]
                continue
            step = self.ready(i)
            if step is None:
                continue
            if not chosen and not step.mode.settled:
                heapq.heappush(ready, (True, i))
                continue
            yield step
            del self.left[i]
            for variable in step.unknown:
                for other in sorted(self.users.pop(variable)):
                    if other in self.left:
                        self.left[other].discard(variable)
                        self.offer_ready(ready, other)

    def offer_ready(self, heap: list[tuple[bool, int]], i: int) -> None:
        """Add equation i to the queue if it can be solved without a choice."""
        if self.is_ready(i):
            heapq.heappush(heap, (False, i))

    def ready(self, i: int) -> Solved | None:
        """Equation i solved for all its unknowns, if that leaves little choice."""
        unknown = tuple(sorted(self.left[i], key=self.rank.__getitem__))
        step = None if self.is_condition(i) else self.solved(i, unknown)
        if step is None or (len(unknown) > 1 and not step.mode.settled and not self.is_decided(i)):
            return None
        return step

    def is_ready(self, i: int) -> bool:
        """Return whether equation i can be solved without a choice: it has one unknown, or is
        solved as a whole.
        """
        return len(self.left[i]) <= 1 or self.rule(i).whole

    def is_decided(self, i: int) -> bool:
        """Return whether the known results determine the unknowns, up to the choice between
        separate solutions.
        """
        rule, results = self.rule(i), self.program.statements[i].results
        if not isinstance(rule, Relation) or not rule.independent:
            return False
        return len(results) >= len(self.left[i]) and self.left[i].isdisjoint(results)

    def rule(self, i: int) -> StatementRule:
        """The relation of equation i."""
        return self.program.statements[i].relation

    # ---- backwards from variables in one equation ----

    def peeled(self) -> Iterator[Solved]:
        """Remove the equations that alone bind a variable; the first removed is solved last."""
        heap: list[tuple[tuple[int, ...], int, tuple[Variable, ...]]] = []
        for i in self.left:
            self.offer(heap, i)
        while heap or self.left:
            if not heap:
                # conditions on arrays that give little information cannot be left to the check,
                # which would rarely pass
                conditions = [
                    i
                    for i in self.left
                    if self.is_condition(i) and not self.rule(i).low_information
                ]
                if not conditions:
                    break
                self.take(heap, conditions[-1])
                continue
            _, i, unknown = heapq.heappop(heap)
            if i not in self.left:
                continue
            step = self.solved(i, unknown)
            assert step is not None
            yield step
            self.take(heap, i)

    def take(self, heap: list[tuple[tuple[int, ...], int, tuple[Variable, ...]]], i: int) -> None:
        """Remove equation i, and offer the equations that share its variables."""
        touched: set[int] = set()
        for variable in self.left.pop(i):
            self.users[variable].discard(i)
            touched |= self.users[variable]
        for other in touched:
            self.offer(heap, other)

    def is_condition(self, i: int) -> bool:
        """Return whether equation i is a comparison with a known result, of operands that are not
        truth values, or has another known result with as little information.
        """
        results = self.program.statements[i].results
        if self.rule(i).low_information:
            return self.left[i].isdisjoint(results)
        return all(v.kind is bool and v not in self.left[i] for v in results) and any(
            v.kind is not bool for v in self.left[i]
        )

    def offer(self, heap: list[tuple[tuple[int, ...], int, tuple[Variable, ...]]], i: int) -> None:
        """Add the options for removing equation i to the queue."""
        statement = self.program.statements[i]
        alone = [v for v in statement.variables if self.users.get(v) == {i}]
        ways = [(v,) for v in alone] + ([tuple(alone)] if len(alone) > 1 else [])
        for unknown in ways:
            step = self.solved(i, unknown)
            if step is None or (step.mode.overdetermined and self.left[i] != set(unknown)):
                continue
            if len(unknown) == 1 or self.joins(step):
                # of equal choices the last in the program is solved, and the first stays free
                rank = self.rank[unknown[-1]]
                heapq.heappush(heap, ((*self.cost(step), -i, -rank, len(unknown)), i, unknown))

    def joins(self, step: Solved) -> bool:
        """Return whether a statement is solved for several variables at once, not after a free
        choice of some: for inputs and further results, and if a free choice would rarely have a
        solution.
        """
        if step.statement.relation.whole or _discrete(step.statement):
            return True
        return self.inputs.union(step.statement.results).issuperset(step.unknown)

    def cost(self, step: Solved) -> tuple[int, ...]:
        """The cost of a choice; smaller is better."""
        relation = step.statement.relation
        codomain = relation.codomain
        forward = set(relation.outputs) <= set(step.mode.unknown)
        partial = not forward and codomain is not None and not codomain.total
        if step.mode.last_resort:
            kind = LAST_RESORT
        elif forward and len(step.unknown) == len(relation.outputs):
            kind = FORWARD
        elif self.is_part(step):
            kind = PARTLY
        elif len(step.unknown) > 1:
            kind = JOINTLY
        else:
            kind = INPUT if self.inputs.issuperset(step.unknown) else INNER
        return kind, int(partial), len(step.mode.coordinates)

    def is_part(self, step: Solved) -> bool:
        """Return whether a relation that is better solved jointly could be solved for more
        variables.
        """
        rule = step.statement.relation
        single = len(step.unknown) == 1 and step.mode.coordinates
        if single and _discrete(step.statement) and rule.mode(rule.axes):
            return True
        if not isinstance(rule, Relation) or not rule.joint:
            return False
        left = [axis for axis, v in step.statement.bindings() if v in self.rank]
        return len(left) > len(step.unknown) and rule.mode(left) is not None

    def solved(self, i: int, unknown: tuple[Variable, ...]) -> Solved | None:
        """Equation i solved for these variables; None if it has no mode for them."""
        statement = self.program.statements[i]
        by_axis = {axis: v for axis, v in statement.bindings() if v in unknown}
        if len(by_axis) > len(unknown):  # one of them occurs on two axes
            return None
        mode = statement.relation.mode(by_axis)
        if mode is None:
            return None
        return Solved(statement, mode, tuple(by_axis[axis] for axis in mode.unknown))


def _discrete(statement: Statement) -> bool:
    return not any(element_of(v.kind) in (float, complex) for v in statement.variables)
