"""Sets of partial derivatives: the rules of automatic differentiation, evaluated on sets."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Mapping, Sequence

import numpy as np

from inversion.contraction.contracted_programs import contracted, first_box
from inversion.contraction.contractors import CONTRACTORS
from inversion.errors import NotInvertible
from inversion.lifting.lifter import lift
from inversion.passes.all_passes import SIMPLIFY, rewritten
from inversion.program.statements import Program, Variable
from overlay.interpretations.autodiff import RULES, Rule
from overlay.sets import NumberSet, point
from primitives import Relation
from primitives.floats import arithmetic, powers

__all__ = ["partial_sets"]

POWERS = (powers.power, powers.power_int)
_OTHER_NAMES: Mapping[Relation, object] = {
    arithmetic.square: np.square,
    arithmetic.float_of_float: operator.pos,
}


@functools.cache
def _rules() -> Mapping[int, Rule]:
    """The rules of smooth functions, by the id of the function."""
    found: dict[int, Rule] = {}
    for rule in RULES:
        for function in rule.spellings if rule.kink is None else ():
            found.setdefault(id(function), rule)
    return found


@functools.lru_cache(maxsize=256)
def _program(relation: Relation) -> tuple[Program, bool] | None:
    """The program of a relation's partial derivatives, and whether it takes the result as well;
    None if there is none.
    """
    target = _OTHER_NAMES.get(relation, relation.target)
    rule = _rules().get(id(target))
    if rule is None or relation not in CONTRACTORS or relation.returns is not float:
        return None
    names = inspect.signature(rule.partials).parameters
    kinds = (*relation.types, float)
    try:
        lifted = lift(
            rule.partials, list(zip(names, kinds, strict=False)), None, root_finding=False
        )
    except NotInvertible:
        return None
    program = rewritten(lifted.program, passes=SIMPLIFY)
    return program, rule.takes_result


def _of_power(base: NumberSet, exponent: float) -> list[NumberSet] | None:
    """The partial derivatives of a power with a known exponent; that with respect to the exponent
    is unknown.
    """
    power, times = CONTRACTORS[powers.power_int].ret, CONTRACTORS[arithmetic.mul].ret
    low, high = point(float(exponent)), point(float(exponent) - 1)
    assert power
    assert times
    assert low
    assert high
    whole = high if exponent != int(exponent) else point(int(exponent) - 1)
    assert whole is not None
    return [times(low, power(base, whole)), NumberSet((), nan=True)]


def partial_sets(
    relation: Relation, args: Sequence[NumberSet], ret: NumberSet
) -> list[NumberSet] | None:
    """For each argument of a smooth function a set that contains all partial derivatives with
    respect to it, for arguments and a result in these sets; None if no rule is known.

    A bounded set proves that the function has no pole and no step there.
    """
    if relation in POWERS and args[1].low == args[1].high:
        return _of_power(args[0], args[1].low)
    made = _program(relation)
    if made is None:
        return None
    program, takes_result = made
    given = [*args, ret] if takes_result else args
    box = first_box(program, {})
    for variable, known in zip(program.inputs, given, strict=True):
        if variable in box:
            box[variable] = known
    found = contracted(program, box, rounds=1)
    partials: list[NumberSet] = []
    for operand in program.results.values():
        one = found.get(operand) if isinstance(operand, Variable) else point(operand.value)
        if one is None:
            return None
        partials.append(one.floats())
    return partials
