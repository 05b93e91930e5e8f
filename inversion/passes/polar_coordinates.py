"""Points in polar coordinates, found in programs: one statement that both coordinates determine.

Solved one after the other, the radius would be looked for as a root, and the angle be one of those
with its cosine, of which every other has another sine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from inversion.planning.causality import causalise
from inversion.planning.plan import given_variables
from inversion.program.statements import Operand, Program, Statement, Variable
from primitives import Relation
from primitives.floats.arithmetic import mul
from primitives.floats.trigonometric import angle as angle_of
from primitives.floats.trigonometric import cosine, hypotenuse, sine
from primitives.forms.polar import polar, unpolar

__all__ = ["in_polar_coordinates"]


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
