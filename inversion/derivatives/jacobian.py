"""The Jacobian of a program, by automatic differentiation in forward mode: exact up to rounding.

Each value carries its derivatives with respect to the unknown inputs. The partial derivatives of a
statement are looked up like its relation: in the tables of a context, else in
``primitives.base_partials``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from inversion.derivatives.array_derivatives import (
    Slope,
    Value,
    has_steps,
    log_determinant,
    of_elements,
    of_moved,
    of_whole,
    rows_of,
    unit_rows,
)
from inversion.errors import NoSolution, NotInvertible
from inversion.program.branches import Branch
from inversion.program.elementwise_statements import Elementwise
from inversion.program.equation_systems import EquationSystem
from inversion.program.limits import has_arrays
from inversion.program.loops import Loop
from inversion.program.moved_elements import Moved, size_of
from inversion.program.statements import Constant, Operand, Statement, Variable
from inversion.program.trees import leaves, taken_apart
from overlay import Context, Method
from overlay.core.dispatch import MethodChain, by_types
from overlay.core.short_repr import counted
from primitives import Relation, base_partials, partials_of
from primitives.arrays.domain import element_of, is_array, shape_of
from primitives.base_table import RELATIONS
from primitives.relation import RETURN

if TYPE_CHECKING:
    from inversion.inverse import Inverse

__all__ = ["log_abs_det", "slopes_of"]

Here = dict[Variable, Value]
"""Variables, each with its value and its derivatives."""


def log_abs_det(
    inverse: Inverse, known: tuple[Any, ...], solve: Callable[[], tuple[Any, ...]]
) -> float:
    """The logarithm of the absolute determinant of an inverse's Jacobian, at a result.

    solve: returns the answer of the inverse for this result.

    Raises NotInvertible if the Jacobian of the program is not square or not known, and NoSolution
    if it is singular or does not exist at this result.
    """
    unknown, results = _square(inverse)
    answers = dict(zip(inverse.unknown, solve(), strict=True))
    given = {**dict(zip(inverse.known, known, strict=True)), **answers}
    parts: dict[str, Any] = {}
    for axis in inverse.axes.inputs:
        tree = inverse.axes.trees[axis]
        parts.update(zip(leaves(tree), taken_apart(tree, given[axis]), strict=True))
    program = inverse.origin
    size = sum(size_of(v) for v in unknown)
    sparse = has_arrays(program)
    units = _units(unknown, size, sparse=sparse)
    here: Here = {v: (parts[v.name], units.get(v)) for v in program.inputs}
    forward = _Forward(inverse.context, size, program.rules)
    try:
        forward.run(program.statements, here)
        found = [forward.of(here, program.results[leaf]) for leaf in results]
    except (ValueError, ArithmeticError) as error:
        raise NoSolution(
            f"{program.name} has no derivative: {error}", where=program.where
        ) from error
    kinds = [program.results[leaf].kind for leaf in results]
    dense = [np.zeros(size) if slope is None else slope for _, slope in found]
    logarithm = log_determinant(rows_of(found, kinds, size) if sparse else np.array(dense))
    if not math.isfinite(logarithm):
        raise NoSolution(
            f"{program.name} is not bijective around {tuple(answers.values())!r}: "
            f"the determinant of its Jacobian is {'0' if logarithm < 0 else 'not finite'}",
            where=program.where,
            help="the inverse has no derivative at this point",
        )
    return -logarithm


def slopes_of(
    inverse: Inverse, args: Sequence[Any], names: Sequence[str], results: Sequence[str]
) -> NDArray[np.float64] | None:
    """The derivatives of results of the program by inputs, number by number, at arguments of the
    function; None if a result or input is not a float.

    Raises NotInvertible if they are not known, NoSolution at a kink, and the exceptions of the
    program.
    """
    program = inverse.origin
    parts: dict[str, Any] = {}
    for axis, value in zip(inverse.axes.inputs, args, strict=True):
        tree = inverse.axes.trees[axis]
        parts.update(zip(leaves(tree), taken_apart(tree, value), strict=True))
    unknown = [next(v for v in program.inputs if v.name == name) for name in names]
    if any(element_of(v.kind) is not float for v in (*unknown, *map(program.operand, results))):
        return None
    size, sparse = sum(map(size_of, unknown)), has_arrays(program)
    units = _units(unknown, size, sparse=sparse)
    here: Here = {v: (parts[v.name], units.get(v)) for v in program.inputs}
    forward = _Forward(inverse.context, size, program.rules)
    with np.errstate(all="ignore"):
        forward.run(program.statements, here)
    found = [forward.of(here, program.results[leaf]) for leaf in results]
    if sparse:
        kinds = [program.results[leaf].kind for leaf in results]
        return np.asarray(rows_of(found, kinds, size).toarray())
    return np.array([np.zeros(size) if slope is None else slope for _, slope in found])


def _units(unknown: Sequence[Variable], size: int, *, sparse: bool) -> Mapping[Variable, Slope]:
    """The derivatives of the unknown inputs by themselves: the identity matrix."""
    found: dict[Variable, Slope] = {}
    start = 0
    for variable in unknown:
        count = size_of(variable)
        found[variable] = unit_rows(start, count, size) if sparse else np.eye(1, size, start)[0]
        start += count
    return found


def _square(inverse: Inverse) -> tuple[list[Variable], list[str]]:
    """The unknown inputs and the results, leaf by leaf. Raises NotInvertible unless all are floats,
    and there are as many inputs as results.
    """
    trees, program = inverse.axes.trees, inverse.origin
    if RETURN not in inverse.known:
        raise _refused(inverse, "the result is not known", "give choose known=('return', ...)")
    names = {leaf for axis in inverse.unknown for leaf in leaves(trees[axis])} - inverse.axes.given
    unknown = [v for v in program.inputs if v.name in names]
    results = list(leaves(trees[RETURN]))
    for leaf in (*(v.name for v in unknown), *results):
        kind = program.operand(leaf).kind
        if element_of(kind) is not float:
            name = getattr(kind, "__name__", repr(kind))
            raise _refused(
                inverse, f"{leaf} is of type {name}", "a determinant is of floats; fix the others"
            )
    wanted = sum(size_of(v) for v in unknown)
    count = sum(math.prod(shape_of(program.operand(leaf).kind)) for leaf in results)
    if wanted != count:
        raise _refused(
            inverse,
            f"it is not square: {wanted} unknown numbers ({', '.join(v.name for v in unknown)}) "
            f"and {counted(count, 'result')}",
            "pass inputs as known, or return as many numbers as are unknown",
        )
    return unknown, results


def _refused(inverse: Inverse, why: str, help: str) -> NotInvertible:
    name, where = inverse.origin.name, inverse.origin.where
    return NotInvertible(
        f"the inverse of {name} has no Jacobian determinant: {why}", where=where, help=help
    )


class _Forward:
    """Interpreter that runs programs forwards with derivatives."""

    def __init__(self, context: Context | None, size: int, rules: Mapping[Any, Any]) -> None:
        self.context = context
        self.tables = () if context is None else tuple(reversed(context.tables))
        self.size = size
        self.rules: dict[Relation, Callable[..., Sequence[float]]] = {**rules}

    def of(self, here: Here, operand: Operand) -> Value:
        return (operand.value, None) if isinstance(operand, Constant) else here[operand]

    def run(self, statements: Iterable[Statement], here: Here) -> None:
        """Compute the results of statements, into ``here``."""
        for statement in statements:
            given = [self.of(here, operand) for operand in statement.arguments]
            here.update(zip(statement.results, self.found(statement, given), strict=True))

    def found(self, statement: Statement, given: list[Value]) -> list[Value]:
        """The results of a statement, with derivatives."""
        rule: Any = statement.relation
        if isinstance(rule, Relation):
            if any(map(is_array, (*rule.types, rule.returns))):
                return [self.whole(statement, rule, given)]
            return self.applied(statement, rule, given)
        if isinstance(rule, Moved):
            return of_moved(rule, given, self.size)
        if isinstance(rule, Elementwise):
            return of_elements(rule, given, partial(self.elements, rule))
        inner = dict(zip(rule.inputs, given, strict=True))
        if isinstance(rule, EquationSystem):
            self.run(rule.statements, inner)
            return [inner[v] for v in rule.results]
        return self.branch(rule, inner) if isinstance(rule, Branch) else self.loop(rule, inner)

    def elements(self, rule: Elementwise, size: int) -> Callable[[Here], list[Value]]:
        """The function of one element that returns its results, with derivatives by this number of
        inputs.
        """
        inner = _Forward(self.context, size, self.rules)

        def run(here: Here) -> list[Value]:
            inner.run(rule.statements, here)
            return [inner.of(here, result) for result in rule.results]

        return run

    def whole(self, statement: Statement, rule: Relation, given: Sequence[Value]) -> Value:
        """The result of a function of whole arrays, with derivatives by the rule in the tables of a
        context, else by complex steps.
        """
        if all(slope is None for _, slope in given) or element_of(rule.returns) is not float:
            return rule(*(value for value, _ in given)), None
        method = MethodChain.of(partials_of(rule.target), self.tables).resolve(by_types(rule.types))
        if isinstance(method, Method):
            return of_whole(rule, given, self.size, method.function)
        if not has_steps(rule):
            raise self.unknown(statement, rule)
        return of_whole(rule, given, self.size)

    def applied(self, statement: Statement, rule: Relation, given: Sequence[Value]) -> list[Value]:
        values = [value for value, _ in given]
        with np.errstate(all="ignore"):
            result = rule(*values)
        results = result if len(statement.results) > 1 else (result,)
        moving = [(i, slope) for i, (_, slope) in enumerate(given) if slope is not None]
        kinds = [variable.kind for variable in statement.results]
        if moving and complex in kinds:
            raise NotInvertible(
                f"`{statement}` is complex, and derivatives are of floats",
                where=statement.where,
                help="compute with the real and the imaginary part as two floats",
            )
        if not moving or float not in kinds:
            # integers and truth values have the derivative 0
            return [(value, None) for value in results]
        found: Any = self.partials(statement, rule)(*values)
        rows = found if len(results) > 1 else (found,)
        return [
            (value, sum(row[i] * slope for i, slope in moving) if kind is float else None)
            for value, row, kind in zip(results, rows, kinds, strict=True)
        ]

    def partials(self, statement: Statement, rule: Relation) -> Callable[..., Sequence[float]]:
        """The rule for a function's partial derivatives. Raises NotInvertible if there is none."""
        if rule in self.rules:
            return self.rules[rule]
        tables = (*self.tables, base_partials) if rule in RELATIONS else self.tables
        method = MethodChain.of(partials_of(rule.target), tables).resolve(by_types(rule.types))
        if not isinstance(method, Method):
            raise self.unknown(statement, rule)
        self.rules[rule] = method.function
        return method.function

    def unknown(self, statement: Statement, rule: Relation) -> NotInvertible:
        return NotInvertible(
            f"no partial derivatives are known of `{statement}`",
            where=statement.where,
            help=f"give {rule.name} a method for partials_of({rule.name}) in a method table",
        )

    def branch(self, rule: Branch, here: Here) -> list[Value]:
        self.run(rule.before, here)
        arm = rule.arms[0 if self.of(here, rule.condition)[0] else 1]
        self.run(arm.statements, here)
        return self.given(here, arm.gives, rule.results)

    def loop(self, rule: Loop, here: Here) -> list[Value]:
        limits = [int(here[v][0]) for v in rule.limits]
        turns = range(*limits) if rule.bounds else range(rule.max_trips + 1)
        for number in turns:
            if rule.bounds:
                here[rule.bounds.index] = number, None
            self.run(rule.before.statements, here)
            if rule.condition is not None and self.leaves(rule, here):
                return self.given(here, rule.gives, rule.results)
            self.run(rule.after.statements, here)
            after = [self.of(here, operand) for operand in rule.following]
            here.update(zip(rule.state, after, strict=True))
        return self.given(here, rule.gives, rule.results)

    def leaves(self, rule: Loop, here: Here) -> bool:
        assert rule.condition is not None
        return bool(self.of(here, rule.condition)[0]) == rule.leaves

    def given(
        self, here: Mapping[Variable, Any], gives: Sequence[Operand], results: Sequence[Variable]
    ) -> list[Value]:
        """The results of an arm or loop, converted to the types of the results."""
        found: list[Value] = []
        for operand, result in zip(gives, results, strict=True):
            value, slope = self.of(dict(here), operand)
            found.append((float(value) if result.kind is float else value, slope))
        return found
