"""Tests of numbers and arrays that generated code calls, and a record of refused attempts."""

from __future__ import annotations

import sys
import threading
from math import inf
from typing import Any

import numpy as np

from primitives.solver_forms import compiled_forms

__all__ = [
    "all_close",
    "all_equal",
    "all_finite",
    "is_close",
    "is_finite",
    "lists_close",
    "margin",
    "refused",
    "taken_refusals",
]


def is_finite(value: Any) -> bool:
    """Return whether a float, or a complex number, is neither infinite nor NaN."""
    return abs(value) < inf


def margin(wanted: Any, rtol: float, atol: float, floor: float = 0.0) -> Any:
    """The tolerance around a number, or around the elements of an array: ``rtol`` times the
    magnitude, or ``atol`` around 0.

    floor: is added, for values that are only approximately equal.
    """
    size = abs(wanted)
    return (size == 0) * atol + rtol * size + floor


def is_close(found: Any, wanted: Any, rtol: float, atol: float, floor: float = 0.0) -> bool:
    """Return whether a float, or a complex number, is within the margin of a wanted one. No number
    is close to an infinity or NaN.
    """
    size = abs(wanted)
    most = (atol if size == 0.0 else rtol * size) + floor
    # size - size is 0, or NaN; LLVM makes the shortest loops of a single comparison
    return abs(found - wanted) <= most + (size - size)


def all_finite(values: Any) -> bool:
    """Return whether no element is infinite or NaN."""
    return bool(np.isfinite(values).all())


@compiled_forms.overlay(all_finite)
def all_finite_compiled(values: Any) -> bool:
    found = True
    for value in values.ravel():
        if not np.isfinite(value):
            found = False
            break
    return found


def all_close(found: Any, wanted: Any, rtol: float, atol: float, floor: float = 0.0) -> bool:
    """Return whether each element is within the margin of a wanted one. No element is close to an
    infinity or NaN.
    """
    close = np.abs(found - wanted) <= margin(wanted, rtol, atol, floor)
    return bool(close.all()) and all_finite(wanted)


@compiled_forms.overlay(all_close)
def all_close_compiled(found: Any, wanted: Any, rtol: Any, atol: Any, floor: Any = 0.0) -> bool:
    close = True
    given, asked = found.ravel(), wanted.ravel()
    for i in range(given.size):
        if not is_close(given[i], asked[i], rtol, atol, floor):
            close = False
            break
    return close


def all_equal(found: Any, wanted: Any) -> bool:
    """Return whether all elements are equal."""
    return bool((found == wanted).all())


def lists_close(found: Any, wanted: Any, rtol: float, atol: float, floor: float = 0.0) -> bool:
    """Return whether lists of floats have the same length, and agree element by element."""
    return len(found) == len(wanted) and all(
        is_close(a, b, rtol, atol, floor) for a, b in zip(found, wanted, strict=True)
    )


class _Reasons(threading.local):
    def __init__(self) -> None:
        self.found: list[tuple[str, Exception]] = []


_reasons = _Reasons()


def refused(way: str) -> None:
    """Record the current exception as the reason why an attempt was refused. way: the name of the
    attempt.
    """
    error = sys.exc_info()[1]
    if isinstance(error, Exception):
        _reasons.found.append((way, error))


@compiled_forms.overlay(refused)
def _not_kept(way: Any) -> None:
    pass


def taken_refusals() -> list[tuple[str, Exception]]:
    """Return and clear the recorded reasons."""
    found, _reasons.found = _reasons.found, []
    return found
