"""Integers that are multiplied and then reduced: one statement, which is solved modulo.

Solved one after the other, the product would be chosen freely, and be a multiple of the factor
for few choices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from inversion.passes.simplifying import MASK
from inversion.program.statements import Constant, Operand, Program, Statement, Variable
from primitives import Relation
from primitives.floats import arithmetic
from primitives.forms.congruences import congruence
from primitives.integers import integer_division as integer

__all__ = ["reduced"]

Line = tuple[int, int]
"""Factor and shift of a linear function."""


def reduced(program: Program) -> Program:
    """The program with each linear function of one integer that is reduced as one statement."""
    if not any(s.relation in (integer.mod_int, MASK) for s in program.statements):
        return program
    definitions = {v: s for s in program.statements for v in s.results}
    uses = Counter(a for s in program.statements for a in s.arguments)
    uses.update((*program.results.values(), *(value for value, _ in program.holds)))

    def change(statement: Statement) -> Statement:
        modulus = _modulus(statement)
        if modulus is None:
            return statement
        line, inner = (1, 0), statement.arguments[0]
        while uses[inner] == 1 and isinstance(inner, Variable) and inner in definitions:
            found = _through(line, definitions[inner])
            if found is None:
                break
            line, inner = found
        if abs(line[0]) == 1 or not isinstance(inner, Variable) or line[0] % modulus == 0:
            return statement
        return replace(statement, relation=congruence(*line, modulus), arguments=(inner,))

    return program.replace(statements=tuple(map(change, program.statements)))


def _modulus(statement: Statement) -> int | None:
    """What a statement reduces modulo, where that is a constant."""
    if statement.relation not in (integer.mod_int, MASK):
        return None
    by = statement.arguments[1]
    if not isinstance(by, Constant):
        return None
    if statement.relation is MASK:  # the low bits
        return by.value + 1 if by.value > 0 and by.value & (by.value + 1) == 0 else None
    return by.value if by.value > 0 else None


STEPS: Mapping[Relation, Callable[[Line, int, int], Line]] = {
    arithmetic.add_int: lambda line, c, at: (line[0], line[1] + line[0] * c),
    arithmetic.sub_int: lambda line, c, at: (
        (line[0], line[1] - line[0] * c) if at == 1 else (-line[0], line[1] + line[0] * c)
    ),
    arithmetic.mul_int: lambda line, c, at: (line[0] * c, line[1]),
}
"""A linear function of what a statement gives, as one of its other argument. c: the constant that
is an argument; at: its place."""


def _through(line: Line, statement: Statement) -> tuple[Line, Operand] | None:
    """A linear function of what a statement gives, as one of what it takes."""
    rule = statement.relation
    if rule is arithmetic.neg_int:
        return (-line[0], line[1]), statement.arguments[0]
    if not isinstance(rule, Relation) or rule not in STEPS:
        return None
    for at, constant in enumerate(statement.arguments):
        if isinstance(constant, Constant):
            return STEPS[rule](line, constant.value, at), statement.arguments[1 - at]
    return None
