"""Derivatives in programs: ``autodiff(f, x)`` becomes the statements that compute it.

The call of f is lifted like any other. For each of its statements the derivative of its result is
added, by the rules of ``overlay.interpretations.autodiff``. Statements that the derivative does not
need, usually including the result of f, are removed later.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inversion.errors import NotInvertible
from inversion.lifting.lifted_values import CallSite, KnownObject, Tupled, Value, Values
from inversion.program.statements import Constant, Operand, Statement, Variable
from overlay import Method
from overlay.interpretations.autodiff import RULES, Rule, autodiff, rule
from primitives import Relation

if TYPE_CHECKING:
    from inversion.lifting.lifter import Lifter

__all__ = ["derivative"]


def _by_itself(a: float) -> tuple[float]:
    return (1.0,)


def _by_base(a: float, b: float) -> tuple[float]:
    return (b * a ** (b - 1),)


_SAME = rule(float, _by_itself, (-1.0, 1.0))
# without the case of an exponent 0, and without the derivative with respect to it
_POWER = rule(operator.pow, _by_base, (0.2, 3.0), (-3.0, 3.0))


def derivative(lifter: Lifter, site: CallSite, args: Values) -> Value:
    """The value of ``autodiff(f, *numbers)``: one derivative or a tuple of partial derivatives.

    Raises NotInvertible if f is not a function of floats, or has statements without a known
    derivative.
    """
    function, *numbers = args or (None,)
    if not isinstance(function, KnownObject) or not numbers:
        raise NotInvertible(
            "cannot invert a call of autodiff in this form",
            where=site.where,
            help="write autodiff(f, x), of a function f that is defined outside",
        )
    check_rules(site)
    given = [_own(lifter, replace(site, name=f"at_{i}"), n) for i, n in enumerate(numbers, 1)]
    start = len(lifter.statements)
    result = lifter.call(replace(site, differentiated=True), (function.value,), tuple(given), {})
    # rules call the plain functions, outside all contexts
    site = replace(site, overlaid=False, chain=None)
    if not isinstance(result, (Variable, Constant)) or result.kind not in (float, int):
        raise _refused(site, f"a derivative of what gives {result.kind.__name__}")
    statements = lifter.statements[start:]
    slopes = [_slope(lifter, site, statements, by, result) for by in given]
    return slopes[0] if len(slopes) == 1 else Tupled(tuple, tuple(slopes))


def check_rules(site: CallSite) -> None:
    """Raise NotInvertible if a context has rules for derivatives, which lifting does
    not support.
    """
    if site.overlaid and any(autodiff in table for table in site.resolver.tables):
        raise NotInvertible(
            "cannot invert a derivative in a context with rules of derivatives",
            where=site.where,
            help="leave differentiation(...) out of the context",
        )


def check_faithful(site: CallSite, method: Method) -> None:
    """Raise NotInvertible for the derivative of a method of a faithful table: the method computes
    the function in another way, and the derivative is that of the function.
    """
    if site.differentiated and method.table.faithful:
        raise NotInvertible(
            f"cannot invert a derivative of what calls {method}, whose table is faithful",
            where=site.where,
            help="leave the table out of the context: it changes no derivative",
        )


def _own(lifter: Lifter, site: CallSite, number: Value) -> Operand:
    """A separate variable for a number, because two arguments may be the same."""
    if not isinstance(number, (Variable, Constant)) or number.kind not in (float, int):
        raise _refused(site, f"a derivative by a value of type {number.kind.__name__}")
    found = lifter.resolver.relation(float, [number.kind], base=True)
    assert found is not None
    if isinstance(number, Constant):  # it is not folded: the same constant may occur in f
        own = lifter.variable(site.name, float, "at")
        lifter.statements.append(Statement(found, (own,), (number,), site.where))
        return own
    made = lifter.state(site, found, [number])
    assert isinstance(made, Variable)
    return made


def _slope(
    lifter: Lifter, site: CallSite, statements: Iterable[Statement], by: Operand, result: Operand
) -> Operand:
    """The derivative of a result of statements with respect to one of their variables (forward
    mode).
    """
    known: dict[Operand, Operand] = {by: Constant(1.0)}
    site = replace(site, name="slope")
    for statement in statements:
        given = [known.get(argument) for argument in statement.arguments]
        if all(slope is None for slope in given):
            continue
        if not any(variable.kind is float for variable in statement.results):
            continue  # integers and truth values are piecewise constant
        parts = _partials(lifter, site, statement)
        total: Operand | None = None
        for part, slope in zip(parts, given, strict=False):
            term = None if slope is None else _product(lifter, site, part, slope)
            total = _sum(lifter, site, total, term)
        if total is not None:
            known[statement.result] = total
    return known.get(result, Constant(0.0))


def _partials(lifter: Lifter, site: CallSite, statement: Statement) -> Sequence[Operand]:
    """The partial derivatives of a statement, as operands."""
    found = lifter.rules.get(relation_target(statement)) or _rule_of(lifter, statement)
    if found is None or len(statement.results) > 1:
        raise NotInvertible(
            f"no derivative is known here of `{statement}`",
            where=statement.where,
            help="derivatives can be inverted of functions without branches, loops and relations, "
            "whose calls have rules in overlay.interpretations.autodiff or methods in a table",
        )
    given: Values = statement.arguments
    if found.takes_result:
        given = (*given, statement.result)
    parts = lifter.call(site, (found.partials,), given, {})
    assert isinstance(parts, Tupled)
    return [part for part in parts.items if isinstance(part, (Variable, Constant))]


def relation_target(statement: Statement) -> Any:
    """The function of a statement's relation, or None."""
    return getattr(statement.relation, "target", None)


def _rule_of(lifter: Lifter, statement: Statement) -> Rule | None:
    relation = statement.relation
    if not isinstance(relation, Relation):
        return None
    kinds = [argument.kind for argument in statement.arguments]
    if lifter.resolver.relation(relation.target, kinds, base=True) is not relation:
        return None  # a relation of a table, which may be for another function in place of this one
    if relation.target is operator.pow:
        exponent = statement.arguments[1]
        if isinstance(exponent, Constant) and exponent.value != 0:
            return _POWER
    rules = (_SAME, *RULES)
    return next((r for r in rules if any(relation.target is f for f in r.spellings)), None)


def _product(lifter: Lifter, site: CallSite, one: Operand, other: Operand) -> Operand | None:
    """A product, simplified for factors 0 and 1; None if it is 0."""
    for known, rest in ((one, other), (other, one)):
        if isinstance(known, Constant) and known.value in (0, 1):
            return rest if known.value == 1 else None
    return _number(lifter.call(site, (operator.mul,), (one, other), {}))


def _sum(
    lifter: Lifter, site: CallSite, one: Operand | None, other: Operand | None
) -> Operand | None:
    if one is None or other is None:
        return one if other is None else other
    return _number(lifter.call(site, (operator.add,), (one, other), {}))


def _number(value: Value) -> Operand:
    assert isinstance(value, (Variable, Constant))
    return value


def _refused(site: CallSite, what: str) -> NotInvertible:
    return NotInvertible(
        f"cannot invert {what}",
        where=site.where,
        help="differentiate a function of floats that gives a float",
    )
