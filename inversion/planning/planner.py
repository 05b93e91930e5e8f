"""The planner: decides which axes of a program are chosen, and in which order the rest
is solved.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from inversion.errors import NotInvertible
from inversion.planning.algebra import collected
from inversion.planning.parameters import Parameter, ParameterSpace
from inversion.planning.plan import (
    Plan,
    PlanStep,
    Root,
    own_choices,
)
from inversion.planning.tearing import Guess, together, torn
from inversion.program.causality import Order, Solved, causalise, given_variables
from inversion.program.loop_blocks import split
from inversion.program.statements import (
    Constant,
    Operand,
    Program,
    Statement,
    Variable,
    renumbered,
    required,
)
from inversion.program.variable_names import Label, coordinate_label, subject_of
from primitives import Domain, Relation
from primitives.domains import domain_of

__all__ = ["plan"]


def plan(
    program: Program,
    known: Sequence[str],
    domains: Mapping[str, Domain],
    *,
    root_finding: bool = True,
) -> Plan:
    """The plan that finds all other axes of a program from the known ones.

    domains: the declared domains of inputs. root_finding: whether root finding solves a loop of
    shared variables that algebra cannot close.

    Raises NotInvertible for a loop that cannot be closed; the error names the inputs that would
    have to be known as well.
    """
    program, order = _closed(program, known)
    if order.core:
        program, order = _gathered(program, known, order)
    if any(v.kind is complex for v in program.variables):
        order = together(program, order, domains, root_finding=root_finding) or order
    loop = torn(program, order, domains, root_finding=root_finding) if order.core else None
    if order.core and loop is None:
        raise _not_invertible(program, known, order, root_finding=root_finding)
    space = _Space(program, domains)
    free = {v: space.free(v) for v in (*order.free, *(loop.free if loop else ()))}
    items = (*order.first, *(loop.items if loop else ()), *order.last)
    steps = tuple(map(space.once, items))
    return Plan(
        program,
        tuple(known),
        tuple(axis for axis in program.axes if axis not in known),
        free,
        steps,
        ParameterSpace([*free.values(), *(p for step in steps for p in own_choices(step))]),
    )


def _closed(program: Program, known: Sequence[str]) -> tuple[Program, Order]:
    """The program, with loops closed by algebra if possible, and its order."""
    order = _order(program, known)
    while order.core:
        candidate = collected(program, order.core, order.open)
        if candidate is None:
            break
        better = _order(candidate, known)
        if len(better.core) >= len(order.core):
            break
        program, order = candidate, better
    return program, order


def _gathered(program: Program, known: Sequence[str], order: Order) -> tuple[Program, Order]:
    """The program with its loop of shared variables moved into a branch of the loop, if the loop of
    each arm can then be closed.
    """
    for statement in order.core:
        gathered = _around(program, order.core, statement)
        if gathered is not None:
            better = _order(gathered, known)
            if not better.core:
                return gathered, better
    return program, order


def _around(program: Program, core: Sequence[Statement], at: Statement) -> Program | None:
    if any(axis != str(operand) for axis, operand in at.bindings()):
        return None  # its variables have other names outside
    before, inside, after = split(program, core)
    place = [s is at for s in inside].index(True)
    results = [v for s in inside for v in s.results]
    needed = {v for s in (*before, *after) for v in s.variables}
    needed |= {v for v in program.results.values() if isinstance(v, Variable)}
    needed |= {value for value, _ in program.holds if isinstance(value, Variable)}
    gives = [v for v in results if v in needed]
    made = at.relation.around(inside[:place], inside[place + 1 :], gives)
    return None if made is None else program.replace(statements=(*before, made, *after))


def _order(program: Program, known: Sequence[str]) -> Order:
    return causalise(program, given_variables(program, known))


class _Space:
    """Builder of the steps of a plan, which names its parameters in order."""

    def __init__(self, program: Program, domains: Mapping[str, Domain]) -> None:
        self.program = program
        self.domains = domains
        # in a part of a branch or loop, a result may have another name than its variable
        self.names = {*(v.name for v in program.variables), *program.axes}
        self.made: dict[int, PlanStep | Root] = {}

    @functools.cached_property
    def lines(self) -> Mapping[Operand, str]:
        """The line of each computed variable."""
        return {v: s.where for s in self.program.statements for v in s.results}

    @functools.cached_property
    def allowed(self) -> Mapping[Operand, Sequence[Domain]]:
        """The domains that statements require of the operands that they use."""
        return required(self.program.statements)

    def free(self, variable: Variable) -> Parameter:
        """The parameter for a free variable, restricted to the domains that its uses require."""
        domain = self.domains.get(variable.name) or domain_of(variable.kind)
        if domain is None:
            raise NotInvertible(
                f"cannot choose a value of type {variable.kind!r} for {variable}",
                where=self.program.where,
                help=f"pass {variable} as known",
            )
        for allowed in self.allowed.get(variable, ()):
            domain = domain.meet(allowed)
        where = self.lines.get(variable, self.program.where)
        label = Label(subject_of(variable), where, subject_of(variable), variable.name)
        return Parameter(variable.name, domain, where, label=label)

    def item(self, item: Solved | Guess) -> PlanStep | Root:
        """A step, or a root with a parameter for the start of the search."""
        made = self.root(item) if isinstance(item, Guess) else self.step(item)
        self.made[id(item)] = made
        return made

    def root(self, guess: Guess) -> Root:
        """A root; inner steps that are also steps of the plan are shared with it."""
        free = self.free(guess.variable)
        line, subject = guess.check.where, subject_of(guess.variable)
        label = Label(f"near_{subject}", line, subject)
        parameter = replace(free, name=self.fresh(label), line=line, label=label)
        steps = tuple(map(self.once, guess.inner))
        return Root(guess.variable, parameter, guess.check, steps)

    def once(self, item: Solved | Guess) -> PlanStep | Root:
        """The step for an item; cached."""
        if id(item) not in self.made:
            self.item(item)
        return self.made[id(item)]

    def step(self, solved: Solved) -> PlanStep:
        """A step with a parameter for each coordinate, unless constants determine them."""
        mode, chosen = solved.mode, dict[str, Parameter]()
        if not _is_determined(solved):
            statement = solved.statement
            for coordinate, domain in mode.coordinates.items():
                label = mode.labels.get(coordinate) or coordinate_label(
                    coordinate, statement.relation, solved.unknown, statement.where
                )
                name = self.fresh(label)
                chosen[coordinate] = Parameter(name, domain, label.line, mode.rounding_only, label)
        return PlanStep(solved, chosen)

    def fresh(self, label: Label) -> str:
        """A name that is not used in the plan."""
        name = renumbered(label.base, self.names)
        self.names.add(name)
        return name


def _is_determined(solved: Solved) -> bool:
    mode, bindings = solved.mode, dict(solved.statement.bindings())
    if mode.determined_if is None:
        return False
    values = [bindings[axis] for axis in mode.determined_by]
    constants = [value.value for value in values if isinstance(value, Constant)]
    return len(constants) == len(values) and bool(mode.determined_if(*constants))


REWRITTEN = "write the function so that its inputs are used once, or in sums and products alone"


BY_SEARCH = ", or give root_finding=True, which searches for a root"


def _not_invertible(
    program: Program, known: Sequence[str], order: Order, *, root_finding: bool
) -> NotInvertible:
    by_search = not root_finding and torn(program, order, {}) is not None
    for statement, variable in order.stuck:
        if len(statement.axes_of(variable)) == 1:
            return _no_mode(program, statement, variable, known, by_search=by_search)
    shared = _shared(order.core)
    return NotInvertible(
        f"cannot solve {program.name} for {{{', '.join(map(str, shared))}}}: "
        "no rule of algebra collects a variable that is used more than once",
        where=order.core[-1].where,
        notes=[("statement", f"{s}   {s.where}") for s in order.core[:6]],
        help=(_remedy(program, known) or REWRITTEN) + (BY_SEARCH if by_search else ""),
    )


def _no_mode(
    program: Program,
    statement: Statement,
    variable: Variable,
    known: Sequence[str],
    *,
    by_search: bool,
) -> NotInvertible:
    remedies = [_remedy(program, known)]
    if isinstance(statement.relation, Relation):
        name = statement.relation.name
        remedies = [f"give {name} an inverse in a method table", *remedies]
    elif remedies == [None]:
        remedies = [REWRITTEN]
    return NotInvertible(
        f"cannot solve `{statement}` for {{{variable}}}",
        where=statement.where,
        notes=[("modes available", statement.relation.shown_modes())],
        help=", or ".join(filter(None, remedies)) + (BY_SEARCH if by_search else ""),
    )


def _shared(core: Sequence[Statement]) -> list[Variable]:
    results = {v for statement in core for v in statement.results}
    variables = list(dict.fromkeys(v for statement in core for v in statement.variables))
    return [v for v in variables if v not in results] or variables[:1]


def _remedy(program: Program, known: Sequence[str]) -> str | None:
    """The inputs that would have to be known as well to solve the program; None if these are all of
    them, so that no unknown would be left.
    """

    def enough(names: Sequence[str]) -> bool:
        return not _closed(program, (*known, *names))[1].core

    inputs = [v.name for v in program.inputs if v.name not in known]
    if len(inputs) == 1:
        return None
    single = [name for name in inputs if enough([name])]
    if single:
        return f"pass {' or '.join(single)} as known"
    needed = list(inputs)
    for name in inputs:
        fewer = [other for other in needed if other != name]
        needed = fewer if enough(fewer) else needed
    if len(needed) == len(inputs):
        return None
    return f"pass {' and '.join(needed)} as known"
