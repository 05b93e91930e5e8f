"""Contractors of functions of floats: exponentials, angles, rounding."""

from __future__ import annotations

import itertools
import math

from inversion.contraction.contractor import (
    Contractor,
    Real,
    even,
    falling,
    image,
    increasing,
)
from inversion.contraction.values import Bound, Values, lower, raised, values

__all__ = [
    "ABS",
    "ACOS",
    "ACOSH",
    "ASIN",
    "ASINH",
    "ATAN",
    "ATANH",
    "CBRT",
    "CEIL",
    "COS",
    "COSH",
    "DEGREES",
    "ERF",
    "ERFC",
    "EXP",
    "EXP2",
    "EXPM1",
    "FLOAT",
    "FLOOR",
    "HYPOT",
    "LOG",
    "LOG1P",
    "LOG2",
    "LOG10",
    "RADIANS",
    "RECIPROCAL",
    "ROUND",
    "SIN",
    "SINH",
    "SQRT",
    "TAN",
    "TANH",
    "TRUNC",
    "integers_becoming",
]  # fmt: skip

INF, PI = math.inf, math.pi
LARGEST_ANGLE = 1e8  # beyond, branches are not told apart
MOST_BRANCHES = 20
SLACK = 8
POSITIVE = (0.0, INF)

# ---- exponentials -------------------------------------------------------------------------


def _pow10(x: float) -> float:
    return math.pow(10.0, x)


EXP = increasing(math.exp, math.log, results=POSITIVE)
EXP2 = increasing(math.exp2, math.log2, results=POSITIVE)
EXPM1 = increasing(math.expm1, math.log1p, results=(-1.0, INF))
LOG = increasing(math.log, math.exp, ends=POSITIVE)
LOG2 = increasing(math.log2, math.exp2, ends=POSITIVE)
LOG10 = increasing(math.log10, _pow10, ends=POSITIVE)
LOG1P = increasing(math.log1p, math.expm1, ends=(-1.0, INF))
SQRT = increasing(math.sqrt, lambda r: r * r, ends=POSITIVE, results=POSITIVE)
CBRT = increasing(math.cbrt, lambda r: r * r * r)
SINH = increasing(math.sinh, math.asinh)
ASINH = increasing(math.asinh, math.sinh)
COSH = even(increasing(math.cosh, math.acosh, ends=POSITIVE, results=(1.0, INF)))
ACOSH = increasing(math.acosh, math.cosh, ends=(1.0, INF), results=POSITIVE)
TANH = increasing(math.tanh, math.atanh, results=(-1.0, 1.0))
ATANH = increasing(math.atanh, math.tanh, ends=(-1.0, 1.0))
DEGREES = increasing(math.degrees, math.radians)
RADIANS = increasing(math.radians, math.degrees)


def _by_bisection(function: Real, low: float, high: float, wanted: float) -> float:
    """Where a growing function gives ``wanted``, to the last digits."""
    middle = (low + high) / 2
    while low < middle < high:
        low, high = (middle, high) if function(middle) < wanted else (low, middle)
        middle = (low + high) / 2
    return middle


ERF = increasing(math.erf, lambda r: _by_bisection(math.erf, -6.0, 6.0, r), results=(-1.0, 1.0))
ERFC = falling(
    math.erfc, lambda r: _by_bisection(lambda x: -math.erfc(x), -6.0, 28.0, -r),
    results=(-2.0, 0.0),
)  # fmt: skip

# ---- sizes --------------------------------------------------------------------------------

ABS = Contractor(
    image(abs),
    (lambda ret, a: values(
        (p for low, high in ret.pieces for p in ((max(low, 0), high), (-high, -max(low, 0)))
         if high >= 0), whole=ret.whole),),
)  # fmt: skip


def _reciprocal(a: Values) -> Values:
    found: list[tuple[Bound, Bound]] = []
    for low, high in a.pieces:
        for first, last in ((low, min(high, -5e-324)), (max(low, 5e-324), high)):
            if first <= last:
                found.append((lower(_over_one(last)), raised(_over_one(first))))
    # numpy gives an infinity for 0
    ends = [(x, x) for x in (INF, -INF)] if a.contains(0.0) else []
    return values([*found, *ends])


def _over_one(x: Bound) -> float:
    return 1.0 / x


def _one_over(ret: Values, a: Values) -> Values:
    wide = values((lower(float(low)), raised(float(high))) for low, high in ret.pieces)
    found = _reciprocal(wide)
    return found.join(values([(-INF, -INF), (INF, INF)])) if wide.contains(0.0) else found


RECIPROCAL = Contractor(_reciprocal, (_one_over,))


def _hypot(a: Values, b: Values) -> Values:
    found: list[tuple[Bound, Bound]] = []
    sizes = image(abs)
    for (low, high), (first, last) in itertools.product(sizes(a).pieces, sizes(b).pieces):
        found.append((max(lower(math.hypot(low, first)), 0.0), raised(math.hypot(high, last))))
    return values(found)


def _legs(ret: Values) -> Values:
    return values([(-raised(float(ret.high)), raised(float(ret.high)))])


HYPOT = Contractor(_hypot, (lambda ret, a, b: _legs(ret), lambda ret, a, b: _legs(ret)), False)

# ---- angles -------------------------------------------------------------------------------


def _turning(a: Values, function: Real, top: float) -> Values:
    """The image under sine or cosine, of which one maximum is at ``top``."""
    found: list[tuple[Bound, Bound]] = []
    for low, high in a.pieces:
        if max(abs(low), abs(high)) > LARGEST_ANGLE or high - low >= 2 * PI:
            return values([(-1.0, 1.0)], nan=INF in (a.high, -a.low))
        ends = sorted((function(low), function(high)))
        first = lower(ends[0]) if not _passes(low, high, top + PI) else -1.0
        last = raised(ends[1]) if not _passes(low, high, top) else 1.0
        found.append((max(first, -1.0), min(last, 1.0)))
    return values(found)


def _passes(low: Bound, high: Bound, at: float) -> bool:
    """Whether an interval may have the angle ``at``, some turns away."""
    return math.floor((high - at + 1e-6) / (2 * PI)) >= math.ceil((low - at - 1e-6) / (2 * PI))


def _counted(a: Values, shift: float) -> range | None:
    """The numbers of the branches of length pi that a set meets, and one more on both sides."""
    if max(abs(a.low), abs(a.high)) > LARGEST_ANGLE:
        return None
    first, last = (math.floor(x / PI + shift) for x in (a.low, a.high))
    return range(first - 1, last + 2)


def _angles(ret: Values, a: Values, shift: float, cosine: bool) -> Values:
    """All angles on the branches that a set meets."""
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
    return values(found)


def _angle(value: float, cosine: bool) -> float:
    inside = min(max(value, -1.0), 1.0)
    return math.acos(inside) if cosine else math.asin(inside)


SIN = Contractor(
    lambda a: _turning(a, math.sin, PI / 2), (lambda ret, a: _angles(ret, a, 0.5, False),)
)
COS = Contractor(lambda a: _turning(a, math.cos, 0.0), (lambda ret, a: _angles(ret, a, 0.0, True),))


def _tangents(ret: Values, a: Values) -> Values:
    branches = _counted(a, 0.5)
    if branches is None or len(branches) > MOST_BRANCHES:
        return a
    found: list[tuple[Bound, Bound]] = []
    for low, high in ret.pieces:
        first, last = math.atan(lower(low)), math.atan(raised(high))
        for k in branches:
            slack = SLACK * math.ulp(abs(k * PI) + 4)
            found.append((first + k * PI - slack, last + k * PI + slack))
    return values(found)


TAN = Contractor(None, (_tangents,))
ASIN = increasing(math.asin, math.sin, ends=(-1.0, 1.0), results=(-PI / 2, PI / 2))
ACOS = falling(math.acos, math.cos, ends=(-1.0, 1.0), results=(-PI, 0.0))
ATAN = increasing(math.atan, math.tan, results=(-PI / 2, PI / 2))

# ---- rounding -----------------------------------------------------------------------------


def _rounding(function: Real, below: float, above: float) -> Contractor:
    """The contractor of a function that takes to whole numbers; below, above: what it may have
    taken away."""

    def whole(x: Bound) -> Bound:
        return x if abs(x) >= 2**53 else function(x)

    def ret(a: Values) -> Values:
        return values(((whole(low), whole(high)) for low, high in a.pieces), nan=False)

    def back(ret: Values, a: Values) -> Values:
        found = ret.floats()
        return values((low - below, high + above) for low, high in found.pieces)

    return Contractor(ret, (back,))


FLOOR = _rounding(math.floor, 0.0, 1.0)
CEIL = _rounding(math.ceil, 1.0, 0.0)
TRUNC = _rounding(math.trunc, 1.0, 1.0)
ROUND = _rounding(round, 0.5, 0.5)


def integers_becoming(ret: Values) -> Values:
    """The integers that become these floats."""
    found = (
        (low if low == -INF else lower(low) if abs(low) >= 2**53 else low,
         high if high == INF else raised(high) if abs(high) >= 2**53 else high)
        for low, high in ret.pieces
    )  # fmt: skip
    return values(found, whole=True)


FLOAT = Contractor(image(float), (lambda ret, a: integers_becoming(ret),))
