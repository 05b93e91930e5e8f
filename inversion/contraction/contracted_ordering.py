"""Contractors of comparisons, choices and truth values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

from inversion.contraction.contractor import Contractor, image
from overlay import sets
from overlay.sets import Bound, NumberSet, number_set

__all__ = [
    "CLIP", "EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "MAX", "MIN", "NOT",
    "SAME", "TRUTH", "UNEQUAL", "WHERE", "of_truths",
]  # fmt: skip

INF = math.inf
FALSE, TRUE = (number_set([(x, x)], whole=True) for x in (0, 1))
EITHER = number_set([(0, 1)], whole=True)

Image = Callable[..., NumberSet]


def _truth(certain: bool, possible: bool) -> NumberSet:
    return TRUE if certain else EITHER if possible else FALSE


# ---- comparisons --------------------------------------------------------------------------


def _next(bound: Bound, side: int, whole: bool) -> Bound:
    """The number next to a bound."""
    if whole or bound in (INF, -INF):
        return bound + side
    return math.nextafter(bound, side * INF)


def _at_most(a: NumberSet, bound: Bound, strict: bool) -> NumberSet:
    last = _next(bound, -1, a.whole) if strict else bound
    return a.meet(number_set([(-INF, last)], whole=a.whole))


def _at_least(a: NumberSet, bound: Bound, strict: bool) -> NumberSet:
    first = _next(bound, 1, a.whole) if strict else bound
    return a.meet(number_set([(first, INF)], whole=a.whole))


def _order(strict: bool, swapped: bool) -> Contractor:
    """The contractor of < or <=; if ``swapped``, of > or >=."""

    def ret(a: NumberSet, b: NumberSet) -> NumberSet:
        one, other = (b, a) if swapped else (a, b)
        if strict:
            return _truth(one.high < other.low, one.low < other.high)
        return _truth(one.high <= other.low, one.low <= other.high)

    def smaller(a: NumberSet, other: NumberSet, holds: bool) -> NumberSet:
        return _at_most(a, other.high, strict) if holds else _at_least(a, other.low, not strict)

    def larger(a: NumberSet, other: NumberSet, holds: bool) -> NumberSet:
        return _at_least(a, other.low, strict) if holds else _at_most(a, other.high, not strict)

    def first(ret: NumberSet, a: NumberSet, b: NumberSet) -> NumberSet:
        if ret.low != ret.high:
            return a
        return (larger if swapped else smaller)(a, b, bool(ret.low))

    def second(ret: NumberSet, a: NumberSet, b: NumberSet) -> NumberSet:
        if ret.low != ret.high:
            return b
        return (smaller if swapped else larger)(b, a, bool(ret.low))

    return Contractor(ret, (first, second), of_nan=None)


LESS, LESS_EQUAL = _order(True, False), _order(False, False)
GREATER, GREATER_EQUAL = _order(True, True), _order(False, True)


def _apart(a: NumberSet, b: NumberSet) -> NumberSet:
    """The members of a that differ from the member of b, if it has only one."""
    if b.low != b.high:
        return a
    found: list[tuple[Bound, Bound]] = []
    for low, high in a.pieces:
        if low <= b.low <= high:
            found += [(low, _next(b.low, -1, a.whole)), (_next(b.low, 1, a.whole), high)]
        else:
            found.append((low, high))
    return number_set(found, whole=a.whole)


def _equality(negated: bool) -> Contractor:
    def ret(a: NumberSet, b: NumberSet) -> NumberSet:
        same = a.low == a.high == b.low == b.high
        possible = bool(a.meet(b))
        return _truth(not possible, not same) if negated else _truth(same, possible)

    def one(ret: NumberSet, a: NumberSet, b: NumberSet) -> NumberSet:
        if ret.low != ret.high:
            return a
        return a.meet(b) if bool(ret.low) != negated else _apart(a, b)

    return Contractor(ret, (one, lambda ret, a, b: one(ret, b, a)), of_nan=None)


EQUAL, UNEQUAL = _equality(False), _equality(True)

# ---- minimum, maximum, clipping -----------------------------------------------------------


def _smaller(ret: NumberSet, a: NumberSet, b: NumberSet) -> NumberSet:
    """The set of a, each member of which equals the result or exceeds it."""
    found = _at_least(a, ret.low, strict=False)
    return found.meet(ret) if b.low > ret.high else found


def _larger(ret: NumberSet, a: NumberSet, b: NumberSet) -> NumberSet:
    found = _at_most(a, ret.high, strict=False)
    return found.meet(ret) if b.high < ret.low else found


MIN = Contractor(
    image(sets.minimum),
    (lambda ret, a, b: _smaller(ret, a, b), lambda ret, a, b: _smaller(ret, b, a)), of_nan=None,
)  # fmt: skip
MAX = Contractor(
    image(sets.maximum),
    (lambda ret, a, b: _larger(ret, a, b), lambda ret, a, b: _larger(ret, b, a)), of_nan=None,
)  # fmt: skip


def _clipped(a: NumberSet, low: NumberSet, high: NumberSet) -> NumberSet:
    return image(sets.minimum)(image(sets.maximum)(a, low), high)


def _unclipped(ret: NumberSet, a: NumberSet, low: NumberSet, high: NumberSet) -> NumberSet:
    larger = image(sets.maximum)(a, low)
    return _larger(_smaller(ret, larger, high), a, low)


CLIP = Contractor(_clipped, (_unclipped, None, None), of_nan=None)
WHERE = Contractor(
    lambda c, a, b: a if c.low == 1 else b if c.high == 0 else a.join(b),
    (
        lambda ret, c, a, b: _which(ret, a, b),
        lambda ret, c, a, b: a.meet(ret) if c.low == 1 else a,
        lambda ret, c, a, b: b.meet(ret) if c.high == 0 else b,
    ),
    of_nan=None,
)


def _which(ret: NumberSet, a: NumberSet, b: NumberSet) -> NumberSet:
    first, second = bool(ret.meet(a)), bool(ret.meet(b))
    return number_set([(x, x) for x, possible in ((0, second), (1, first)) if possible], whole=True)


# ---- truth values -------------------------------------------------------------------------


def of_truths(function: Callable[..., bool], count: int) -> Contractor:
    """The contractor of a function of truth values, by enumeration of all cases."""
    cases = list(itertools.product((0, 1), repeat=count))

    def collected(place: int) -> Image:
        def back(ret: NumberSet, *args: NumberSet) -> NumberSet:
            fitting = (c for c in cases if _fits(c, args) and ret.contains(int(function(*c))))
            return number_set(((c[place], c[place]) for c in fitting), whole=True)

        return back

    def ret(*args: NumberSet) -> NumberSet:
        found = {int(function(*c)) for c in cases if _fits(c, args)}
        return number_set(((x, x) for x in found), whole=True)

    return Contractor(ret, tuple(collected(place) for place in range(count)))


def _fits(case: tuple[int, ...], args: tuple[NumberSet, ...]) -> bool:
    return all(arg.contains(x) for x, arg in zip(case, args, strict=True))


ZERO = number_set([(0, 0)], whole=True)
TRUTH = Contractor(
    lambda a: UNEQUAL.ret(a, ZERO) if UNEQUAL.ret else EITHER,
    (lambda ret, a: _of_truth(ret, a, negated=False),), of_nan=None,
)  # fmt: skip
NOT = Contractor(
    lambda a: EQUAL.ret(a, ZERO) if EQUAL.ret else EITHER,
    (lambda ret, a: _of_truth(ret, a, negated=True),), of_nan=None,
)  # fmt: skip


def _of_truth(ret: NumberSet, a: NumberSet, negated: bool) -> NumberSet:
    if ret.low != ret.high:
        return a
    return _apart(a, ZERO) if bool(ret.low) != negated else a.meet(ZERO)


SAME = Contractor(lambda a: a, (lambda ret, a: ret,))
