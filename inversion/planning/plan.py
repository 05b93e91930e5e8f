"""The plan of an inverse, as data: its free choices, and the order in which statements
are solved.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from inversion.planning.parameters import Parameter, ParameterSpace
from inversion.program.causality import Solved
from inversion.program.shown import html_of, svg_of, text_of
from inversion.program.statements import (
    Operand,
    Program,
    Statement,
    Variable,
    renumbered,
)
from inversion.program.variable_names import names_of
from overlay.core.location import name_of
from primitives import Relation
from primitives.arrays.domain import is_array

__all__ = ["Plan", "PlanStep", "Root", "is_quick", "left_out", "renamed", "statement_of"]


@dataclass(frozen=True)
class PlanStep:
    """One solved statement. chosen: the parameters for the free coordinates of the mode."""

    solved: Solved
    chosen: Mapping[str, Parameter]

    def __str__(self) -> str:
        return text_of(self)


@dataclass(frozen=True)
class Root:
    """One unknown, found as a root of an equation.

    guess: the parameter for the start of the search. check: the statement that is the equation.
    steps: the steps that are solved from a guess to compute the residual of the equation.
    """

    variable: Variable
    guess: Parameter
    check: Statement
    steps: tuple[PlanStep | Root, ...]

    @property
    def needs(self) -> tuple[Variable, ...]:
        """The variables of the equation other than the unknown."""
        solved = {self.variable, *(v for step in self.steps for v in solved_by(step))}
        mentioned = [v for step in self.steps for v in _mentioned(step)]
        needed = dict.fromkeys([*mentioned, *self.check.variables])
        return tuple(v for v in needed if v not in solved)

    @property
    def choices(self) -> tuple[Parameter, ...]:
        """The parameters of its steps, without duplicates, as steps may be nested."""
        return tuple(dict.fromkeys(p for step in self.steps for p in choices_of(step)))

    def __str__(self) -> str:
        return text_of(self)


@dataclass(frozen=True)
class Plan:
    """The solution procedure of a program.

    known, unknown: axes. free: the variables that are chosen, each with its parameter. steps: the
    solved statements, in order.
    """

    program: Program
    known: tuple[str, ...]
    unknown: tuple[str, ...]
    free: Mapping[Variable, Parameter]
    steps: tuple[PlanStep | Root, ...]
    parameters: ParameterSpace

    def operand(self, axis: str) -> Operand:
        """The operand of an axis in the program."""
        return self.program.operand(axis)

    @property
    def svg(self) -> str:
        """A drawing of the order of solving, as self-contained SVG."""
        return svg_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)

    def __str__(self) -> str:
        return text_of(self)


def renamed(plan: Plan, axes: Collection[str]) -> Plan:
    """The plan with parameters renamed by their labels; the names are unique.

    axes: the axes of the function and their parts; a parameter has such a name only if it is the
    value of this axis.
    """
    inputs = {v.name for v in plan.program.inputs}
    names = names_of([p.label for p in plan.parameters], inputs, {*axes, *inputs, *OPTIONS})
    taken = {v.name for v in plan.program.variables}
    free = {p.name for p in plan.free.values()}
    new: dict[str, Parameter] = {}
    for parameter, name in zip(plan.parameters, names, strict=True):
        key = parameter.variable if parameter.name in free else renumbered(name, taken)
        taken.add(key)
        new[parameter.name] = replace(parameter, name=name, key=key)
    made: dict[int, PlanStep | Root] = {}

    def again(step: PlanStep | Root) -> PlanStep | Root:
        if id(step) not in made:
            if isinstance(step, Root):
                inner = tuple(map(again, step.steps))
                made[id(step)] = replace(step, guess=new[step.guess.name], steps=inner)
            else:
                chosen = {c: new[p.name] for c, p in step.chosen.items()}
                made[id(step)] = replace(step, chosen=chosen)
        return made[id(step)]

    return replace(
        plan,
        free={v: new[p.name] for v, p in plan.free.items()},
        steps=tuple(map(again, plan.steps)),
        parameters=ParameterSpace(list(new.values())),
    )


OPTIONS = ("theta", "limit", "timeout", "guess", "out", "on_error", "progress", "self")
"""Names of arguments of an inverse's methods, which parameters cannot have."""


def parts_of(step: PlanStep | Root) -> list[tuple[str, Plan, Mapping[str, str]]]:
    """The plans inside a step, of the arms of a branch or the iterations of a loop, each with the
    coordinates of its parameters.
    """
    return [] if isinstance(step, Root) else step.solved.mode.parts()


def solved_by(step: PlanStep | Root) -> tuple[Variable, ...]:
    """The variables that a step solves for."""
    return (step.variable,) if isinstance(step, Root) else step.solved.unknown


def own_choices(step: PlanStep | Root) -> tuple[Parameter, ...]:
    """The parameters that a step introduces."""
    return (step.guess,) if isinstance(step, Root) else tuple(step.chosen.values())


def choices_of(step: PlanStep | Root) -> tuple[Parameter, ...]:
    """The parameters that a step takes, including those of nested steps."""
    return (*own_choices(step), *(step.choices if isinstance(step, Root) else ()))


def _mentioned(step: PlanStep | Root) -> tuple[Variable, ...]:
    return step.needs if isinstance(step, Root) else step.solved.statement.variables


def left_out(made: Plan) -> Iterator[tuple[str, str]]:
    """The relations whose modes in a plan may miss solutions, with the reasons."""
    for step in made.steps:
        for one in step.steps if isinstance(step, Root) else (step,):
            rule = one.solved.statement.relation if isinstance(one, PlanStep) else None
            if (
                isinstance(one, PlanStep)
                and isinstance(rule, Relation)
                and one.solved.mode.incomplete
            ):
                yield name_of(rule.target), one.solved.mode.incomplete


def statement_of(step: PlanStep | Root) -> Statement:
    """The statement that a step solves."""
    return step.check if isinstance(step, Root) else step.solved.statement


def is_quick(plan: Plan) -> bool:
    """Return whether a plan solves only relations of floats, in sequence."""
    steps = [step for step in plan.steps if isinstance(step, PlanStep)]
    solved = [step.solved.statement for step in steps]
    unknown = [v for step in steps for v in step.solved.unknown]
    return (
        len(steps) == len(plan.steps)
        and all(isinstance(statement.relation, Relation) for statement in solved)
        and all(v.kind is float for v in (*unknown, *plan.free))
        and not any(is_array(v.kind) for v in plan.program.variables)
        and {p.domain.kind for p in plan.parameters} <= {float, bool}
    )
