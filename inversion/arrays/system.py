"""Loops of shared arrays that are linear: one statement, solved as a system of equations."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from inversion.arrays.elementwise import Elementwise
from inversion.arrays.moved import Moved, offsets, size_of
from inversion.causality import causalise
from inversion.plan import given_variables, split
from inversion.program import Operand, Program, Statement, Variable, listed
from inversion.structured import Whole, generated, needed
from primitives import Domain, Real, Relation
from primitives.arrays.domain import Arrays, element_of, is_array, shape_of
from primitives.relation import Mode

__all__ = ["Solution", "System", "is_linear", "system", "with_systems"]

JOINTLY = (operator.add, operator.sub, operator.neg, np.sum, np.mean, np.cumsum, np.diff)
"""Functions that are linear in all arguments at once."""
ONE_AT_A_TIME = (operator.mul, operator.matmul, np.matmul, np.dot)
"""Functions that are linear in one argument where the others are known."""

MOST_UNKNOWNS = 2048


@dataclass(frozen=True)
class Solution(Mode):
    """A system solved. found: the inputs that are. near: for each the coordinate where the
    nearest solution is looked for. given: the results that are known."""

    found: tuple[Variable, ...] = ()
    near: Mapping[str, str] = field(default_factory=dict[str, str])
    given: tuple[Variable, ...] = ()


@dataclass(frozen=True, eq=False)
class System(Whole):
    """Statements that are linear in some of what they read, ``linear``, when the rest is known."""

    name: str
    read: tuple[Variable, ...]
    linear: frozenset[Variable]
    results: tuple[Variable, ...]
    statements: tuple[Statement, ...]
    where: str
    _modes: dict[frozenset[str], Mode | None] = field(default_factory=dict)
    _reasons: list[str] = field(default_factory=list[str])

    @property
    def inside(self) -> tuple[Statement, ...]:
        """The equations."""
        return self.statements

    @property
    def weak(self) -> bool:
        """Whether there are fewer equations than unknowns."""
        return sum(map(size_of, self.results)) < sum(map(size_of, self.linear))

    def rows(self) -> list[str]:
        """The equations."""
        return [f"  {row}" for row in listed(self.statements)]

    def _planned(self, unknown: frozenset[str]) -> Mode | None:
        known, order = self.divided(unknown)
        if unknown == frozenset(self.outputs):
            return Solution(order, generated, known, {})
        found = tuple(v for v in self.read if v.name in unknown)
        given = tuple(v for v in self.results if v.name in known)
        if not given or not found or not self.linear.issuperset(found):
            return None
        near = {v.name: "near" if len(found) == 1 else f"near_{v.name}" for v in found}
        coordinates: dict[str, Domain] = {
            near[v.name]: Arrays(Real, shape_of(v.kind)) if is_array(v.kind) else Real
            for v in found
        }
        square = sum(map(size_of, given)) >= sum(map(size_of, found))
        return Solution(
            order, generated, (*known, *coordinates), coordinates, generated, self.axes,
            spare=square, found=found, near=near, given=given,
        )  # fmt: skip

    def giving(self, statement: Statement, wanted: Sequence[Variable]) -> Statement:
        given = dict(zip(statement.results, self.results, strict=True))
        operands = dict(zip(self.read, statement.arguments, strict=True))
        results = tuple(given[v] for v in wanted)
        kept = needed(self.statements, set(results))
        used = {v for s in kept for v in s.variables}
        read = tuple(v for v in self.read if v in used)
        rule = System(self.name, read, self.linear.intersection(read), results, kept, self.where)
        return Statement(rule, tuple(wanted), tuple(operands[v] for v in read), statement.where)

    def places(self, variables: Sequence[Variable]) -> Iterator[tuple[Variable, int, int]]:
        """Each variable with where its elements begin and end, one after the other."""
        for name, start in offsets(variables).items():
            variable = next(v for v in variables if v.name == name)
            yield variable, start, start + size_of(variable)


def with_systems(program: Program, known: Sequence[str]) -> Program:
    """The program with each loop of shared arrays that is linear as one system of equations."""
    if not any(is_array(v.kind) for v in program.variables):
        return program
    order = causalise(program, given_variables(program, known))
    for core in _loops(order.core, set(order.open)):
        before, inside, after = split(program, core)
        made = system(inside, order.open) if len(inside) == len(core) else None
        if made is not None:
            return with_systems(program.replace(statements=(*before, made, *after)), known)
    return program


def _loops(core: Sequence[Statement], unknown: set[Variable]) -> Iterator[list[Statement]]:
    """The statements of a core in parts that share no unknown; those about elements alone need no
    system."""
    left = list(core)
    while left:
        part, reached = [left.pop(0)], set[Variable]()
        for statement in part:
            reached |= unknown.intersection(statement.variables)
            more = [s for s in left if not reached.isdisjoint(s.variables)]
            left = [s for s in left if s not in more]
            part += more
        if not all(isinstance(s.relation, (Elementwise, System)) for s in part):
            yield [s for s in core if s in part]


def system(core: Sequence[Statement], unknown: Sequence[Variable]) -> Statement | None:
    """One statement for these, which are solved for these variables together; None where they are
    not linear in them, or more than ``MOST_UNKNOWNS``."""
    made = {v for s in core for v in s.results}
    sources = [v for v in unknown if v not in made and any(v in s.variables for s in core)]
    read_here = {v for s in core for v in s.variables}
    varying = read_here.intersection(unknown)
    floats = all(element_of(v.kind) is float for v in (*sources, *made))
    if not sources or not floats or made <= varying or not any(is_array(v.kind) for v in varying):
        return None
    if sum(map(size_of, sources)) > MOST_UNKNOWNS or not all(is_linear(s, varying) for s in core):
        return None
    read = dict.fromkeys(v for s in core for v in s.variables if v not in made)
    results = tuple(v for s in core for v in s.results)
    name = f"system_{core[0].where.rpartition(':')[2]}"
    rule = System(name, tuple(read), frozenset(sources), results, tuple(core), core[0].where)
    return Statement(rule, results, tuple(read), core[-1].where)


def is_linear(statement: Statement, varying: set[Variable]) -> bool:
    """Whether results are linear in those of these variables that a statement reads."""
    rule = statement.relation
    if isinstance(rule, Moved):
        return True
    if isinstance(rule, Elementwise):
        return _each_is_linear(rule, statement.arguments, varying)
    if not isinstance(rule, Relation):
        return False
    return _is_linear(rule, [a in varying for a in statement.arguments])


def _is_linear(rule: Relation, varies: Sequence[bool]) -> bool:
    if not any(varies):
        return True
    if rule.target is operator.truediv:
        return not varies[1]
    if rule.target in JOINTLY:
        return True
    return rule.target in ONE_AT_A_TIME and sum(varies) == 1


def _each_is_linear(
    rule: Elementwise, arguments: Sequence[Operand], varying: set[Variable]
) -> bool:
    inner: set[Any] = {v for v, outer in zip(rule.read, arguments, strict=True) if outer in varying}
    for statement in rule.program.statements:
        varies = [argument in inner for argument in statement.arguments]
        found = statement.relation
        if any(varies):
            if not isinstance(found, Relation) or not _is_linear(found, varies):
                return False
            inner.update(statement.results)
    return True
