"""Sums, means, products and extremes of arrays, in all forms of their calls.

The relations handle rows along one axis. Several axes, kept axes, masks, initial values and types
are lifted around them.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from inversion.lifting.array_calls import ArrayCall, converted
from inversion.lifting.lifted_values import Value, value_of
from inversion.program.statements import Constant, Variable
from overlay.interpretations.autodiff.rules.tables.layouts import astype
from primitives.arrays.domain import element_of, shape_of

__all__ = ["REDUCTIONS", "reduced"]

REDUCTIONS: Mapping[Any, tuple[Any, Any, Any]] = {
    np.sum: (np.sum, operator.add, 0),
    np.mean: (np.mean, None, None),
    np.prod: (np.prod, operator.mul, 1),
    np.max: (np.max, np.maximum, None),
    np.min: (np.min, np.minimum, None),
    np.amax: (np.max, np.maximum, None),
    np.amin: (np.min, np.minimum, None),
}
"""For each function the one with a relation, the function that joins two results, and the neutral
element.
"""


def reduced(call: ArrayCall) -> Value:
    """The result of a reduction of an array."""
    given = call.by_name()
    if given is None:
        help = "give it a, axis, dtype, keepdims, initial and where"
        raise call.refused("it does not take these arguments", help)
    target, joins, neutral = REDUCTIONS[call.target]
    named = {k: v for k, v in given.arguments.items() if k not in ("a", "initial")}
    told = {name: call.known(value) for name, value in named.items()}
    a = _typed(call, target, given.arguments["a"], told.get("dtype"))
    where = told.get("where", True)
    if np.ndim(where) or not where:
        if target is np.mean:
            return _masked_mean(call, a, where, told)
        if neutral is None:
            help = "take the elements by their indices, and give it these"
            raise call.refused("a mask needs a function with a neutral element", help)
        args = [value_of(np.asarray(where)), a, value_of(neutral)]
        a = call.lifter.call(call.site, (np.where,), args, {})
    found = _rows(call, target, a, told.get("axis"))
    if told.get("keepdims"):
        kept = call.of_numpy(lambda: np.sum(np.zeros(shape_of(a.kind)), told.get("axis"),
                                            keepdims=True).shape)  # fmt: skip
        found = call.lifter.call(call.site, (np.reshape,), [found, value_of(kept)], {})
    initial = given.arguments.get("initial")
    if (
        initial is not None
        and isinstance(initial, (Constant, Variable))
        and initial != Constant(neutral)
    ):
        found = call.lifter.call(call.site, (joins,), [found, initial], {})
    return found


def _masked_mean(call: ArrayCall, a: Value, where: Any, told: Mapping[str, Any]) -> Value:
    """The mean of the elements that a mask selects."""
    axis, kept = told.get("axis"), bool(told.get("keepdims"))
    counts = np.sum(np.broadcast_to(where, shape_of(a.kind)), axis, keepdims=kept)
    named = {"axis": value_of(axis), "keepdims": value_of(kept), "where": value_of(where)}
    total = call.lifter.call(call.site, (np.sum,), [a], named)
    return call.lifter.call(call.site, (operator.truediv,), [total, value_of(1.0 * counts)], {})


def _typed(call: ArrayCall, target: Any, value: Value, dtype: Any) -> Value:
    """The array with the elements to add: truth values as integers, those of a mean as floats."""
    assert isinstance(value, (Variable, Constant))
    if dtype is not None:
        return call.lifter.call(call.site, (astype,), [value, value_of(dtype)], {})
    element = element_of(value.kind)
    if target is np.mean and element not in (float, complex):
        return converted(call, value, float)
    if element is bool and target in (np.sum, np.prod):
        return converted(call, value, int)
    return value


def _rows(call: ArrayCall, target: Any, a: Value, axis: Any) -> Value:
    """The reduction along an axis, or along several at once."""
    shape = shape_of(a.kind)
    if isinstance(axis, tuple):
        axes: list[int] = call.of_numpy(lambda: [range(len(shape))[k] for k in axis])
        rest = [k for k in range(len(shape)) if k not in axes]
        lengths = (*(shape[k] for k in rest), math.prod(shape[k] for k in axes))
        turned = call.lifter.call(call.site, (np.transpose,), [a, value_of((*rest, *axes))], {})
        a = call.lifter.call(call.site, (np.reshape,), [turned, value_of(lengths)], {})
        axis = -1
    args = [a] if axis is None else [a, value_of(axis)]
    inner = ArrayCall(call.lifter, call.site, target, args, {})
    if inner.is_constant:
        return inner.folded()
    found = inner.related()
    if found is None:
        raise call.refused("it has none for arguments of these shapes, types and axes")
    return found
