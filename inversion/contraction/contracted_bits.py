"""Contractors of shifts and bitwise operations: masks split numbers into blocks, shifts scale."""

from __future__ import annotations

import math
from collections.abc import Callable

from inversion.contraction.contractor import Contractor, image
from overlay.sets import Bound, NumberSet, Piece, number_set

__all__ = ["AND", "INVERT", "LEFT", "OR", "RIGHT", "XOR", "in_blocks"]

INF = math.inf
MOST_PLACES = 4096
"""The longest shift that is contracted."""

ALL: Piece = (-INF, INF)

Backwards = Callable[[NumberSet, NumberSet, NumberSet], NumberSet]


def _place_count(k: NumberSet) -> int | None:
    """The distance of a shift, if it is known and not above the limit."""
    if len(k.pieces) != 1 or k.low != k.high or not 0 <= k.low <= MOST_PLACES:
        return None
    return int(k.low)


# ---- shifts -------------------------------------------------------------------------------


def _scaled(bound: Bound, places: Bound) -> Bound:
    return bound if abs(bound) == INF else int(bound) << int(places)


def _floored(bound: Bound, places: Bound) -> Bound:
    return bound if abs(bound) == INF else int(bound) >> int(places)


def _shifted(one: Callable[[Bound, Bound], Bound]) -> Callable[[NumberSet, NumberSet], NumberSet]:
    """The image under a shift, which for any number is monotone in the distance."""

    def images(a: Piece, k: Piece) -> Piece:
        low, high = max(k[0], 0), k[1]
        if not low <= high <= MOST_PLACES:
            return ALL
        ends = [one(bound, places) for bound in a for places in (low, high)]
        return min(ends), max(ends)

    return image(images)


def _before_left(ret: NumberSet, a: NumberSet, k: NumberSet) -> NumberSet:
    places = _place_count(k)
    if places is None:
        return a
    pieces = ((-_floored(-low, places), _floored(high, places)) for low, high in ret.pieces)
    return number_set(((low, high) for low, high in pieces if low <= high), whole=True)


def _before_right(ret: NumberSet, a: NumberSet, k: NumberSet) -> NumberSet:
    places = _place_count(k)
    if places is None:
        return a
    return number_set(
        (
            (_scaled(low, places), _scaled(high, places) + (1 << places) - 1)
            for low, high in ret.pieces
        ),
        whole=True,
    )


LEFT = Contractor(_shifted(_scaled), (_before_left, None))
RIGHT = Contractor(_shifted(_floored), (_before_right, None))

# ---- bitwise operations -------------------------------------------------------------------


def _all_ones(*bounds: Bound) -> Bound:
    """The largest number with no more bits than any of these bounds, which are not negative."""
    return INF if INF in bounds else (1 << max(int(bound).bit_length() for bound in bounds)) - 1


def _low_ones(b: Piece) -> int | None:
    """The mask of b, if it is a single number whose set bits are exactly the lowest ones."""
    mask = b[0]
    if mask != b[1] or mask < 0 or abs(mask) == INF or int(mask) & (int(mask) + 1):
        return None
    return int(mask)


def _and(a: Piece, b: Piece) -> Piece:
    for one, other in ((a, b), (b, a)):
        mask = _low_ones(other)
        if mask is not None and one[0] > -INF and one[1] < INF:
            low, high = int(one[0]), int(one[1])
            if low & ~mask == high & ~mask:  # the whole piece lies in one block
                return low & mask, high & mask
    highs = [high for low, high in (a, b) if low >= 0]
    if highs:
        return 0, min(highs)
    if -INF in (a[0], b[0]):
        return -INF, max(a[1], b[1])
    return -_all_ones(-a[0], -b[0]) - 1, max(a[1], b[1])


def _or(a: Piece, b: Piece) -> Piece:
    if min(a[0], b[0]) < 0:
        return ALL
    if _apart(a, b):
        return a[0] + b[0], a[1] + b[1]
    return max(a[0], b[0]), _less_than_sum(a, b)


def _xor(a: Piece, b: Piece) -> Piece:
    if min(a[0], b[0]) < 0:
        return ALL
    if _apart(a, b):
        return a[0] + b[0], a[1] + b[1]
    lows = (one[0] - other[1] for one, other in ((a, b), (b, a)) if other[1] < INF)
    return max((0, *lows)), _less_than_sum(a, b)


def _less_than_sum(a: Piece, b: Piece) -> Bound:
    """The upper bound of a bitwise combination: the smaller of the sum and all ones. Infinity is
    not added to an integer, which may exceed all floats.
    """
    return INF if INF in (a[1], b[1]) else min(a[1] + b[1], _all_ones(a[1], b[1]))


def _apart(a: Piece, b: Piece) -> bool:
    """Return whether one set is a single number that shares no bit with any member of the other:
    then the combination of bits is their sum. Neither set has negative members.
    """
    return any(
        one[0] == one[1] < INF and other[1] < INF and not int(one[0]) & int(_all_ones(other[1]))
        for one, other in ((a, b), (b, a))
    )


def _before_and(ret: NumberSet, a: NumberSet, b: NumberSet) -> NumberSet:
    """The members whose masked bits are in ``ret``."""
    if len(b.pieces) == 1 and (mask := _low_ones(b.pieces[0])) is not None:
        return in_blocks(ret, a, mask + 1)
    if a.low >= 0 and b.low >= 0:
        return a.meet(number_set([(ret.low, INF)], whole=True))
    return a


def in_blocks(ret: NumberSet, a: NumberSet, size: int) -> NumberSet:
    """The integers in a whose remainder by ``size`` is in ``ret``: from the first to the last of
    each piece.
    """
    allowed = ret.meet(number_set([(0, size - 1)], whole=True))
    mirrored = number_set(
        ((size - 1 - high, size - 1 - low) for low, high in allowed.pieces), whole=True
    )
    found: list[Piece] = []
    for low, high in a.pieces if allowed else ():
        first = low if low == -INF else _from(int(low), allowed, size)
        # mirrored, the numbers and their remainders have the opposite order
        last = high if high == INF else size - 1 - _from(size - 1 - int(high), mirrored, size)
        if first <= last:
            found.append((first, last))
    return number_set(found, whole=True)


def _from(number: int, allowed: NumberSet, size: int) -> int:
    """The first number, not below this one, whose remainder is allowed."""
    rest = number % size
    for low, high in allowed.pieces:
        if rest <= high:
            return number - rest + max(rest, int(low))
    return number - rest + size + int(allowed.low)


def _before_or(ret: NumberSet, a: NumberSet, b: NumberSet) -> NumberSet:
    if a.low < 0 or b.low < 0:
        return a
    if b.low == b.high and all(_apart((b.low, b.high), piece) for piece in a.pieces):
        return number_set(((low - b.low, high - b.low) for low, high in ret.pieces), whole=True)
    high = ret.high
    if ret.low == ret.high < INF:  # it has only bits of the result
        high = _most_of(int(ret.high), min(a.high, ret.high))
    return a.meet(number_set([(ret.low - b.high, high)], whole=True))


def _most_of(bits: int, bound: Bound) -> int:
    """The largest number up to a bound that has no other bits than these."""
    found = 0
    for place in reversed(range(bits.bit_length())):
        one = bits & (1 << place)
        if one and found | one <= bound:
            found |= one
    return found


def _swapped(before: Backwards) -> Backwards:
    def swapped(ret: NumberSet, a: NumberSet, b: NumberSet) -> NumberSet:
        return before(ret, b, a)

    return swapped


def _before_xor(ret: NumberSet, a: NumberSet, b: NumberSet) -> NumberSet:
    return a if ret.low < 0 else image(_xor)(ret, b)


def _inverted(a: NumberSet, *_: NumberSet) -> NumberSet:
    return number_set(((-1 - high, -1 - low) for low, high in a.pieces), whole=True)


AND = Contractor(image(_and), (_before_and, _swapped(_before_and)))
OR = Contractor(image(_or), (_before_or, _swapped(_before_or)))
XOR = Contractor(image(_xor), (_before_xor, _swapped(_before_xor)))
INVERT = Contractor(_inverted, (_inverted,))
