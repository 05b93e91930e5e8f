"""Sums of the same integers, gathered: one statement, which is solved as a system of equations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from inversion.program.statements import Constant, Operand, Program, Statement, Variable
from primitives.floats.arithmetic import add_int, mul_int, neg_int, sub_int
from primitives.forms.integer_systems import system

__all__ = ["with_integer_systems"]

Line = dict[Variable, int]
RULES = add_int, sub_int, neg_int, mul_int


def with_integer_systems(program: Program) -> Program:
    """The program with sums that share integers, all with known factors, as one statement each.

    For programs that cannot be solved as they are: alone, each sum is solved in simpler ways.
    """
    lines: dict[Operand, tuple[Line, int]] = {}
    inner: list[Statement] = []
    for statement in program.statements:
        made = _line(statement, lines)
        if made is not None:
            lines[statement.result] = made
            inner.append(statement)
    rest = [s for s in program.statements if s not in inner]
    used = {a for s in rest for a in s.arguments}
    used |= {*program.results.values(), *(value for value, _ in program.holds)}
    sums = {s.result: lines[s.result] for s in inner if s.result in used}
    made = [_system(group, sums, inner) for group in _groups(sums) if len(group) > 1]
    gone = {v for s in made for v in s.results}
    kept = [s for s in inner if s.result not in gone]  # what they do not need is pruned
    ordered = _ordered(program, [*rest, *kept, *made])
    return program if ordered is None or not made else program.replace(statements=tuple(ordered))


def _line(
    statement: Statement, lines: Mapping[Operand, tuple[Line, int]]
) -> tuple[Line, int] | None:
    """What a statement gives as a sum of integers with factors; None where it is none."""
    if statement.relation not in RULES:
        return None
    parts = [_part(operand, lines) for operand in statement.arguments]
    if statement.relation is neg_int:
        return _combined(({}, 0), parts[0], -1)
    one, other = parts
    if statement.relation is mul_int:
        if one[0] and other[0]:
            return None
        factor, line = (one[1], other) if not one[0] else (other[1], one)
        return _combined(({}, 0), line, factor)
    return _combined(one, other, 1 if statement.relation is add_int else -1)


def _part(operand: Operand, lines: Mapping[Operand, tuple[Line, int]]) -> tuple[Line, int]:
    if isinstance(operand, Constant):
        return {}, operand.value
    return lines.get(operand, ({operand: 1}, 0))


def _combined(one: tuple[Line, int], other: tuple[Line, int], times: int) -> tuple[Line, int]:
    """One sum and another, times a factor."""
    found = dict(one[0])
    for variable, factor in other[0].items():
        found[variable] = found.get(variable, 0) + times * factor
    return {v: f for v, f in found.items() if f}, one[1] + times * other[1]


def _groups(sums: Mapping[Variable, tuple[Line, int]]) -> Iterator[list[Variable]]:
    """The sums in parts that share no integer."""
    left = {v for v, (line, _) in sums.items() if line}
    for first in sums:
        if first not in left:
            continue
        left.discard(first)
        group = [first]
        for variable in group:
            near = [v for v in sums if v in left and sums[v][0].keys() & sums[variable][0].keys()]
            left.difference_update(near)
            group += near
        yield group


def _system(
    group: Sequence[Variable],
    sums: Mapping[Variable, tuple[Line, int]],
    inner: Sequence[Statement],
) -> Statement:
    terms = list(dict.fromkeys(v for result in group for v in sums[result][0]))
    matrix = tuple(tuple(sums[result][0].get(v, 0) for v in terms) for result in group)
    rule = system(matrix, tuple(sums[result][1] for result in group))
    where = next(s.where for s in inner if s.result == group[0])
    return Statement(rule, tuple(group), tuple(terms), where)


def _ordered(program: Program, statements: Sequence[Statement]) -> list[Statement] | None:
    """The statements, each after those that it needs; None where that cannot be."""
    known: set[Operand] = set(program.inputs)
    left, found = list(statements), list[Statement]()
    while left:
        ready = [s for s in left if all(isinstance(a, Constant) or a in known for a in s.arguments)]
        if not ready:
            return None
        found += ready
        known.update(v for s in ready for v in s.results)
        left = [s for s in left if s not in ready]
    return found
