"""Sets of numbers: unions of closed intervals, which hold for everything that they stand for.

Bounds are rounded outwards: a set may be too large, never too small. An infinity inside a set of
floats is a member, since computations pass through infinities.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from inversion.intrinsics.checks import margin
from overlay.enclosures import above, below
from primitives.domains import Booleans, Domain, Integers, Interval, WholeFloats, domain_of

__all__ = ["Bound", "Values", "around", "every", "inside", "lower", "point", "raised", "values"]

Bound = int | float
INF = math.inf
LARGEST = sys.float_info.max
SLACK = 8  # units in the last place by which functions of the machine may be off
MOST_PIECES = 32


def lower(bound: float) -> float:
    """A float that is below ``bound`` by what rounding may account for."""
    return below(float(bound), SLACK)


def raised(bound: float) -> float:
    """A float that is above ``bound`` by what rounding may account for."""
    return above(float(bound), SLACK)


@dataclass(frozen=True)
class Values:
    """Numbers: a union of closed intervals, the lowest first.

    whole: integers alone, with bounds that are integers or infinite. nan: NaN is a member too.
    """

    pieces: tuple[tuple[Bound, Bound], ...]
    whole: bool = False
    nan: bool = False

    def __bool__(self) -> bool:
        return bool(self.pieces) or self.nan

    @property
    def low(self) -> Bound:
        """The lowest bound. There must be numbers."""
        return self.pieces[0][0]

    @property
    def high(self) -> Bound:
        """The highest bound. There must be numbers."""
        return self.pieces[-1][1]

    @property
    def width(self) -> Bound:
        """How far the bounds are apart."""
        return self.high - self.low if self.high != self.low else 0

    def contains(self, value: Any) -> bool:
        """Whether a number is a member."""
        if value != value:
            return self.nan
        exact = value.item() if isinstance(value, np.generic) else value
        return any(low <= exact <= high for low, high in self.pieces)

    def meet(self, other: Values) -> Values:
        """The members of both."""
        whole, nan = self.whole or other.whole, self.nan and other.nan
        one, two, both = self.pieces, other.pieces, list[tuple[Bound, Bound]]()
        i = j = 0
        while i < len(one) and j < len(two):
            both.append((max(one[i][0], two[j][0]), min(one[i][1], two[j][1])))
            if one[i][1] < two[j][1]:
                i += 1
            else:
                j += 1
        return values(both, whole=whole, nan=nan)

    def join(self, other: Values) -> Values:
        """The members of either."""
        whole = self.whole and other.whole
        return values((*self.pieces, *other.pieces), whole=whole, nan=self.nan or other.nan)

    def numbers(self) -> Values:
        """Itself without NaN."""
        return Values(self.pieces, self.whole) if self.nan else self

    def with_nan(self, nan: bool) -> Values:
        """Itself, with NaN or without."""
        return self if nan == self.nan else Values(self.pieces, self.whole, nan)

    def fewer(self, most: int) -> Values:
        """Itself, or a larger set of so many intervals at most."""
        if len(self.pieces) <= most:
            return self
        return Values(_joined(list(self.pieces), most), self.whole, self.nan)

    def floats(self) -> Values:
        """As floats: bounds that no float equals are moved outwards."""
        if not self.whole:
            return self
        pieces = ((_float(low, -INF), _float(high, INF)) for low, high in self.pieces)
        return values(pieces, nan=self.nan)

    def count(self) -> Bound:
        """How many integers there are."""
        return sum(high - low + 1 for low, high in self.pieces)

    def members(self) -> Iterator[int]:
        """The integers, where their number is finite."""
        for low, high in self.pieces:
            yield from range(int(low), int(high) + 1)

    def distance(self, value: float) -> float:
        """How far a number is from the nearest member."""
        return min((max(low - value, value - high, 0) for low, high in self.pieces), default=INF)

    def __str__(self) -> str:
        parts = [f"[{_shown(low)}, {_shown(high)}]" for low, high in self.pieces]
        return " or ".join([*parts, *(["NaN"] if self.nan else [])]) or "nothing"


def _shown(bound: Bound) -> str:
    return repr(bound) if isinstance(bound, int) else f"{bound:.6g}"


def _float(bound: Bound, side: float) -> float:
    try:
        found = float(bound)
    except OverflowError:
        found = math.copysign(LARGEST, bound)
    return found if found == bound else math.nextafter(found, side)


def values(
    pieces: Iterable[tuple[Bound, Bound]], *, whole: bool = False, nan: bool = False
) -> Values:
    """The union of intervals, of which those with ``low > high`` are empty. A bound that is NaN
    is none: there it is not known where the interval ends."""
    found = [_inward(low, high) if whole else _open(low, high) for low, high in pieces]
    found = [piece for piece in found if piece[0] <= piece[1]]
    return Values(tuple(found) if len(found) < 2 else _merged(found, int(whole)), whole, nan)


def _open(low: Bound, high: Bound) -> tuple[Bound, Bound]:
    return (-INF if low != low else low), (INF if high != high else high)


def _inward(low: Bound, high: Bound) -> tuple[Bound, Bound]:
    low, high = _open(low, high)
    return (
        low if low in (INF, -INF) else math.ceil(low),
        high if high in (INF, -INF) else math.floor(high),
    )


def _merged(pieces: list[tuple[Bound, Bound]], gap: int) -> tuple[tuple[Bound, Bound], ...]:
    """Disjoint intervals, in order; where they are too many, the nearest become one."""
    merged: list[tuple[Bound, Bound]] = []
    for low, high in sorted(pieces):
        if merged and low <= merged[-1][1] + gap:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    return _joined(merged, MOST_PIECES)


def _joined(pieces: list[tuple[Bound, Bound]], most: int) -> tuple[tuple[Bound, Bound], ...]:
    """So many intervals at most: those with the narrowest gaps between them become one."""
    if len(pieces) <= most:
        return tuple(pieces)
    gaps = [pieces[i + 1][0] - pieces[i][1] for i in range(len(pieces) - 1)]
    wide = sorted(range(len(gaps)), key=gaps.__getitem__)[len(gaps) - most + 1 :]
    ends = [-1, *sorted(wide), len(gaps)]
    return tuple((pieces[i + 1][0], pieces[j][1]) for i, j in itertools.pairwise(ends))


def point(value: Any) -> Values | None:
    """One number; None where it is no real one."""
    exact = value.item() if isinstance(value, np.generic) else value
    if isinstance(exact, bool | int):
        return Values(((int(exact), int(exact)),), whole=True)
    if not isinstance(exact, float):
        return None
    return Values((), nan=True) if exact != exact else Values(((exact, exact),))


def around(value: float, rtol: float, atol: float) -> Values:
    """The floats that are accepted as equal to a number."""
    off = raised(margin(value, rtol, atol))
    return Values(((lower(value - off), raised(value + off)),))


def every(kind: Any) -> Values | None:
    """All that a computation in this type may give; None where it is not of real numbers."""
    if kind is float:
        return Values(((-INF, INF),), nan=True)
    domain = domain_of(kind)
    return None if domain is None else inside(domain)


def inside(domain: Domain) -> Values | None:
    """The members of a domain and its bounds; None where it is not of real numbers."""
    if isinstance(domain, Booleans):
        return Values(((0, 1),), whole=True)
    if isinstance(domain, Integers):
        low = -INF if domain.low is None else domain.low
        high = INF if domain.high is None else domain.high
        return values(_without(low, high, domain.without), whole=True)
    if isinstance(domain, (Interval, WholeFloats)):
        return Values(((domain.low, domain.high),))
    return None


def _without(low: Bound, high: Bound, holes: Iterable[int]) -> Iterator[tuple[Bound, Bound]]:
    for hole in sorted(holes):
        if low <= hole <= high:
            yield low, hole - 1
            low = hole + 1
    yield low, high
