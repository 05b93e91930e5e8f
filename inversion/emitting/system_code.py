"""Linear systems as generated functions: the matrix is computed from unit vectors."""

from __future__ import annotations

from collections.abc import Sequence

from inversion.emitting.module_text import FunctionText, Module, PartWriter, RowText, tuple_of
from inversion.planning.statement_modes import Solution
from inversion.program.linear_systems import LinearSystem
from inversion.program.moved_elements import size_of
from inversion.program.statements import Variable
from primitives.arrays.domain import is_array, shape_of
from primitives.arrays.elimination import eliminated, put_column
from primitives.arrays.linear import nearest_solution, square_solution

__all__ = ["SYSTEM"]

MOST_ELIMINATED = 64
"""The most unknown numbers that are solved for by elimination, without a library."""


def run(body: FunctionText, rule: LinearSystem) -> None:
    """Run the statements."""
    body.forward(rule.statements)
    body.row(f"return {', '.join(map(body.shown, rule.results))}")


def solve(module: Module, rule: LinearSystem, mode: Solution, name: str) -> list[RowText]:
    """The function that solves the equations."""
    body = FunctionText(module)
    takes = [body.name(axis) for axis in mode.takes]
    equations = sides(module, rule, mode)
    known = [body.name(v.name) for v in rule.read if v not in mode.found]
    high, wide = sum(map(size_of, mode.given)), sum(map(size_of, mode.found))
    solver = square_solution if high == wide else nearest_solution
    if wide <= MOST_ELIMINATED and not any(is_array(v.kind) for v in (*mode.found, *mode.given)):
        solver = eliminated
    closer = module.named(solver.__name__, solver)
    around = flat(body, mode.found, [body.name(mode.near[v.name]) for v in mode.found])
    wanted = flat(body, mode.given, [body.name(v.name) for v in mode.given])
    # names that no variable of the program has
    point, matrix, base, nearby, missing, at = map(
        module.fresh, ("point", "matrix", "base", "nearby", "missing", "at")
    )
    sides_at = f"{equations}({', '.join([point, *known])})"
    column = f"{matrix}[:, {at}] = {sides_at} - {base}"
    if solver is eliminated:
        column = f"{module.named('put_column', put_column)}({matrix}, {at}, {sides_at}, {base})"
    body.row(f"def {name}({', '.join(takes)}):", depth=0)
    for text in (
        f"{point} = np.zeros({wide})",
        f"{base} = {sides_at}",
        f"{matrix} = np.empty(({high}, {wide}))",
        f"for {at} in range({wide}):",
        f"    {point}[{at}] = 1.0",
        f"    {column}",
        f"    {point}[{at}] = 0.0",
        f"{nearby} = {around}",
        f"{point} = {closer}({matrix}, {wanted} - {base}, {nearby})",
        f"for {at} in range(2):",  # next to a large base, the matrix has lost digits
        f"    {missing} = {wanted} - {sides_at}",
        f"    {point} = {point} + {closer}({matrix}, {missing}, np.zeros({wide}))",
    ):
        body.row(text)
    apart(body, rule, mode.found, point)
    answers = {v.name: body.shown(v) for v in mode.found}
    others = [axis for axis in mode.unknown if axis in rule.outputs]
    if others:
        given = ", ".join(map(body.shown, rule.read))
        again = [
            body.name(v.name) if v.name in others else body.own(f"again_{v}") for v in rule.results
        ]
        body.row(f"{', '.join(again)} = {module.forward(rule)}({given})")
        answers.update({axis: body.name(axis) for axis in others})
    body.row(f"return {', '.join(answers[axis] for axis in mode.unknown)}")
    return [*body.rows, RowText("")]


def sides(module: Module, rule: LinearSystem, mode: Solution) -> str:
    """The function that maps all unknowns, in one array, to all known results in one array."""

    def write(name: str) -> list[RowText]:
        body = FunctionText(module)
        known = [body.name(v.name) for v in rule.read if v not in mode.found]
        point = module.fresh("point")
        body.row(f"def {name}({', '.join([point, *known])}):", depth=0)
        apart(body, rule, mode.found, point)
        body.forward(rule.statements)
        body.row(f"return {flat(body, mode.given, list(map(body.shown, mode.given)))}")
        return [*body.rows, RowText("")]

    return module.part((id(mode), "sides"), f"{rule.name}_sides", write)


def apart(
    body: FunctionText, rule: LinearSystem, variables: Sequence[Variable], point: str
) -> None:
    """Assign the parts of one array to variables."""
    for variable, start, stop in rule.places(variables):
        shape = shape_of(variable.kind)
        part = f"{point}[{start}:{stop}].copy().reshape({shape})"
        value = part if is_array(variable.kind) else f"{point}[{start}]"
        body.row(f"{body.shown(variable)} = {value}")


def flat(body: FunctionText, variables: Sequence[Variable], names: Sequence[str]) -> str:
    """The expression of one array of all variables' elements."""
    if not any(is_array(v.kind) for v in variables):
        return f"np.array({tuple_of(names)})"
    parts = [
        f"{name}.ravel()" if is_array(v.kind) else f"np.full(1, {name})"
        for v, name in zip(variables, names, strict=True)
    ]
    return parts[0] if len(parts) == 1 else f"np.concatenate(({', '.join(parts)}))"


def recover(module: Module, rule: LinearSystem, mode: Solution, name: str) -> list[RowText]:
    """The function that recovers the coordinates: the unknowns themselves."""
    body = FunctionText(module)
    body.row(f"def {name}({', '.join(map(body.shown, rule.read))}):", depth=0)
    body.row(f"return {tuple_of([body.shown(v) for v in mode.found])}")
    return [*body.rows, RowText("")]


SYSTEM = PartWriter(run, solve, recover)
