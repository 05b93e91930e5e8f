"""Writes of calls to arrays with restricted elements: arrays about whose elements more is known
than the type.
"""

from __future__ import annotations

import operator
from types import MethodDescriptorType
from typing import Any

import numpy as np

from overlay.analysis.abstract_values import FLOAT, TOP, Array, ItemValues
from overlay.analysis.interval_domain import Intervals
from overlay.analysis.runs import Step
from overlay.core.target import INPLACE

__all__ = ["element_written", "is_limited", "writes_unseen"]

_DOMAIN = Intervals()
# methods of arrays that do not write to the array
_READING = frozenset(
    (
        *("sum", "min", "max", "mean", "prod", "all", "any", "argmin", "argmax", "std", "var"),
        *("copy", "item", "tolist", "astype", "cumsum", "dot"),
    )
)
# modules of C functions that do not write to array arguments
_HARMLESS = ("builtins", "math", "cmath", "_operator")


def is_limited(value: Any) -> bool:
    """Whether a value is, or contains, an array with restricted elements."""
    if isinstance(value, ItemValues):
        return any(map(is_limited, value.items))
    return isinstance(value, Array) and not _DOMAIN.is_below(FLOAT, value.item)


def element_written(step: Step) -> tuple[bool, Any] | None:
    """Whether a value written to a restricted array is within its elements' range, and the value;
    None if the call is no such write."""
    if step.function is not operator.setitem or not is_limited(step.args[0]):
        return None
    held, _, value = step.args
    return _DOMAIN.is_below(value, held.item), value


def writes_unseen(step: Step) -> bool:
    """Whether a call may write to a restricted array without an ``element_written``."""
    function = step.function
    if not step.followed:
        return True
    if function is operator.setitem:
        return step.args[0] == TOP
    if id(function) in INPLACE:
        return _may_hold(step.args[0])
    if type(function) is MethodDescriptorType and function.__objclass__ is np.ndarray:
        return function.__name__ not in _READING
    if not step.native or getattr(function, "__module__", None) in _HARMLESS:
        return False
    return type(function) is not MethodDescriptorType and any(map(_may_hold, step.args))


def _may_hold(value: Any) -> bool:
    return value == TOP or is_limited(value)
