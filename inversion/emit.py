"""The Python source of an inverse, and what its names stand for."""

from __future__ import annotations

import builtins
import keyword
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from inversion.errors import NoSolution, OutsideDomain
from inversion.plan import Plan, Step
from inversion.program import Constant, Operand, Statement, Variable, renumbered
from primitives import Bool, Domain, Interval, Real
from primitives.arithmetic import clipped
from primitives.relation import RETURN

__all__ = ["Source", "emit"]

WORDS = (np.int64, np.uint64)

GIVEN: Mapping[str, Any] = {
    "NoSolution": NoSolution,
    "OutsideDomain": OutsideDomain,
    "clipped": clipped,
    "inf": math.inf,
}


@dataclass(frozen=True)
class Source:
    """Generated code. text: a module with ``inverse`` and ``recover``. names: what its global
    names stand for, ``forward`` apart, which is the function that is inverted. lines: for each
    line that solves something, the statement."""

    text: str
    names: Mapping[str, Any]
    lines: Mapping[int, Statement]


def emit(plan: Plan, rtol: float, atol: float, domains: Mapping[str, Domain]) -> Source:
    """The source for a plan. domains: declared for inputs; answers outside are refused."""
    writer = _Writer(plan)
    writer.inverse(rtol, atol, domains)
    writer.recover()
    return Source("\n".join(writer.rows) + "\n", writer.names, writer.lines)


@dataclass
class _Writer:
    plan: Plan
    rows: list[str] = field(default_factory=list)
    lines: dict[int, Statement] = field(default_factory=dict)
    names: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names.update(GIVEN)
        self.kernels: dict[int, str] = {}
        taken = {*self.names, *keyword.kwlist, *dir(builtins), "theta", "forward", "again", "ret"}
        self.local: dict[str, str] = {}
        parameters = [p.name for p in self.plan.parameters]
        for name in (*(v.name for v in self.plan.program.variables), *parameters):
            if name not in self.local:
                self.local[name] = renumbered(name, taken)
                taken.add(self.local[name])
        self.taken = taken

    # ---- parts ----

    def row(self, text: str, statement: Statement | None = None, depth: int = 1) -> None:
        indent = "    " * depth
        if statement is None:
            self.rows.append(indent + text)
            return
        self.rows.append(f"{indent}{text:<44}  # {statement}   [{statement.where}]")
        self.lines[len(self.rows)] = statement

    def shown(self, operand: Operand) -> str:
        """An operand as an expression."""
        if isinstance(operand, Variable):
            return self.local[operand.name]
        value = operand.value
        if type(value) in (bool, int) or (type(value) is float and math.isfinite(value)):
            return repr(value)
        return self.named(f"constant_{len(self.names)}", value)

    def named(self, wanted: str, value: Any) -> str:
        """The global name of an object."""
        if id(value) not in self.kernels:
            stem = "".join(c if c.isalnum() else "_" for c in wanted) or "f"
            name = renumbered(stem, self.taken)
            self.taken.add(name)
            self.kernels[id(value)] = name
            self.names[name] = value
        return self.kernels[id(value)]

    def refusal(self, value: str, domain: Domain, error: str) -> list[str]:
        """The lines that refuse a value outside a domain."""
        condition = domain.condition(value)
        if domain == Bool:  # what a relation of integers answers for a bool
            condition = f"0 <= {value} <= 1"
        if condition == "True":
            return []
        return [f"if not ({condition}):", f'    raise {error}("{value} is outside {domain!r}")']

    # ---- the inverse ----

    def inverse(self, rtol: float, atol: float, domains: Mapping[str, Domain]) -> None:
        plan = self.plan
        arguments, first = self.arguments(plan.known)
        if len(plan.parameters):
            arguments.append("theta")
        self.row(f"def inverse({', '.join(arguments)}):", depth=0)
        self.row(f'"""{", ".join(plan.unknown)} of {plan.program.name}."""')
        if len(plan.parameters):
            names = [self.local[parameter.name] for parameter in plan.parameters]
            self.row(f"{_tuple(names)} = theta")
        for text in first:
            self.row(text)
        for parameter in plan.parameters:
            for text in self.refusal(self.local[parameter.name], parameter.domain, "OutsideDomain"):
                self.row(text)
        declared = [axis for axis in (*plan.known, *plan.unknown) if axis in domains]
        for step in plan.steps:
            self.step(step)
        self.finite()
        for axis in declared:
            error = "OutsideDomain" if axis in plan.known else "NoSolution"
            for text in self.refusal(self.shown(plan.operand(axis)), domains[axis], error):
                self.row(text)
        self.check(rtol, atol)
        answers = [self.answer(plan.operand(axis)) for axis in plan.unknown]
        self.row(f"return {_tuple(answers)}")
        self.rows.append("")

    def arguments(self, axes: Sequence[str]) -> tuple[list[str], list[str]]:
        """The names of the arguments for some axes, and the assignments that they need."""
        names: list[str] = []
        for axis in axes:
            operand = self.plan.operand(axis)
            name = self.shown(operand) if isinstance(operand, Variable) else "ret"
            names.append("ret" if name in names or axis == RETURN else name)
        result = self.plan.operand(RETURN)
        bound = "ret" in names and isinstance(result, Variable) and self.shown(result) not in names
        return names, [f"{self.shown(result)} = ret"] if bound else []

    def step(self, step: Step) -> None:
        solved, mode = step.solved, step.solved.mode
        bindings = dict(solved.statement.bindings())
        relation = solved.statement.relation
        given: list[str] = []
        for name in mode.takes:
            if name in bindings:
                given.append(self.guarded(name, bindings[name], solved.statement))
            elif name in step.chosen:
                given.append(self.local[step.chosen[name].name])
            else:
                given.append(self.shown(Constant(mode.coordinates[name].default)))
        label = "" if mode.unknown == (RETURN,) else "_" + "_".join(mode.unknown)
        kernel = self.named(relation.name + label, mode.solver)
        answers = ", ".join(self.shown(v) for v in solved.unknown)
        self.row(f"{answers} = {kernel}({', '.join(given)})", solved.statement)

    def guarded(self, axis: str, operand: Operand, statement: Statement) -> str:
        """A known result, refused where the function never gives it."""
        value, codomain = self.shown(operand), statement.relation.codomain
        if axis != RETURN or codomain is None or codomain.total:
            return value
        if isinstance(codomain, Interval) and not codomain.without:
            closed_low = not codomain.open_low or codomain.low == -math.inf
            closed_high = not codomain.open_high or codomain.high == math.inf
            if closed_low and closed_high:
                low, high = (repr(bound) for bound in (codomain.low, codomain.high))
                return f"clipped({value}, {low}, {high})"
        for text in self.refusal(value, codomain, "NoSolution"):
            self.row(text)
            self.lines[len(self.rows)] = statement
        return value

    def finite(self) -> None:
        """Refuse answers that are infinite or NaN."""
        solved = {v: step.solved.statement for step in self.plan.steps for v in step.solved.unknown}
        for axis in self.plan.unknown:
            operand = self.plan.operand(axis)
            if isinstance(operand, Variable) and operand.kind is float and operand in solved:
                for text in self.refusal(self.shown(operand), Real, "NoSolution"):
                    self.row(text)
                    self.lines[len(self.rows)] = solved[operand]

    def answer(self, operand: Operand) -> str:
        """An answer in the type of its axis."""
        shown = self.shown(operand)
        return f"bool({shown})" if operand.kind is bool else shown

    def check(self, rtol: float, atol: float) -> None:
        """Run the function itself on the answer."""
        plan = self.plan
        inputs = ", ".join(self.shown(v) for v in plan.program.inputs)
        result = plan.operand(RETURN)
        known = RETURN in plan.known
        wanted = "ret" if known else self.shown(result)
        again = f"forward({inputs})"
        if result.kind in WORDS:  # compiled, words and literals together are signed
            again = f"{self.named(result.kind.__name__, result.kind)}({again})"
        self.row(f"again = {again}")
        if result.kind is float:
            self.row("if not (-inf < again < inf):")
            self.row('    raise NoSolution("overflow: the result is not finite")')
            self.row(f"if not abs(again - {wanted}) <= {atol!r} + {rtol!r} * abs({wanted}):")
        else:
            self.row(f"if again != {wanted}:")
        self.row(f'    raise NoSolution("{self.disagreement()}")')

    def disagreement(self) -> str:
        """Why the function may give another result than the known one."""
        plan, result = self.plan, self.plan.operand(RETURN)
        inputs = [plan.operand(axis) for axis in plan.known if axis != RETURN]
        more = len(plan.steps) < len(plan.program.statements) or result in inputs
        disagree = RETURN in plan.known and (more or isinstance(result, Constant))
        return "the known values disagree" if disagree else "lost digits"

    # ---- recovering ----

    def recover(self) -> None:
        plan = self.plan
        inputs = [self.shown(v) for v in plan.program.inputs]
        self.row(f"def recover({', '.join(inputs)}):", depth=0)
        self.row('"""The parameters for which the inverse finds these inputs."""')
        for statement in plan.program.statements:
            mode = statement.relation.mode((RETURN,))
            assert mode is not None
            bindings = dict(statement.bindings())
            kernel = self.named(statement.relation.name, mode.solver)
            given = ", ".join(self.shown(bindings[axis]) for axis in mode.takes)
            self.row(f"{self.shown(statement.result)} = {kernel}({given})", statement)
        chosen = [self.local[v.name] for v in plan.free]
        for step in plan.steps:
            if step.chosen:
                chosen += self.recovered(step)
        self.row(f"return {_tuple(chosen)}")

    def recovered(self, step: Step) -> list[str]:
        statement, mode = step.solved.statement, step.solved.mode
        assert mode.recover is not None
        bindings = dict(statement.bindings())
        label = "_".join(mode.unknown)
        kernel = self.named(f"{statement.relation.name}_{label}_recover", mode.recover)
        given = ", ".join(self.shown(bindings[axis]) for axis in mode.recovers)
        names = [self.local[parameter.name] for parameter in step.chosen.values()]
        self.row(f"{_tuple(names)} = {kernel}({given})", statement)
        return names


def _tuple(names: Sequence[str]) -> str:
    return f"({names[0]},)" if len(names) == 1 else f"({', '.join(names)})"
