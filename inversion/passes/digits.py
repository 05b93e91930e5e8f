"""Digits of one integer, each computed for itself: one division after the other instead.

``s // 3600, s // 60 % 60, s % 60`` are the digits of s in mixed bases. Solved one by one, each but
one would have to agree by chance with what the others leave open; as ``q, r = divmod(s, 60)`` and
``divmod(q, 60)`` they determine s.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from inversion.program.statements import Constant, Operand, Program, Statement, Variable, renumbered
from inversion.program.variable_names import subject_of
from primitives.integers.integer_division import floordiv_int, mod_int
from primitives.integers.word_divmod import WORD_DIVISION
from primitives.relation import Relation
from primitives.several_results import divmod_int

__all__ = ["by_digits"]


class Field(NamedTuple):
    """``whole // unit % size``; without the remainder where there is no size."""

    unit: int
    size: int | None


@dataclass
class Digits:
    """What is computed from one integer by divisions. fields: what each variable is. statements:
    those that compute them."""

    whole: Variable
    fields: dict[Operand, Field]
    statements: list[Statement]


DIVISION: Mapping[Any, tuple[Relation, Relation, Relation]] = {
    int: (floordiv_int, mod_int, divmod_int),
    **WORD_DIVISION,
}
"""Quotient, remainder and both, by type."""
RULES = tuple(rule for rules in DIVISION.values() for rule in rules)


def by_digits(program: Program) -> Program:
    """The program with integers divided by constants step by step, where several of the quotients
    and remainders of one are used, and fit together."""
    if sum(s.relation in RULES for s in program.statements) < 2:
        return program
    tried = set[Variable]()
    for statement in program.statements:
        if statement.relation not in RULES or not isinstance(statement.arguments[0], Variable):
            continue
        whole = statement.arguments[0]
        if whole in tried:
            continue
        found = _digits(program, whole)
        tried |= {v for v in found.fields if isinstance(v, Variable)}
        program = _rewritten(program, found) or program
    return program


def _digits(program: Program, whole: Variable) -> Digits:
    """All that is computed from one integer by divisions by constants."""
    found = Digits(whole, {whole: Field(1, None)}, [])
    for statement in program.statements:
        if statement.relation not in RULES or statement.arguments[0] not in found.fields:
            continue
        by = statement.arguments[1]
        if not isinstance(by, Constant) or by.value < 1:
            continue
        made = _divided(found.fields[statement.arguments[0]], statement, int(by.value))
        if made is not None:
            found.fields.update(zip(statement.results, made, strict=True))
            found.statements.append(statement)
    return found


def _divided(field: Field, statement: Statement, by: int) -> Sequence[Field] | None:
    """What a division of a field by a constant gives, as fields of the whole."""
    if field.size is not None and field.size % by != 0:
        return None
    rest = None if field.size is None else field.size // by
    quotient, remainder = Field(field.unit * by, rest), Field(field.unit, by)
    floor, _, both = DIVISION[statement.arguments[0].kind]
    if statement.relation is both:
        return quotient, remainder
    return (quotient,) if statement.relation is floor else (remainder,)


def _rewritten(program: Program, found: Digits) -> Program | None:
    """The program with these digits found step by step; None where they are so already, are used
    together with the whole, or do not fit together."""
    outside = [s for s in program.statements if s not in found.statements]
    uses = Counter(a for s in found.statements for a in s.arguments)
    used = {a for s in outside for a in s.arguments}
    used |= {*program.results.values(), *(value for value, _ in program.holds)}
    if max(map(uses.__getitem__, found.fields)) < 2 or found.whole in used:
        return None
    wanted = {v: f for v, f in found.fields.items() if v in used}
    ends = [f.unit * f.size for f in wanted.values() if f.size is not None]
    bounds = sorted({1, *(f.unit for f in wanted.values()), *ends})
    pairs = list(itertools.pairwise(bounds))
    most = {np.int64: 2**63, np.uint64: 2**64}.get(found.whole.kind, math.inf)
    if bounds[-1] >= most or any(high % low for low, high in pairs):
        return None
    if any(f.size is not None and (f.unit, f.unit * f.size) not in pairs for f in wanted.values()):
        return None
    same, made = _steps(program, found, wanted, pairs)
    place = program.statements.index(found.statements[0])
    before = [s for s in program.statements[:place] if s not in found.statements]
    after = [s for s in program.statements[place:] if s not in found.statements]
    changed = program.replace(statements=(*before, *made, *after))
    return _with(changed, same)


def _steps(
    program: Program,
    found: Digits,
    wanted: Mapping[Operand, Field],
    pairs: Sequence[tuple[int, int]],
) -> tuple[Mapping[Operand, Operand], list[Statement]]:
    """The divisions, lowest digits first; and which variables are the same as others."""
    names = {v.name for v in program.variables}
    first: dict[Field, Operand] = {}
    same = {v: first.setdefault(f, v) for v, f in wanted.items()}
    where = {v: s.where for s in found.statements for v in s.results}
    made: list[Statement] = []
    rest: Operand = found.whole
    kind = rest.kind
    floor, remainder, both = DIVISION[kind]
    for low, high in pairs:
        fields = Field(high, None), Field(low, high // low)
        needs = high < pairs[-1][1] or fields[0] in first
        one, other = (first.get(field) for field in fields)
        if needs and one is None:
            source = f"{subject_of(found.whole)}_by_{high}"
            one = Variable(renumbered(f"{found.whole}_by_{high}", names), kind, source)
            names.add(str(one))
        results = [v for v in (one, other) if isinstance(v, Variable)]
        rule = both if len(results) == 2 else floor if one is not None else remainder
        line = next((where[v] for v in (other, one) if v in where), found.statements[0].where)
        made.append(Statement(rule, tuple(results), (rest, Constant(kind(high // low))), line))
        rest = rest if one is None else one
    return {v: other for v, other in same.items() if v != other}, made


def _with(program: Program, same: Mapping[Operand, Operand]) -> Program:
    """The program with variables replaced."""

    def now(operand: Operand) -> Operand:
        return same.get(operand, operand)

    return program.replace(
        statements=tuple(
            replace(s, arguments=tuple(map(now, s.arguments))) for s in program.statements
        ),
        results={axis: now(value) for axis, value in program.results.items()},
        holds=tuple((now(value), is_true) for value, is_true in program.holds),
    )
