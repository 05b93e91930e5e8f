"""Python definitions, for lifting, of functions of numbers that are written in C."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["in_python", "larger", "smaller"]


def is_close(a: float, b: float, *, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> bool:
    """Return whether two floats are close, as in ``math.isclose``."""
    if abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol):
        return math.isfinite(a - b)
    return a == b


def larger(one: Any, other: Any) -> Any:
    """The larger of two numbers. This function is lifted."""
    return other if other > one else one


def smaller(one: Any, other: Any) -> Any:
    """The smaller of two numbers. This function is lifted."""
    return other if other < one else one


def in_python(target: Any) -> Any:
    """The Python code to lift for a function, or the function itself."""
    return next((code for function, code in IN_PYTHON if function is target), target)


IN_PYTHON = ((math.isclose, is_close),)
