"""Elementwise functions: a call with arrays is lifted as a call with numbers for each element."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from inversion.errors import NotInvertible
from inversion.lifting.array_calls import (
    ARRAYS_ONLY,
    ArrayCall,
    gathered,
    of_one_type,
    operands_in,
    value_as,
)
from inversion.lifting.lifted_values import Tupled, Value, numbers_of
from inversion.lifting.resolve import WORDS
from inversion.program.elementwise_statements import elementwise
from inversion.program.statements import Constant, Operand, Variable
from overlay.interpretations.autodiff.rules.tables.layouts import astype
from primitives.arrays.domain import ELEMENTS, array_of, element_of, is_array, shape_of

__all__ = ["each", "is_elementwise"]

OPERATORS = frozenset(
    (
        operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv,
        operator.mod, operator.pow, operator.neg, operator.pos, operator.invert, operator.and_,
        operator.or_, operator.xor, operator.lshift, operator.rshift, operator.lt, operator.le,
        operator.gt, operator.ge, operator.eq, operator.ne, operator.abs, abs, pow, divmod,
        np.where, np.clip, np.real, np.imag, np.angle, np.round, np.around, round, np.fix, astype,
    )
)  # fmt: skip

SEVERAL = frozenset((np.divmod, np.modf))
"""Functions with several results of the types that arrays have here."""

ARITHMETIC = frozenset(
    (
        operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv,
        operator.mod, operator.pow, operator.neg, operator.pos, np.add, np.subtract, np.multiply,
        np.divide, np.floor_divide, np.remainder, np.power, np.negative,
    )
)  # fmt: skip


def is_elementwise(target: Any) -> bool:
    if isinstance(target, np.ufunc):
        return target.signature is None and (target.nout == 1 or target in SEVERAL)
    return target in OPERATORS


def each(call: ArrayCall) -> Value:
    """The result of a call of an elementwise function."""
    target, args = call.target, [_as_array(call, value) for value in call.args]
    if target is astype:
        (target,), args = (_element(call, args[1]),), args[:1]
        whole = args[0]
        if element_of(whole.kind) is target and isinstance(whole, (Variable, Constant)):
            return _copy(call, whole)
    if call.kwargs:
        keyword = next(iter(call.kwargs))
        raise call.refused(f"the keyword {keyword} has no meaning here", f"leave {keyword} out")
    args = [_broadcast(call, value, args) for value in args]
    operands = _of_numbers(args)
    shape = np.broadcast_shapes(*(shape_of(v.kind) for v in operands))
    lifter, site = call.lifter, call.site
    stands_for: dict[str, Operand] = {}
    elements: list[Value] = []
    for operand in operands:
        if is_array(operand.kind):
            name = operand.name if isinstance(operand, Variable) else lifter.fresh("constant")
            source = operand.source if isinstance(operand, Variable) else name
            element = Variable(name, _element_kind(operand, operands), source)
            stands_for[name] = operand
            elements.append(element)
        else:
            elements.append(operand)
            if isinstance(operand, Variable):
                stands_for[operand.name] = operand
    outer, lifter.statements = lifter.statements, []
    try:
        value = _of_elements(call, target, elements)
        statements = lifter.statements
    finally:
        lifter.statements = outer
    values = value.items if isinstance(value, Tupled) else (value,)
    name = lifter.fresh(f"each_{site.where.rpartition(':')[2]}")
    found: list[Value] = []
    wanted: list[Variable] = []
    for each in values:
        if isinstance(each, Variable) and each.name in stands_for:
            found.append(_copy(call, stands_for[each.name]))
        elif isinstance(each, Constant):
            found.append(value_as(np.full(shape, each.value)))
        else:
            assert isinstance(each, Variable)
            found.append(Variable(each.name, array_of(each.kind, shape), each.source))
            wanted.append(each)
    if wanted:
        made = elementwise(
            name, shape, statements, stands_for, wanted, root_finding=lifter.root_finding
        )
        lifter.statements.append(made)
    return Tupled(value.kind, tuple(found)) if isinstance(value, Tupled) else found[0]


def _as_array(call: ArrayCall, value: Value) -> Value:
    """A list of numbers, as the array to which numpy converts it."""
    if isinstance(value, Tupled) and value.items:
        return call.lifter.call(call.site, (np.array,), [value], {})
    return value


def _copy(call: ArrayCall, operand: Operand) -> Value:
    """A new array of the same elements."""
    places = np.arange(math.prod(shape_of(operand.kind))).reshape(shape_of(operand.kind))
    return gathered(call.lifter, call.site, [operand], places)


def _element(call: ArrayCall, value: Value) -> Any:
    """The type of numbers that a dtype denotes."""
    kind = call.known(value)
    if kind in (int, float, complex, bool):
        return kind
    found = ELEMENTS.get(call.of_numpy(lambda: np.dtype(kind).type))
    if found is None:
        help = "use float64, complex128, int64, uint64 or bool"
        raise call.refused(f"arrays of {kind} have no relations", help)
    return int if found is np.int64 else found


def _element_kind(operand: Operand, operands: Sequence[Operand]) -> Any:
    """The type of the elements of an operand. Constant words beside integers count as integers."""
    kind = element_of(operand.kind)
    beside = {element_of(other.kind) for other in operands if isinstance(other, Variable)}
    is_word = isinstance(operand, Constant) and kind in WORDS
    return int if is_word and not beside.intersection(WORDS) else kind


def _of_elements(call: ArrayCall, target: Any, elements: list[Value]) -> Value:
    """The result for one element. Words beside floats are converted to floats; arithmetic with
    truth values is refused.
    """
    site = replace(call.site, overlaid=False)
    kinds = {value.kind for value in elements}
    if kinds == {bool} and target in ARITHMETIC:
        what = "arithmetic with truth values means something else in numpy"
        raise call.refused(what, "use &, | and ^, or convert them with .astype(int)")
    if kinds == {bool} and target in (operator.invert, np.invert):
        target = operator.not_
    if float in kinds:
        elements = [
            call.lifter.converted(site, value, float)
            if isinstance(value, Variable) and value.kind in WORDS
            else value
            for value in elements
        ]
    if target is np.where:  # both operands have the same type
        sides = of_one_type(call, numbers_of(elements[1:]))
        elements = [elements[0], *sides]
    return call.lifter.call(site, (target,), elements, {})


def _of_numbers(operands: list[Operand]) -> list[Operand]:
    """The operands, with constant arrays of words converted to floats if another operand is a
    float.
    """
    if float not in {element_of(operand.kind) for operand in operands}:
        return operands
    return [
        Constant(operand.value.astype(np.float64))
        if isinstance(operand, Constant)
        and is_array(operand.kind)
        and element_of(operand.kind) in WORDS
        else operand
        for operand in operands
    ]


def _broadcast(call: ArrayCall, value: Value, values: Sequence[Value]) -> Operand:
    """An argument broadcast to the common shape; numbers stay as they are."""
    shapes = [shape_of(v.kind) for a in values for v in operands_in(a)]
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        shown = " and ".join(map(str, dict.fromkeys(s for s in shapes if s)))
        raise NotInvertible(
            f"arrays of the shapes {shown} do not broadcast",
            where=call.site.where,
            help="reshape one of them",
        ) from None
    if not isinstance(value, (Variable, Constant)):
        raise call.refused(ARRAYS_ONLY, "give it arrays and numbers")
    if not is_array(value.kind) or shape_of(value.kind) == shape:
        return value
    places = np.arange(math.prod(shape_of(value.kind))).reshape(shape_of(value.kind))
    return gathered(call.lifter, call.site, [value], np.broadcast_to(places, shape))
