"""Simplifications: each takes a program and returns one with the same meaning."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from inversion.lifting.resolve import Resolver, folded
from inversion.program.statements import Constant, Operand, Program, Statement, Variable
from inversion.program.structured import Narrowed, Structured
from primitives import Relation
from primitives.integers.bits import integers_bitwise, xorshift_left, xorshift_right
from primitives.integers.division import mod_int
from primitives.integers.divmod import divmod_int
from primitives.integers.shifts import rshift_int
from primitives.several_results import PAIRS

__all__ = ["fold", "fuse", "narrow", "pair", "prune", "settle", "share"]

MASK = next(rule for rule in integers_bitwise if rule.target is operator.and_)


def fold(program: Program) -> Program:
    """Evaluate statements whose arguments are all constants."""

    def change(statement: Statement) -> Statement | Sequence[Operand]:
        rule = statement.relation
        known = folded(rule, statement.arguments) if isinstance(rule, Relation) else None
        return statement if known is None else known

    return program.rewritten(change)


def share(program: Program) -> Program:
    """Merge equal statements, so that a value that is computed twice is one unknown."""
    seen: dict[tuple[object, ...], tuple[Variable, ...]] = {}

    def change(statement: Statement) -> Statement | Sequence[Operand]:
        key = statement.relation.identity, statement.arguments
        known = seen.setdefault(key, statement.results)
        return statement if known == statement.results else known

    return program.rewritten(change)


def pair(program: Program) -> Program:
    """Merge a quotient and a remainder of the same numbers into one statement with both results."""
    first: dict[tuple[object, ...], int] = {}
    for i, statement in enumerate(program.statements):
        first.setdefault((statement.relation.identity, statement.arguments), i)
    statements: list[Statement | None] = list(program.statements)
    for i, j, together, by in _split_by_bits(program):
        one, other = program.statements[i], program.statements[j]
        statements[max(i, j)] = None
        arguments = (one.arguments[0], by)
        results = (*one.results, *other.results)
        statements[min(i, j)] = Statement(together, results, arguments, one.where)
    for (quotient, remainder), together in PAIRS.items():
        for (identity, arguments), i in first.items():
            j = first.get((remainder.identity, arguments))
            if identity == quotient.identity and j is not None:
                one, other = program.statements[i], program.statements[j]
                results = (*one.results, *other.results)
                statements[max(i, j)] = None
                statements[min(i, j)] = Statement(together, results, one.arguments, one.where)
    return program.replace(statements=tuple(s for s in statements if s is not None))


def _split_by_bits(program: Program) -> Iterator[tuple[int, int, Relation, Constant]]:
    """The right shifts of an integer whose lost bits are also extracted: each pair is a quotient
    and a remainder by a power of two.
    """
    low: dict[tuple[Operand, int], int] = {}
    for i, statement in enumerate(program.statements):
        if statement.relation is MASK:
            number, mask = statement.arguments
            if isinstance(mask, Constant) and mask.value > 0 and not mask.value & (mask.value + 1):
                low.setdefault((number, mask.value.bit_length()), i)
    for i, statement in enumerate(program.statements):
        if low and statement.relation is rshift_int:
            number, shift = statement.arguments
            j = low.pop((number, shift.value), None) if isinstance(shift, Constant) else None
            if j is not None and isinstance(shift, Constant):
                yield i, j, divmod_int, Constant(1 << shift.value)


def settle(program: Program) -> Program:
    """Add the bits that conditions imply: ``n % 2`` is known if ``n % 2 == 1`` holds, or if it is
    itself a condition.
    """
    definitions: dict[Operand, Statement]
    definitions = {v: s for s in program.statements for v in s.results}
    found = dict(program.holds)
    for value, is_true in program.holds:
        statement = definitions.get(value)
        bit = None if statement is None else _bit_of(statement, definitions, is_true=is_true)
        if bit is not None:
            found.setdefault(*bit)
    return program.replace(holds=tuple(found.items()))


def _bit_of(
    statement: Statement, definitions: Mapping[Operand, Statement], *, is_true: bool
) -> tuple[Operand, bool] | None:
    """The bit that a condition tests, and the value that it implies."""
    rule, (bit, *others) = statement.relation, statement.arguments
    if not isinstance(rule, Relation) or bit.kind is not int or bit not in definitions:
        return None
    if not _is_bit(definitions[bit], bit):
        return None
    if rule.target in (bool, operator.not_):
        return bit, is_true is (rule.target is bool)
    value = others[0].value if others and isinstance(others[0], Constant) else None
    if rule.target not in (operator.eq, operator.ne) or value not in (0, 1):
        return None
    return bit, (is_true is (rule.target is operator.eq)) is bool(value)


def _is_bit(statement: Statement, result: Operand) -> bool:
    """Return whether a result of a statement is the lowest bit of an integer."""
    rule, by = statement.relation, statement.arguments[-1]
    if rule is MASK:
        return by == Constant(1)
    lowest = rule is mod_int or (rule is divmod_int and result == statement.results[1])
    return lowest and by == Constant(2)


def narrow(program: Program) -> Program:
    """Restrict branches and loops, whose result is a condition that holds, to the paths that give
    it.
    """
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
    """Remove statements that the results do not need, and results that are not needed."""
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


KINDS = (int, np.int64, np.uint64)


SHIFTS: Mapping[Callable[..., Any], Callable[..., Any]] = {
    operator.rshift: xorshift_right,
    operator.lshift: xorshift_left,
}


def fuse(program: Program) -> Program:
    """Merge the statements of a xorshift step into one."""
    definitions = {v: s for s in program.statements for v in s.results}
    return program.replace(
        statements=tuple(_mixed(statement, definitions) for statement in program.statements)
    )


def _mixed(statement: Statement, definitions: Mapping[Variable, Statement]) -> Statement:
    """A xorshift step in place of ``n ^ (n >> k)``; other statements unchanged."""
    if not _is(statement, operator.xor):
        return statement
    for n, other in (statement.arguments, statement.arguments[::-1]):
        shifted = definitions.get(other) if isinstance(other, Variable) else None
        for shift, mixing in SHIFTS.items():
            if shifted is None or not _is(shifted, shift) or shifted.arguments[0] != n:
                continue
            k, step = shifted.arguments[1], _relation(mixing, n.kind)
            if step is not None and _allows(step, k):
                return replace(statement, relation=step, arguments=(n, k))
    return statement


def _is(statement: Statement, target: Callable[..., Any]) -> bool:
    """Return whether a statement is the base table's relation of a function of integers."""
    rule = statement.relation
    if not isinstance(rule, Relation) or rule.target is not target or rule.types[0] not in KINDS:
        return False
    return rule is _relation(target, rule.types[0])


def _relation(target: Callable[..., Any], kind: Any) -> Relation | None:
    return Resolver(None).relation(target, (kind, kind), base=True)


def _allows(step: Relation, k: Operand) -> bool:
    return isinstance(k, Constant) and step.domain[step.axes[1]].contains(k.value)
