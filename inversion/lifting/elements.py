"""Elementwise functions: a call with arrays is lifted as a call with numbers, for each element."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

import numpy as np

from inversion.errors import NotInvertible
from inversion.lifting.array_calls import ArrayCall, operands_in
from inversion.lifting.lifted_values import Value, value_of
from inversion.lifting.resolve import WORDS
from inversion.program.elementwise_statements import elementwise
from inversion.program.statements import Constant, Operand, Variable
from primitives.arrays.domain import element_of, is_array, shape_of

__all__ = ["each", "is_elementwise"]

OPERATORS = frozenset(
    (
        operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv,
        operator.mod, operator.pow, operator.neg, operator.pos, operator.invert, operator.and_,
        operator.or_, operator.xor, operator.lshift, operator.rshift, operator.lt, operator.le,
        operator.gt, operator.ge, operator.eq, operator.ne, operator.abs, abs, pow, np.where,
        np.clip,
    )
)  # fmt: skip

ARITHMETIC = frozenset(
    (
        operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv,
        operator.mod, operator.pow, operator.neg, operator.pos, np.add, np.subtract, np.multiply,
        np.divide, np.floor_divide, np.remainder, np.power, np.negative,
    )
)  # fmt: skip


def is_elementwise(target: Any) -> bool:
    if isinstance(target, np.ufunc):
        return target.signature is None and target.nout == 1
    return target in OPERATORS


def each(call: ArrayCall) -> Value:
    """The result of a call of an elementwise function."""
    if call.kwargs:
        raise call.refused(f"the keyword {next(iter(call.kwargs))} has no meaning here")
    operands = _of_numbers([_broadcast(call, value) for value in call.args])
    shape = np.broadcast_shapes(*(shape_of(v.kind) for v in operands))
    lifter, site = call.lifter, call.site
    stands_for: dict[str, Operand] = {}
    elements: list[Value] = []
    for operand in operands:
        if is_array(operand.kind):
            name = operand.name if isinstance(operand, Variable) else lifter.fresh("constant")
            source = operand.source if isinstance(operand, Variable) else name
            element = Variable(name, element_of(operand.kind), source)
            stands_for[name] = operand
            elements.append(element)
        else:
            elements.append(operand)
            if isinstance(operand, Variable):
                stands_for[operand.name] = operand
    outer, lifter.statements = lifter.statements, []
    try:
        value = _of_elements(call, elements)
        statements = lifter.statements
    finally:
        lifter.statements = outer
    if isinstance(value, Variable) and value.name in stands_for:
        return stands_for[value.name]
    if isinstance(value, Constant):
        return value_as(np.full(shape, value.value))
    if not isinstance(value, Variable):
        raise call.refused("it gives no number for an element")
    name = lifter.fresh(f"each_{site.where.rpartition(':')[2]}")
    made = elementwise(
        name, shape, statements, stands_for, [value], root_finding=lifter.root_finding
    )
    lifter.statements.append(made)
    return made.result


def _of_elements(call: ArrayCall, elements: list[Value]) -> Value:
    """The result for one element. Words are converted to floats beside floats; arithmetic with
    truth values is refused.
    """
    site, target = replace(call.site, overlaid=False), call.target
    kinds = {value.kind for value in elements}
    if kinds == {bool} and target in ARITHMETIC:
        raise call.refused("arithmetic with truth values means something else in numpy")
    if kinds == {bool} and target in (operator.invert, np.invert):
        target = operator.not_
    if float in kinds:
        elements = [
            call.lifter.converted(site, value, float)
            if isinstance(value, Variable) and value.kind in WORDS
            else value
            for value in elements
        ]
    return call.lifter.call(site, (target,), elements, {})


def _of_numbers(operands: list[Operand]) -> list[Operand]:
    """The operands, with constant arrays of words converted to floats where others are floats."""
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


def _broadcast(call: ArrayCall, value: Value) -> Operand:
    """An argument broadcast to the common shape; numbers stay as they are."""
    shapes = [shape_of(v.kind) for a in call.args for v in operands_in(a)]
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
        raise call.refused("it takes arrays and numbers")
    if not is_array(value.kind) or shape_of(value.kind) == shape:
        return value
    args = [value, value_of(shape)]
    found = ArrayCall(call.lifter, call.site, np.broadcast_to, args, {})
    wider = found.folded() if isinstance(value, Constant) else found.moved()
    assert isinstance(wider, (Variable, Constant))
    return wider


def value_as(array: Any) -> Operand:
    """A constant array, or number."""
    found = value_of(array if np.ndim(array) else array.item())
    assert isinstance(found, (Variable, Constant))
    return found
