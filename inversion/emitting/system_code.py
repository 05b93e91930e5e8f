"""Systems of equations as generated functions.

The matrix of a linear system is computed from unit vectors. The unknowns of other systems are
searched for from a start.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from inversion.emitting.module_text import (
    FunctionText,
    Module,
    PartWriter,
    RowText,
    bound,
    tuple_of,
)
from inversion.intrinsics.simultaneous_roots import as_reals, complex_part, find_roots
from inversion.planning.statement_modes import Solution
from inversion.program.equation_systems import EquationSystem, reals_in
from inversion.program.statements import Variable
from primitives import Reals
from primitives.arrays.domain import Arrays, element_of, is_array, shape_of
from primitives.arrays.elimination import eliminated, put_column
from primitives.arrays.linear import nearest_solution, square_solution

__all__ = ["SYSTEM"]

MOST_ELIMINATED = 64
"""The largest number of unknown numbers that are solved for by elimination, without a library."""


def run(body: FunctionText, rule: EquationSystem) -> None:
    """Run the statements."""
    body.forward(rule.statements)
    body.row(f"return {', '.join(map(body.shown, rule.results))}")


def solve(module: Module, rule: EquationSystem, mode: Solution, name: str) -> list[RowText]:
    """The function that solves the equations."""
    body = FunctionText(module)
    takes = [body.name(axis) for axis in mode.takes]
    equations = sides(module, rule, mode)
    known = [body.name(v.name) for v in rule.read if v not in mode.found]
    # names that no variable of the program has
    point = module.fresh("point")
    around = flat(body, mode.found, [body.name(mode.near[v.name]) for v in mode.found])
    wanted = flat(body, mode.given, [body.name(v.name) for v in mode.given])
    write = by_matrix if rule.linear else by_search
    body.row(f"def {name}({', '.join(takes)}):", depth=0)
    for text in write(module, mode, point, around, wanted, equations, known):
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


def by_matrix(
    module: Module,
    mode: Solution,
    point: str,
    around: str,
    wanted: str,
    equations: str,
    known: Sequence[str],
) -> list[str]:
    """The lines that solve linear equations."""
    high, wide = sum(map(reals_in, mode.given)), sum(map(reals_in, mode.found))
    solver = square_solution if high == wide else nearest_solution
    if wide <= MOST_ELIMINATED and not any(is_array(v.kind) for v in (*mode.found, *mode.given)):
        solver = eliminated
    closer = module.named(solver.__name__, solver)
    matrix, base, nearby, missing, at = map(
        module.fresh, ("matrix", "base", "nearby", "missing", "at")
    )
    sides_at = f"{equations}({', '.join([point, *known])})"
    column = f"{matrix}[:, {at}] = {sides_at} - {base}"
    if solver is eliminated:
        column = f"{module.named('put_column', put_column)}({matrix}, {at}, {sides_at}, {base})"
    return [
        f"{point} = np.zeros({wide})",
        f"{base} = {sides_at}",
        f"{matrix} = np.empty(({high}, {wide}))",
        f"for {at} in range({wide}):",
        f"    {point}[{at}] = 1.0",
        f"    {column}",
        f"    {point}[{at}] = 0.0",
        f"{nearby} = {around}",
        f"{point} = {closer}({matrix}, {wanted} - {base}, {nearby})",
        f"for {at} in range(2):",  # near a large base point the differences lose digits
        f"    {missing} = {wanted} - {sides_at}",
        f"    {point} = {point} + {closer}({matrix}, {missing}, np.zeros({wide}))",
    ]


def by_search(
    module: Module,
    mode: Solution,
    point: str,
    around: str,
    wanted: str,
    equations: str,
    known: Sequence[str],
) -> list[str]:
    """The lines that search for the unknowns of nonlinear equations."""
    ends = [end for v in mode.found for end in bounds_of(mode, v)]
    low, high = (f"np.array({tuple_of([bound(end[i]) for end in ends])})" for i in (0, 1))
    search = module.named("find_roots", find_roots)
    asked = [equations, wanted, around, low, high, tuple_of(known) if known else "()"]
    return [f"{point} = {search}({', '.join(asked)})"]


def bounds_of(mode: Solution, variable: Variable) -> list[tuple[float, float]]:
    """The bounds of the real numbers in an unknown."""
    domain = mode.coordinates[mode.near[variable.name]]
    domain = domain.element if isinstance(domain, Arrays) else domain
    ends = domain.ends if isinstance(domain, Reals) else (-math.inf, math.inf)
    return [ends] * reals_in(variable)


def sides(module: Module, rule: EquationSystem, mode: Solution) -> str:
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
    body: FunctionText, rule: EquationSystem, variables: Sequence[Variable], point: str
) -> None:
    """Assign the parts of one array to variables."""
    for variable, start, stop in rule.places(variables):
        shape, of_complex = shape_of(variable.kind), element_of(variable.kind) is complex
        if is_array(variable.kind):
            part = f"{point}[{start}:{stop}].copy()"
            if of_complex:
                named = body.module.named("complex_part", complex_part)
                part = f"{named}({point}, {start}, {stop})"
            value = f"{part}.reshape({shape})"
        elif of_complex:
            value = f"complex({point}[{start}], {point}[{start + 1}])"
        else:
            value = f"{point}[{start}]"
        body.row(f"{body.shown(variable)} = {value}")


def flat(body: FunctionText, variables: Sequence[Variable], names: Sequence[str]) -> str:
    """The expression of one array of all variables' real numbers."""
    pairs = list(zip(variables, names, strict=True))
    if not any(is_array(v.kind) for v in variables):
        return f"np.array({tuple_of([part for v, name in pairs for part in _reals(v, name)])})"
    named = body.module.named("as_reals", as_reals)
    parts = [
        (f"{named}({name})" if element_of(v.kind) is complex else f"{name}.ravel()")
        if is_array(v.kind)
        else f"np.array({tuple_of(_reals(v, name))})"
        for v, name in pairs
    ]
    return parts[0] if len(parts) == 1 else f"np.concatenate(({', '.join(parts)}))"


def _reals(variable: Variable, name: str) -> list[str]:
    """The expressions of the real numbers in one number."""
    return [f"{name}.real", f"{name}.imag"] if variable.kind is complex else [name]


def recover(module: Module, rule: EquationSystem, mode: Solution, name: str) -> list[RowText]:
    """The function that recovers the coordinates: the unknowns themselves."""
    body = FunctionText(module)
    body.row(f"def {name}({', '.join(map(body.shown, rule.read))}):", depth=0)
    body.row(f"return {tuple_of([body.shown(v) for v in mode.found])}")
    return [*body.rows, RowText("")]


SYSTEM = PartWriter(run, solve, recover)
