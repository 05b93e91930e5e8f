"""Rewritings of programs: each takes a program and gives one with the same meaning."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from inversion.program import Constant, Operand, Program, Statement, Variable
from primitives import NoSolution, Relation

__all__ = ["SIMPLIFY", "fold", "prune", "share"]


def fold(program: Program) -> Program:
    """Statements whose arguments are all constants are computed once."""

    def change(statement: Statement) -> Statement | Operand:
        values = [a.value for a in statement.arguments if isinstance(a, Constant)]
        relation = statement.relation
        # a function that can only be run forward may not be a function of its arguments
        if (
            not isinstance(relation, Relation)
            or len(values) < len(statement.arguments)
            or len(relation.modes) == 1
        ):
            return statement
        try:
            with np.errstate(all="ignore"):
                return Constant(relation(*values))
        except (NoSolution, ValueError, ArithmeticError):
            return statement

    return program.rewritten(change)


def share(program: Program) -> Program:
    """Equal statements become one: what is computed twice is one unknown."""
    seen: dict[tuple[object, ...], Variable] = {}

    def change(statement: Statement) -> Statement | Operand:
        key = statement.relation.identity, statement.arguments
        known = seen.setdefault(key, statement.results[0])
        return statement if known == statement.results[0] else known

    return program.rewritten(change)


def prune(program: Program) -> Program:
    """Statements that the results do not need are left out."""
    needed = {*program.results.values(), *(value for value, _ in program.holds)}
    kept: list[Statement] = []
    for statement in reversed(program.statements):
        if not needed.isdisjoint(statement.results):
            needed.update(statement.arguments)
            kept.append(statement)
    return program.replace(statements=tuple(reversed(kept)))


SIMPLIFY: tuple[Callable[[Program], Program], ...] = (fold, share, prune)
"""What every program goes through before it is planned."""
