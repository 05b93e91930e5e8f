"""Elementwise statements: one scalar program, applied to each element of arrays of one shape."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from inversion.program.statements import Operand, Program, Statement, Variable, listed
from inversion.program.structured import Whole, is_linear, needed
from primitives.arrays.domain import array_of, is_array
from primitives.relation import Mode

__all__ = ["Elementwise", "elementwise"]


@dataclass(frozen=True, eq=False)
class Elementwise(Whole):
    """One scalar program for each element of arrays of one shape.

    read, results: the variables of one element. arrays: the names of inputs that are arrays; the
    others are numbers that all elements share.
    """

    name: str
    shape: tuple[int, ...]
    read: tuple[Variable, ...]
    results: tuple[Variable, ...]
    arrays: frozenset[str]
    statements: tuple[Statement, ...]
    where: str
    root_finding: bool
    _modes: dict[frozenset[str], Mode | None] = field(default_factory=dict)
    _reasons: list[str] = field(default_factory=list[str])

    @property
    def inside(self) -> tuple[Statement, ...]:
        """The statements for an element."""
        return self.statements

    def rows(self) -> list[str]:
        """The lines of text for an element."""
        return [f"  {row}" for row in listed(self.statements)]

    @functools.cached_property
    def program(self) -> Program:
        """The program for an element."""
        results: dict[str, Operand] = {v.name: v for v in self.results}
        return Program(self.name, self.inputs, self.statements, results, self.where)

    def is_linear(self, arguments: Sequence[Operand], varying: Collection[Operand]) -> bool:
        inner: set[Operand] = {
            v for v, outer in zip(self.read, arguments, strict=True) if outer in varying
        }
        for statement in needed(self.statements, set(self.results)):
            if not inner.isdisjoint(statement.arguments):
                if not is_linear(statement, inner):
                    return False
                inner.update(statement.results)
        return True

    def giving(self, statement: Statement, wanted: Sequence[Variable]) -> Statement:
        inner = dict(zip(statement.results, self.results, strict=True))
        operands = {v.name: a for v, a in zip(self.read, statement.arguments, strict=True)}
        return elementwise(
            self.name,
            self.shape,
            needed(self.statements, {inner[v] for v in wanted}),
            operands,
            [inner[v] for v in wanted],
            root_finding=self.root_finding,
        )


def elementwise(
    name: str,
    shape: tuple[int, ...],
    statements: Sequence[Statement],
    operands: Mapping[str, Operand],
    results: Sequence[Variable],
    *,
    root_finding: bool,
) -> Statement:
    """The statement that applies scalar statements to each element.

    operands: the operands of the variables from outside, by name. results: the variables that are
    needed outside.
    """
    made = {v for s in statements for v in s.results}
    read = dict.fromkeys(v for s in statements for v in s.variables if v not in made)
    rule = Elementwise(
        name,
        shape,
        tuple(read),
        tuple(results),
        frozenset(v.name for v in read if is_array(operands[v.name].kind)),
        tuple(statements),
        statements[0].where,
        root_finding,
    )
    outer = tuple(Variable(v.name, array_of(v.kind, shape), v.source) for v in results)
    return Statement(rule, outer, tuple(operands[v.name] for v in read), statements[-1].where)
