"""Enclosures of the residual of an equation, and of its derivative."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from inversion.contraction import contracted_arithmetic as whole_or_float
from inversion.contraction.contracted_programs import SQUARES, Nothing
from inversion.contraction.contracted_slopes import partial_sets
from inversion.contraction.contractor import mirrored
from inversion.contraction.contractors import CONTRACTORS
from inversion.contraction.variable_sets import every
from inversion.planning.plan import PlanStep, Root
from inversion.program.statements import Operand, Statement, Variable
from inversion.solving.search_state import SearchFrame, SearchState
from overlay.sets import NumberSet, number_set, point
from primitives import Relation
from primitives.floats import trigonometric

__all__ = ["difference", "images", "slope", "slopes_in"]

BRANCHES = {trigonometric.sine: 0.0, trigonometric.cosine: 0.5, trigonometric.tangent: 0.0}
"""The middle of branch 0, as a multiple of pi."""

ZERO, ONE = NumberSet(((0.0, 0.0),)), NumberSet(((1.0, 1.0),))
Sets = dict[Variable, NumberSet]


def difference(
    frame: SearchFrame, state: SearchState, root: Root, x: NumberSet
) -> tuple[NumberSet, Sets] | None:
    """A set that contains all residuals for guesses in a set, and the sets of intermediate values;
    None if these are not known, or if the equation has no value somewhere.
    """
    found: Sets = {root.variable: x}
    for step in root.steps:
        if not isinstance(step, PlanStep) or len(step.solved.unknown) != 1:
            return None
        (unknown,) = step.solved.unknown
        made = _solved(state, found, step.solved.statement, unknown, _branch(frame, state, step))
        if made is None:
            return None
        found[step.solved.unknown[0]] = made
    check = root.check
    if len(check.results) != 1 or check.result.kind is not float:
        return None
    given, wanted = _image(state, found, check), _set(state, found, check.result)
    if given is None or wanted is None:
        return None
    off = _sum(given.floats(), mirrored(wanted.floats()))
    return None if off is None else (off, found)


def slope(state: SearchState, root: Root, sets: Mapping[Variable, NumberSet]) -> NumberSet | None:
    """A set that contains the derivatives of the residual by the guess, for variables in these
    sets. It is bounded, which excludes poles and steps; None if it is not known.
    """
    slopes: Sets = {root.variable: ONE}
    for step in root.steps:
        assert isinstance(step, PlanStep)
        (unknown,) = step.solved.unknown
        made = _derived(state, sets, slopes, step.solved.statement, unknown)
        if made is None:
            return None
        slopes[unknown] = made
    forward = _derived(state, sets, slopes, root.check, None)
    wanted = slopes.get(root.check.result, ZERO)
    return None if forward is None else _sum(forward, mirrored(wanted))


def images(
    state: SearchState, statements: Sequence[Statement], sets: Mapping[Variable, NumberSet]
) -> Sets | None:
    """Sets of all variables that statements compute from variables in these sets; None if they are
    not known.
    """
    found = dict(sets)
    for statement in statements:
        made = _image(state, found, statement)
        if made is None:
            return None
        found[statement.result] = made
    return found


def slopes_in(
    state: SearchState,
    statements: Sequence[Statement],
    sets: Mapping[Variable, NumberSet],
    by: Variable,
) -> Sets | None:
    """Sets of the derivatives, by one variable, of all variables that statements compute; bounded
    if there is no pole and no step. None if they are not known.
    """
    found: Sets = {by: ONE}
    for statement in statements:
        made = _derived(state, sets, found, statement, None)
        if made is None:
            return None
        found[statement.result] = made
    return found


def _branch(frame: SearchFrame, state: SearchState, step: PlanStep) -> NumberSet | None:
    """The interval of the chosen branch of a function with numbered branches."""
    rule: Any = step.solved.statement.relation
    if not isinstance(rule, Relation) or rule not in BRANCHES or "k" not in step.chosen:
        return None
    k = state.theta.get(frame.names[step.chosen["k"].name].name)
    if k is None:
        return None
    middle = (k + BRANCHES[rule]) * math.pi
    beside = 1e-12 * max(1.0, abs(middle))
    return number_set([(middle - math.pi / 2 - beside, middle + math.pi / 2 + beside)])


def _set(
    state: SearchState, found: Mapping[Variable, NumberSet], operand: Operand
) -> NumberSet | None:
    if not isinstance(operand, Variable):
        return point(operand.value)
    if operand in found:
        return found[operand]
    if operand in state.box and not state.box[operand].nan:
        return state.box[operand]
    return point(state.values[operand]) if operand in state.values else None


def _rule(statement: Statement) -> tuple[Relation, Sequence[Operand]] | None:
    """The relation and arguments of a statement; a product of a variable with itself is
    its square.
    """
    rule, arguments = statement.relation, statement.arguments
    if not isinstance(rule, Relation) or len(statement.results) != 1:
        return None
    if rule in SQUARES and arguments[0] == arguments[1]:
        rule, arguments = SQUARES[rule], arguments[:1]
    return (rule, arguments) if rule in CONTRACTORS else None


def _image(
    state: SearchState, found: Mapping[Variable, NumberSet], statement: Statement
) -> NumberSet | None:
    """A set of a statement's results; None if it may have none."""
    made = _rule(statement)
    if made is None:
        return None
    rule, arguments = made
    args = [_set(state, found, operand) for operand in arguments]
    known = [arg for arg in args if arg]
    whole = every(statement.result.kind)
    if len(known) < len(args) or whole is None:
        return None
    image, _ = CONTRACTORS[rule].contracted(whole, known)
    return image if image and not image.nan else None


def _solved(
    state: SearchState,
    found: Mapping[Variable, NumberSet],
    statement: Statement,
    unknown: Variable,
    branch: NumberSet | None,
) -> NumberSet | None:
    """A set of the values for which a statement is solved; None if there may be none.

    branch: the interval of the chosen branch.
    """
    if unknown in statement.results:
        return _image(state, found, statement)
    made = _rule(statement)
    ret = _set(state, found, statement.results[0])
    if made is None or not ret:
        return None
    rule, arguments = made
    whole = every(unknown.kind) if branch is None else branch
    args = [whole if v == unknown else _set(state, found, v) for v in arguments]
    known = [arg.numbers() for arg in args if arg]
    if len(known) < len(args):
        return None
    _, sets = CONTRACTORS[rule].contracted(ret, known)
    return sets[arguments.index(unknown)] or None


def _derived(
    state: SearchState,
    sets: Mapping[Variable, NumberSet],
    slopes: Mapping[Variable, NumberSet],
    statement: Statement,
    unknown: Variable | None,
) -> NumberSet | None:
    """A set of the derivatives of the value for which a statement is solved; of its result if
    ``unknown`` is None.
    """
    moving = [v for v in (*statement.arguments, *statement.results) if v != unknown]
    if all(v not in slopes for v in moving if isinstance(v, Variable)):
        return ZERO
    made = _rule(statement)
    if made is None:
        return None
    rule, arguments = made
    args = [_set(state, sets, operand) for operand in arguments]
    ret = _image(state, sets, statement)
    known = [_hull(arg) for arg in args if arg]
    if ret is None or len(known) < len(args):
        return None
    try:
        partials = partial_sets(rule, known, _hull(ret))
    except Nothing:
        return None
    if partials is None:
        return None
    forward: NumberSet | None = ZERO
    own: NumberSet | None = ZERO
    for operand, partial in zip(arguments, partials, strict=True):
        is_own = unknown is not None and operand == unknown
        by = slopes.get(operand) if isinstance(operand, Variable) else None
        if by is None and not is_own:
            continue
        if not _is_bounded(partial):
            return None
        if is_own:
            own = own and _sum(own, _hull(partial))
        elif by is not None:
            term = whole_or_float.MULTIPLY.ret
            assert term is not None
            forward = forward and _sum(forward, _hull(term(_hull(partial), by)))
    if unknown is None or unknown in statement.results or forward is None or own is None:
        return forward
    if own.contains(0.0):
        return None
    rest = _sum(slopes.get(statement.results[0], ZERO), mirrored(forward))
    divided = whole_or_float.DIVIDE.ret
    assert divided is not None
    return None if rest is None else _bounded(divided(rest, own))


def _hull(found: NumberSet) -> NumberSet:
    return NumberSet(((found.low, found.high),), found.whole) if len(found.pieces) > 1 else found


def _is_bounded(found: NumberSet) -> bool:
    return bool(found.pieces) and not found.nan and math.isfinite(found.width)


def _bounded(found: NumberSet) -> NumberSet | None:
    return _hull(found) if _is_bounded(found) else None


def _sum(one: NumberSet, other: NumberSet) -> NumberSet | None:
    added = whole_or_float.ADD.ret
    assert added is not None
    return _bounded(added(_hull(one), _hull(other)))
