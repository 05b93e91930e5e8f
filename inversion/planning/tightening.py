"""Tightening: the domains of parameters are restricted to values that some run of the program has.

The sets of all values are contracted through the program before any value is known: for example, a
function of a cosine may determine on which of its branches the angle lies, or that it is positive.
The layout of parameters still depends only on the program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from inversion.contraction.branch_ranges import RANGES
from inversion.contraction.contracted_programs import Box, Nothing, contracted, first_box, narrowed
from inversion.errors import NotInvertible
from inversion.lifting.lifter import lift
from inversion.planning.parameters import Parameter, ParameterSpace
from inversion.planning.plan import Plan, PlanStep, Root, own_choices
from inversion.planning.statement_modes import Solution
from inversion.program.statements import Constant, Program, Variable
from overlay.sets import NumberSet, point
from primitives import Domain, Integers, Relation
from primitives.relation import RETURN

__all__ = ["tightened"]

EFFORT = 1_000  # the largest number of statements to contract
FURTHEST = 1e15  # farther branches are not distinguished


def tightened(plan: Plan, domains: Mapping[str, Domain]) -> Plan:
    """The plan with narrower domains of its parameters, and without parameters that leave no
    choice.

    domains: the declared domains of inputs.
    """
    if not len(plan.parameters):
        return plan
    try:
        box = contracted(plan.program, _first_box(plan.program, domains), EFFORT)
    except Nothing:
        return plan  # the function never returns
    made: dict[int, PlanStep | Root] = {}
    steps = tuple(_step(step, box, made) for step in plan.steps)
    free = {v: _free(parameter, box.get(v)) for v, parameter in plan.free.items()}
    space = [*free.values(), *(p for step in steps for p in own_choices(step))]
    return replace(plan, free=free, steps=steps, parameters=ParameterSpace(space))


def _first_box(program: Program, domains: Mapping[str, Domain]) -> Box:
    """The initial sets of variables; results exclude NaN, which is neither a known value nor an
    answer.
    """
    box = first_box(program, domains)
    for result in program.results.values():
        if isinstance(result, Variable) and result in box:
            box[result] = box[result].numbers()
    return box


def _step(step: PlanStep | Root, box: Box, made: dict[int, PlanStep | Root]) -> PlanStep | Root:
    """A step with narrower domains; cached."""
    if id(step) not in made:
        if isinstance(step, Root):
            inner = tuple(_step(one, box, made) for one in step.steps)
            made[id(step)] = replace(step, steps=inner)
        else:
            made[id(step)] = _narrowed(step, box)
    return made[id(step)]


def _narrowed(step: PlanStep, box: Box) -> PlanStep:
    mode, rule = step.solved.mode, step.solved.statement.relation
    if step.chosen and _is_determined(step, box):
        return replace(step, chosen={})
    if isinstance(mode, Solution):
        return _within(step, mode, box)
    if len(mode.unknown) != 1 or len(step.chosen) != 1 or not isinstance(rule, Relation):
        return step
    found = box.get(step.solved.unknown[0])
    ((coordinate, parameter),) = step.chosen.items()
    if found is None or not found.pieces:
        return step
    if coordinate == "negative" and len(step.solved.statement.arguments) == 1:  # its sign
        return replace(step, chosen={}) if found.low >= 0 else step
    if coordinate != "k" or rule not in RANGES or mode.unknown != ("a",):
        return step
    constants = {
        axis: operand.value
        for axis, operand in step.solved.statement.bindings()
        if isinstance(operand, Constant)
    }
    ends = RANGES[rule](constants, found)
    if ends is None or not isinstance(parameter.domain, Integers):
        return step
    low, high = (int(end) if abs(end) < FURTHEST else None for end in ends)
    narrower = parameter.domain.meet(Integers(low, high, kind=parameter.domain.kind))
    if low is not None and low == high:  # the value is fixed
        fixed = replace(mode, coordinates={coordinate: narrower})
        return replace(step, chosen={}, solved=replace(step.solved, mode=fixed))
    return replace(step, chosen={coordinate: replace(parameter, domain=narrower)})


def _within(step: PlanStep, mode: Solution, box: Box) -> PlanStep:
    """A system whose search starts and stays in the sets of its unknowns."""
    chosen, operands = dict(step.chosen), dict(step.solved.statement.bindings())
    for axis, coordinate in mode.near.items():
        unknown = operands[axis]
        found = box.get(unknown) if isinstance(unknown, Variable) else None
        if coordinate in chosen and unknown.kind is float and found and found.pieces:
            narrower = chosen[coordinate].domain.within(found)
            chosen[coordinate] = replace(chosen[coordinate], domain=narrower)
    coordinates = {**mode.coordinates, **{c: p.domain for c, p in chosen.items()}}
    solved = replace(step.solved, mode=replace(mode, coordinates=coordinates))
    return replace(step, chosen=chosen, solved=solved)


def _is_determined(step: PlanStep, box: Box) -> bool:
    """Return whether no choice is left, for all values of the known axes of a statement."""
    mode, bindings = step.solved.mode, dict(step.solved.statement.bindings())
    if mode.determined_if is None or not mode.determined_by:
        return False
    operands = {axis: bindings[axis] for axis in mode.determined_by}
    kinds = {axis: (axis, operand.kind) for axis, operand in operands.items()}
    try:
        program = _program(mode.determined_if, tuple(kinds.values()))
    except NotInvertible:  # the condition has functions without a contractor
        return False
    never: dict[str, NumberSet] = {}
    for axis, operand in (*operands.items(), (RETURN, Constant(False))):
        found = point(operand.value) if isinstance(operand, Constant) else box.get(operand)
        if found is None or not found.pieces:
            return False
        never[axis] = found
    try:
        contracted(program, narrowed(program, first_box(program, {}), never), EFFORT)
    except Nothing:
        return True
    return False


@lru_cache(maxsize=256)
def _program(condition: Any, inputs: tuple[tuple[str, Any], ...]) -> Program:
    """The program of a mode's condition."""
    return lift(condition, inputs, None).program


def _free(parameter: Parameter, found: NumberSet | None) -> Parameter:
    """The parameter of a free variable, restricted to its set."""
    if found is None or not found.pieces:
        return parameter
    return replace(parameter, domain=parameter.domain.within(found))
