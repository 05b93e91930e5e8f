"""Exact sums, differences and products of integers.

Integers have any size in the interpreter. In compiled code they have 64 bits, and these functions
raise NoSolution where the machine would wrap.
"""

from __future__ import annotations

from typing import Any

from primitives.errors import NoSolution
from primitives.solver_forms import compiled_forms

__all__ = ["HIGHEST", "LOWEST", "minus", "plus", "product_and_rest", "times"]

LOWEST, HIGHEST = -(2**63), 2**63 - 1


def plus(a: int, b: int) -> int:
    """``a + b``; raises NoSolution where the machine would wrap."""
    return a + b


def minus(a: int, b: int) -> int:
    """``a - b``; raises NoSolution where the machine would wrap."""
    return a - b


def times(a: int, b: int) -> int:
    """``a * b``; raises NoSolution where the machine would wrap."""
    return a * b


def product_and_rest(k: int, b: int, rest: int) -> int:
    """The integer with quotient k and remainder ``rest`` by b."""
    if k < 0:  # the product alone may need more than 64 bits
        return plus(times(k + 1, b), minus(rest, b))
    return plus(times(k, b), rest)


# numba assumes that signed integers do not wrap: the tests come before the operation


@compiled_forms.overlay(plus)
def plus_64(a: Any, b: Any) -> int:
    if (b > 0 and a > HIGHEST - b) or (b < 0 and a < LOWEST - b):
        raise NoSolution("the sum needs more than 64 bits")
    return a + b


@compiled_forms.overlay(minus)
def minus_64(a: Any, b: Any) -> int:
    if (b > 0 and a < LOWEST + b) or (b < 0 and a > HIGHEST + b):
        raise NoSolution("the difference needs more than 64 bits")
    return a - b


@compiled_forms.overlay(times)
def times_64(a: Any, b: Any) -> int:
    low, high = min(a, b), max(a, b)
    if low >= 0:
        fits = low == 0 or high <= HIGHEST // low
    elif high >= 0:
        fits = high == 0 or low >= (LOWEST + high - 1) // high
    else:
        fits = low >= (HIGHEST + high + 1) // high
    if not fits:
        raise NoSolution("the product needs more than 64 bits")
    return a * b
