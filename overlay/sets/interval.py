"""Intervals of real numbers as sets."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple, Self

import numpy as np

from overlay.core.errors import OverlayError
from overlay.sets import bounds
from overlay.sets.bounds import Bounds
from overlay.sets.rounding import LARGEST, above, below

__all__ = ["Interval", "NotAnInterval"]

INF = math.inf


class NotAnInterval(OverlayError, ValueError):
    """The arguments of ``Interval`` are no numbers, or the first is above the last.

    Examples
    --------
    >>> from overlay.sets import Interval
    >>> Interval(2, 1)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    overlay.sets.interval.NotAnInterval: the lower bound 2 is above the upper bound 1
    """


class _Fields(NamedTuple):
    low: float
    high: float


def _bound(given: Any, side: float) -> float:
    """The float that equals a number, or else the nearest below it (side < 0) or above it."""
    exact: Any = given.item() if isinstance(given, np.generic) else given
    try:
        return float.__pos__(exact)
    except TypeError:
        exact = Fraction(exact)
    try:
        near = float(exact)
    except OverflowError:
        near = INF if exact > 0 else -INF
    if near == exact or (near < exact) == (side < 0):
        return near
    return below(near) if side < 0 else above(near)


def _interval(given: Interval | float) -> Interval:
    """An interval, or that of one number."""
    return given if isinstance(given, Interval) else Interval(given)


class Interval(_Fields):
    """The real numbers from ``low`` to ``high``, both included; infinite where there is no bound.

    An interval is a tuple of its two bounds, so enclosures take it.

    Parameters
    ----------
    low, high : float, int, Fraction or str
        The bounds; ``Interval(x)`` contains one number. They are rounded outwards to floats; text
        such as "0.1" is read as a decimal number.

    Raises
    ------
    NotAnInterval
        A bound is no number, or the first is above the last.

    Examples
    --------
    >>> from overlay.sets import Interval
    >>> Interval(0, 2).intersection(Interval(1, 5))
    Interval(1.0, 2.0)
    >>> Interval("0.1").low < Interval("0.1").high
    True
    """

    __slots__ = ()

    def __new__(cls, low: Any, high: Any = None) -> Self:
        if type(low) is float and type(high) is float:
            # values of other interpretations claim to be floats, but methods of float refuse them
            try:
                if float.__le__(low, high) is True:
                    return tuple.__new__(cls, (low, high))
            except TypeError:
                pass
        try:
            first, last = _bound(low, -1), _bound(low if high is None else high, 1)
        except (TypeError, ValueError):
            raise NotAnInterval(
                f"Interval({low!r}, {high!r}): bounds are real numbers, or their decimal text",
                help='write Interval(0, 1), or Interval("0.1", "0.2") for decimal bounds',
            ) from None
        if not first <= last:
            if first == first or last == last:
                raise NotAnInterval(
                    f"Interval({low!r}, {high!r}): the first bound is above the last",
                    help="write Interval(low, high) with low <= high; EMPTY is the empty interval",
                )
            first, last = bounds.EMPTY  # both NaN objects are shared, so that tuples compare equal
        return tuple.__new__(cls, (first, last))

    @classmethod
    def _of(cls, pair: Iterable[float]) -> Self:
        return cls(*pair)

    @property
    def bounds(self) -> Bounds:
        """Both bounds, as a plain tuple."""
        return self.low, self.high

    @property
    def is_empty(self) -> bool:
        """Whether it contains no number."""
        return not self.low <= self.high

    @property
    def width(self) -> float:
        """An upper bound of ``high - low``; -1 for the empty interval."""
        return -1.0 if self.is_empty else bounds.subtract(self.bounds, self.bounds)[1]

    @property
    def middle(self) -> float:
        """A float in it, the midpoint where the bounds are finite."""
        low, high = max(self.low, -LARGEST), min(self.high, LARGEST)
        return min(max(low / 2 + high / 2, low), high)

    def equals(self, other: Interval | float) -> bool:
        """Return whether both are the same set.

        Parameters
        ----------
        other : Interval or float
            Another interval, or a number.

        Returns
        -------
        bool
            True also if both are empty.
        """
        given = _interval(other)
        return self.bounds == given.bounds or (self.is_empty and given.is_empty)

    def within(self, other: Interval | float) -> bool:
        """Return whether the interval is a subset of another.

        Parameters
        ----------
        other : Interval or float
            Another interval, or a number.

        Returns
        -------
        bool
            True for the empty interval.
        """
        around = _interval(other)
        return self.is_empty or (around.low <= self.low and self.high <= around.high)

    def hull(self, other: Interval | float) -> Self:
        """The smallest interval that contains both.

        Parameters
        ----------
        other : Interval or float
            Another interval, or a number.

        Returns
        -------
        Interval
            The hull.

        Examples
        --------
        >>> from overlay.sets import Interval
        >>> Interval(0, 1).hull(Interval(3, 4))
        Interval(0.0, 4.0)
        """
        return self._of(bounds.hull(self.bounds, _interval(other).bounds))

    def intersection(self, other: Interval | float) -> Self:
        """The numbers in both.

        Parameters
        ----------
        other : Interval or float
            Another interval, or a number.

        Returns
        -------
        Interval
            The intersection; empty if they have no number in common.
        """
        return self._of(bounds.intersection(self.bounds, _interval(other).bounds))

    def split(self, pieces: int = 2) -> list[Self]:
        """Split the interval into adjacent intervals of about equal width.

        Parameters
        ----------
        pieces : int
            Their number, at least 1.

        Returns
        -------
        list of Interval
            The intervals, in ascending order.

        Examples
        --------
        >>> from overlay.sets import Interval
        >>> Interval(0, 2).split()
        [Interval(0.0, 1.0), Interval(1.0, 2.0)]
        """
        low, high = max(self.low, -LARGEST), min(self.high, LARGEST)
        cuts = [low + (high / pieces - low / pieces) * i for i in range(1, pieces)]
        ends = [self.low, *(min(max(cut, low), high) for cut in cuts), self.high]
        return [self._of(ends[i : i + 2]) for i in range(pieces)]

    def __contains__(self, number: Any) -> bool:
        return self.low <= number <= self.high

    def __getnewargs__(self) -> Any:
        return self.bounds

    def __repr__(self) -> str:
        return f"Interval({self.low!r}, {self.high!r})" if not self.is_empty else "EMPTY"
