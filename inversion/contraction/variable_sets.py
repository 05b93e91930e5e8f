"""Initial sets of variables, before contraction: by their type, or around a number."""

from __future__ import annotations

import math
from typing import Any

from inversion.contraction.contractor import lower, raised
from inversion.intrinsics.checks import margin
from overlay.sets import NumberSet
from primitives.domains import domain_of

__all__ = ["around", "every"]


def around(value: float, rtol: float, atol: float) -> NumberSet:
    """The floats that count as equal to a number, within the tolerances."""
    off = raised(margin(value, rtol, atol))
    return NumberSet(((lower(value - off), raised(value + off)),))


def every(kind: Any) -> NumberSet | None:
    """All values of a type that a computation may return; None if they are not real numbers."""
    if kind is float:
        return NumberSet(((-math.inf, math.inf),), nan=True)
    domain = domain_of(kind)
    return None if domain is None else domain.closure
