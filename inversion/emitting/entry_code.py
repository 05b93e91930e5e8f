"""The functions ``inverse`` and ``recover``: arguments, answers and checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from inversion.emitting.branch_code import BRANCHES
from inversion.emitting.elementwise_code import ELEMENTWISE
from inversion.emitting.loop_code import LOOPS
from inversion.emitting.module_text import (
    FunctionText,
    Module,
    PartWriter,
    RowText,
    Source,
    conditions,
    tuple_of,
)
from inversion.emitting.moved_code import MOVED
from inversion.emitting.system_code import SYSTEM
from inversion.planning.plan import Plan, PlanStep, solved_by, statement_of
from inversion.program.branches import Branch
from inversion.program.elementwise_statements import Elementwise
from inversion.program.equation_systems import EquationSystem
from inversion.program.loops import Loop
from inversion.program.moved_elements import Moved
from inversion.program.statements import Constant, Statement, Variable
from inversion.program.structured import Structured
from inversion.program.trees import (
    Axes,
    Node,
    Tree,
    apart,
    as_name,
    axis_of,
    leaves,
    mapped,
    written,
)
from primitives import Complex, Domain, Real
from primitives.arrays.domain import element_of
from primitives.domains import domain_of
from primitives.relation import RETURN

__all__ = ["emit"]

WORDS = (np.int64, np.uint64)
FINITE: Mapping[Any, Domain] = {float: Real, complex: Complex}

WRITERS: Mapping[type, PartWriter] = {
    Branch: BRANCHES,
    Loop: LOOPS,
    Elementwise: ELEMENTWISE,
    Moved: MOVED,
    EquationSystem: SYSTEM,
}


def emit(
    plan: Plan,
    axes: Axes,
    rtol: float,
    atol: float,
    domains: Mapping[str, Domain],
    *,
    with_forward: bool = False,
) -> Source:
    """The source code for a plan.

    axes: the axes of the function, as trees of those of the plan. domains: the declared domains of
    axes of the plan; answers outside are refused. with_forward: whether to generate ``forward`` as
    well, from the program; otherwise this name stands for the function itself.
    """
    module = Module(WRITERS)
    writer = EntryPoints(module, plan, axes)
    rows = writer.forward() if with_forward else []
    rows += writer.inverse(rtol, atol, domains)
    rows += writer.recover()
    return module.source(rows)


class EntryPoints:
    """Generator of the functions ``inverse`` and ``recover``."""

    def __init__(self, module: Module, plan: Plan, axes: Axes) -> None:
        self.module = module
        self.plan = plan
        self.axes = axes.trees
        self.known, self.unknown, self.inputs = axes.known, axes.unknown, axes.inputs
        self.given = axes.given

    def body(self) -> FunctionText:
        body = FunctionText(self.module)
        body.names(self.plan.program, [p.variable for p in self.plan.parameters])
        return body

    def inverse(self, rtol: float, atol: float, domains: Mapping[str, Domain]) -> list[RowText]:
        plan, body = self.plan, self.body()
        arguments, first = self.arguments(body, self.known)
        if len(plan.parameters):
            arguments.append("theta")
        body.row(f"def inverse({', '.join(arguments)}):", depth=0)
        body.row(f'"""{", ".join(self.unknown)} of {plan.program.name}."""')
        if len(plan.parameters):
            names = [body.name(parameter.variable) for parameter in plan.parameters]
            body.row(f"{tuple_of(names)} = theta")
        for text in first:
            body.row(text)
        for parameter in plan.parameters:
            body.refuse(body.name(parameter.variable), parameter.domain, "OutsideDomain", None)
        body.solve(plan)
        self.finite(body)
        for axis in (*plan.known, *plan.unknown):
            if axis in domains:
                error = "OutsideDomain" if axis in plan.known else "NoSolution"
                body.refuse(body.shown(plan.operand(axis)), domains[axis], error, None)
        self.check(body, rtol, atol)
        body.row(f"return {tuple_of([self.answer(body, axis) for axis in self.unknown])}")
        return [*body.rows, RowText("")]

    def forward(self) -> list[RowText]:
        plan, body = self.plan, self.body()
        arguments, first = self.arguments(body, self.inputs)
        body.row(f"def forward({', '.join(arguments)}):", depth=0)
        body.row(f'"""What {plan.program.name} gives."""')
        for text in first:
            body.row(text)
        body.forward(plan.program.statements)
        conditions(body, plan.program.holds)
        body.row(f"return {self.answer(body, RETURN)}")
        return [*body.rows, RowText("")]

    def recover(self) -> list[RowText]:
        plan, body = self.plan, self.body()
        arguments, first = self.arguments(body, self.inputs)
        body.row(f"def recover({', '.join(arguments)}):", depth=0)
        body.row('"""The parameters for which the inverse finds these inputs."""')
        for text in first:
            body.row(text)
        body.forward(plan.program.statements)
        body.row(f"return {tuple_of(body.recovered(plan))}")
        return body.rows

    # ---- arguments and answers ----

    def arguments(self, body: FunctionText, axes: Sequence[str]) -> tuple[list[str], list[str]]:
        """The names of the arguments for some axes, and the assignments that they need."""
        names: list[str] = []
        first: list[str] = []
        for axis in axes:
            tree, whole = self.axes[axis], axis_of(axis)[0]
            if axis == RETURN:
                name = "ret"
            elif isinstance(tree, Node) or whole == RETURN:
                name = body.own(as_name(axis)) if whole != axis else body.name(axis)
            else:
                name = body.name(tree)
            names.append(name)
            if isinstance(tree, Node) or whole == RETURN != axis:
                first.append(f"{self.pattern(body, axis, whole)} = {apart(tree, name)}")
        results = [axis for axis in axes if axis_of(axis)[0] == RETURN]
        if results:
            known = {self.plan.operand(leaf) for axis in axes if axis not in results
                     for leaf in leaves(self.axes[axis])}  # fmt: skip
            for leaf in (leaf for axis in results for leaf in leaves(self.axes[axis])):
                operand = self.plan.operand(leaf)
                if isinstance(operand, Variable) and operand not in known:
                    known.add(operand)
                    first.append(f"{body.shown(operand)} = {self.part(body, leaf, 'ret')}")
        return names, first

    def pattern(self, body: FunctionText, axis: str, whole: str) -> str:
        """The names of an axis's leaves, as an assignment target."""
        if whole in (RETURN, "again"):
            name = "ret" if whole == RETURN else whole
            return _written(mapped(self.axes[axis], lambda _, leaf: self.part(body, leaf, name)))
        return _written(mapped(self.axes[axis], lambda _, leaf: body.name(leaf)))

    def part(self, body: FunctionText, leaf: str, whole: str) -> str:
        """The name of one leaf of the result, given or recomputed."""
        path = leaf.removeprefix(RETURN)
        if not path:
            return whole
        return body.name(as_name(f"{whole}{path}"))

    def answer(self, body: FunctionText, axis: str) -> str:
        """The expression of an answer, in the structure of its axis."""

        def leaf(_: str, name: str) -> str:
            operand = self.plan.operand(name)
            shown = body.shown(operand)
            return f"bool({shown})" if operand.kind is bool else shown

        return self.built(mapped(self.axes[axis], leaf))

    def built(self, tree: Tree) -> str:
        """The expression that builds a value from a tree of expressions."""
        if not isinstance(tree, Node):
            return tree
        items = [self.built(item) for item in tree.items]
        if tree.cls is tuple:
            return tuple_of(items)
        if tree.cls in (list, dict, bytes, bytearray):
            return written(tree.of(items))
        return f"{self.module.named(tree.cls.__name__, tree.cls)}({', '.join(items)})"

    # ---- checks ----

    def finite(self, body: FunctionText) -> None:
        """Refuse answers and known inputs that are infinite or NaN."""
        plan = self.plan
        solved: dict[Variable, Statement | None] = {
            v: statement_of(step) for step in plan.steps for v in solved_by(step)
        }
        known = [axis for axis in plan.known if axis not in plan.program.results]
        solved |= {v: None for v in map(plan.operand, known) if isinstance(v, Variable)}
        for axis in (*known, *plan.unknown):
            operand = plan.operand(axis)
            domain = FINITE.get(element_of(operand.kind)) and domain_of(operand.kind)
            if isinstance(operand, Variable) and domain is not None and operand in solved:
                body.refuse(body.shown(operand), domain, "NoSolution", solved[operand])

    def check(self, body: FunctionText, rtol: float, atol: float) -> None:
        """Run the function itself on the answer."""
        plan = self.plan

        def leaf(_: str, name: str) -> str:
            return body.shown(plan.operand(name))

        inputs = ", ".join(self.built(mapped(self.axes[axis], leaf)) for axis in self.inputs)
        if any(map(_may_be_endless, plan.program.statements)):
            given = ", ".join(body.shown(v) for v in plan.program.inputs)
            body.row(f"{self.bounded()}({given})")
        tree = self.axes[RETURN]
        again = f"forward({inputs})"
        if isinstance(tree, Node):
            pattern = self.pattern(body, RETURN, "again")
            if apart(tree, "") != "":
                body.row(f"again = {again}")
                again = apart(tree, "again")
            body.row(f"{pattern} = {again}")
        else:
            kind = plan.operand(tree).kind
            if kind in WORDS:  # numba makes operations of words and literals signed
                again = f"{self.module.named(kind.__name__, kind)}({again})"
            body.row(f"again = {again}")
        for name in leaves(tree):
            operand = plan.operand(name)
            known = name in self.given
            wanted = self.part(body, name, "ret") if known else body.shown(operand)
            again, why = self.part(body, name, "again"), self.disagreement()
            body.compare(again, wanted, operand.kind, why, (rtol, atol))

    def bounded(self) -> str:
        """The function that runs the program with a limit on loops: the function itself might not
        terminate on a wrong answer.
        """

        def write(name: str) -> list[RowText]:
            body, program = FunctionText(self.module), self.plan.program
            body.row(f"def {name}({', '.join(map(body.shown, program.inputs))}):", depth=0)
            body.forward(program.statements)
            body.row("return")
            return [*body.rows, RowText("")]

        return self.module.part(("bounded",), "bounded", write)

    def disagreement(self) -> str:
        """The reason why the function may return another result than the known one."""
        plan = self.plan
        inputs = [plan.operand(axis) for axis in plan.known if axis not in plan.program.results]
        results = list(plan.program.results.values())
        more = len(plan.steps) < len(plan.program.statements)
        more = more or any(
            isinstance(s, PlanStep) and s.solved.mode.overdetermined for s in plan.steps
        )
        more = more or any(result in inputs for result in results)
        more = more or len(set(results)) < len(results)
        disagree = more or any(isinstance(result, Constant) for result in results)
        return (
            "the known values disagree"
            if self.given.intersection(leaves(self.axes[RETURN])) and disagree
            else "lost digits"
        )


def _may_be_endless(statement: Statement) -> bool:
    rule = statement.relation
    if not isinstance(rule, Structured):
        return False
    counted = not isinstance(rule, Loop) or rule.bounds is not None or rule.counts is not None
    return not counted or any(map(_may_be_endless, rule.inside))


def _written(tree: Tree) -> str:
    return tuple_of([_written(item) for item in tree.items]) if isinstance(tree, Node) else tree
