"""Sets of numbers: unions of closed intervals, of floats or of integers.

Bounds are rounded outwards: a set may be too large, never too small. An infinity inside a set of
floats is a member, since computations pass through infinities.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from overlay.sets.integer_bounds import Bound, Piece, inner
from overlay.sets.rounding import nearest_finite

__all__ = ["NumberSet", "number_set", "point"]

INF = math.inf
MOST_PIECES = 32


@dataclass(frozen=True)
class NumberSet:
    """A set of numbers: a union of closed intervals, in increasing order.

    whole: whether it contains integers only; the bounds are then integers or infinite. nan:
    whether NaN is a member too.
    """

    pieces: tuple[Piece, ...]
    whole: bool = False
    nan: bool = False

    def __bool__(self) -> bool:
        return bool(self.pieces) or self.nan

    @property
    def low(self) -> Bound:
        """The lower bound of the set, which must contain a number other than NaN."""
        return self.pieces[0][0]

    @property
    def high(self) -> Bound:
        """The upper bound of the set, which must contain a number other than NaN."""
        return self.pieces[-1][1]

    @property
    def width(self) -> Bound:
        """The distance between the bounds."""
        return _apart(self.low, self.high)

    def contains(self, value: Any) -> bool:
        """Whether a number is a member."""
        if value != value:
            return self.nan
        exact = value.item() if isinstance(value, np.generic) else value
        return any(low <= exact <= high for low, high in self.pieces)

    def meet(self, other: NumberSet) -> NumberSet:
        """The intersection of two sets."""
        whole, nan = self.whole or other.whole, self.nan and other.nan
        one, two, both = self.pieces, other.pieces, list[Piece]()
        i = j = 0
        while i < len(one) and j < len(two):
            both.append((max(one[i][0], two[j][0]), min(one[i][1], two[j][1])))
            if one[i][1] < two[j][1]:
                i += 1
            else:
                j += 1
        return number_set(both, whole=whole, nan=nan)

    def join(self, other: NumberSet) -> NumberSet:
        """The union of two sets."""
        whole = self.whole and other.whole
        return number_set((*self.pieces, *other.pieces), whole=whole, nan=self.nan or other.nan)

    def without(self, holes: Iterable[int]) -> NumberSet:
        """The integers of the set, except ``holes``."""
        pieces = list(self.pieces)
        for hole in sorted(holes):
            for at, (low, high) in enumerate(pieces):
                if low <= hole <= high:
                    pieces[at : at + 1] = [(low, hole - 1), (hole + 1, high)]
                    break
        return number_set(pieces, whole=True)

    def numbers(self) -> NumberSet:
        """The set without NaN."""
        return NumberSet(self.pieces, self.whole) if self.nan else self

    def with_nan(self, nan: bool) -> NumberSet:
        """The set with NaN or without."""
        return self if nan == self.nan else NumberSet(self.pieces, self.whole, nan)

    def fewer(self, most: int) -> NumberSet:
        """The set, or a superset of at most ``most`` intervals."""
        if len(self.pieces) <= most:
            return self
        return NumberSet(_joined(list(self.pieces), most), self.whole, self.nan)

    def floats(self) -> NumberSet:
        """A superset with bounds that are floats, rounded outwards."""
        if not self.whole:
            return self
        pieces = ((_float(low, -INF), _float(high, INF)) for low, high in self.pieces)
        return number_set(pieces, nan=self.nan)

    def count(self) -> Bound:
        """The number of integers in a set of integers."""
        return sum(_apart(low, high) + 1 for low, high in self.pieces)

    def members(self) -> Iterator[int]:
        """Iterate over the integers of a finite set of integers."""
        for low, high in self.pieces:
            yield from range(int(low), int(high) + 1)

    def distance(self, value: float) -> float:
        """The distance from a number to the nearest member."""
        apart = (
            _apart(value, low) if value < low else _apart(high, value) if value > high else 0
            for low, high in self.pieces
        )
        return min(apart, default=INF)

    def __str__(self) -> str:
        parts = [f"[{_shown(low)}, {_shown(high)}]" for low, high in self.pieces]
        return " or ".join([*parts, *(["NaN"] if self.nan else [])]) or "nothing"


def _apart(low: Bound, high: Bound) -> Bound:
    """The distance of two numbers: Python subtracts no infinity from integers beyond all floats."""
    if low == high:
        return 0
    return INF if low == -INF or high == INF else high - low


def _shown(bound: Bound) -> str:
    return repr(bound) if isinstance(bound, int) else f"{bound:.6g}"


def _float(bound: Bound, side: float) -> float:
    """The bound as a float, rounded towards ``side``. ``of_integer``, which numba compiles, cannot
    tell whether a float equals an integer beyond 2**53."""
    found = float(bound) if abs(bound) == INF else nearest_finite(bound)
    return found if found == bound else math.nextafter(found, side)


def number_set(pieces: Iterable[Piece], *, whole: bool = False, nan: bool = False) -> NumberSet:
    """The union of intervals; those with ``low > high`` are empty. A bound that is NaN is unknown,
    and counts as infinite. whole, nan: see ``NumberSet``.

    >>> from overlay.sets import number_set
    >>> print(number_set([(0.0, 2.0), (1.0, 3.0), (5.0, 4.0)]))
    [0, 3]
    >>> print(number_set([(0.5, 2.5)], whole=True))
    [1, 2]
    """
    found = [inner(*_open(low, high)) if whole else _open(low, high) for low, high in pieces]
    found = [piece for piece in found if piece[0] <= piece[1]]
    return NumberSet(tuple(found) if len(found) < 2 else _merged(found, int(whole)), whole, nan)


def _open(low: Bound, high: Bound) -> Piece:
    return (-INF if low != low else low), (INF if high != high else high)


def _merged(pieces: list[Piece], gap: int) -> tuple[Piece, ...]:
    """Disjoint intervals, in increasing order; where they are too many, the nearest are merged."""
    merged: list[Piece] = []
    for low, high in sorted(pieces):
        if merged and low <= merged[-1][1] + gap:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    return _joined(merged, MOST_PIECES)


def _joined(pieces: list[Piece], most: int) -> tuple[Piece, ...]:
    """Merge across the narrowest gaps, until at most ``most`` intervals are left."""
    if len(pieces) <= most:
        return tuple(pieces)
    gaps = [pieces[i + 1][0] - pieces[i][1] for i in range(len(pieces) - 1)]
    wide = sorted(range(len(gaps)), key=gaps.__getitem__)[len(gaps) - most + 1 :]
    ends = [-1, *sorted(wide), len(gaps)]
    return tuple((pieces[i + 1][0], pieces[j][1]) for i, j in itertools.pairwise(ends))


def point(value: Any) -> NumberSet | None:
    """The set of one number, NaN included; None where the value is no real number.

    >>> from overlay.sets import point
    >>> print(point(3), point(float("nan")), point("3"))
    [3, 3] NaN None
    """
    exact = value.item() if isinstance(value, np.generic) else value
    if isinstance(exact, bool | int):
        return NumberSet(((int(exact), int(exact)),), whole=True)
    if not isinstance(exact, float):
        return None
    return NumberSet((), nan=True) if exact != exact else NumberSet(((exact, exact),))
