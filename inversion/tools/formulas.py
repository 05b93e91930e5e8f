"""Steps of a plan as formulas: the unknown, in terms of known variables.

A solver that reduces to one expression is shown as this expression, with the arguments substituted:
``v8 = v9 / 0.5``. Guards that only raise are omitted, and conditions of constants are evaluated.
For any other step the equation is shown: ``x solves x * exp(x) = z, from near_x``.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from inversion.planning.plan import Plan, PlanStep, Root, parts_of, solved_by, statement_of
from inversion.program.statements import Constant, Statement, in_columns
from inversion.tools.standalone.reading_back import node_of
from primitives import Relation

__all__ = ["formula_of", "written_plan"]

LONGEST, CONDITIONAL = 64, 40  # of expressions, and of those with a condition
DEEPEST = 6  # nested calls

Expressions = Mapping[str, ast.expr]


class _NotOne(Exception):
    """A solver is not a single expression."""


class _Raises(Exception):
    """A path through a solver only raises."""


def formula_of(step: PlanStep | Root, shown: Mapping[str, str] | None = None) -> str:
    """The formula of a step. shown: other names for parameters, those of the whole inverse."""
    names = shown or {}
    if isinstance(step, Root):
        return _root(step, names)
    answers = ", ".join(v.name for v in step.solved.unknown)
    found = _expression(step, names)
    if found is not None:
        return f"{answers} = {found}"
    choices = ", ".join(names.get(p.name, p.name) for p in step.chosen.values())
    equation = _turned(step.solved.statement, {})
    return f"{answers} solves {equation}" + (f", choosing {choices}" if choices else "")


def _root(root: Root, names: Mapping[str, str]) -> str:
    """The formula of a root: its equation, with intermediate expressions substituted."""
    inner: dict[str, str] = {}
    through: list[str] = []
    for step in root.steps:
        found = None if isinstance(step, Root) else _expression(step, names, inner)
        variables = solved_by(step)
        if found is None or len(variables) != 1:
            through.append(formula_of(step, names))
            continue
        inner[str(variables[0])] = found
        if len(found) > LONGEST:  # substituted at each use, it would grow exponentially
            break
    equation = _turned(root.check, inner)
    if len(equation) > LONGEST or any(len(text) > LONGEST for text in inner.values()):
        through = [formula_of(step, names) for step in root.steps]
        equation = _turned(root.check, {})
    guess = names.get(root.guess.name, root.guess.name)
    also = f", with {'; '.join(through)}" if through else ""
    return f"{root.variable} solves {equation}, from {guess}{also}"


def _turned(statement: Statement, inner: Mapping[str, str]) -> str:
    """A statement's equation, with the computed expression on the left."""
    operands = {axis: str(operand) for axis, operand in statement.bindings()}
    inputs = {axis: inner.get(operands[axis], operands[axis]) for axis in statement.relation.axes}
    found, equals, given = statement.relation.shown({**operands, **inputs}).partition(" = ")
    return f"{given}{equals}{found}"


# ---- solvers as expressions ---------------------------------------------------------------


def _expression(
    step: PlanStep, names: Mapping[str, str], inner: Mapping[str, str] | None = None
) -> str | None:
    """The expression with which a step solves for its unknowns; None if there is no single one."""
    statement, mode = step.solved.statement, step.solved.mode
    if not isinstance(statement.relation, Relation):
        return None
    operands = dict(statement.bindings())
    if mode.unknown == statement.relation.outputs:
        shown = {axis: str(operand) for axis, operand in operands.items()}
        shown = {axis: (inner or {}).get(text, text) for axis, text in shown.items()}
        return statement.relation.shown(shown).partition(" = ")[2]
    given: dict[str, str] = {}
    for name in mode.takes:
        if name in operands:
            given[name] = (inner or {}).get(str(operands[name]), str(operands[name]))
        elif name in step.chosen:
            given[name] = f"θ.{names.get(step.chosen[name].name, step.chosen[name].name)}"
        else:
            given[name] = str(Constant(mode.coordinates[name].default))
    try:
        arguments = [ast.parse(text, mode="eval").body for text in given.values()]
        found = _called(mode.solver, arguments, DEEPEST)
    except (_NotOne, _Raises, SyntaxError, RecursionError):
        return None
    if isinstance(found, ast.Tuple):
        text = ", ".join(map(ast.unparse, found.elts))
    else:
        text = ast.unparse(found)
    choices = text.count(" if ")
    return text if choices <= 1 and len(text) <= (CONDITIONAL if choices else LONGEST) else None


def _called(function: Callable[..., Any], arguments: Sequence[ast.expr], depth: int) -> ast.expr:
    """The expression that a function returns for these arguments."""
    node = node_of(function) if isinstance(function, FunctionType) and depth > 0 else None
    if node is None or len(node.args.args) != len(arguments) or node.args.kwonlyargs:
        raise _NotOne
    env = dict(zip((a.arg for a in node.args.args), arguments, strict=True))
    reading = _Reading(function.__globals__, depth)
    if isinstance(node, ast.Lambda):
        return reading.put_in(node.body, env)
    return reading.run(node.body, env)


class _Reading:
    """Symbolic evaluation of the body of a function, with these global names."""

    def __init__(self, names: Mapping[str, Any], depth: int) -> None:
        self.names = names
        self.depth = depth

    def run(self, rows: Sequence[ast.stmt], env: Expressions) -> ast.expr:
        """The expression that statements return."""
        if not rows:
            raise _NotOne
        row, *rest = rows
        match row:
            case ast.Expr(value=ast.Constant()):
                return self.run(rest, env)
            case ast.Return(value=ast.expr() as value):
                return self.put_in(value, env)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                return self.run(rest, {**env, name: self.put_in(value, env)})
            case ast.Raise():
                raise _Raises
            case ast.If():
                return self.either(row, rest, env)
            case _:
                raise _NotOne

    def either(self, row: ast.If, rest: Sequence[ast.stmt], env: Expressions) -> ast.expr:
        """The expression that is returned after a condition."""
        test = self.put_in(row.test, env)
        known = _known(test)
        if known is not None:
            return self.run([*(row.body if known else row.orelse), *rest], env)
        found: list[ast.expr] = []
        for rows in (row.body, row.orelse):
            try:
                found.append(self.run([*rows, *rest], env))
            except _Raises:
                continue
        if not found:
            raise _Raises
        if len(found) == 1 or ast.dump(found[0]) == ast.dump(found[1]):
            return found[0]
        return ast.IfExp(test, *found)

    def put_in(self, expression: ast.expr, env: Expressions) -> ast.expr:
        """An expression with its names substituted."""
        found = _Filled(self, env).visit(ast.parse(ast.unparse(expression), mode="eval").body)
        if isinstance(found, ast.IfExp):
            known = _known(found.test)
            if known is not None:
                return found.body if known else found.orelse
        return found


class _Filled(ast.NodeTransformer):
    def __init__(self, reading: _Reading, env: Expressions) -> None:
        self.reading = reading
        self.env = env

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.env:
            return self.env[node.id]
        value = self.reading.names.get(node.id)
        if type(value) is int or (type(value) is float and math.isfinite(value)):
            return ast.Constant(value)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return ast.Name(node.attr) if isinstance(node.value, ast.Name) else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        arguments = [self.visit(argument) for argument in node.args]
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            raise _NotOne
        if isinstance(node.func, ast.Name):
            function = self.reading.names.get(node.func.id)
            if isinstance(function, FunctionType):
                return _called(function, arguments, self.reading.depth - 1)
            return ast.Call(node.func, arguments, [])
        return ast.Call(self.visit(node.func), arguments, [])

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        raise _NotOne


def _known(test: ast.expr) -> bool | None:
    """Return whether a condition of constants holds; None for others."""
    if any(isinstance(node, (ast.Name, ast.Call)) for node in ast.walk(test)):
        return None
    try:
        whole = ast.fix_missing_locations(ast.Expression(test))
        return bool(eval(compile(whole, "<a condition>", "eval"), {}))
    except (ArithmeticError, TypeError, ValueError):
        return None


# ---- listings -----------------------------------------------------------------------------


def written_plan(plan: Plan) -> str:
    """The text of a plan."""
    return in_columns(_rows(plan, "", {}))


def _rows(plan: Plan, margin: str, names: Mapping[str, str]) -> list[str]:
    """The rows of a plan; those of a branch's arms or a loop's iterations are indented."""
    known = ", ".join(_given(plan, axis) for axis in plan.known) or "nothing"
    rows = [f"{margin}known {known}; to find {', '.join(plan.unknown) or 'nothing'}"]
    for p in plan.free.values():
        rows.append(f"{margin}  choose {names.get(p.name, p.name)}: {p.domain!r}   {p.line}")
    steps = [formula_of(step, names) for step in plan.steps]
    width = max((len(text) for text in steps if len(text) <= LONGEST), default=0)
    for step, text in zip(plan.steps, steps, strict=True):
        rows.append(f"{margin}  {text:<{width}}   {statement_of(step).where}")
        outer = step.chosen if isinstance(step, PlanStep) else {}
        for what, inner, coordinates in parts_of(step):
            named = {
                name: names.get(outer[c].name, outer[c].name)
                for name, c in coordinates.items()
                if c in outer
            }
            rows += [f"{margin}    {what}:", *_rows(inner, margin + "    ", named)]
    return rows


def _given(plan: Plan, axis: str) -> str:
    """A known axis, and its operand in the program."""
    operand = str(plan.operand(axis))
    return axis if operand == axis else f"{axis} = {operand}"
