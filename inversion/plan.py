"""The plan of an inverse: what is chosen, and what is solved after what. Data only."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from inversion.algebra import collected
from inversion.causality import Order, Solved, causalise
from inversion.errors import NotInvertible
from inversion.parameters import Parameter, ParameterSpace
from inversion.program import Constant, Operand, Program, Statement, Variable, renumbered
from primitives import Domain
from primitives.domains import domain_of
from primitives.relation import RETURN

__all__ = ["Plan", "Step", "plan"]


@dataclass(frozen=True)
class Step:
    """One statement, solved. chosen: the parameter for each coordinate of the mode that is one."""

    solved: Solved
    chosen: Mapping[str, Parameter]

    def __str__(self) -> str:
        answers = ", ".join(v.name for v in self.solved.unknown)
        choice = "".join(f"   choosing {p.name}" for p in self.chosen.values())
        return f"{answers}   from {self.solved.statement}{choice}"


@dataclass(frozen=True)
class Plan:
    """How a program is solved. known, unknown: axes. free: variables that are chosen, each with
    its parameter. steps: the statements, in the order in which they are solved."""

    program: Program
    known: tuple[str, ...]
    unknown: tuple[str, ...]
    free: Mapping[Variable, Parameter]
    steps: tuple[Step, ...]
    parameters: ParameterSpace

    def operand(self, axis: str) -> Operand:
        """What an axis stands for in the program."""
        return operand_of(self.program, axis)

    def __str__(self) -> str:
        lines = [f"known {', '.join(self.known)}; to find {', '.join(self.unknown)}"]
        lines += [f"  choose {p}" for p in self.free.values()]
        rows = [(str(step), step.solved.statement.where) for step in self.steps]
        width = max((len(row) for row, _ in rows), default=0)
        lines += [f"  {row:<{width}}   {where}" for row, where in rows]
        return "\n".join(lines)


def operand_of(program: Program, axis: str) -> Operand:
    """What an axis of a program stands for."""
    if axis == RETURN:
        return program.result
    return next(v for v in program.inputs if v.name == axis)


def plan(program: Program, known: Sequence[str], domains: Mapping[str, Domain]) -> Plan:
    """The plan that finds all other axes of a program from the known ones.

    domains: declared for inputs. Raises NotInvertible where a loop of shared variables cannot
    be closed, naming what would have to be known besides.
    """
    program, order = _closed(program, known)
    if order.core:
        raise _not_invertible(program, known, order)
    space = _Space(program, domains)
    free = {variable: space.free(variable) for variable in order.free}
    steps = tuple(space.step(solved) for solved in order.solved)
    axes = (*(v.name for v in program.inputs), RETURN)
    return Plan(
        program,
        tuple(known),
        tuple(axis for axis in axes if axis not in known),
        free,
        steps,
        ParameterSpace(space.parameters),
    )


def _closed(program: Program, known: Sequence[str]) -> tuple[Program, Order]:
    """The program, with as many loops closed by algebra as can be, and its order."""
    order = _order(program, known)
    while order.core:
        program, better = min(
            itertools.chain([(program, order)], _rewritten(program, known, order)),
            key=lambda pair: len(pair[1].core),
        )
        if better is order:
            break
        order = better
    return program, order


def _order(program: Program, known: Sequence[str]) -> Order:
    given = (operand_of(program, axis) for axis in known)
    return causalise(program, [v for v in given if isinstance(v, Variable)])


def _rewritten(
    program: Program, known: Sequence[str], order: Order
) -> Iterator[tuple[Program, Order]]:
    given = {operand_of(program, axis) for axis in known}
    unknown = dict.fromkeys(v for s in order.core for v in s.variables if v not in given)
    inputs = [v for v in program.inputs if v in unknown]
    others = [v for v in unknown if v not in inputs]
    for candidate in collected(program, order.core, (*inputs, *others)):
        yield candidate, _order(candidate, known)


class _Space:
    """Names the parameters of a plan, in order."""

    def __init__(self, program: Program, domains: Mapping[str, Domain]) -> None:
        self.program = program
        self.domains = domains
        self.parameters: list[Parameter] = []
        self.names = {v.name for v in program.variables}

    def free(self, variable: Variable) -> Parameter:
        """The parameter that chooses a variable, from where the statements that use it allow."""
        domain = self.domains.get(variable.name) or domain_of(variable.kind)
        if domain is None:
            raise NotInvertible(
                f"cannot choose a value of type {variable.kind!r} for {variable}",
                where=self.program.where,
                help=f"pass {variable} as known",
            )
        for statement in self.program.statements:
            for axis, allowed in statement.relation.domain.items():
                if axis in statement.axes_of(variable) and not allowed.total:
                    domain = domain.meet(allowed)
        self.parameters.append(Parameter(variable.name, domain, self.program.where))
        return self.parameters[-1]

    def step(self, solved: Solved) -> Step:
        """A step with a parameter for each coordinate, unless constants leave no choice."""
        mode, chosen = solved.mode, dict[str, Parameter]()
        if not _spared(solved):
            label = "_".join(v.name for v in solved.unknown)
            for coordinate, domain in mode.coordinates.items():
                name = renumbered(f"{coordinate}_{label}", self.names)
                self.names.add(name)
                chosen[coordinate] = Parameter(name, domain, solved.statement.where)
        self.parameters += chosen.values()
        return Step(solved, chosen)


def _spared(solved: Solved) -> bool:
    mode, bindings = solved.mode, dict(solved.statement.bindings())
    if mode.unless is None:
        return False
    values = [bindings[axis] for axis in mode.spared]
    constants = [value.value for value in values if isinstance(value, Constant)]
    return len(constants) == len(values) and bool(mode.unless(*constants))


# ---- refusals -----------------------------------------------------------------------------


def _not_invertible(program: Program, known: Sequence[str], order: Order) -> NotInvertible:
    for statement, variable in order.stuck:
        if len(statement.axes_of(variable)) == 1:
            return _no_mode(program, statement, variable, known)
    shared = _shared(order.core)
    return NotInvertible(
        f"cannot solve {program.name} for {{{', '.join(map(str, shared))}}}: "
        "no algebra here collects what is used more than once",
        where=order.core[-1].where,
        notes=[("statement", f"{s}   {s.where}") for s in order.core[:6]],
        help=_remedy(program, known),
    )


def _no_mode(
    program: Program, statement: Statement, variable: Variable, known: Sequence[str]
) -> NotInvertible:
    return NotInvertible(
        f"cannot solve `{statement}` for {{{variable}}}",
        where=statement.where,
        notes=[("modes available", statement.relation.shown_modes())],
        help=f"give {statement.relation.name} an inverse in a method table, or "
        + _remedy(program, known),
    )


def _shared(core: Sequence[Statement]) -> list[Variable]:
    results = {statement.result for statement in core}
    variables = list(dict.fromkeys(v for statement in core for v in statement.variables))
    return [v for v in variables if v not in results] or variables[:1]


def _remedy(program: Program, known: Sequence[str]) -> str:
    """Which inputs, known besides, would make the program solvable."""

    def enough(names: Sequence[str]) -> bool:
        return not _closed(program, (*known, *names))[1].core

    inputs = [v.name for v in program.inputs if v.name not in known]
    single = [name for name in inputs if enough([name])]
    if single:
        return f"pass {' or '.join(single)} as known"
    needed = list(inputs)
    for name in inputs:
        fewer = [other for other in needed if other != name]
        needed = fewer if enough(fewer) else needed
    return f"pass {' and '.join(needed)} as known"
