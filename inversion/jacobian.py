"""The Jacobian of a program, by forward derivatives: exact up to rounding.

Each value carries its derivatives by the unknown inputs. A statement's partial derivatives are
chosen like its relation: from a context's tables, or else ``primitives.partials``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from inversion.arrays.limits import refuse_arrays
from inversion.branches import Branch
from inversion.errors import NoSolution, NotInvertible
from inversion.loops import Loop
from inversion.preimage import solved
from inversion.program import Constant, Operand, Statement, Variable
from inversion.trees import leaves, taken_apart
from overlay import Context, Method
from overlay.dispatch import by_types, resolve
from primitives import Relation, partials, partials_of
from primitives.relation import RETURN
from primitives.table import RELATIONS

if TYPE_CHECKING:
    from inversion.inverse import Inverse

__all__ = ["log_abs_det"]

Slope = NDArray[np.float64]
Here = dict[Variable, tuple[Any, Slope | None]]
"""Variables, each with its value and its derivatives; None where these are all 0."""


def log_abs_det(inverse: Inverse, known: tuple[Any, ...], theta: tuple[Any, ...]) -> float:
    """The logarithm of the absolute determinant of an inverse's Jacobian, at a result.

    Raises NotInvertible where there is no such thing for the program, NoSolution where there is
    none at this result.
    """
    refuse_arrays(inverse.origin, "take the derivatives")
    unknown, results = _square(inverse)
    answers = dict(zip(inverse.unknown, solved(inverse, known, theta), strict=True))
    given = {**dict(zip(inverse.known, known, strict=True)), **answers}
    parts: dict[str, Any] = {}
    for axis in inverse.axes.inputs:
        tree = inverse.axes.trees[axis]
        parts.update(zip(leaves(tree), taken_apart(tree, given[axis]), strict=True))
    program = inverse.origin
    here: Here = {}
    for variable in program.inputs:
        slope = np.zeros(len(unknown))
        if variable.name in unknown:
            slope[unknown.index(variable.name)] = 1.0
        here[variable] = parts[variable.name], slope if slope.any() else None
    forward = _Forward(inverse.context, len(unknown))
    try:
        forward.run(program.statements, here)
    except (ValueError, ArithmeticError) as error:
        raise NoSolution(
            f"{program.name} has no derivative: {error}", where=program.where
        ) from error
    rows = [forward.of(here, program.results[leaf])[1] for leaf in results]
    jacobian = np.array([np.zeros(len(unknown)) if row is None else row for row in rows])
    sign, logarithm = np.linalg.slogdet(jacobian)
    if sign == 0 or not math.isfinite(logarithm):
        raise NoSolution(
            f"{program.name} is not bijective around {tuple(answers.values())!r}: "
            f"the determinant of its Jacobian is {'0' if sign == 0 else 'not finite'}",
            where=program.where,
            help="there the inverse has no derivative",
        )
    return -float(logarithm)


def _square(inverse: Inverse) -> tuple[list[str], list[str]]:
    """The unknown inputs and the results, leaf by leaf. Raises NotInvertible where they are not
    as many floats as one another."""
    trees, program = inverse.axes.trees, inverse.origin
    if RETURN not in inverse.known:
        raise _refused(inverse, "the result is not known", "give choose known=('return', ...)")
    unknown = [leaf for axis in inverse.unknown for leaf in leaves(trees[axis])]
    results = list(leaves(trees[RETURN]))
    for leaf in (*unknown, *results):
        kind = program.operand(leaf).kind
        if kind is not float:
            name = getattr(kind, "__name__", repr(kind))
            raise _refused(
                inverse, f"{leaf} is of type {name}", "a determinant is of floats; fix the others"
            )
    if len(unknown) != len(results):
        raise _refused(
            inverse,
            f"it is not square: {len(unknown)} unknown inputs ({', '.join(unknown)}) "
            f"and {len(results)} results",
            "pass inputs as known, or return as many numbers as are unknown",
        )
    return unknown, results


def _refused(inverse: Inverse, why: str, help: str) -> NotInvertible:
    name, where = inverse.origin.name, inverse.origin.where
    return NotInvertible(
        f"the inverse of {name} has no Jacobian determinant: {why}", where=where, help=help
    )


class _Forward:
    """Runs programs with derivatives."""

    def __init__(self, context: Context | None, size: int) -> None:
        self.tables = () if context is None else tuple(reversed(context.tables))
        self.size = size

    def of(self, here: Here, operand: Operand) -> tuple[Any, Slope | None]:
        return (operand.value, None) if isinstance(operand, Constant) else here[operand]

    def run(self, statements: Iterable[Statement], here: Here) -> None:
        """Compute what statements give, into ``here``."""
        for statement in statements:
            rule: Any = statement.relation
            given = [self.of(here, operand) for operand in statement.arguments]
            if isinstance(rule, Relation):
                found = self.applied(statement, rule, given)
            else:
                inner = dict(zip(rule.inputs, given, strict=True))
                found = (
                    self.branch(rule, inner) if isinstance(rule, Branch) else self.loop(rule, inner)
                )
            here.update(zip(statement.results, found, strict=True))

    def applied(
        self, statement: Statement, rule: Relation, given: Sequence[tuple[Any, Slope | None]]
    ) -> list[tuple[Any, Slope | None]]:
        values = [value for value, _ in given]
        with np.errstate(all="ignore"):
            result = rule(*values)
        results = result if len(statement.results) > 1 else (result,)
        moving = [i for i, (_, slope) in enumerate(given) if slope is not None]
        kinds = [variable.kind for variable in statement.results]
        if moving and complex in kinds:
            raise NotInvertible(
                f"`{statement}` is complex, and derivatives are of floats", where=statement.where
            )
        if not moving or float not in kinds:
            # a whole number or truth value changes in steps alone
            return [(value, None) for value in results]
        if len(results) > 1:
            raise NotInvertible(
                f"no partial derivatives are known of the results of `{statement}`",
                where=statement.where,
                help="write it with functions that give one result each",
            )
        found = self.partials(statement, rule)(*values)
        total = np.zeros(self.size)
        for i in moving:
            slope = given[i][1]
            assert slope is not None
            total = total + found[i] * slope
        return [(result, total)]

    def partials(self, statement: Statement, rule: Relation) -> Callable[..., Sequence[float]]:
        """The rule for a function's partial derivatives. Raises NotInvertible where none is."""
        tables = (*self.tables, partials) if rule in RELATIONS else self.tables
        method = resolve(tables, partials_of(rule.target), by_types(rule.types))
        if not isinstance(method, Method):
            raise NotInvertible(
                f"no partial derivatives are known of `{statement}`",
                where=statement.where,
                help=f"give {rule.name} a method for partials_of({rule.name}) in a method table",
            )
        return method.function

    def branch(self, rule: Branch, here: Here) -> list[tuple[Any, Slope | None]]:
        self.run(rule.before, here)
        arm = rule.arms[0 if self.of(here, rule.condition)[0] else 1]
        self.run(arm.statements, here)
        return self.given(here, arm.gives, rule.results)

    def loop(self, rule: Loop, here: Here) -> list[tuple[Any, Slope | None]]:
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
    ) -> list[tuple[Any, Slope | None]]:
        """What a part gives, in the types of its results."""
        found: list[tuple[Any, Slope | None]] = []
        for operand, result in zip(gives, results, strict=True):
            value, slope = self.of(dict(here), operand)
            found.append((float(value) if result.kind is float else value, slope))
        return found
