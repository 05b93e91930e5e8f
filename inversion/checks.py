"""Tests of numbers that generated code calls: compiled once for all inverses."""

from __future__ import annotations

from math import inf
from typing import Any

__all__ = ["is_close", "is_finite"]


def is_finite(value: Any) -> bool:
    """Whether a float, or a complex number, is not infinite or NaN."""
    return abs(value) < inf


def is_close(found: Any, wanted: Any, rtol: float, atol: float) -> bool:
    """Whether a float, or a complex number, is finite and within the tolerances of what is
    wanted, relative to that; nothing is close to what is not finite."""
    size = abs(wanted)
    # the difference is 0, or NaN; one comparison is what LLVM makes the shortest loops of
    return abs(found - wanted) <= atol + rtol * size + (size - size)
