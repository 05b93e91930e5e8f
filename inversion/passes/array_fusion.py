"""Statements that share arrays become one.

Elementwise statements of one shape become one, in which algebra and the order of solving see
each element's equations together; so do statements that move elements. A loop of shared arrays that
is linear becomes a system of equations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from inversion.program.causality import causalise, given_variables
from inversion.program.elementwise_statements import Elementwise, elementwise
from inversion.program.linear_systems import System, system
from inversion.program.loop_blocks import split
from inversion.program.moved_elements import Moved, places_of
from inversion.program.statements import Operand, Program, Statement, Variable
from primitives.arrays.domain import is_array

__all__ = ["fuse_elementwise", "fuse_moved", "with_systems"]

Group = tuple[int, ...]


def fuse_moved(program: Program) -> Program:
    """Statements that move elements, and share an array, become one, where no other statement has
    to come between them."""
    return _fused(program, Moved)


def fuse_elementwise(program: Program) -> Program:
    """Elementwise statements of one shape that share an array become one, where no other statement
    has to come between them."""
    return _fused(program, Elementwise)


def _fused(program: Program, kind: type) -> Program:
    if not any(isinstance(s.relation, kind) for s in program.statements):
        return program
    fusion = _Fusion(program, kind)
    while fusion.merged():
        pass
    return program.replace(statements=tuple(fusion.statements()))


class _Fusion:
    """Groups of a program's statements, by number."""

    def __init__(self, program: Program, kind: type) -> None:
        self.program = program
        self.kind = kind
        self.groups: list[Group] = [(i,) for i in range(len(program.statements))]
        self.users: dict[Operand, set[int]] = {}
        for i, statement in enumerate(program.statements):
            for operand in statement.arguments:
                self.users.setdefault(operand, set()).add(i)
        self.given = {*program.results.values(), *(value for value, _ in program.holds)}

    def of(self, group: Group) -> list[Statement]:
        """The statements of a group."""
        return [self.program.statements[i] for i in group]

    def merged(self) -> bool:
        """Merge two groups; whether there were any."""
        for i, one in enumerate(self.groups):
            for other in self.groups[i + 1 :]:
                if self.fit(one, other) and self.free(one, other):
                    self.groups = [g for g in self.groups if g not in (one, other)]
                    self.groups.insert(i, tuple(sorted((*one, *other))))
                    return True
        return False

    def fit(self, one: Group, other: Group) -> bool:
        """Whether two groups are of the kind, and share an array."""
        first, second = self.of(one)[0].relation, self.of(other)[0].relation
        if not (isinstance(first, self.kind) and isinstance(second, self.kind)):
            return False
        shapes = {r.shape for r in (first, second) if isinstance(r, Elementwise)}
        if len(shapes) > 1:
            return False
        arrays = {v for s in self.of(one) for v in s.variables if is_array(v.kind)}
        return any(v in arrays for s in self.of(other) for v in s.variables)

    def follows(self, group: Group) -> Iterator[Group]:
        """The groups that read what a group gives."""
        readers = {i for s in self.of(group) for v in s.results for i in self.users.get(v, ())}
        for other in self.groups:
            if other != group and not readers.isdisjoint(other):
                yield other

    def free(self, one: Group, other: Group) -> bool:
        """Whether no way leads from one group to the other through a third."""
        for first, last in ((one, other), (other, one)):
            waiting = [g for g in self.follows(first) if g != last]
            seen = set(waiting)
            while waiting:
                for group in self.follows(waiting.pop()):
                    if group == last:
                        return False
                    if group not in seen:
                        seen.add(group)
                        waiting.append(group)
        return True

    def statements(self) -> Iterator[Statement]:
        """A statement for each group, each after what it needs."""
        left = sorted(self.groups)
        known: set[Operand] = set(self.program.inputs)
        while left:
            group = next(g for g in left if self.ready(g, known))
            left.remove(group)
            known.update(v for s in self.of(group) for v in s.results)
            yield self.statement(group)

    def ready(self, group: Group, known: set[Operand]) -> bool:
        """Whether all that a group needs from others is known."""
        own = {v for s in self.of(group) for v in s.results}
        return all(v in known or v in own for s in self.of(group) for v in s.arguments
                   if isinstance(v, Variable))  # fmt: skip

    def statement(self, group: Group) -> Statement:
        """The one statement for a group."""
        parts = self.of(group)
        if len(parts) == 1:
            return parts[0]
        results = [
            v for s in parts for v in s.results
            if v in self.given or not self.users.get(v, set()).issubset(group)
        ]  # fmt: skip
        if isinstance(parts[0].relation, Moved):
            return places_of(parts, results)
        return _elementwise(parts, results)


def _elementwise(parts: Sequence[Statement], results: Sequence[Variable]) -> Statement:
    operands: dict[str, Operand] = {}
    inner: list[Statement] = []
    by_name: dict[str, Variable] = {}
    for part in parts:
        rule = part.relation
        assert isinstance(rule, Elementwise)
        renamed: dict[Operand, Operand] = {}  # a pass may have put other variables in their place
        for v, operand in zip(rule.read, part.arguments, strict=True):
            new = (
                Variable(operand.name, v.kind, operand.source)
                if isinstance(operand, Variable)
                else v
            )
            renamed[v] = new
            operands[new.name] = operand
        inner += [
            replace(s, arguments=tuple(renamed.get(a, a) for a in s.arguments))
            for s in rule.statements
        ]
        by_name.update({v.name: v for v in rule.results})
    first = parts[0].relation
    assert isinstance(first, Elementwise)
    wanted = [by_name[v.name] for v in results]
    return elementwise(
        first.name, first.shape, inner, operands, wanted, root_finding=first.root_finding
    )


def with_systems(program: Program, known: Sequence[str]) -> Program:
    """The program with each loop of shared arrays that is linear as one system of equations."""
    if not any(is_array(v.kind) for v in program.variables):
        return program  # loops of numbers are taken apart first
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
