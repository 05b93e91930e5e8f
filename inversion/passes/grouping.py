"""Statements that are solved together: they become one statement.

Of a point in polar coordinates, solved one after the other, the radius would be looked for as a
root, and the angle be one of those with its cosine, of which every other has another sine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from inversion.program.branches import Branch
from inversion.program.causality import causalise, given_variables
from inversion.program.statements import Operand, Program, Statement, Variable
from primitives import Relation
from primitives.floats.arithmetic import mul
from primitives.floats.trigonometric import angle as angle_of
from primitives.floats.trigonometric import cosine, hypotenuse, sine
from primitives.forms.polar import polar, unpolar
from primitives.sequences.chains import Chain, chain

__all__ = ["absorb", "chained", "in_polar_coordinates"]


def absorb(program: Program) -> Program:
    """What only a branch needs, such as its condition, is computed by the branch."""
    kept: list[Statement] = []
    needed = Counter[Operand](program.results.values())
    needed.update(value for value, _ in program.holds)
    for statement in program.statements:
        needed.update(set(statement.arguments))
    taken: set[Statement] = set()
    for statement in reversed(program.statements):
        if statement in taken:
            continue
        kept.append(_with_its_own(program, statement, needed, taken))
    return program.replace(statements=tuple(reversed(kept)))


def _with_its_own(
    program: Program, statement: Statement, needed: Counter[Operand], taken: set[Statement]
) -> Statement:
    """A statement; of a branch, one with what only it needs taken into it."""
    rule = statement.relation
    if not isinstance(rule, Branch):
        return statement
    given = dict(zip(rule.inputs, statement.arguments, strict=True))
    if any(formal != actual for formal, actual in given.items()):
        return statement  # its variables have other names outside
    before: list[Statement] = []
    wanted: set[Operand] = set(statement.arguments)
    for other in reversed(program.statements):
        if wanted.isdisjoint(other.results) or isinstance(other.relation, Branch):
            continue
        if all(needed[result] == 1 and result in wanted for result in other.results):
            taken.add(other)
            before.append(other)
            for argument in set(other.arguments) & wanted:
                needed[argument] -= 1
            wanted |= set(other.arguments)
    return rule.with_before(before[::-1]).statement() if before else statement


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


def in_polar_coordinates(program: Program, known: Sequence[str]) -> Program:
    """The program with what is multiplied by the cosine, and by the sine, of one angle as one
    statement, where neither the angle nor the factor follows from what is known; and with the
    length and the angle of a point that are known as one."""
    angles, points = _angles(program), _points(program)
    if not angles and not points:
        return program
    unknown = set(causalise(program, given_variables(program, known)).open)
    found = list(program.statements)
    for (x, y), pair in points.items():
        results = tuple(one.result for one in pair)
        if {x, y} <= unknown and unknown.isdisjoint(results):
            found[found.index(pair[0])] = replace(pair[0], relation=unpolar, results=results)
            found.remove(pair[1])
    for angle in [a for a in angles if a in unknown]:
        wide, high = (_products(found, angles[angle][rule]) for rule in (cosine, sine))
        for radius in unknown & wide.keys() & high.keys() - set(angles[angle].values()):
            pair = wide[radius], high[radius]
            at = min(found.index(one) for one in pair)
            results = tuple(one.result for one in pair)
            found[at] = Statement(polar, results, (radius, angle), pair[0].where)
            found = [s for s in found if s not in pair]
    return program.replace(statements=tuple(found))


def _angles(program: Program) -> Mapping[Operand, Mapping[Relation, Variable]]:
    """The arguments of which both the cosine and the sine are taken, with these."""
    found: dict[Operand, dict[Relation, Variable]] = {}
    for statement in program.statements:
        for rule in (cosine, sine):
            if statement.relation is rule:
                found.setdefault(statement.arguments[0], {})[rule] = statement.result
    return {angle: parts for angle, parts in found.items() if len(parts) == 2}


def _points(program: Program) -> Mapping[tuple[Operand, Operand], tuple[Statement, Statement]]:
    """The points of which both the length and the angle are taken, by these."""
    rules = hypotenuse, angle_of
    taken = {(s.relation, s.arguments): s for s in program.statements if s.relation in rules}
    return {
        (x, y): (length, taken[angle_of, (y, x)])
        for (rule, (x, y)), length in taken.items()
        if rule is hypotenuse and (angle_of, (y, x)) in taken
    }


def _products(statements: Sequence[Statement], factor: Variable) -> dict[Operand, Statement]:
    """The products of a variable with others, by these."""
    found: dict[Operand, Statement] = {}
    for statement in statements:
        if statement.relation is mul and factor in statement.arguments:
            one, other = statement.arguments
            found[other if one == factor else one] = statement
    return found
