"""Strings and lists put together in steps: one statement for all parts of a whole."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from inversion.program.statements import Operand, Program, Statement, Variable
from primitives.sequences.chains import Chain, chain

__all__ = ["chained"]


def chained(program: Program) -> Program:
    """The program with each part that is itself put together, and used nowhere else, replaced by
    its own parts: ``a + "/" + b`` is one whole, which can be cut at the places of what is known."""
    uses = Counter[Operand](o for s in program.statements for o in s.arguments)
    uses.update(program.results.values())
    uses.update(value for value, _ in program.holds)
    inner: dict[Operand, Statement] = {}
    kept: list[Statement] = []
    for statement in program.statements:
        statement = _flat(statement, inner)
        kept.append(statement)
        if isinstance(statement.relation, Chain) and uses[statement.result] == 1:
            inner[statement.result] = statement
    used = {o for s in kept for o in s.arguments if isinstance(s.relation, Chain)}
    gone = {v for v in inner if v not in used and _is_in_chain(program, v)}
    return program.replace(statements=tuple(s for s in kept if not gone & set(s.results)))


def _flat(statement: Statement, inner: dict[Operand, Statement]) -> Statement:
    """A statement of parts, with the parts of these in their place."""
    rule = statement.relation
    if not isinstance(rule, Chain) or not any(o in inner for o in statement.arguments):
        return statement
    parts: list[Operand] = []
    singles: list[bool] = []
    for operand, single in zip(statement.arguments, rule.singles, strict=True):
        if operand in inner and not single:
            part = inner[operand]
            assert isinstance(part.relation, Chain)
            parts += part.arguments
            singles += part.relation.singles
        else:
            parts.append(operand)
            singles.append(single)
    made = chain(rule.returns, tuple(singles))
    return replace(statement, relation=made, arguments=tuple(parts))


def _is_in_chain(program: Program, operand: Operand) -> bool:
    """Whether the only use of a variable is as a sequence in a whole."""
    return isinstance(operand, Variable) and any(
        operand == part and not single
        for s in program.statements
        if isinstance(s.relation, Chain)
        for part, single in zip(s.arguments, s.relation.singles, strict=True)
    )
