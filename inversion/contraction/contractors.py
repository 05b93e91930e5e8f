"""The contractor of each relation of the base table."""

from __future__ import annotations

import operator
from collections.abc import Mapping

import numpy as np

from inversion.contraction import contracted_arithmetic as whole_or_float
from inversion.contraction import contracted_bits as bits
from inversion.contraction import contracted_functions as functions
from inversion.contraction import contracted_ordering as ordering
from inversion.contraction.contracted_ordering import of_truths
from inversion.contraction.contracted_tables import of_members, of_table
from inversion.contraction.contractor import Contractor
from overlay.catalogue import FUNCTIONS, MathFunction
from primitives.base_table import RELATIONS
from primitives.finite_tables import FiniteTable, Members
from primitives.floats import (
    arithmetic,
    extremes,
    powers,
    remainders,
    rounding,
    signs,
    trigonometric,
)
from primitives.integers.ordering import clip
from primitives.relation import Relation
from primitives.sequences.lists import is_sequence

__all__ = ["CONTRACTORS", "contractor_of"]


_ARITHMETIC: Mapping[Relation, Contractor] = {
    arithmetic.add: whole_or_float.ADD,
    arithmetic.sub: whole_or_float.SUBTRACT,
    arithmetic.neg: whole_or_float.NEGATE,
    arithmetic.mul: whole_or_float.MULTIPLY,
    arithmetic.div: whole_or_float.DIVIDE,
    arithmetic.square: whole_or_float.SQUARE,
    arithmetic.float_of_int: functions.FLOAT,
    arithmetic.float_of_float: ordering.SAME,
    remainders.floordiv: whole_or_float.FLOOR_DIVIDE,
    remainders.mod: whole_or_float.REMAINDER,
    powers.power: whole_or_float.POWER,
    powers.power_int: whole_or_float.POWER,
    powers.reciprocal: functions.RECIPROCAL,
    signs.magnitude: functions.ABS,
    extremes.clip: ordering.CLIP,
}
_FUNCTIONS: Mapping[Relation, Contractor] = {
    trigonometric.sine: functions.SIN,
    trigonometric.cosine: functions.COS,
    trigonometric.tangent: functions.TAN,
    trigonometric.hypotenuse: functions.HYPOT,
    rounding.floor: functions.FLOOR,
    rounding.floor_float: functions.FLOOR,
    rounding.ceil: functions.CEIL,
    rounding.ceil_float: functions.CEIL,
    rounding.trunc: functions.TRUNC,
    rounding.trunc_float: functions.TRUNC,
    rounding.half_even: functions.ROUND,
    rounding.rint: functions.ROUND,
}
# for numbers of all types, words included: these functions never wrap
_ORDER: Mapping[object, Contractor] = {
    operator.lt: ordering.LESS,
    operator.le: ordering.LESS_EQUAL,
    operator.gt: ordering.GREATER,
    operator.ge: ordering.GREATER_EQUAL,
    operator.eq: ordering.EQUAL,
    operator.ne: ordering.UNEQUAL,
    min: ordering.MIN,
    max: ordering.MAX,
    clip: ordering.CLIP,
    np.where: ordering.WHERE,
    bool: ordering.TRUTH,
    operator.not_: ordering.NOT,
}
# for mathematical integers, and for words, which lose no bit in these functions
_BITS: Mapping[object, Contractor] = {
    operator.and_: bits.AND,
    operator.or_: bits.OR,
    operator.xor: bits.XOR,
}
_OF_INTEGERS: Mapping[object, Contractor] = {
    operator.add: whole_or_float.ADD,
    operator.sub: whole_or_float.SUBTRACT,
    operator.neg: whole_or_float.NEGATE,
    operator.mul: whole_or_float.MULTIPLY,
    arithmetic.squared: whole_or_float.SQUARE,
    operator.floordiv: whole_or_float.FLOOR_DIVIDE_WHOLE,
    operator.mod: whole_or_float.REMAINDER_WHOLE,
    operator.pow: whole_or_float.POWER_WHOLE,
    abs: functions.ABS,
    int: ordering.SAME,
    operator.lshift: bits.LEFT,
    operator.rshift: bits.RIGHT,
    operator.invert: bits.INVERT,
}
_OF_TRUTHS: Mapping[object, Contractor] = {
    int: ordering.SAME,
    operator.and_: of_truths(operator.and_, 2),
    operator.or_: of_truths(operator.or_, 2),
    operator.xor: of_truths(operator.xor, 2),
    np.logical_and: of_truths(operator.and_, 2),
    np.logical_or: of_truths(operator.or_, 2),
    np.logical_xor: of_truths(operator.xor, 2),
}


_OF_CATALOGUE: Mapping[object, MathFunction] = {f.function: f for f in FUNCTIONS}


def _contractor(relation: Relation) -> Contractor | None:
    known = _ARITHMETIC.get(relation) or _FUNCTIONS.get(relation)
    if known is not None:
        return known
    if relation.target in _OF_CATALOGUE:
        domain = relation.domain[relation.axes[0]]
        return functions.contractor_of(_OF_CATALOGUE[relation.target], domain, relation.codomain)
    if all(kind is bool for kind in relation.types) and relation.target in _OF_TRUTHS:
        return _OF_TRUTHS[relation.target]
    if complex in relation.types or any(map(is_sequence, relation.types)):
        return None
    if all(kind is int for kind in relation.types) and relation.target in _OF_INTEGERS:
        return _OF_INTEGERS[relation.target]
    return _ORDER.get(relation.target) or _BITS.get(relation.target)


def contractor_of(relation: Relation) -> Contractor | None:
    """The contractor of a relation of the base table, or of a finite table; None if it has none."""
    if isinstance(relation.target, FiniteTable):
        return of_table(relation.target)
    if isinstance(relation.target, Members):
        return of_members(relation.target)
    return CONTRACTORS.get(relation)


CONTRACTORS: Mapping[Relation, Contractor] = {
    relation: found for relation in RELATIONS if (found := _contractor(relation)) is not None
}
"""The relations of the base table that have a contractor; for others only the codomain is known."""
