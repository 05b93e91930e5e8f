"""Tests of whole arrays, by numpy, and as loops in compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np

from inversion.running.number_checks import is_close, margin
from primitives.solver_kernels import compiled_form

__all__ = ["all_close", "all_equal", "all_finite", "lists_close"]


def all_finite(values: Any) -> bool:
    """Whether no element is infinite or NaN."""
    return bool(np.isfinite(values).all())


@compiled_form(all_finite)
def all_finite_compiled(values: Any) -> bool:
    found = True
    for value in values.ravel():
        if not np.isfinite(value):
            found = False
            break
    return found


def all_close(found: Any, wanted: Any, rtol: float, atol: float, floor: float = 0.0) -> bool:
    """Whether each element is within the margin of what is wanted; none is close to what is not
    finite."""
    close = np.abs(found - wanted) <= margin(wanted, rtol, atol, floor)
    return bool(close.all()) and all_finite(wanted)


@compiled_form(all_close)
def all_close_compiled(
    found: Any, wanted: Any, rtol: float, atol: float, floor: float = 0.0
) -> bool:
    close = True
    given, asked = found.ravel(), wanted.ravel()
    for i in range(given.size):
        if not is_close(given[i], asked[i], rtol, atol, floor):
            close = False
            break
    return close


def all_equal(found: Any, wanted: Any) -> bool:
    """Whether the elements are the same."""
    return bool((found == wanted).all())


def lists_close(found: Any, wanted: Any, rtol: float, atol: float, floor: float = 0.0) -> bool:
    """Whether lists of floats are of one length, and close element by element."""
    return len(found) == len(wanted) and all(
        is_close(a, b, rtol, atol, floor) for a, b in zip(found, wanted, strict=True)
    )
