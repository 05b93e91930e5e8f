"""Tests of numbers that generated code calls: compiled once for all inverses."""

from __future__ import annotations

from math import inf
from typing import Any

__all__ = ["is_close", "is_finite", "margin"]


def is_finite(value: Any) -> bool:
    """Whether a float, or a complex number, is not infinite or NaN."""
    return abs(value) < inf


def margin(wanted: Any, rtol: float, atol: float, floor: float = 0.0) -> Any:
    """How far from a number, or from elements of an array, another may be: ``rtol`` of its size,
    and ``atol`` from 0. floor: how far in any case, for what is only roughly the same."""
    size = abs(wanted)
    return (size == 0) * atol + rtol * size + floor


def is_close(found: Any, wanted: Any, rtol: float, atol: float, floor: float = 0.0) -> bool:
    """Whether a float, or a complex number, is finite and within the margin of what is wanted;
    nothing is close to what is not finite."""
    size = abs(wanted)
    most = (atol if size == 0.0 else rtol * size) + floor
    # the difference is 0, or NaN; one comparison is what LLVM makes the shortest loops of
    return abs(found - wanted) <= most + (size - size)
