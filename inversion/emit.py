"""The Python source of an inverse, and what its names stand for."""

from __future__ import annotations

import builtins
import keyword
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from inversion.branches import THEN_FIRST, Branch, Ranked
from inversion.errors import NoSolution, OutsideDomain
from inversion.loops import TRIPS, Backwards, Loop
from inversion.plan import Plan, Root, Step, solved_by, statement_of
from inversion.program import Constant, Operand, Program, Statement, Variable, renumbered
from inversion.refusals import refused
from inversion.roots import find_root
from inversion.trees import Node, Tree, leaves, mapped
from primitives import Bool, Domain, Interval, Real
from primitives.arithmetic import clipped
from primitives.relation import RETURN

__all__ = ["Source", "emit"]

WORDS = (np.int64, np.uint64)
# a part of the program is only told apart from another that was not taken
ROUGHLY = "1e-06"
ALMOST_NOTHING = "1e-09"
# a loop that goes on for longer is taken to go on for ever
MOST_TRIPS = 10_000_000

GIVEN: Mapping[str, Any] = {
    "NoSolution": NoSolution,
    "OutsideDomain": OutsideDomain,
    "clipped": clipped,
    "find_root": find_root,
    "inf": math.inf,
    "refused": refused,
}


@dataclass(frozen=True)
class Source:
    """Generated code. text: a module with ``inverse`` and ``recover``. names: what its global
    names stand for, ``forward`` apart, which is the function that is inverted. parts: the other
    functions in it. lines: for each line that solves something, the statement."""

    text: str
    names: Mapping[str, Any]
    parts: tuple[str, ...]
    lines: Mapping[int, Statement]


def emit(
    plan: Plan,
    axes: Mapping[str, Tree],
    known: Sequence[str],
    rtol: float,
    atol: float,
    domains: Mapping[str, Domain],
) -> Source:
    """The source for a plan.

    axes: the function's, as trees of the plan's. known: those of them that are known. domains:
    declared for axes of the plan; answers outside are refused.
    """
    module = _Module()
    writer = _Entry(module, plan, axes, known)
    rows = writer.inverse(rtol, atol, domains)
    rows += writer.recover()
    return module.source(rows)


@dataclass(frozen=True)
class _Row:
    text: str
    statement: Statement | None = None


class _Module:
    """Generated functions, and the objects that their global names stand for."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = dict(GIVEN)
        self.objects: dict[int, str] = {}
        self.taken = {
            *self.names, *keyword.kwlist, *dir(builtins),
            "theta", "forward", "again", "ret", "inverse", "recover", "answer", "found",
        }  # fmt: skip
        self.local: set[str] = set()  # in any function
        self.parts: dict[str, list[_Row]] = {}
        self.made: dict[tuple[Any, ...], str] = {}

    def named(self, wanted: str, value: Any) -> str:
        """The global name of an object."""
        if id(value) not in self.objects:
            stem = "".join(c if c.isalnum() else "_" for c in wanted) or "f"
            self.objects[id(value)] = self.fresh(stem)
            self.names[self.objects[id(value)]] = value
        return self.objects[id(value)]

    def fresh(self, wanted: str) -> str:
        """A name that nothing else has."""
        name = renumbered(wanted, self.taken | self.local)
        self.taken.add(name)
        return name

    def part(self, key: tuple[Any, ...], wanted: str, write: Callable[[str], list[_Row]]) -> str:
        """The name of a function, which is written the first time that it is asked for."""
        if key not in self.made:
            self.made[key] = name = self.fresh(wanted)
            rows = write(name)
            self.parts[name] = rows
        return self.made[key]

    def source(self, entries: list[_Row]) -> Source:
        """The module: the parts in the order in which they call each other, then these."""
        rows: list[_Row] = []
        for part in (*self.parts.values(), entries):
            rows += [*part, _Row("")]
        lines = {i: row.statement for i, row in enumerate(rows, 1) if row.statement is not None}
        text = "\n".join(row.text for row in rows[:-1]) + "\n"
        return Source(text, self.names, tuple(self.parts), lines)


@dataclass
class _Body:
    """One generated function: its rows, and the names of variables and parameters in it."""

    module: _Module
    rows: list[_Row] = field(default_factory=list[_Row])
    local: dict[str, str] = field(default_factory=dict[str, str])
    depth: int = 1

    def row(self, text: str, statement: Statement | None = None, depth: int | None = None) -> None:
        """Add a line."""
        text = "    " * (self.depth if depth is None else depth) + text
        if statement is not None:
            text = f"{text:<48}  # {statement}   [{statement.where}]"
        self.rows.append(_Row(text, statement))

    def name(self, wanted: str) -> str:
        """The name of a variable or parameter in this function."""
        if wanted not in self.local:
            taken = {*self.module.taken, *self.local.values()}
            self.local[wanted] = renumbered(wanted, taken)
            self.module.local.add(self.local[wanted])
        return self.local[wanted]

    def shown(self, operand: Operand) -> str:
        """An operand as an expression."""
        if isinstance(operand, Variable):
            return self.name(operand.name)
        value = operand.value
        if type(value) in (bool, int) or (type(value) is float and math.isfinite(value)):
            return repr(value)
        return self.module.named(f"constant_{len(self.module.names)}", value)

    def names(self, program: Program, parameters: Iterable[str]) -> None:
        """Give the variables of a program their names, in order."""
        for wanted in (*(v.name for v in program.variables), *parameters):
            self.name(wanted)

    def refusal(self, value: str, domain: Domain, error: str) -> list[str]:
        """The lines that refuse a value outside a domain."""
        condition = domain.condition(value)
        if domain == Bool:  # what a relation of integers answers for a bool
            condition = f"0 <= {value} <= 1"
        if condition == "True":
            return []
        return [f"if not ({condition}):", f'    raise {error}("{value} is outside {domain!r}")']

    def refuse(self, value: str, domain: Domain, error: str, statement: Statement | None) -> None:
        """Refuse a value outside a domain."""
        for text in self.refusal(value, domain, error):
            self.row(text)
            if statement is not None:
                self.rows[-1] = _Row(self.rows[-1].text, statement)

    # ---- forward ----

    def forward(self, statements: Iterable[Statement]) -> None:
        """Compute what statements give."""
        for statement in statements:
            rule = statement.relation
            bindings = dict(statement.bindings())
            if isinstance(rule, (Branch, Loop)):
                function = _forward(self.module, rule)
                given = [self.shown(bindings[axis]) for axis in rule.axes]
            else:
                mode = rule.mode(rule.outputs)
                assert mode is not None
                function = self.module.named(rule.name, mode.solver)
                given = [self.shown(bindings[axis]) for axis in mode.takes]
            results = ", ".join(map(self.shown, statement.results))
            self.row(f"{results} = {function}({', '.join(given)})", statement)

    # ---- solving ----

    def solve(self, plan: Plan) -> None:
        """Solve the statements of a plan."""
        known = set(map(plan.operand, plan.known))
        for value, is_true in plan.program.holds:
            if value in known:
                self.row(f"if {'not ' if is_true else ''}{self.shown(value)}:")
                self.row('    raise NoSolution("the condition leads to another branch")')
            elif isinstance(value, Variable):
                self.row(f"{self.shown(value)} = {is_true}")
            elif bool(value.value) != is_true:
                self.row('raise NoSolution("this branch is never taken")')
        for step in plan.steps:
            self.solved(step)

    def solved(self, step: Step | Root) -> None:
        """Solve one statement, or find a root."""
        if isinstance(step, Root):
            self.root(step)
        else:
            self.step(step)

    def root(self, root: Root) -> None:
        """Look for a root."""
        equation = _equation(self.module, root)
        given = [*map(self.shown, root.needs), *(self.name(p.name) for p in root.choices)]
        domain, guess = root.guess.domain, self.name(root.guess.name)
        low, high = (
            (domain.low, domain.high) if isinstance(domain, Interval) else (-math.inf, math.inf)
        )
        asked = [equation, guess, _bound(low), _bound(high), _tuple(given)]
        self.row(f"{self.shown(root.variable)} = find_root({', '.join(asked)})", root.check)

    def step(self, step: Step) -> None:
        """Solve one statement."""
        solved, mode = step.solved, step.solved.mode
        bindings = dict(solved.statement.bindings())
        rule = solved.statement.relation
        given: list[str] = []
        for name in mode.takes:
            if name in bindings:
                given.append(self.guarded(name, bindings[name], solved.statement))
            elif name in step.chosen:
                given.append(self.name(step.chosen[name].name))
            else:
                given.append(self.shown(Constant(mode.coordinates[name].default)))
        answers = ", ".join(self.shown(v) for v in solved.unknown)
        if isinstance(rule, (Branch, Loop)):
            function = _solver(self.module, rule, mode)
        else:
            label = "" if mode.unknown == (RETURN,) else "_" + "_".join(mode.unknown)
            function = self.module.named(rule.name + label, mode.solver)
        self.row(f"{answers} = {function}({', '.join(given)})", solved.statement)

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
        self.refuse(value, codomain, "NoSolution", statement)
        return value

    def compare(self, again: str, wanted: str, kind: Any, rtol: str, atol: str, why: str) -> None:
        """Refuse unless a number has come out as it has to."""
        if kind is float:
            self.row(f"if not (-inf < {again} < inf):")
            self.row('    raise NoSolution("overflow: the result is not finite")')
            self.row(f"if not abs({again} - {wanted}) <= {atol} + {rtol} * abs({wanted}):")
        else:
            self.row(f"if {again} != {wanted}:")
        self.row(f'    raise NoSolution("{why}")')

    # ---- recovering ----

    def recovered(self, plan: Plan) -> list[str]:
        """The names of a plan's parameters, in order, read off what was computed."""
        chosen = [self.name(v.name) for v in plan.free]
        for step in plan.steps:
            if isinstance(step, Root):
                chosen.append(self.name(step.variable.name))
            elif step.chosen:
                chosen += self.recovered_by(step)
        return chosen

    def recovered_by(self, step: Step) -> list[str]:
        statement, mode = step.solved.statement, step.solved.mode
        rule = statement.relation
        bindings = dict(statement.bindings())
        if isinstance(rule, (Branch, Loop)):
            function = _recovery(self.module, rule, mode)
        else:
            assert mode.recover is not None
            label = "_".join(mode.unknown)
            function = self.module.named(f"{rule.name}_{label}_recover", mode.recover)
        given = ", ".join(self.shown(bindings[axis]) for axis in mode.recovers)
        names = [self.name(parameter.name) for parameter in step.chosen.values()]
        self.row(f"{_tuple(names)} = {function}({given})", statement)
        return names


class _Entry:
    """The functions ``inverse`` and ``recover``."""

    def __init__(
        self, module: _Module, plan: Plan, axes: Mapping[str, Tree], known: Sequence[str]
    ) -> None:
        self.module = module
        self.plan = plan
        self.axes = axes
        self.known = tuple(known)
        self.unknown = tuple(axis for axis in axes if axis not in known)
        self.inputs = tuple(axis for axis in axes if axis != RETURN)

    def body(self) -> _Body:
        body = _Body(self.module)
        body.names(self.plan.program, self.plan.parameters.names)
        return body

    def inverse(self, rtol: float, atol: float, domains: Mapping[str, Domain]) -> list[_Row]:
        plan, body = self.plan, self.body()
        arguments, first = self.arguments(body, self.known)
        if len(plan.parameters):
            arguments.append("theta")
        body.row(f"def inverse({', '.join(arguments)}):", depth=0)
        body.row(f'"""{", ".join(self.unknown)} of {plan.program.name}."""')
        if len(plan.parameters):
            names = [body.name(parameter.name) for parameter in plan.parameters]
            body.row(f"{_tuple(names)} = theta")
        for text in first:
            body.row(text)
        for parameter in plan.parameters:
            body.refuse(body.name(parameter.name), parameter.domain, "OutsideDomain", None)
        body.solve(plan)
        self.finite(body)
        for axis in (*plan.known, *plan.unknown):
            if axis in domains:
                error = "OutsideDomain" if axis in plan.known else "NoSolution"
                body.refuse(body.shown(plan.operand(axis)), domains[axis], error, None)
        self.check(body, rtol, atol)
        body.row(f"return {_tuple([self.answer(body, axis) for axis in self.unknown])}")
        return [*body.rows, _Row("")]

    def recover(self) -> list[_Row]:
        plan, body = self.plan, self.body()
        arguments, first = self.arguments(body, self.inputs)
        body.row(f"def recover({', '.join(arguments)}):", depth=0)
        body.row('"""The parameters for which the inverse finds these inputs."""')
        for text in first:
            body.row(text)
        body.forward(plan.program.statements)
        body.row(f"return {_tuple(body.recovered(plan))}")
        return body.rows

    # ---- what goes in and out ----

    def arguments(self, body: _Body, axes: Sequence[str]) -> tuple[list[str], list[str]]:
        """The names of the arguments for some axes, and the assignments that they need."""
        names: list[str] = []
        first: list[str] = []
        for axis in axes:
            tree = self.axes[axis]
            name = "ret" if axis == RETURN else body.name(axis)
            names.append(name)
            if isinstance(tree, Node):
                first.append(f"{self.pattern(body, axis, name)} = {name}")
        if RETURN in axes:
            known = {self.plan.operand(leaf) for axis in self.inputs if axis in axes
                     for leaf in leaves(self.axes[axis])}  # fmt: skip
            for leaf in leaves(self.axes[RETURN]):
                operand = self.plan.operand(leaf)
                if isinstance(operand, Variable) and operand not in known:
                    known.add(operand)
                    first.append(f"{body.shown(operand)} = {self.part(body, leaf, 'ret')}")
        return names, first

    def pattern(self, body: _Body, axis: str, name: str) -> str:
        """The names of an axis's leaves, to be assigned to."""
        if axis == RETURN:
            return _written(mapped(self.axes[axis], lambda _, leaf: self.part(body, leaf, name)))
        return _written(mapped(self.axes[axis], lambda _, leaf: body.name(leaf)))

    def part(self, body: _Body, leaf: str, whole: str) -> str:
        """The name of one leaf of the result, as it is given or found again."""
        path = leaf.removeprefix(RETURN)
        if not path:
            return whole
        return body.name(f"{whole}{path}".replace("[", "_").replace("]", "").replace(".", "_"))

    def answer(self, body: _Body, axis: str) -> str:
        """An answer as its axis has it."""

        def leaf(_: str, name: str) -> str:
            operand = self.plan.operand(name)
            shown = body.shown(operand)
            return f"bool({shown})" if operand.kind is bool else shown

        return self.built(mapped(self.axes[axis], leaf))

    def built(self, tree: Tree) -> str:
        """A value of a tree of expressions."""
        if not isinstance(tree, Node):
            return tree
        items = [self.built(item) for item in tree.items]
        if tree.cls is tuple:
            return _tuple(items)
        return f"{self.module.named(tree.cls.__name__, tree.cls)}({', '.join(items)})"

    # ---- checks ----

    def finite(self, body: _Body) -> None:
        """Refuse answers that are infinite or NaN."""
        plan = self.plan
        solved = {v: statement_of(step) for step in plan.steps for v in solved_by(step)}
        for axis in plan.unknown:
            operand = plan.operand(axis)
            if isinstance(operand, Variable) and operand.kind is float and operand in solved:
                body.refuse(body.shown(operand), Real, "NoSolution", solved[operand])

    def check(self, body: _Body, rtol: float, atol: float) -> None:
        """Run the function itself on the answer."""
        plan = self.plan

        def leaf(_: str, name: str) -> str:
            return body.shown(plan.operand(name))

        inputs = ", ".join(self.built(mapped(self.axes[axis], leaf)) for axis in self.inputs)
        tree = self.axes[RETURN]
        again = f"forward({inputs})"
        if isinstance(tree, Node):
            body.row(f"{self.pattern(body, RETURN, 'again')} = {again}")
        else:
            kind = plan.operand(tree).kind
            if kind in WORDS:  # compiled, words and literals together are signed
                again = f"{self.module.named(kind.__name__, kind)}({again})"
            body.row(f"again = {again}")
        for name in leaves(tree):
            operand = plan.operand(name)
            known = RETURN in self.known
            wanted = self.part(body, name, "ret") if known else body.shown(operand)
            again, why = self.part(body, name, "again"), self.disagreement()
            body.compare(again, wanted, operand.kind, repr(rtol), repr(atol), why)

    def disagreement(self) -> str:
        """Why the function may give another result than the known one."""
        plan = self.plan
        inputs = [plan.operand(axis) for axis in plan.known if axis not in plan.program.results]
        results = list(plan.program.results.values())
        more = len(plan.steps) < len(plan.program.statements)
        more = more or any(result in inputs for result in results)
        more = more or len(set(results)) < len(results)
        disagree = more or any(isinstance(result, Constant) for result in results)
        return "the known values disagree" if RETURN in self.known and disagree else "lost digits"


# ---- roots --------------------------------------------------------------------------------


def _equation(module: _Module, root: Root) -> str:
    """The function from an unknown to both sides of the equation that it has to solve."""

    def write(name: str) -> list[_Row]:
        body = _Body(module)
        given = [root.variable.name, *(v.name for v in root.needs), *(p.name for p in root.choices)]
        body.row(f"def {name}({', '.join(map(body.name, given))}):", depth=0)
        for step in root.steps:
            body.solved(step)
        again = [Variable(f"again_{v}", v.kind) for v in root.check.results]
        body.forward([replace(root.check, results=tuple(again))])
        at = next(i for i, v in enumerate(again) if v.kind is float)
        body.row(f"return {body.shown(again[at])}, {body.shown(root.check.results[at])}")
        return [*body.rows, _Row("")]

    return module.part((id(root), "equation"), f"equation_{root.variable}", write)


def _bound(value: float) -> str:
    return repr(value) if math.isfinite(value) else ("inf" if value > 0 else "-inf")


# ---- branches and loops -------------------------------------------------------------------


def _forward(module: _Module, rule: Branch | Loop) -> str:
    """The function that runs a part of the program."""

    def write(name: str) -> list[_Row]:
        body = _Body(module)
        body.row(f"def {name}({', '.join(map(body.shown, rule.inputs))}):", depth=0)
        if isinstance(rule, Branch):
            _run_branch(body, rule)
        else:
            _run_loop(body, rule)
        return [*body.rows, _Row("")]

    return module.part((id(rule), "forward"), rule.name, write)


def _solver(module: _Module, rule: Branch | Loop, mode: Any) -> str:
    """The function that solves a part of the program."""
    if mode.unknown == rule.outputs:
        return _forward(module, rule)
    wanted = f"{rule.name}_{'_'.join(mode.unknown)}"
    if isinstance(rule, Branch):
        return module.part((id(mode),), wanted, lambda name: _ranked(module, rule, mode, name))
    return module.part((id(mode),), wanted, lambda name: _backwards(module, rule, mode, name))


def _recovery(module: _Module, rule: Branch | Loop, mode: Any) -> str:
    """The function that reads off the coordinates of a part of the program."""
    wanted = f"{rule.name}_{'_'.join(mode.unknown)}_recover"
    key = id(mode), "recover"
    if isinstance(rule, Branch):
        return module.part(key, wanted, lambda name: _recover_arm(module, rule, mode, name))
    return module.part(key, wanted, lambda name: _recover_loop(module, rule, mode, name))


def _conditions(body: _Body, holds: Iterable[tuple[Operand, bool]]) -> None:
    for value, is_true in holds:
        body.row(f"if {'not ' if is_true else ''}{body.shown(value)}:")
        body.row('    raise NoSolution("it raises")')


def _run_loop(body: _Body, rule: Loop) -> None:
    """Run a loop and return what it gives."""
    _turns(body, rule)
    body.depth += 1
    body.forward(rule.before.statements)
    if rule.condition is not None:
        _leave(body, rule, lambda: _give(body, rule))
    _conditions(body, rule.before.holds)
    body.forward(rule.after.statements)
    _conditions(body, rule.after.holds)
    _assign(body, rule.state, rule.following)
    body.depth -= 1
    if rule.condition is None:
        _give(body, rule)
    else:
        body.row(f'raise NoSolution("a loop goes on for more than {MOST_TRIPS} turns")')


def _turns(body: _Body, rule: Loop) -> None:
    """The head of a loop that runs forward."""
    if rule.bounds is None:
        body.row(f"for turn in range({MOST_TRIPS}):")
    else:
        index = body.shown(rule.bounds.index)
        body.row(f"for {index} in range({', '.join(map(body.shown, rule.limits))}):")


def _leave(body: _Body, rule: Loop, then: Callable[[], None]) -> None:
    assert rule.condition is not None
    body.row(f"if {'' if rule.leaves else 'not '}{body.shown(rule.condition)}:")
    body.depth += 1
    then()
    body.depth -= 1


def _give(body: _Body, rule: Loop) -> None:
    body.row(f"return {', '.join(map(body.shown, rule.gives))}")


def _assign(body: _Body, names: Sequence[Operand], values: Sequence[Operand]) -> None:
    """Assign to several names at once."""
    pairs = [(body.shown(n), body.shown(v)) for n, v in zip(names, values, strict=True)]
    pairs = [(name, value) for name, value in pairs if name != value]
    if pairs:
        body.row(f"{', '.join(n for n, _ in pairs)} = {', '.join(v for _, v in pairs)}")


def _backwards(module: _Module, rule: Loop, mode: Backwards, name: str) -> list[_Row]:
    """The function that undoes the turns of a loop, the last one first."""
    assert mode.last is not None
    assert mode.turn is not None
    body = _Body(module)
    begun = [v for v in rule.state if v.name in mode.takes]
    arguments = {axis: body.name(axis) for axis in mode.takes}
    for v in begun:  # what it begins with stays, under a name of its own
        if v not in mode.forwards:
            arguments[v.name] = body.name(f"{v.name}_begun")
    body.row(f"def {name}({', '.join(arguments.values())}):", depth=0)
    trips = body.name(TRIPS)
    if rule.bounds is not None:
        body.row(f"{trips} = len(range({', '.join(map(body.shown, rule.limits))}))")
    past = {v: body.name(f"{v.name}_past") for v in mode.forwards}
    _run_known(body, rule, mode, past, trips)
    outputs = [r for r in rule.results if r.name in mode.takes]
    given = {v for v in mode.last.program.inputs if v.name in mode.last.known}
    for result in outputs:
        operand = mode.last.operand(result.name)
        if isinstance(operand, Variable) and operand not in given:
            given.add(operand)
            body.row(f"{body.shown(operand)} = {body.shown(result)}")
    body.solve(mode.last)
    body.row(f"for turn in range({trips} - 1, -1, -1):")
    body.depth += 1
    if rule.bounds is not None:
        start, _, step = map(body.shown, rule.limits)
        body.row(f"{body.shown(rule.bounds.index)} = {start} + turn * {step}")
    for v, kept in past.items():
        body.row(f"{body.shown(v)} = {kept}[turn]")
    _undo(body, rule, mode, mode.turn)
    body.depth -= 1
    for v in begun:
        if v not in mode.forwards:
            why = "the loop does not begin with what is known"
            wanted = arguments[v.name]
            body.compare(body.shown(v), wanted, v.kind, ROUGHLY, ALMOST_NOTHING, why)
    body.row(f"return {', '.join(map(body.name, mode.unknown))}")
    return [*body.rows, _Row("")]


def _run_known(
    body: _Body, rule: Loop, mode: Backwards, past: Mapping[Variable, str], trips: str
) -> None:
    """Run the state that does not depend on what is unknown, and keep it for each turn."""
    if not past:
        return
    for v, kept in past.items():
        body.row(f"{kept} = [{body.shown(v)}]")
    body.row(f"for turn in range({trips}):")
    body.depth += 1
    if rule.bounds is not None:
        start, _, step = map(body.shown, rule.limits)
        body.row(f"{body.shown(rule.bounds.index)} = {start} + turn * {step}")
    body.forward(rule.slice_for(mode.forwards))
    following = dict(zip(rule.state, rule.following, strict=True))
    _assign(body, mode.forwards, [following[v] for v in mode.forwards])
    for v, kept in past.items():
        body.row(f"{kept}.append({body.shown(v)})")
    body.depth -= 1


def _undo(body: _Body, rule: Loop, mode: Backwards, turn: Plan) -> None:
    """Undo one turn."""
    back = [v for v in rule.state if v not in mode.forwards]
    names: dict[Operand, Operand] = {}
    for v in back:
        operand = turn.operand(f"{v.name} after")
        if isinstance(operand, Variable) and operand not in names:
            names[operand] = v
    given = {v for v in turn.program.inputs if v.name in turn.known}
    names = {operand: v for operand, v in names.items() if operand not in given}
    _assign(body, list(names), list(names.values()))
    body.solve(turn)


def _recover_loop(module: _Module, rule: Loop, mode: Backwards, name: str) -> list[_Row]:
    """The function that runs a loop to see how often, and with what at the end."""
    assert mode.last is not None
    body = _Body(module)
    body.row(f"def {name}({', '.join(map(body.name, mode.recovers))}):", depth=0)
    trips = body.name(TRIPS)
    if rule.bounds is None:
        body.row(f"{trips} = 0")

    def left() -> None:
        assert mode.last is not None
        body.forward(s for s in mode.last.program.statements if s not in rule.before.statements)
        values = dict(
            zip((p.name for p in mode.last.parameters), body.recovered(mode.last), strict=True)
        )
        values[TRIPS] = trips
        body.row(f"return {_tuple([values[name] for name in mode.coordinates])}")

    _turns(body, rule)
    body.depth += 1
    body.forward(rule.before.statements)
    if rule.condition is not None:
        _leave(body, rule, left)
    body.forward(rule.after.statements)
    _assign(body, rule.state, rule.following)
    if rule.bounds is None:
        body.row(f"{trips} += 1")
    body.depth -= 1
    if rule.condition is None:
        left()
    else:
        body.row(f'raise NoSolution("a loop goes on for more than {MOST_TRIPS} turns")')
    return [*body.rows, _Row("")]


# ---- branches -----------------------------------------------------------------------------


def _run_branch(body: _Body, rule: Branch) -> None:
    """Run a branch and return what it gives."""
    body.forward(rule.before)
    _each_arm(body, rule, lambda taken: _given(body, rule, taken))


def _each_arm(body: _Body, rule: Branch, then: Callable[[int], None]) -> None:
    for taken, word in enumerate((f"if {body.shown(rule.condition)}:", "else:")):
        body.row(word)
        body.depth += 1
        then(taken)
        body.depth -= 1


def _given(body: _Body, rule: Branch, taken: int) -> None:
    """Run an arm and return what it gives."""
    arm = rule.arms[taken]
    body.forward(arm.statements)
    _conditions(body, arm.holds)
    pairs = zip(arm.gives, rule.results, strict=True)
    gives = [
        f"float({body.shown(give)})" if result.kind is float and give.kind is not float
        else body.shown(give) for give, result in pairs
    ]  # fmt: skip
    body.row(f"return {', '.join(gives)}")


def _ranked(module: _Module, rule: Branch, mode: Ranked, name: str) -> list[_Row]:
    """The function that tries the arms in the order that is chosen."""
    body = _Body(module)
    arms = [_solved_arm(module, rule, mode, taken) for taken in (0, 1)]
    arguments = [body.name(axis) for axis in mode.takes]
    body.row(f"def {name}({', '.join(arguments)}):", depth=0)
    known = [axis for axis in mode.takes if axis not in mode.coordinates]
    calls = [
        f"{arm}({', '.join(body.name(a) for a in (*known, *chosen.values()))})"
        for arm, chosen in zip(arms, mode.chosen, strict=True)
    ]
    for first, word in ((0, f"if {body.name(THEN_FIRST)}:"), (1, "else:")):
        body.row(word)
        body.depth += 1
        body.row("try:")
        body.row(f"    answer = {calls[first]}")
        body.row("    found = True")
        body.row("except Exception:")
        body.row(f'    refused("{("then", "else")[first]}")')
        body.row("    found = False")
        body.row("if not found:")
        body.row(f"    answer = {calls[1 - first]}")
        body.row("return answer")
        body.depth -= 1
    return [*body.rows, _Row("")]


def _solved_arm(module: _Module, rule: Branch, mode: Ranked, taken: int) -> str:
    assert mode.plans is not None
    plan, chosen = mode.plans[taken], mode.chosen[taken]

    def write(name: str) -> list[_Row]:
        body = _Body(module)
        body.names(plan.program, ())
        known = [axis for axis in mode.takes if axis not in mode.coordinates]
        outputs = dict(zip(rule.outputs, rule.results, strict=True))
        # of a result that is the same variable as something known, only the check is left
        given = {v for v in plan.program.inputs if v.name in known}
        first: list[str] = []
        for axis in known:
            if axis in outputs:
                operand = plan.operand(axis)
                if isinstance(operand, Variable) and operand not in given:
                    given.add(operand)
                    first.append(f"{body.shown(operand)} = {body.name(axis)}")
        arguments = [body.name(n) for n in (*known, *chosen)]
        body.row(f"def {name}({', '.join(arguments)}):", depth=0)
        for text in first:
            body.row(text)
        body.solve(plan)
        _check_arm(body, module, rule, known)
        body.row(f"return {', '.join(_answers(body, plan, mode))}")
        return [*body.rows, _Row("")]

    word = ("then", "else")[taken]
    return module.part((id(mode), taken), f"{rule.name}_{word}_{'_'.join(mode.unknown)}", write)


def _answers(body: _Body, plan: Plan, mode: Ranked) -> list[str]:
    return [body.shown(plan.operand(axis)) for axis in mode.unknown]


def _check_arm(body: _Body, module: _Module, rule: Branch, known: Sequence[str]) -> None:
    """Run the branch on the answer: another arm may be the one that is taken."""
    again = [body.name(f"again_{v.name}") for v in rule.results]
    given = ", ".join(map(body.shown, rule.inputs))
    body.row(f"{', '.join(again)} = {_forward(module, rule)}({given})")
    for name, result in zip(again, rule.results, strict=True):
        if result.name in known:
            why = "the condition leads to another branch"
            body.compare(name, body.name(result.name), result.kind, ROUGHLY, ALMOST_NOTHING, why)


def _recover_arm(module: _Module, rule: Branch, mode: Ranked, name: str) -> list[_Row]:
    """The function that reads off the coordinates: which arm is taken, and that one's."""
    assert mode.plans is not None
    plans = mode.plans
    body = _Body(module)
    body.row(f"def {name}({', '.join(body.name(axis) for axis in mode.recovers)}):", depth=0)
    body.forward(rule.before)

    def arm(taken: int) -> None:
        inner = _Body(module, local=dict(body.local), depth=body.depth)
        plan, chosen = plans[taken], mode.chosen[taken]
        inner.forward(s for s in plan.program.statements if s not in rule.before)
        values = dict(zip(chosen.values(), inner.recovered(plan), strict=True))
        default = {name: domain.default for name, domain in mode.coordinates.items()}
        default[THEN_FIRST] = not taken
        found = [values.get(n, inner.shown(Constant(default[n]))) for n in mode.coordinates]
        inner.row(f"return {_tuple(found)}")
        body.rows += inner.rows

    _each_arm(body, rule, arm)
    return [*body.rows, _Row("")]


def _written(tree: Tree) -> str:
    return _tuple([_written(item) for item in tree.items]) if isinstance(tree, Node) else tree


def _tuple(names: Sequence[str]) -> str:
    return f"({names[0]},)" if len(names) == 1 else f"({', '.join(names)})"
