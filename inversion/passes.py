"""Rewritings of programs: each takes a program and gives one with the same meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from inversion.fusing import fuse
from inversion.program import Constant, Operand, Program, Statement, Variable
from inversion.structured import Narrowed, Structured
from primitives import NoSolution, Relation
from primitives.several import PAIRS

__all__ = ["SIMPLIFY", "fold", "folded", "narrow", "pair", "prune", "share"]


def fold(program: Program) -> Program:
    """Statements whose arguments are all constants are computed once."""

    def change(statement: Statement) -> Statement | Sequence[Operand]:
        rule = statement.relation
        known = folded(rule, statement.arguments) if isinstance(rule, Relation) else None
        return statement if known is None else known

    return program.rewritten(change)


def folded(rule: Relation, arguments: Sequence[Operand]) -> tuple[Constant, ...] | None:
    """What a relation gives for constants, result by result, where that is always the same."""
    values = [a.value for a in arguments if isinstance(a, Constant)]
    # a function that can only be run forward may not be a function of its arguments
    if len(values) < len(arguments) or len(rule.modes) == 1:
        return None
    try:
        with np.errstate(all="ignore"):
            found = rule(*values)
            return tuple(map(Constant, found if len(rule.outputs) > 1 else (found,)))
    except (NoSolution, ValueError, ArithmeticError):
        return None


def share(program: Program) -> Program:
    """Equal statements become one: what is computed twice is one unknown."""
    seen: dict[tuple[object, ...], tuple[Variable, ...]] = {}

    def change(statement: Statement) -> Statement | Sequence[Operand]:
        key = statement.relation.identity, statement.arguments
        known = seen.setdefault(key, statement.results)
        return statement if known == statement.results else known

    return program.rewritten(change)


def pair(program: Program) -> Program:
    """A quotient and a remainder of the same numbers become one statement with both results."""
    first: dict[tuple[object, ...], int] = {}
    for i, statement in enumerate(program.statements):
        first.setdefault((statement.relation.identity, statement.arguments), i)
    statements: list[Statement | None] = list(program.statements)
    for (quotient, remainder), together in PAIRS.items():
        for (identity, arguments), i in first.items():
            j = first.get((remainder.identity, arguments))
            if identity == quotient.identity and j is not None:
                one, other = program.statements[i], program.statements[j]
                results = (*one.results, *other.results)
                statements[max(i, j)] = None
                statements[min(i, j)] = Statement(together, results, one.arguments, one.where)
    return program.replace(statements=tuple(s for s in statements if s is not None))


def narrow(program: Program) -> Program:
    """Where a condition that holds is what a branch or a loop gives, only the ways that give it
    are left."""
    while True:
        held = {value: is_true for value, is_true in program.holds if value.kind is bool}
        for statement in program.statements:
            found = _where_gives(statement, held)
            if found is not None:
                program = _narrowed(program, statement, found)
                break
        else:
            return program


def _where_gives(statement: Statement, held: Mapping[Operand, bool]) -> Narrowed | None:
    rule = statement.relation
    for result in statement.results:
        if isinstance(rule, Structured) and result in held:
            found = rule.where_gives(statement, result, held[result])
            if found is not None:
                return found
    return None


def _narrowed(program: Program, statement: Statement, found: Narrowed) -> Program:
    statements: list[Statement] = []
    for other in program.statements:
        statements += found.statements if other is statement else [other]
    instead = found.instead
    holds = [(instead.get(v, v), is_true) for v, is_true in (*program.holds, *found.holds)]
    return program.replace(
        statements=tuple(
            replace(s, arguments=tuple(instead.get(a, a) for a in s.arguments)) for s in statements
        ),
        results={axis: instead.get(value, value) for axis, value in program.results.items()},
        holds=tuple(
            pair
            for pair in dict.fromkeys(holds)
            if not isinstance(pair[0], Constant) or bool(pair[0].value) is not pair[1]
        ),
    )


def prune(program: Program) -> Program:
    """Statements that the results do not need are left out, and what others give besides."""
    wanted = {*program.results.values(), *(value for value, _ in program.holds)}
    kept: list[Statement] = []
    for statement in reversed(program.statements):
        used = [v for v in statement.results if v in wanted]
        if used:
            rule = statement.relation
            if isinstance(rule, Structured) and len(used) < len(statement.results):
                statement = rule.giving(statement, used)
            wanted.update(statement.arguments)
            kept.append(statement)
    return program.replace(statements=tuple(reversed(kept)))


SIMPLIFY: tuple[Callable[[Program], Program], ...] = (fold, share, fuse, pair, narrow, prune)
"""What every program goes through before it is planned."""
