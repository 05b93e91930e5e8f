"""Propagation of sets through programs: forwards from the inputs, backwards from the results, to a
fixed point.

For each statement the set of its result is intersected with the image of its arguments, and each
argument with an inverse image of the result (hull consistency: F. Benhamou and others, Revising
hull and box consistency, ICLP 1999). The removed values belong to no solution; an empty set proves
that there is no solution.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from inversion.contraction.contracted_functions import integers_becoming
from inversion.contraction.contracted_loops import through_loop
from inversion.contraction.contractors import contractor_of
from inversion.contraction.variable_sets import every
from inversion.deadline import check_deadline
from inversion.program.branches import Branch
from inversion.program.loops import Loop
from inversion.program.statements import Operand, Program, Statement, Variable
from overlay.core.errors import reduced
from overlay.sets import NumberSet, point
from primitives import Domain, Relation
from primitives.floats import arithmetic
from primitives.floats.trigonometric import angle, cosine, hypotenuse, sine
from primitives.forms.polar import polar, unpolar
from primitives.integers import integer_arithmetic
from primitives.several_results import PAIRS

__all__ = ["Box", "Nothing", "contracted", "first_box", "narrowed"]

Box = Mapping[Variable, NumberSet]
"""A set for each variable of real numbers."""

ROUNDS = 6
_everything = NumberSet(((-math.inf, math.inf),), nan=True)

SQUARES: Mapping[Relation, Relation] = {
    arithmetic.mul: arithmetic.square,
    integer_arithmetic.mul_int: integer_arithmetic.square_int,
}


PARTS = {together: parts for parts, together in PAIRS.items()}
"""The relations of the single results, for each relation of two results."""

INNER_ROUNDS = 2  # for the statements inside a branch
PART = 20  # the effort of a branch or loop, in addition to that of the statements inside it
EFFORT = 6_000
"""The largest number of statements to contract, with those inside branches and loops counted in
each pass; after that, the sets found so far are used.
"""


class _Work:
    """The remaining effort."""

    def __init__(self, left: int) -> None:
        self.left = left


class Nothing(Exception):
    """A set became empty: there is no solution. where: ``file:line``. why: the contradiction."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(why)
        self.where = where
        self.why = why

    __reduce__ = reduced


def first_box(program: Program, domains: Mapping[str, Domain]) -> dict[Variable, NumberSet]:
    """The initial sets of a program's variables, by type. domains: the declared domains of its
    inputs.
    """
    box: dict[Variable, NumberSet] = {}
    for variable in program.variables:
        found = every(variable.kind)
        if found is not None:
            box[variable] = found
    for variable in program.inputs:
        if variable in box:
            box[variable] = box[variable].numbers()
            declared = domains[variable.name].closure if variable.name in domains else None
            if declared is not None:
                box[variable] = box[variable].meet(declared)
    return box


def narrowed(
    program: Program, box: Box, given: Mapping[str, NumberSet]
) -> dict[Variable, NumberSet]:
    """A box with axes of the program restricted to sets, given by name. Raises Nothing."""
    found = dict(box)
    for axis, allowed in given.items():
        operand = program.operand(axis)
        now = _of(found, operand)
        if now is not None:
            _set(
                found,
                operand,
                now.meet(allowed),
                program.where,
                lambda axis=axis: f"{axis} is {given[axis]}",
            )
    return found


def contracted(
    program: Program, box: Box, effort: int = EFFORT, rounds: int = ROUNDS
) -> dict[Variable, NumberSet]:
    """The box without the values that no run of the program can have.

    effort: the largest number of statements to contract. rounds: the largest number of passes
    forwards and backwards. Raises Nothing if a set becomes empty.
    """
    return _contracted(program, box, rounds, _Work(effort))


def _contracted(program: Program, box: Box, rounds: int, work: _Work) -> dict[Variable, NumberSet]:
    found = dict(box)
    for value, is_true in program.holds:
        truth = point(is_true)
        assert truth is not None
        now = _of(found, value)
        if now is not None:
            _set(found, value, now.meet(truth), program.where, lambda: "a condition fails")
    statements = program.statements
    for _ in range(rounds):
        before = dict(found)
        for statement in statements:
            _through(found, statement, work)
        for statement in reversed(statements):
            # branches and loops contract in both directions at once
            if isinstance(statement.relation, Relation):
                _through(found, statement, work)
        if found == before:
            break
    return found


def _parts(statement: Statement) -> Iterator[Statement]:
    """Statements with one result each that are equivalent to a statement with several results."""
    if statement.relation is polar:
        (r, a), of = statement.arguments, str(statement.results[0])
        for result, rule in zip(statement.results, (cosine, sine), strict=True):
            part = Variable(f"__{rule.name}_of_{of}", float)
            yield Statement(rule, (part,), (a,), statement.where)
            yield Statement(arithmetic.mul, (result,), (r, part), statement.where)
        return
    if statement.relation is unpolar:
        (length, turn), (x, y) = statement.results, statement.arguments
        yield Statement(hypotenuse, (length,), (x, y), statement.where)
        yield Statement(angle, (turn,), (y, x), statement.where)
        return
    rule: Any = statement.relation
    for one, result in zip(PARTS.get(rule, ()), statement.results, strict=False):
        yield replace(statement, relation=one, results=(result,))


def _of(box: Box, operand: Operand) -> NumberSet | None:
    return box.get(operand) if isinstance(operand, Variable) else point(operand.value)


def _set(
    box: dict[Variable, NumberSet],
    operand: Operand,
    found: NumberSet,
    where: str,
    why: Callable[[], str],
) -> None:
    if not found:
        raise Nothing(where, why())
    if isinstance(operand, Variable):
        box[operand] = found


def _through(box: dict[Variable, NumberSet], statement: Statement, work: _Work) -> None:
    """Contract the sets of a statement's variables."""
    check_deadline()
    rule: Any = statement.relation
    work.left -= 1 if isinstance(rule, Relation) else PART
    if work.left <= 0:
        return
    if isinstance(rule, Branch):
        _through_branch(box, statement, rule, work)
    if isinstance(rule, Loop):
        _through_loop(box, statement, rule, work)
    if not isinstance(rule, Relation):
        return
    if len(statement.results) > 1:
        for part in _parts(statement):
            if part.result not in statement.results:  # an intermediate value
                box.setdefault(part.result, _everything)
            _through(box, part, work)
        return
    operands = (statement.result, *statement.arguments)
    # one variable in place of several gives smaller sets
    if rule in SQUARES and operands[1] == operands[2]:
        rule, operands = SQUARES[rule], operands[:2]
    before = [_of(box, operand) for operand in operands]
    contractor = contractor_of(rule)
    ret, *args = before
    if ret is None:
        return
    known = [arg for arg in args if arg is not None]
    if contractor is None or len(known) < len(args):
        codomain = None if rule.codomain is None else rule.codomain.closure
        after = [ret if codomain is None else ret.meet(codomain.with_nan(True)), *args]
    else:
        ret, numbers = contractor.contracted(ret, known)
        after = [ret, *numbers]
    for operand, old, new in zip(operands, before, after, strict=True):
        if old is not None and new is not None:
            now = _of(box, operand)
            met = new if now is None else now.meet(new)
            if not met:
                asked = f"{operand} has to be in {now or old}"
                why = f"{asked}, but `{statement}` has no such value there"
                raise Nothing(statement.where, why)
            if isinstance(operand, Variable):
                box[operand] = met


# ---- branches -----------------------------------------------------------------------------


@functools.lru_cache(maxsize=1024)
def arms_of(rule: Branch) -> tuple[Program, Program]:
    """The programs of the two arms of a branch; cached."""
    return rule.program(0), rule.program(1)


def inner_box(box: Box, statement: Statement, program: Program) -> dict[Any, NumberSet]:
    """The box of an arm, from the sets outside. Raises Nothing."""
    found = first_box(program, {})
    for inner, outer in zip(program.inputs, statement.arguments, strict=True):
        known = _of(box, outer)
        if known is not None and inner in found:
            found[inner] = found[inner].with_nan(True).meet(known)
    given = {
        axis: becoming(known, program.operand(axis), result)
        for axis, result in zip(program.results, statement.results, strict=True)
        if (known := box.get(result)) is not None
    }
    return narrowed(program, found, given)


def becoming(known: NumberSet, given: Operand, result: Variable) -> NumberSet:
    """The values of an arm whose conversion lies in the set of the result: integers may become
    floats.
    """
    return known if given.kind is float or result.kind is not float else integers_becoming(known)


def _through_branch(
    box: dict[Variable, NumberSet], statement: Statement, rule: Branch, work: _Work
) -> None:
    """Contract a branch: the union of the sets of its arms."""
    left: list[tuple[Program, dict[Variable, NumberSet]]] = []
    reasons: list[str] = []
    for taken, program in enumerate(arms_of(rule)):
        try:
            inner = inner_box(box, statement, program)
            left.append((program, _contracted(program, inner, INNER_ROUNDS, work)))
        except Nothing as nothing:
            reasons.append(f"{('then', 'else')[taken]}: {nothing.why} [{nothing.where}]")
    if not left:
        raise Nothing(statement.where, "; ".join(reasons))
    inputs = left[0][0].inputs
    for inner, outer in zip(inputs, statement.arguments, strict=True):
        _joined(box, outer, [arm.get(inner) for _, arm in left], statement)
    for axis, result in zip(rule.outputs, statement.results, strict=True):
        gives = [_of(arm, p.operand(axis)) for p, arm in left]
        if result.kind is float:
            gives = [None if given is None else given.floats() for given in gives]
        _joined(box, result, gives, statement)


def _joined(
    box: dict[Variable, NumberSet],
    operand: Operand,
    found: list[NumberSet | None],
    statement: Statement,
) -> None:
    """Restrict an operand to the union of its sets in the arms."""
    now = _of(box, operand)
    known = [one for one in found if one is not None]
    if now is None or len(known) < len(found):
        return
    all_of_them = known[0]
    for other in known[1:]:
        all_of_them = all_of_them.join(other)
    met = now.meet(all_of_them)
    _set(box, operand, met, statement.where, lambda: f"{operand} is {now}")


# ---- loops --------------------------------------------------------------------------------


def _through_loop(
    box: dict[Variable, NumberSet], statement: Statement, rule: Loop, work: _Work
) -> None:
    """Contract a loop whose index values are known."""
    operands = dict(statement.bindings())
    known = {axis: _of(box, operand) for axis, operand in operands.items()}
    outside = {axis: found for axis, found in known.items() if found is not None}
    through = functools.partial(_by_name, work)
    for axis, found in through_loop(rule, outside, through).items():
        now = _of(box, operands[axis])
        if now is not None:
            reason = functools.partial("{} is {}".format, operands[axis], now)
            _set(box, operands[axis], now.meet(found), statement.where, reason)


def _by_name(
    work: _Work, program: Program, sets: Mapping[str, NumberSet]
) -> Mapping[str, NumberSet]:
    """The sets of a program's axes, contracted from those of some of them. Raises Nothing."""
    box = first_box(program, {})
    for variable in program.inputs:
        if variable in box and variable.name in sets:
            box[variable] = box[variable].with_nan(True).meet(sets[variable.name])
    results = {axis: found for axis, found in sets.items() if axis in program.results}
    box = _contracted(program, narrowed(program, box, results), 1, work)
    found = {axis: _of(box, program.operand(axis)) for axis in program.axes}
    return {axis: one for axis, one in found.items() if one is not None}
