"""The programs that every plugin is tried on: each kind of statement, call and effect."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["SAMPLES"]


def _half(x: float) -> float:
    return x / 2.0


def _arithmetic(x: float, n: int) -> tuple[float, int]:
    return math.sin(x) * _half(x) - math.exp(-x) + n, n // 3 - 7 % (n + 1)


def _loop(x: float, n: int) -> float:
    total = 0.0
    for i in range(n):
        if i % 2:
            total += math.sqrt(x + i)
        else:
            total -= _half(x * i)
    return total


def _writes(values: Any) -> float:
    for i in range(len(values)):
        values[i] = math.cos(values[i]) + i
    return values.sum()


def _prints(n: int) -> int:
    for i in range(n):
        print("turn", i)
    print("end")
    return n + 1


def _raises(x: float) -> float:
    if x > 1.0:
        raise ValueError("more than 1")
    return _half(math.sqrt(x))


def _recursive(n: int) -> int:
    return 1 if n < 2 else n * _recursive(n - 1)


SAMPLES: tuple[tuple[Any, ...], ...] = (
    (_arithmetic, 0.5, 4),
    (_arithmetic, -1.25, 9),
    (_loop, 0.75, 5),
    (_writes, np.array([0.1, 0.2, 0.3])),
    (_prints, 2),
    (_raises, 0.25),
    (_raises, 2.0),
    (_recursive, 5),
)
"""Functions, each followed by its arguments."""
