"""Contractors of functions of floats: those of the catalogue, angles, rounding."""

from __future__ import annotations

import math
from collections.abc import Callable

from inversion.contraction.contractor import (
    Contractor,
    enclosed,
    enclosed_pairs,
    even,
    image,
    lower,
    monotone,
    raised,
    widened,
)
from overlay import sets
from overlay.catalogue import MathFunction
from overlay.catalogue.inverse_enclosures import inverse_enclosure
from overlay.sets import Bound, Enclosure, NumberSet, integer_bounds, number_set
from primitives.domains import Domain, Reals

__all__ = [
    "ABS",
    "CEIL",
    "COS",
    "FLOAT",
    "FLOOR",
    "HYPOT",
    "RECIPROCAL",
    "ROUND",
    "SIN",
    "TAN",
    "TRUNC",
    "contractor_of",
    "integers_becoming",
]  # fmt: skip

INF, PI = math.inf, math.pi
LARGEST_ANGLE = 1e8  # above this angle, floats cannot distinguish branches
MOST_BRANCHES = 20
SLACK = 8
POSITIVE = (0.0, INF)
Real = Callable[[float], float]

# ---- functions of the catalogue -----------------------------------------------------------


def contractor_of(f: MathFunction, domain: Domain, codomain: Domain | None) -> Contractor | None:
    """The contractor of a function that is monotone or even. domain, codomain: of its relation."""
    if f.shape is None or not isinstance(domain, Reals) or not isinstance(codomain, Reals):
        return None
    ends, results = (domain.low, domain.high), (codomain.low, codomain.high)
    inverse = inverse_enclosure(f)
    if f.shape == "even":
        return even(monotone(f.enclosure, inverse, POSITIVE, results))
    return monotone(f.enclosure, inverse, ends, results)


# ---- absolute values ----------------------------------------------------------------------

ABS = Contractor(
    image(integer_bounds.magnitude),
    (lambda ret, a: number_set(
        (p for low, high in ret.pieces for p in ((max(low, 0), high), (-high, -max(low, 0)))
         if high >= 0), whole=ret.whole),),
)  # fmt: skip


def _reciprocal(a: NumberSet) -> NumberSet:
    # numpy gives an infinity for 0
    ends = [(x, x) for x in (INF, -INF)] if a.contains(0.0) else []
    return number_set([*enclosed(sets.reciprocal, a), *ends])


RECIPROCAL = Contractor(_reciprocal, (lambda ret, a: _reciprocal(widened(ret)),))


def _hypot(a: NumberSet, b: NumberSet) -> NumberSet:
    return number_set(enclosed_pairs(sets.hypot, a, b))


def _legs(ret: NumberSet) -> NumberSet:
    return number_set([(-raised(float(ret.high)), raised(float(ret.high)))])


HYPOT = Contractor(_hypot, (lambda ret, a, b: _legs(ret), lambda ret, a, b: _legs(ret)), False)

# ---- angles -------------------------------------------------------------------------------


def _turning(enclosure: Enclosure) -> Callable[[NumberSet], NumberSet]:
    """The image under sine or cosine."""

    def ret(a: NumberSet) -> NumberSet:
        found = number_set(enclosed(enclosure, a), nan=INF in (a.high, -a.low))
        return found.meet(number_set([(-1.0, 1.0)], nan=True))

    return ret


def _counted(a: NumberSet, shift: float) -> range | None:
    """The numbers of the branches of length pi that a set intersects, with one more at each end."""
    if max(abs(a.low), abs(a.high)) > LARGEST_ANGLE:
        return None
    first, last = (math.floor(x / PI + shift) for x in (a.low, a.high))
    return range(first - 1, last + 2)


def _angles(ret: NumberSet, a: NumberSet, shift: float, cosine: bool) -> NumberSet:
    """The angles with this sine or cosine, on the branches that a set intersects."""
    branches = _counted(a, shift)
    if branches is None or len(branches) > MOST_BRANCHES:
        return a
    found: list[tuple[Bound, Bound]] = []
    for low, high in ret.pieces:
        if low > 1 or high < -1:
            continue
        first, last = _angle(lower(low), cosine), _angle(raised(high), cosine)
        first, last = sorted((first, last))
        for k in branches:
            base = 2 * PI * ((k + 1) // 2) if cosine else k * PI
            one, two = (first, last) if k % 2 == 0 else (-last, -first)
            slack = SLACK * math.ulp(abs(base) + 4)
            found.append((base + one - slack, base + two + slack))
    return number_set(found)


def _angle(value: float, cosine: bool) -> float:
    inside = min(max(value, -1.0), 1.0)
    return math.acos(inside) if cosine else math.asin(inside)


SIN = Contractor(_turning(sets.sin), (lambda ret, a: _angles(ret, a, 0.5, False),))
COS = Contractor(_turning(sets.cos), (lambda ret, a: _angles(ret, a, 0.0, True),))


def _tangents(ret: NumberSet, a: NumberSet) -> NumberSet:
    branches = _counted(a, 0.5)
    if branches is None or len(branches) > MOST_BRANCHES:
        return a
    found: list[tuple[Bound, Bound]] = []
    for low, high in ret.pieces:
        first, last = math.atan(lower(low)), math.atan(raised(high))
        for k in branches:
            slack = SLACK * math.ulp(abs(k * PI) + 4)
            found.append((first + k * PI - slack, last + k * PI + slack))
    return number_set(found)


TAN = Contractor(None, (_tangents,))

# ---- rounding -----------------------------------------------------------------------------


def _rounding(function: Real, below: float, above: float) -> Contractor:
    """The contractor of a function that rounds to whole numbers, by at most below or above."""

    def whole(x: Bound) -> Bound:
        return x if abs(x) >= 2**53 else function(x)

    def ret(a: NumberSet) -> NumberSet:
        return number_set(((whole(low), whole(high)) for low, high in a.pieces), nan=False)

    def back(ret: NumberSet, a: NumberSet) -> NumberSet:
        found = ret.floats()
        return number_set((low - below, high + above) for low, high in found.pieces)

    return Contractor(ret, (back,))


FLOOR = _rounding(math.floor, 0.0, 1.0)
CEIL = _rounding(math.ceil, 1.0, 0.0)
TRUNC = _rounding(math.trunc, 1.0, 1.0)
ROUND = _rounding(round, 0.5, 0.5)


def integers_becoming(ret: NumberSet) -> NumberSet:
    """The integers whose conversion is one of these floats."""
    found = (
        (low if low == -INF else lower(low) if abs(low) >= 2**53 else low,
         high if high == INF else raised(high) if abs(high) >= 2**53 else high)
        for low, high in ret.pieces
    )  # fmt: skip
    return number_set(found, whole=True)


def _floats(a: NumberSet) -> NumberSet:
    """Integers converted to floats, each rounded to the nearest one."""
    try:
        return number_set((float(low), float(high)) for low, high in a.pieces)
    except OverflowError:
        return number_set([(-INF, INF)], nan=True)


FLOAT = Contractor(_floats, (lambda ret, a: integers_becoming(ret),))
