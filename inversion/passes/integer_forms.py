"""Integer arithmetic, rewritten into statements that are solved as a whole.

Digits: ``s // 3600, s // 60 % 60, s % 60`` are the digits of s in mixed bases. Solved one by one,
the free choices of one statement would rarely agree with the others. As ``q, r = divmod(s, 60)``
and ``divmod(q, 60)`` they determine s.

Congruences: in ``3 * n % 8`` the product would be chosen freely, and would rarely be a multiple of
the factor. This also holds for ``x * y % 8`` with one known factor, and for sums, ``3 * x + 5 *
y``. Several sums of the same integers are solved together.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from inversion.passes.simplifying import MASK
from inversion.program.statements import Constant, Operand, Program, Statement, Variable, renumbered
from inversion.program.variable_names import subject_of
from primitives import Relation
from primitives.forms.congruences import congruence, congruence_of_product, sum_of_two
from primitives.forms.integer_systems import system
from primitives.integers.division import mod_int
from primitives.integers.divmod import DIVISION
from primitives.integers.integer_arithmetic import add_int, mul_int, neg_int, sub_int

__all__ = [
    "by_digits",
    "ordered",
    "reduced",
    "replaced",
    "with_integer_sums",
    "with_integer_systems",
]


class Field(NamedTuple):
    """A digit field, ``whole // unit % size``; without the remainder if size is None."""

    unit: int
    size: int | None


@dataclass
class Digits:
    """The digit fields computed from one integer.

    fields: the field of each variable. statements: the statements that compute them.
    """

    whole: Variable
    fields: dict[Operand, Field]
    statements: list[Statement]


RULES = tuple(rule for rules in DIVISION.values() for rule in rules)


def by_digits(program: Program) -> Program:
    """Rewrite divisions of an integer by constants as a chain, if several of its quotients and
    remainders are used and fit together.
    """
    divided = _as_divisions(program)
    found = _by_digits(divided)
    return program if found is divided else found


def _as_divisions(program: Program) -> Program:
    """The program in which right shifts of integers by constants, and masks of the lowest bits, are
    quotients and remainders.
    """
    return program.replace(statements=tuple(map(_as_division, program.statements)))


def _as_division(statement: Statement) -> Statement:
    rule, args = statement.relation, statement.arguments
    if not isinstance(rule, Relation):
        return statement
    target = rule.target
    if target is operator.and_ and len(args) == 2 and isinstance(args[0], Constant):
        args = args[::-1]
    if target not in (operator.rshift, operator.and_) or len(args) != 2 or args[0].kind is not int:
        return statement
    by = args[1]
    if not isinstance(by, Constant) or isinstance(args[0], Constant) or by.value < 0:
        return statement
    floor, remainder, _ = DIVISION[int]
    if target is operator.rshift and by.value < 1024:
        return replace(statement, relation=floor, arguments=(args[0], Constant(1 << by.value)))
    if target is operator.and_ and by.value & (by.value + 1) == 0 and by.value:
        return replace(statement, relation=remainder, arguments=(args[0], Constant(by.value + 1)))
    return statement


def _by_digits(program: Program) -> Program:
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
    """The digit fields that are computed from one integer by constant divisors."""
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
    """The results of a division of a field by a constant, as fields of the whole."""
    if field.size is not None and field.size % by != 0:
        return None
    rest = None if field.size is None else field.size // by
    quotient, remainder = Field(field.unit * by, rest), Field(field.unit, by)
    floor, _, both = DIVISION[statement.arguments[0].kind]
    if statement.relation is both:
        return quotient, remainder
    return (quotient,) if statement.relation is floor else (remainder,)


def _rewritten(program: Program, found: Digits) -> Program | None:
    """The program with these digits computed by a chain of divisions; None if they already are, if
    the whole is used as well, or if they do not fit together.
    """
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
    return replaced(changed, same)


def _steps(
    program: Program,
    found: Digits,
    wanted: Mapping[Operand, Field],
    pairs: Sequence[tuple[int, int]],
) -> tuple[Mapping[Operand, Operand], list[Statement]]:
    """The divisions, lowest digits first, and the variables that are equal to others."""
    names = {v.name for v in program.variables}
    first: dict[Field, Operand] = {Field(1, None): found.whole}
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


def replaced(program: Program, same: Mapping[Operand, Operand]) -> Program:
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


Line = tuple[int, int]
"""Factor and shift of a linear function."""


def reduced(program: Program) -> Program:
    """Combine each linear function of one integer, or of a product of two, that is taken modulo a
    constant, into one statement.
    """
    if not any(s.relation in (mod_int, MASK) for s in program.statements):
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
        if not isinstance(inner, Variable) or line[0] % modulus == 0:
            return statement
        product = definitions.get(inner) if uses[inner] == 1 else None
        if product is not None and product.relation is mul_int and len({*product.arguments}) == 2:
            rule = congruence_of_product(*line, modulus)
            return replace(statement, relation=rule, arguments=product.arguments)
        if abs(line[0]) == 1:
            return statement
        return replace(statement, relation=congruence(*line, modulus), arguments=(inner,))

    return program.replace(statements=tuple(map(change, program.statements)))


def _modulus(statement: Statement) -> int | None:
    """The constant modulus of a statement, if it has one."""
    if statement.relation not in (mod_int, MASK):
        return None
    by = statement.arguments[1]
    if not isinstance(by, Constant):
        return None
    if statement.relation is MASK:  # the lowest bits
        return by.value + 1 if by.value > 0 and by.value & (by.value + 1) == 0 else None
    return by.value if by.value > 0 else None


STEPS: Mapping[Relation, Callable[[Line, int, int], Line]] = {
    add_int: lambda line, c, at: (line[0], line[1] + line[0] * c),
    sub_int: lambda line, c, at: (
        (line[0], line[1] - line[0] * c) if at == 1 else (-line[0], line[1] + line[0] * c)
    ),
    mul_int: lambda line, c, at: (line[0] * c, line[1]),
}
"""Functions that substitute a statement's result in a linear function, which gives one of its other
argument. c: the constant argument; at: its position.
"""


def _through(line: Line, statement: Statement) -> tuple[Line, Operand] | None:
    """A linear function of a statement's result, as a function of its only argument that is not
    constant.
    """
    rule = statement.relation
    if rule is neg_int:
        return (-line[0], line[1]), statement.arguments[0]
    if not isinstance(rule, Relation) or rule not in STEPS:
        return None
    for at, constant in enumerate(statement.arguments):
        if isinstance(constant, Constant):
            return STEPS[rule](line, constant.value, at), statement.arguments[1 - at]
    return None


Sum = dict[Variable, int]
"""The factor of each integer in a sum."""
SUMMING = add_int, sub_int, neg_int, mul_int


def with_integer_sums(program: Program) -> Program:
    """Rewrite sums in which each integer is multiplied, as ``6 * x + 10 * y + 15 * z``, as sums of
    two terms whose factors have no common divisor: ``3 * x + 5 * y``, and so on.

    Chosen one after the other, the products would rarely be multiples of the factors. A sum whose
    integers depend on one another, as ``3 * n * n + 2 * n``, is left to algebra.
    """
    if not any(s.relation is mul_int for s in program.statements):
        return program
    found = _Sums(program)
    alone = [group[0] for group in _groups(found.used) if len(group) == 1]
    wanted = [v for v in alone if _is_of_products(found.used[v][0])]
    if not wanted:
        return program
    origins, names = _origins(program), {v.name for v in program.variables}
    last = {s.result: s for s in found.inner}
    made: dict[tuple[Variable, ...], list[Statement]] = {}
    for result in wanted:
        line, shift = found.used[result]
        of_terms = [origins[v] for v in line]
        if sum(map(len, of_terms)) == len(set().union(*of_terms)):
            made[(result,)] = _in_twos(last[result], line, shift, names)
    statements = [s for each in program.statements for s in made.get(each.results, (each,))]
    return program.replace(statements=tuple(statements))


def _is_of_products(line: Sum) -> bool:
    return len(line) > 1 and 1 not in map(abs, line.values())


def _origins(program: Program) -> Mapping[Variable, frozenset[Variable]]:
    """The inputs from which each variable is computed; the results of a statement with several,
    such as a quotient and a remainder, count as inputs.
    """
    found = {v: frozenset([v]) for v in program.inputs}
    for statement in program.statements:
        together = (found[a] for a in statement.arguments if isinstance(a, Variable))
        one = frozenset().union(*together) if len(statement.results) == 1 else None
        found.update((v, frozenset([v]) if one is None else one) for v in statement.results)
    return found


def _in_twos(last: Statement, line: Sum, shift: int, names: set[str]) -> list[Statement]:
    """Statements that compute the result of the last one by sums of two terms.

    names: the names in use, to which the new ones are added.
    """
    made: list[Statement] = []
    (value, factor), *others = line.items()

    def state(rule: Relation, *arguments: Operand) -> Variable:
        name = renumbered(f"{last.result}_sum", names)
        names.add(name)
        result = Variable(name, int, subject_of(last.result))
        made.append(Statement(rule, (result,), arguments, last.where))
        return result

    for other, by in others:
        shared = math.gcd(factor, by)
        value, factor = state(sum_of_two(factor // shared, by // shared), value, other), shared
    if factor != 1:
        value = state(mul_int, Constant(factor), value)
    if shift:
        value = state(add_int, value, Constant(shift))
    made[-1] = replace(made[-1], results=last.results)
    return made


def with_integer_systems(program: Program) -> Program:
    """Combine sums that share integers, all with constant factors, into one statement each.

    It is for programs that cannot be solved otherwise: a single sum has a simpler solution.
    """
    sums = _Sums(program)
    groups = [group for group in _groups(sums.used) if len(group) > 1]
    made = [_system(group, sums.used, sums.inner) for group in groups]
    gone = {v for s in made for v in s.results}
    kept = [s for s in sums.inner if s.result not in gone]  # what is not needed is pruned later
    found = ordered(program, [*sums.rest, *kept, *made])
    return program if found is None or not made else program.replace(statements=found)


class _Sums:
    """The sums of integers with constant factors.

    inner: the statements that compute them. rest: the other statements. used: the sums that are
    results, or are read by other statements.
    """

    def __init__(self, program: Program) -> None:
        lines: dict[Operand, tuple[Sum, int]] = {}
        self.inner: list[Statement] = []
        self.rest: list[Statement] = []
        for statement in program.statements:
            made = _line(statement, lines)
            if made is not None:
                lines[statement.result] = made
            (self.rest if made is None else self.inner).append(statement)
        used = {a for s in self.rest for a in s.arguments}
        used |= {*program.results.values(), *(value for value, _ in program.holds)}
        self.used = {s.result: lines[s.result] for s in self.inner if s.result in used}


def _line(statement: Statement, lines: Mapping[Operand, tuple[Sum, int]]) -> tuple[Sum, int] | None:
    """The result of a statement as a linear combination of integers; None if it is not one."""
    if statement.relation not in SUMMING:
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


def _part(operand: Operand, lines: Mapping[Operand, tuple[Sum, int]]) -> tuple[Sum, int]:
    if isinstance(operand, Constant):
        return {}, operand.value
    return lines.get(operand, ({operand: 1}, 0))


def _combined(one: tuple[Sum, int], other: tuple[Sum, int], times: int) -> tuple[Sum, int]:
    """The first sum plus a multiple of the second."""
    found = dict(one[0])
    for variable, factor in other[0].items():
        found[variable] = found.get(variable, 0) + times * factor
    return {v: f for v, f in found.items() if f}, one[1] + times * other[1]


def _groups(sums: Mapping[Variable, tuple[Sum, int]]) -> Iterator[list[Variable]]:
    """The connected components of the sums, linked by shared integers."""
    places = {v: place for place, v in enumerate(sums)}
    left = {v for v, (line, _) in sums.items() if line}
    holders: dict[Variable, list[Variable]] = {}
    for variable in sums:
        for shared in sums[variable][0]:
            holders.setdefault(shared, []).append(variable)
    for first in sums:
        if first not in left:
            continue
        left.discard(first)
        group = [first]
        for variable in group:
            near = {v for shared in sums[variable][0] for v in holders.pop(shared, ()) if v in left}
            left -= near
            group += sorted(near, key=places.__getitem__)
        yield group


def _system(
    group: Sequence[Variable],
    sums: Mapping[Variable, tuple[Sum, int]],
    inner: Sequence[Statement],
) -> Statement:
    terms = list(dict.fromkeys(v for result in group for v in sums[result][0]))
    matrix = tuple(tuple(sums[result][0].get(v, 0) for v in terms) for result in group)
    rule = system(matrix, tuple(sums[result][1] for result in group))
    where = next(s.where for s in inner if s.result == group[0])
    return Statement(rule, tuple(group), tuple(terms), where)


def ordered(program: Program, statements: Sequence[Statement]) -> tuple[Statement, ...] | None:
    """The statements in order of dependence; None if there is a cycle."""
    known: set[Operand] = set(program.inputs)
    left, found = list(statements), list[Statement]()
    while left:
        ready = [s for s in left if all(isinstance(a, Constant) or a in known for a in s.arguments)]
        if not ready:
            return None
        found += ready
        known.update(v for s in ready for v in s.results)
        left = [s for s in left if s not in ready]
    return tuple(found)
