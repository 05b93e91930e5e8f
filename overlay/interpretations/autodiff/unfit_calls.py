"""Errors of functions in C that are given active numbers, and take them for other objects.

Such a function tests its argument's type itself, calls none of its methods, and reports what it
would report of any other object: that it is no float. The error becomes a refusal that names it
where the error leaves the differentiated function.
"""

from __future__ import annotations

import struct
from typing import Any

from overlay.code.raising_calls import raising_call
from overlay.core.interpreted_values import stands_for_another
from overlay.interpretations.autodiff.duals import Active
from overlay.interpretations.autodiff.errors import refuse_raising

__all__ = ["refuse_unfit"]

UNFIT = (TypeError, ValueError, struct.error)
CONTAINERS = (list, tuple, str, bytes, bytearray, range)
"""Classes whose methods raise ValueError for what they do not find."""
DEPTH = 3
"""The nesting of containers in which active values are looked for."""


def refuse_unfit(error: BaseException) -> None:
    """Refuse, by name, a function in C that has raised an error since it was given an active
    value."""
    call = raising_call(error) if isinstance(error, UNFIT) else None
    if call is None or not any(_has_active(value, DEPTH) for value in call.values):
        return
    if not _is_in_c(call.callee):
        return
    if isinstance(getattr(call.callee, "__self__", None), CONTAINERS):
        return
    refuse_raising(call.name, call.traceback, error)


def _is_in_c(callee: Any) -> bool:
    return callable(callee) and not hasattr(callee, "__code__") and not hasattr(callee, "__func__")


def _has_active(value: Any, depth: int) -> bool:
    """Whether a value is active, or a container or object of Python that has one inside."""
    if stands_for_another(value):
        return issubclass(type(value), Active)
    if not depth:
        return False
    if isinstance(value, dict):
        parts: Any = value.values()
    elif isinstance(value, (list, tuple, set, frozenset)):
        parts = value
    else:
        parts = getattr(value, "__dict__", {}).values() if depth == DEPTH else ()
    return any(_has_active(part, depth - 1) for part in parts)
