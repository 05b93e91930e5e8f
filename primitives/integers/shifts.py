"""Shifts: << and >> of integers by up to 1023 places, of words by up to 63.

In compiled code the solvers of integers refuse results of more than 64 bits. Words have separate
relations: they lose their top bits, so that most words are the result of several shifts.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from primitives.domains import Integer, Integers, Word64
from primitives.errors import NoSolution
from primitives.integers.exact import HIGHEST
from primitives.integers.integer_kinds import MOST, NONE, ONE, Exponent, IntegerKind
from primitives.relation import Relation, parametric, relation
from primitives.solver_forms import compiled_forms

__all__ = ["down", "first_places", "length", "lshift_int", "rshift_int", "word_shifts"]

LAST, WIDTH = map(np.uint64, (63, 64))


def first_places(kind: IntegerKind, least: int, moved: Any, refusal: str) -> Callable[..., Any]:
    """A solver for the number of places: the first one from ``wish`` on, cyclically, for which
    ``moved`` maps the value to the result.

    least: the smallest number of places. refusal: the error if there is none.
    """
    count, one = kind.places - least + 1, kind.type(1)
    first, last = kind.type(least), kind.type(kind.places)

    def places_of(ret: Any, value: Any, wish: Any) -> Any:
        k = wish
        for _ in range(count):
            if moved(value, k) == ret:
                return k
            k = k + one if k < last else first
        raise NoSolution(refusal)

    return places_of


# ---- of integers --------------------------------------------------------------------------


def up(a: int, k: int) -> int:
    """``a << k``; raises NoSolution where the machine would wrap."""
    return a << k


def down(a: int, k: int) -> int:
    """a >> k."""
    return a >> k


def filled(ret: int, k: int, low: int) -> int:
    """``ret`` << k, with the lowest k bits of ``low``."""
    return (ret << k) | (low & ((1 << k) - 1))


@compiled_forms.overlay(up)
def up_64(a: Any, k: Any) -> int:
    if k < 0:
        raise NoSolution("a shift goes by at least 0 places")
    shifted = a << min(k, 63)
    if a != 0 and (k > 63 or shifted >> k != a):
        raise NoSolution("the shifted integer needs more than 64 bits")
    return shifted


@compiled_forms.overlay(down)
def down_64(a: Any, k: Any) -> int:
    if k < 0:
        raise NoSolution("a shift goes by at least 0 places")
    return a >> min(k, 63)


@compiled_forms.overlay(filled)
def filled_64(ret: Any, k: Any, low: Any) -> int:
    if k > 63:
        if (ret == 0 and low >= 0) or (ret == -1 and low < 0):
            return low
        raise NoSolution("the integer needs more than 64 bits")
    mask = HIGHEST if k == 63 else (1 << k) - 1
    return up_64(ret, k) | (low & mask)


def length(a: int) -> int:
    """The number of bits of an integer, without its sign."""
    rest, count = (~a if a < 0 else a), 0
    while rest != 0:
        rest >>= 1
        count += 1
    return count


def zeros(a: int) -> int:
    """The number of trailing zeros of an integer that is not 0."""
    count = 0
    while a & 1 == 0:
        a >>= 1
        count += 1
    return count


def without_zeros(ret: int, k: int) -> int:
    """The integer a with a << k equal to ``ret``."""
    if ret != 0 and zeros(ret) < k:
        raise NoSolution("the lowest bits of a shifted integer are 0")
    return down(ret, k)


def places_up(ret: int, a: int, free: int) -> int:
    """The number of places by which a is shifted left to ``ret``; ``free`` if both are 0."""
    if a == 0 and ret == 0:
        return free
    if a == 0 or ret == 0:
        raise NoSolution("a shifted integer is 0 exactly if the integer is 0")
    found = zeros(ret) - zeros(a)
    if not 0 <= found <= MOST or down(ret, found) != a:
        raise NoSolution("the result is not the integer, shifted by up to 1023 places")
    return found


def places_down(ret: int, a: int, free: int) -> int:
    """The number of places by which a is shifted right to ``ret``; if only the sign remains, the
    one near ``free``.
    """
    found = length(a) - length(ret)
    if not 0 <= found <= MOST or down(a, found) != ret:
        raise NoSolution("the result is not the integer, shifted by up to 1023 places")
    return max(found, free) if ret == 0 or ret == -1 else found


lshift_int = relation(
    operator.lshift, int, int, "return = a << k", domain={"k": Exponent},
    ret=lambda a, k: up(a, k),
    a=lambda ret, k: without_zeros(ret, k),
    k=parametric(
        places_up, free=Exponent, recover=lambda k: (k,), determined_if=lambda a: a != 0,
    ),
    ak=parametric(
        lambda ret, v: (
            (0, v) if ret == 0 else (down(ret, min(v, zeros(ret))), min(v, zeros(ret)))
        ),
        v=Exponent, recover=lambda k: (k,),
    ),
)  # fmt: skip
rshift_int = relation(
    operator.rshift, int, int, "return = a >> k", domain={"k": Exponent},
    ret=lambda a, k: down(a, k),
    a=parametric(
        lambda ret, k, low: filled(ret, k, low), low=Integer,
        recover=lambda a, k: (a & ((1 << k) - 1) if k < 63 else a,), determined_if=lambda k: k == 0,
    ),
    k=parametric(places_down, free=Exponent, recover=lambda k: (k,)),
    ak=parametric(
        lambda ret, v, low: (filled(ret, v, low), v), v=Exponent, low=Integer,
        recover=lambda a, k: (k, a & ((1 << k) - 1) if k < 63 else a),
    ),
)  # fmt: skip

# ---- of words -----------------------------------------------------------------------------

SHIFTED = "the result is not the word, shifted by up to 63 places"


def without_word_zeros(ret: Any, places: Any, high: Any) -> Any:
    """The word that is shifted left to ``ret``: its lost top bits are the lowest of ``high``."""
    if places > LAST or (ret >> places) << places != ret:
        raise NoSolution("the lowest bits of a shifted word are 0")
    return ret >> places if places == NONE else (ret >> places) | (high << (WIDTH - places))


def lost_above(value: Any, places: Any) -> Any:
    """The top bits that << loses."""
    return NONE if places == NONE else value >> (WIDTH - places)


def lost_below(value: Any, places: Any) -> Any:
    """The lowest bits, which >> loses."""
    return value & ((ONE << places) - ONE)


def word_shifts(kind: IntegerKind) -> tuple[Relation, Relation]:
    """The relations of << and >> of words. The latter keeps the sign of numpy.int64."""
    return _word_up(kind), _word_down(kind)


def _word_up(kind: IntegerKind) -> Relation:
    made, word, places = kind.type, np.uint64, Integers(0, kind.places, kind=kind.type)

    def shifted_up(a: Any, k: Any) -> Any:
        return made(word(a) << word(k))

    places_up = first_places(kind, 0, shifted_up, SHIFTED)

    def both_up(ret: Any, wish: Any, high: Any) -> Any:
        k = word(wish)
        while (word(ret) >> k) << k != word(ret):
            k = (k + ONE) & LAST
        return made(without_word_zeros(word(ret), k, high)), made(k)

    return relation(
        operator.lshift, made, made, "return = a << k", domain={"k": places},
        ret=shifted_up,
        a=parametric(
            lambda ret, k, high: made(without_word_zeros(word(ret), word(k), high)), high=Word64,
            recover=lambda a, k: (lost_above(word(a), word(k)),),
            determined_if=lambda k: k == 0,
        ),
        k=parametric(
            lambda ret, a, wish: places_up(ret, a, wish), wish=places, recover=lambda k: (k,)
        ),
        ak=parametric(  # the first possible number of places from ``wish`` on, cyclically
            both_up, wish=places, high=Word64,
            recover=lambda a, k: (k, lost_above(word(a), word(k))),
        ),
    )  # fmt: skip


def _word_down(kind: IntegerKind) -> Relation:
    made, word, places = kind.type, np.uint64, Integers(0, kind.places, kind=kind.type)

    def shifted_down(a: Any, k: Any) -> Any:
        return a >> k

    places_down = first_places(kind, 0, shifted_down, SHIFTED)

    def widened(ret: Any, k: Any, low: Any) -> Any:
        if word(k) > LAST:
            raise NoSolution("words are shifted by up to 63 places")
        found = made((word(ret) << word(k)) | lost_below(low, word(k)))
        if found >> k != ret:
            raise NoSolution("the top bits of a word shifted down are those of its sign")
        return found

    def both_down(ret: Any, wish: Any, low: Any) -> Any:
        k = wish
        while made(word(ret) << word(k)) >> k != ret:
            k = made((word(k) + ONE) & LAST)
        return widened(ret, k, low), k

    return relation(
        operator.rshift, made, made, "return = a >> k", domain={"k": places},
        ret=shifted_down,
        a=parametric(
            widened, low=Word64,
            recover=lambda a, k: (lost_below(word(a), word(k)),),
            determined_if=lambda k: k == 0,
        ),
        k=parametric(
            lambda ret, a, wish: places_down(ret, a, wish), wish=places, recover=lambda k: (k,)
        ),
        ak=parametric(
            both_down, wish=places, low=Word64,
            recover=lambda a, k: (k, lost_below(word(a), word(k))),
        ),
    )  # fmt: skip
