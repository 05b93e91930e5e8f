"""Functions that compiled programs call in place of those of Python and numpy that numba lacks,
or computes differently.
"""

from __future__ import annotations

import math
from typing import Any, Final

__all__ = ["HELPERS", "exact_sum", "rounded_sum"]


def plus(total: float, rest: float, term: float) -> tuple[float, float]:
    """Add a term to a sum of two floats, without an error in the first order."""
    found = total + term
    back = found - total
    return found, rest + ((total - (found - back)) + (term - back))


def exact_sum(terms: Any) -> float:
    """``math.fsum``, within a unit in the last place."""
    total, rest = 0.0, 0.0
    for term in terms:
        total, rest = plus(total, rest, float(term))
    return total + rest


def rounded_sum(terms: Any) -> float:
    """``sum`` of floats, which Python compensates for rounding."""
    total, rest = 0.0, 0.0
    for term in terms:
        found = total + term
        if abs(total) >= abs(term):
            rest += (total - found) + term
        else:
            rest += (term - found) + total
        total = found
    return total + rest


def item(values: Any, place: int) -> Any:
    """An item of a tuple or array; IndexError beyond its ends."""
    if place < -len(values) or place >= len(values):
        raise IndexError("index out of range")
    return values[place]


def same(one: Any, other: Any) -> bool:
    """Whether two numbers of one class are identical."""
    return one == other and math.copysign(1.0, one) == math.copysign(1.0, other)


def bounded(array: Any) -> bool:
    """Whether the elements of an array are finite: a loop, since numba compiles no generators."""
    for each in array.ravel():  # noqa: SIM110
        if not abs(each) < 1e300:
            return False
    return True


HELPERS: Final = {
    "plus": plus,
    "item": item,
    "same": same,
    "bounded": bounded,
}
