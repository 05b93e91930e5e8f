"""The kinds of integers: of any size, or words of 64 bits, signed or unsigned.

Relations are written once for all kinds. The differences between the kinds are defined here: their
ranges, overflow, and the type of distances.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from primitives.domains import Domain, Int64, Integer, Integers, Word64
from primitives.errors import NoSolution
from primitives.integers.exact import minus, plus

__all__ = ["INT64", "INTEGERS", "KINDS", "MOST", "UINT64", "Exponent", "IntegerKind", "Natural"]

MOST = 1023
"""The largest number of places by which integers are shifted, and maximum exponent of powers."""
Natural = Integers(0)
Exponent = Integers(0, MOST)
Size = Integers(1)
WordSize = Integers(1, kind=np.uint64)
NONE, ONE = map(np.uint64, (0, 1))
ALL = ~NONE


@dataclass(frozen=True)
class IntegerKind:
    """Arithmetic and domains of one integer type.

    Sizes and distances of words are of type numpy.uint64, which holds all of them. wraps:
    whether sums and products are modulo 2**64; those of integers are exact, and compiled code
    refuses results of more than 64 bits. signed: whether there are negative values.

    domain: all values. nonzero: all but 0. steps, sizes: distances from 0 and from 1 on.
    lowest: the lowest value; 0 for integers, which have none. places: the maximum number of places
    of a shift.

    plus(a, b), minus(a, b): sum and difference. step: the type of sizes and distances.
    size(a): the absolute value. of_size(size, negative): the value of this size and sign.
    distance(a, b): the size of a - b. negated(a): -a. largest(negative): the largest size of a
    value of this sign; 0 for integers, which have none.
    beside(known, up, strict, excess): the value above (``up``) or below a known one, or equal to
    it unless ``strict``, at distance ``excess`` from the nearest of these. excess_of(known, other,
    up, strict): the excess for which it returns ``other``.
    moved(known, difference): the sum of a value and a difference, of the domain ``differences``.
    difference_of(known, other): that difference; arbitrary for equal values.
    """

    type: Any
    wraps: bool
    signed: bool
    domain: Domain
    nonzero: Domain
    steps: Domain
    sizes: Domain
    differences: Domain
    lowest: Any
    places: int
    step: Any
    plus: Callable[[Any, Any], Any]
    minus: Callable[[Any, Any], Any]
    size: Callable[[Any], Any]
    of_size: Callable[[Any, Any], Any]
    distance: Callable[[Any, Any], Any]
    negated: Callable[[Any], Any]
    largest: Callable[[Any], Any]
    beside: Callable[[Any, Any, Any, Any], Any]
    excess_of: Callable[[Any, Any, Any, Any], Any]
    moved: Callable[[Any, Any], Any]
    difference_of: Callable[[Any, Any], Any]


# ---- integers -----------------------------------------------------------------------------


def negated_integer(a: int) -> int:
    return minus(0, a)


def magnitude(a: int) -> int:
    """The absolute value."""
    return minus(0, a) if a < 0 else a


def integer_of_size(size: int, negative: bool) -> int:
    return minus(0, size) if negative else size


def integer_distance(a: int, b: int) -> int:
    return magnitude(minus(a, b))


def largest_integer(negative: bool) -> int:
    return 0


def integer_beside(known: int, up: bool, strict: bool, excess: int) -> int:
    step = plus(excess, 1) if strict else excess
    return plus(known, step) if up else minus(known, step)


def integer_excess(known: int, other: int, up: bool, strict: bool) -> int:
    distance = minus(other, known) if up else minus(known, other)
    return distance - 1 if strict else distance


def integer_difference(known: int, other: int) -> int:
    return other - known or 1


INTEGERS = IntegerKind(
    type=int,
    wraps=False,
    signed=True,
    domain=Integer,
    nonzero=Integers(without=(0,)),
    steps=Natural,
    sizes=Size,
    differences=Integers(without=(0,)),
    lowest=0,
    places=MOST,
    step=int,
    plus=plus,
    minus=minus,
    size=magnitude,
    of_size=integer_of_size,
    distance=integer_distance,
    negated=negated_integer,
    largest=largest_integer,
    beside=integer_beside,
    excess_of=integer_excess,
    moved=plus,
    difference_of=integer_difference,
)

# ---- words --------------------------------------------------------------------------------


def _word_sizes(kind: Any) -> dict[str, Callable[..., Any]]:
    word, zero, last = np.uint64, kind(0), np.uint64(np.iinfo(kind).max)

    def word_sum(a: Any, b: Any) -> Any:
        return a + b

    def word_difference(a: Any, b: Any) -> Any:
        return a - b

    def word_size(a: Any) -> Any:
        return word(a) if a >= zero else NONE - word(a)

    def word_of_size(size: Any, negative: Any) -> Any:
        return kind(NONE - size if negative else size)

    def word_distance(a: Any, b: Any) -> Any:
        return word(a) - word(b) if a >= b else word(b) - word(a)

    def negated_word(a: Any) -> Any:
        return zero - a

    def largest_word(negative: Any) -> Any:
        return last + ONE if negative else last

    return {
        "plus": word_sum,
        "minus": word_difference,
        "size": word_size,
        "of_size": word_of_size,
        "distance": word_distance,
        "negated": negated_word,
        "largest": largest_word,
    }


def _word_neighbours(kind: Any) -> dict[str, Callable[..., Any]]:
    """Functions for neighbours of words; an excess wraps around in the rest of the range."""
    word, info = np.uint64, np.iinfo(kind)
    lowest, highest = word(kind(info.min)), word(kind(info.max))

    def word_beside(known: Any, up: Any, strict: Any, excess: Any) -> Any:
        room = highest - word(known) if up else word(known) - lowest
        first = word(known)
        if strict:
            if room == NONE:
                raise NoSolution("no word lies beyond the last one")
            first = first + ONE if up else first - ONE
            room = room - ONE
        step = excess if room == ALL else excess % (room + ONE)
        return kind(first + step if up else first - step)

    def word_excess(known: Any, other: Any, up: Any, strict: Any) -> Any:
        distance = word(other) - word(known) if up else word(known) - word(other)
        return distance - ONE if strict else distance

    def word_moved(known: Any, difference: Any) -> Any:
        return kind(word(known) + difference)

    def word_difference_of(known: Any, other: Any) -> Any:
        return word(other) - word(known) if known != other else ONE

    return {
        "beside": word_beside,
        "excess_of": word_excess,
        "moved": word_moved,
        "difference_of": word_difference_of,
    }


def _word_kind(kind: Any) -> IntegerKind:
    return IntegerKind(
        type=kind,
        wraps=True,
        signed=kind is np.int64,
        domain=Int64 if kind is np.int64 else Word64,
        nonzero=Integers(without=(0,), kind=kind),
        steps=Word64,
        sizes=WordSize,
        differences=WordSize,
        lowest=kind(np.iinfo(kind).min),
        places=63,
        step=np.uint64,
        **_word_sizes(kind),
        **_word_neighbours(kind),
    )


INT64, UINT64 = _word_kind(np.int64), _word_kind(np.uint64)
KINDS = (INTEGERS, INT64, UINT64)
