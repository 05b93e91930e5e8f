"""Functions that z3 solves: the program as a formula, for known values.

The function becomes one statement, like a function that is solved by trial. Its parameters are
arguments that are tried first; if these are not a solution, z3 is asked for one. So each solution
is reached, and recovers itself. Every answer of z3 is checked by running the function.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from inversion.deadline import check_deadline
from inversion.errors import MissingPackage, WrongArguments
from inversion.lifting.lifter import Lifted
from inversion.program.statements import Program, Statement, Variable
from inversion.program.trees import Axes, Tree, as_name, leaves, rebuilt, taken_apart
from inversion.program.variable_names import Label
from inversion.solving.finite import decided
from overlay import Context
from overlay.core.late_binding import LateBound
from overlay.core.location import caller
from overlay.core.logs import timed
from primitives import Domain, NoSolution, Relation, relation
from primitives.domains import Bool, Int64, domain_of
from primitives.errors import TooHard
from primitives.relation import RETURN, Mode

if TYPE_CHECKING:
    from inversion.solving.smt_programs import Formula

__all__ = ["PROOF", "SOLVERS", "FormulaRelation", "by_formula", "check_solver", "task_of"]

PROOF = "z3 proves that no arguments lead to this value"
SOLVERS = ("z3",)
"""The names of the supported solvers."""

TIME_IS_UP = ("timeout", "canceled", "")
"""The reasons that z3 gives when it has reached the time limit."""

_one_at_a_time = threading.RLock()  # the terms of z3 belong to a context, which one thread uses


def check_solver(solver: Any, timeout: Any) -> None:
    """Raise WrongArguments unless a solver has this name, and MissingPackage if it is not
    installed.
    """
    if solver is None:
        return
    if solver not in SOLVERS:
        raise WrongArguments(
            f"no solver is called {solver!r}",
            where=caller(),
            help="give solver='z3', or leave it out: inverses are then planned from relations",
        )
    if not isinstance(timeout, (int, float)) or not timeout > 0:
        raise WrongArguments(
            f"solver_timeout = {timeout!r} is not a number of seconds",
            where=caller(),
            help="give solver_timeout=60",
        )
    try:
        LateBound(lambda: importlib.import_module("z3")).load()  # outside of contexts
    except ModuleNotFoundError as error:
        raise MissingPackage(
            "solver='z3' solves by z3, which is not installed",
            where=caller(),
            help='pip install "overlay-dispatch[smt]", or leave solver out',
        ) from error


@dataclass(frozen=True)
class Task:
    """A function that z3 solves.

    program: lifted from the function. trees: the trees of its axes. known: the known axes of the
    program. run: the function. timeout: in seconds.
    """

    program: Program
    trees: Mapping[str, Tree]
    known: frozenset[str]
    domains: Mapping[str, Domain]
    run: Callable[..., Any]
    timeout: float
    unknown: tuple[Variable, ...] = field(init=False)

    def __post_init__(self) -> None:
        unknown = tuple(v for v in self.program.inputs if v.name not in self.known)
        object.__setattr__(self, "unknown", unknown)

    def results_of(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The results of the function, by axis of the program."""
        given = iter([inputs[v.name] for v in self.program.inputs])
        axes = [axis for axis in self.trees if axis != RETURN]
        args = [rebuilt(self.trees[axis], given) for axis in axes]
        with np.errstate(all="ignore"):
            result = self.run(*args)
        tree = self.trees[RETURN]
        return dict(zip(leaves(tree), taken_apart(tree, result), strict=True))

    def is_solution(self, known: Mapping[str, Any], inputs: Mapping[str, Any]) -> bool:
        """Return whether the function gives the known results for these inputs."""
        try:
            results = self.results_of(inputs)
        except Exception:  # of the function
            return False
        return all(results[axis] == known[axis] for axis in results if axis in known)

    def formula(self, known: Mapping[str, Any]) -> Formula:
        """The formula of the program for known values. Raises NotInvertible."""
        from inversion.solving.smt_programs import Formula

        made = Formula(self.program, known, self.domains)
        made.check_sizes()
        return made

    def check(self) -> None:
        """Raise NotInvertible if the program has no translation, as far as that does not depend on
        known arguments.
        """
        from inversion.solving.smt_programs import Formula, TurnsNotKnown

        wide = {
            v.name: Int64
            for v in self.program.inputs
            if v.name in self.known and v.kind is int and v.name not in self.domains
        }
        given = [v for v in self.program.inputs if v.name in self.known]
        try:
            with _one_at_a_time:
                made = Formula(self.program, {}, {**wide, **self.domains})
            if not any(v.name in self.known for v in given):
                made.check_sizes()
        except TurnsNotKnown:
            if not given:
                raise

    # ---- answers ----

    def answers(self, known: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The inputs of each solution, by axis of the program. Raises TooHard if z3 does not decide
        whether there is another one.
        """
        from inversion.solving.smt_programs import FormulaSearch

        with _one_at_a_time:
            search = FormulaSearch(self.formula(known), self.unknown)
        while True:
            with _one_at_a_time:
                found = search.next(self.timeout)
            if found is None:
                return
            if isinstance(found, str):
                raise self._too_hard(found)
            if not self.is_solution(known, {**known, **found}):
                raise self._wrong(found)
            yield found
            check_deadline()

    def _too_hard(self, reason: str) -> TooHard:
        name = self.program.name
        if reason not in TIME_IS_UP:
            return TooHard(
                f"z3 does not decide whether {name} has a solution: {reason}",
                where=self.program.where,
                help="declare domains, with which integers are terms of bits, which z3 decides",
            )
        return TooHard(
            f"z3 has not decided within {self.timeout:g} s whether {name} has a solution: there "
            "may be one",
            where=self.program.where,
            help=f"give more time, solver_timeout={10 * self.timeout:g}, or narrower domains",
        )

    def _wrong(self, found: Mapping[str, Any]) -> TooHard:
        shown = ", ".join(f"{name} = {value!r}" for name, value in found.items())
        return TooHard(
            f"z3 answers {shown}, and {self.program.name} does not give the known values there",
            where=self.program.where,
            help="the function has to depend on its arguments alone; if it does, this is a fault "
            "of the translation: please report it",
        )


class FormulaRelation:
    """A function that z3 solves, as the target of its relation."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.__name__ = "solved"

    def __call__(self, *inputs: Any) -> Any:
        """The results of the function: one alone, several as a tuple."""
        names = [v.name for v in self.task.program.inputs]
        found = tuple(self.task.results_of(dict(zip(names, inputs, strict=True))).values())
        return found if len(found) != 1 else found[0]


def task_of(program: Program) -> Task | None:
    """The task of z3, if the program is one statement that it solves."""
    for statement in program.statements:
        target = getattr(statement.relation, "target", None)
        if isinstance(target, FormulaRelation):
            return target.task
    return None


def by_formula(
    function: Callable[..., Any],
    lifted: Lifted,
    axes: Axes,
    domains: Mapping[str, Domain],
    context: Context | None,
    timeout: float,
) -> Lifted:
    """The lifted function as one statement, which z3 solves for the unknown axes.

    domains: the domains of the inputs of the program. timeout: in seconds. Raises NotInvertible if
    a statement has no translation.
    """
    program = lifted.program
    run = function if context is None else context.wrap(function)
    bounds = {v.name: Bool if v.kind is bool else domains.get(v.name) for v in program.inputs}
    stated = {name: domain for name, domain in bounds.items() if domain is not None}
    task = Task(program, lifted.axes, axes.given, stated, run, timeout)
    if not task.unknown:
        return lifted
    task.check()
    names = {v.name: f"a{i}" for i, v in enumerate(program.inputs)}
    several = len(program.results) > 1
    names |= {axis: f"r{i}" if several else RETURN for i, axis in enumerate(program.results)}
    made = _relation(task, names)
    decided.add(made)
    results = {
        axis: Variable(f"result_{i}" if several else "result", operand.kind)
        for i, (axis, operand) in enumerate(program.results.items())
    }
    statement = Statement(made, tuple(results.values()), program.inputs, program.where)
    whole = program.replace(statements=(statement,), results=results, holds=())
    return Lifted(whole, lifted.axes)


def _relation(task: Task, names: Mapping[str, str]) -> Relation:
    program = task.program
    inputs, results = [v.name for v in program.inputs], list(program.results)
    kinds = [operand.kind for operand in program.results.values()]
    left = ", ".join(names[axis] for axis in results)
    target, mode = FormulaRelation(task), _mode(task, names)
    return relation(
        target,
        *(v.kind for v in program.inputs),
        f"{left} = {target.__name__}({', '.join(names[name] for name in inputs)})",
        returns=kinds[0] if len(kinds) == 1 else tuple(kinds),
        modes={mode.unknown: mode},
        domain={names[name]: domain for name, domain in task.domains.items()},
        joint=True,
    )


def _mode(task: Task, names: Mapping[str, str]) -> Mode:
    """The mode that solves for all unknown axes."""
    program = task.program
    axes = [*program.results, *(v.name for v in program.inputs)]
    known = [axis for axis in axes if axis in task.known]
    unknown = [axis for axis in axes if axis not in task.known]
    near = [v.name for v in task.unknown]
    coordinates: dict[str, Domain] = {}
    labels: dict[str, Label] = {}
    for v in task.unknown:
        domain = task.domains.get(v.name) or domain_of(v.kind)
        assert domain is not None
        coordinates[f"near_{names[v.name]}"] = domain
        label = Label(f"near_{as_name(v.name)}", program.where, v.name)
        labels[f"near_{names[v.name]}"] = label

    def solve(*values: Any) -> Any:
        given = dict(zip(known, values, strict=False))
        found = _solved(task, given, dict(zip(near, values[len(known) :], strict=True)))
        answers = tuple(found[axis] for axis in unknown)
        return answers if len(answers) != 1 else answers[0]

    def recover(*values: Any) -> tuple[Any, ...]:
        return values

    return Mode(
        tuple(names[axis] for axis in unknown),
        solve,
        (*(names[axis] for axis in known), *coordinates),
        coordinates,
        recover,
        tuple(names[name] for name in near),
        labels=labels,
    )


def _solved(task: Task, known: Mapping[str, Any], near: Mapping[str, Any]) -> dict[str, Any]:
    """All axes of a solution: that of the values ``near``, if they are a solution."""
    inside = all(task.domains[name].contains(near[name]) for name in near if name in task.domains)
    found: Mapping[str, Any] | None = near
    if not inside or not task.is_solution(known, {**known, **near}):
        with timed("inversion", f"solving {task.program.name} by z3"):
            found = next(task.answers(known), None)
    if found is None:
        raise NoSolution(PROOF)
    inputs = {v.name: known.get(v.name, found.get(v.name)) for v in task.program.inputs}
    return {**inputs, **task.results_of(inputs), **known}
