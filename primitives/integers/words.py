"""Words: orders, shifts, rotations and xorshift steps of numpy.int64 and numpy.uint64.

Their bits are handled as those of a numpy.uint64. Shifts and rotations go by up to 63 places.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from primitives.domains import Bool, Int64, Integers, Word64
from primitives.errors import NoSolution
from primitives.integers.bits import (
    bitwise,
    counted,
    rotate_left,
    rotate_right,
    xorshift_left,
    xorshift_right,
)
from primitives.integers.ordering import comparisons, equalities, extremes
from primitives.integers.word_conversion import conversions
from primitives.integers.word_divmod import WORD_DIVISION
from primitives.logical import truth
from primitives.relation import Relation, parametric, relation

__all__ = ["words_of"]

NONE, ONE, LAST, WIDTH = map(np.uint64, (0, 1, 63, 64))
ALL = ~NONE


def words_of(kind: Any) -> tuple[Relation, ...]:
    """The relations of this numpy type, but for sums and products."""
    domain = Int64 if kind is np.int64 else Word64
    nonzero = Integers(without=(0,), kind=kind)
    beside, excess_of = _neighbours(kind)
    different = Integers(1, kind=np.uint64)
    return (
        *comparisons(kind, domain, Word64, beside, excess_of),
        *equalities(kind, domain, different, *_differences(kind)),
        *extremes(kind, domain, Word64, beside, excess_of),
        *bitwise(kind, domain),
        counted(kind, domain),
        *truth(kind, nonzero),
        *shifts(kind),
        *xorshifts(kind),
        *(rotations() if kind is np.uint64 else ()),
        *conversions(kind),
        *WORD_DIVISION[kind],
    )


# ---- order --------------------------------------------------------------------------------


def _neighbours(kind: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """What ``ordering.beside`` and its excess are for words. An excess is counted around."""
    info, word = np.iinfo(kind), np.uint64
    lowest, highest = word(kind(info.min)), word(kind(info.max))

    def beside(known: Any, up: Any, strict: Any, excess: Any) -> Any:
        room = highest - word(known) if up else word(known) - lowest
        first = word(known)
        if strict:
            if room == NONE:
                raise NoSolution("no word lies beyond the last one")
            first = first + ONE if up else first - ONE
            room = room - ONE
        step = excess if room == ALL else excess % (room + ONE)
        return kind(first + step if up else first - step)

    def excess_of(known: Any, other: Any, up: Any, strict: Any) -> Any:
        distance = word(other) - word(known) if up else word(known) - word(other)
        return distance - ONE if strict else distance

    return beside, excess_of


def _differences(kind: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    word = np.uint64

    def moved(known: Any, difference: Any) -> Any:
        return kind(word(known) + difference)

    def difference_of(known: Any, other: Any) -> Any:
        return word(other) - word(known) if known != other else ONE

    return moved, difference_of


# ---- shifts -------------------------------------------------------------------------------


def without_zeros(ret: Any, places: Any, high: Any) -> Any:
    """The word that << gives ``ret``: its top bits, which are lost, are the lowest of ``high``."""
    if places > LAST or (ret >> places) << places != ret:
        raise NoSolution("the lowest bits of a shifted word are 0")
    return ret >> places if places == NONE else (ret >> places) | (high << (WIDTH - places))


def lost_above(value: Any, places: Any) -> Any:
    """The top bits that << loses."""
    return NONE if places == NONE else value >> (WIDTH - places)


def lost_below(value: Any, places: Any) -> Any:
    """The lowest bits, which >> loses."""
    return value & ((ONE << places) - ONE)


def shifts(kind: Any) -> tuple[Relation, ...]:
    """The relations of << and >>. The latter keeps the sign of numpy.int64."""
    word = np.uint64
    places = Integers(0, 63, kind=kind)

    def widened(ret: Any, k: Any, low: Any) -> Any:
        if word(k) > LAST:
            raise NoSolution("words are shifted by up to 63 places")
        found = kind((word(ret) << word(k)) | lost_below(low, word(k)))
        if found >> k != ret:
            raise NoSolution("the top bits of a word shifted down are those of its sign")
        return found

    def places_up(ret: Any, a: Any, wish: Any) -> Any:
        k = word(wish)
        for _ in range(64):
            if word(a) << k == word(ret):
                return kind(k)
            k = (k + ONE) & LAST
        raise NoSolution("the result is not the word, shifted by up to 63 places")

    def places_down(ret: Any, a: Any, wish: Any) -> Any:
        k = word(wish)
        for _ in range(64):
            if a >> kind(k) == ret:
                return kind(k)
            k = (k + ONE) & LAST
        raise NoSolution("the result is not the word, shifted by up to 63 places")

    def both_up(ret: Any, wish: Any, high: Any) -> Any:
        k = word(wish)
        while (word(ret) >> k) << k != word(ret):
            k = (k + ONE) & LAST
        return kind(without_zeros(word(ret), k, high)), kind(k)

    def both_down(ret: Any, wish: Any, low: Any) -> Any:
        k = wish
        while kind(word(ret) << word(k)) >> k != ret:
            k = kind((word(k) + ONE) & LAST)
        return widened(ret, k, low), k

    return (
        relation(
            operator.lshift, kind, kind, "return = a << k", domain={"k": places},
            ret=lambda a, k: kind(word(a) << word(k)),
            a=parametric(
                lambda ret, k, high: kind(without_zeros(word(ret), word(k), high)), high=Word64,
                recover=lambda a, k: (lost_above(word(a), word(k)),),
                determined_if=lambda k: k == 0,
            ),
            k=parametric(places_up, wish=places, recover=lambda k: (k,)),
            ak=parametric(  # the first number of places from ``wish`` on that can be, going round
                both_up, wish=places, high=Word64,
                recover=lambda a, k: (k, lost_above(word(a), word(k))),
            ),
        ),
        relation(
            operator.rshift, kind, kind, "return = a >> k", domain={"k": places},
            ret=lambda a, k: a >> k,
            a=parametric(
                widened, low=Word64,
                recover=lambda a, k: (lost_below(word(a), word(k)),),
                determined_if=lambda k: k == 0,
            ),
            k=parametric(places_down, wish=places, recover=lambda k: (k,)),
            ak=parametric(
                both_down, wish=places, low=Word64,
                recover=lambda a, k: (k, lost_below(word(a), word(k))),
            ),
        ),
    )  # fmt: skip


# ---- steps of generators ------------------------------------------------------------------


def sum_of_shifts_up(ret: Any, places: Any) -> Any:
    """``ret`` ^ (``ret`` << k) ^ (``ret`` << 2 * k) ^ ..., which undoes a xorshift by k."""
    if places < ONE:
        raise NoSolution("a shift by 0 places leaves 0")
    while places < WIDTH:
        ret = ret ^ (ret << places)
        places = places + places
    return ret


def sum_of_shifts_down(ret: Any, places: Any) -> Any:
    """The same to the right."""
    if places < ONE:
        raise NoSolution("a shift by 0 places leaves 0")
    while places < WIDTH:
        ret = ret ^ (ret >> places)
        places = places + places
    return ret


def xorshifts(kind: Any) -> tuple[Relation, ...]:
    """The relations of xorshift_left and xorshift_right, by 1 to 63 places.

    To the right, the sign of numpy.int64 is shifted in: a word and its complement have the same.
    """
    word = np.uint64
    places = Integers(1, 63, kind=kind)
    zero = kind(0)

    def unshifted(ret: Any, k: Any, negative: Any) -> Any:
        if ret < zero:
            raise NoSolution("a xorshift to the right clears the sign")
        found = kind(sum_of_shifts_down(word(ret), word(k)))
        return ~found if negative else found

    def places_up(ret: Any, x: Any, wish: Any) -> Any:
        k = word(wish)
        for _ in range(63):
            if word(x) ^ (word(x) << k) == word(ret):
                return kind(k)
            k = k + ONE if k < LAST else ONE
        raise NoSolution("the result is not the word, changed by a shift of up to 63 places")

    def places_down(ret: Any, x: Any, wish: Any) -> Any:
        k = word(wish)
        for _ in range(63):
            if x ^ (x >> kind(k)) == ret:
                return kind(k)
            k = k + ONE if k < LAST else ONE
        raise NoSolution("the result is not the word, changed by a shift of up to 63 places")

    left = relation(
        xorshift_left, kind, kind, "return = xorshift_left(x, k)", domain={"k": places},
        ret=lambda x, k: xorshift_left(x, k),
        x=lambda ret, k: kind(sum_of_shifts_up(word(ret), word(k))),
        k=parametric(places_up, wish=places, recover=lambda k: (k,)),
        xk=parametric(
            lambda ret, v: (kind(sum_of_shifts_up(word(ret), word(v))), v), v=places,
            recover=lambda k: (k,),
        ),
    )  # fmt: skip
    by_sign = parametric(unshifted, negative=Bool, recover=lambda x: (x < 0,))
    both = parametric(
        lambda ret, v, negative: (unshifted(ret, v, negative), v), v=places, negative=Bool,
        recover=lambda x, k: (k, x < 0),
    )  # fmt: skip
    if kind is np.uint64:
        by_sign = lambda ret, k: unshifted(ret, k, False)  # noqa: E731
        both = parametric(
            lambda ret, v: (unshifted(ret, v, False), v), v=places, recover=lambda k: (k,)
        )
    right = relation(
        xorshift_right, kind, kind, "return = xorshift_right(x, k)",
        domain={"k": places}, codomain=Integers(0, kind=kind),
        ret=lambda x, k: xorshift_right(x, k),
        x=by_sign,
        k=parametric(places_down, wish=places, recover=lambda k: (k,)),
        xk=both,
    )  # fmt: skip
    return left, right


def rotations() -> tuple[Relation, ...]:
    """The relations of rotate_left and rotate_right, of numpy.uint64."""
    places = Integers(0, 63, kind=np.uint64)

    def rotation(target: Any, back: Any) -> Relation:
        def places_to(ret: Any, x: Any, wish: Any) -> Any:
            k = wish
            for _ in range(64):
                if target(x, k) == ret:
                    return k
                k = (k + ONE) & LAST
            raise NoSolution("the result is not the word, rotated")

        return relation(
            target, np.uint64, np.uint64, f"return = {target.__name__}(x, k)",
            domain={"k": places},
            ret=lambda x, k: target(x, k),
            x=lambda ret, k: back(ret, k),
            k=parametric(places_to, wish=places, recover=lambda k: (k,)),
            xk=parametric(lambda ret, v: (back(ret, v), v), v=places, recover=lambda k: (k,)),
        )  # fmt: skip

    return rotation(rotate_left, rotate_right), rotation(rotate_right, rotate_left)
