"""Tolerances of solvers of floats: equality up to rounding, and steps beyond a bound.

A coordinate called ``near`` is an argument itself: it is the answer if it satisfies the equation to
the last digits, so that every argument can be reached where several have one result; otherwise the
equation decides.
"""

from __future__ import annotations

import math
import sys

from primitives.errors import NoSolution

__all__ = [
    "LARGEST",
    "above",
    "agrees",
    "below",
    "finite",
    "floor_of",
    "is_at",
    "matches",
    "whole",
]

LARGEST = sys.float_info.max
WHOLE_FROM = 2.0**52
"""From this float on, every float is a whole number."""


def matches(value: float, wanted: float) -> bool:
    """Return whether two floats are equal up to their last digits; NaN never is."""
    return abs(value - wanted) <= 1e-15 * abs(wanted)


def agrees(value: float, wanted: float) -> bool:
    """Return whether two floats may be equal, up to rounding in the computations behind them."""
    return abs(value - wanted) <= 1e-12 + 1e-10 * abs(wanted)


def is_at(value: float, bound: float) -> bool:
    """Return whether a float may be a bound, up to rounding in the computations behind it. The
    scale is that of the bound; numbers below 1e-12 may be a bound of 0.
    """
    return abs(value - bound) <= (1e-10 * abs(bound) if bound != 0 else 1e-12)


def finite(value: float) -> float:
    """``value``; raises NoSolution if it is infinite or NaN."""
    if not abs(value) <= LARGEST:
        raise NoSolution("the solution is larger than any float")
    return value


def above(bound: float, excess: float, strict: bool) -> float:
    """``bound`` plus ``excess`` >= 0, at most the largest float; if strict, above the bound."""
    found = min(bound + excess, LARGEST)
    if strict and found <= bound:
        found = math.nextafter(bound, math.inf)
    return finite(found)


def below(bound: float, excess: float, strict: bool) -> float:
    """``bound`` less ``excess`` >= 0, at least the lowest float; if strict, below the bound."""
    return -above(-bound, excess, strict)


def floor_of(a: float) -> float:
    """The largest whole number not above ``a``, as a float."""
    return a if abs(a) >= WHOLE_FROM else float(math.floor(a))


def whole(value: float) -> float:
    """The whole number that a float equals, up to rounding in the computations behind it."""
    near = floor_of(value + 0.5) if abs(value) < WHOLE_FROM else value
    if not abs(value - near) <= 1e-12 * max(1.0, abs(value)):
        raise NoSolution("it is not a whole number")
    return near
