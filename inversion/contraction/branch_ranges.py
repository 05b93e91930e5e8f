"""Ranges of branch numbers: the branches of a function on which its argument may lie."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from overlay.sets import NumberSet
from primitives import Relation
from primitives.floats import trigonometric
from primitives.floats.gamma import branch_of, gamma, lgamma
from primitives.integers.division import mod_int

__all__ = ["RANGES"]

INF = math.inf
BESIDE = 1e-9
"""Relative tolerance at the end of a branch: a rounded number may exceed it by this."""


Range = Callable[[Mapping[str, Any], NumberSet], tuple[float, float] | None]


def _by(branch: Callable[[float], int]) -> Range:
    """The range function of a branch number that increases with the argument, with a margin for
    rounding.
    """

    def ends(known: Mapping[str, Any], a: NumberSet) -> tuple[float, float]:
        low, high = float(a.low), float(a.high)
        low, high = (low - BESIDE * max(1.0, abs(low))), high + BESIDE * max(1.0, abs(high))
        return (
            branch(low) if math.isfinite(low) else -INF,
            branch(high) if math.isfinite(high) else INF,
        )

    return ends


def _sine_branch(a: float) -> int:
    return math.floor(a / math.pi + 0.5)


def _cosine_branch(a: float) -> int:
    return math.floor(a / math.pi)


def _gamma_branches(known: Mapping[str, Any], a: NumberSet) -> tuple[float, float]:
    if a.low >= 0:
        return 0, 1
    return 0, branch_of(float(a.low)) + 1 if math.isfinite(a.low) else INF


def _quotients(known: Mapping[str, Any], a: NumberSet) -> tuple[float, float] | None:
    if "b" not in known:
        return None
    b = int(known["b"])
    ends = [
        int(end) // b if math.isfinite(end) else math.copysign(INF, end) * (1 if b > 0 else -1)
        for end in (a.low, a.high)
    ]
    return min(ends), max(ends)


RANGES: Mapping[Relation, Range] = {
    trigonometric.sine: _by(_sine_branch),
    trigonometric.cosine: _by(_cosine_branch),
    trigonometric.tangent: _by(_sine_branch),
    gamma: _gamma_branches,
    lgamma: _gamma_branches,
    mod_int: _quotients,
}
"""The range of the branch number ``k`` for an argument ``a``, by relation."""
