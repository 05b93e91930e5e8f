"""Xorshift steps of integers and words, and rotations of words: steps of random generators."""

from __future__ import annotations

from typing import Any

import numpy as np

from primitives.domains import Bool, Integers
from primitives.errors import NoSolution
from primitives.integers.bits import rotate_left, rotate_right, xorshift_left, xorshift_right
from primitives.integers.integer_kinds import ONE, UINT64, IntegerKind
from primitives.integers.shifts import WIDTH, down, first_places, length
from primitives.relation import Relation, parametric, relation

__all__ = ["rotations", "xorshift_left_of", "xorshift_right_of"]

CHANGED = "the result is not the word, changed by a shift of up to 63 places"
INTEGER_CHANGED = "the result is not the integer, changed by a shift of up to 1023 places"


def integer_shifted(x: int, k: int) -> int:
    """xorshift_right of integers, by any number of places in compiled code too."""
    return x ^ down(x, k)


def word_width(value: Any) -> int:
    return 64


def xorshift_right_of(kind: IntegerKind) -> Relation:
    """The relation of xorshift_right.

    The sign is shifted in: a value and its complement have equal results.
    """
    made, signed, zero, one = kind.type, kind.signed, kind.type(0), kind.type(1)
    places = Integers(1, kind.places, kind=made)
    shifted = xorshift_right if kind.wraps else integer_shifted
    width = word_width if kind.wraps else length
    places_of = first_places(kind, 1, shifted, CHANGED if kind.wraps else INTEGER_CHANGED)

    def sum_of_shifts(ret: Any, k: Any) -> Any:
        """``ret`` ^ (``ret`` >> k) ^ (``ret`` >> 2 * k) ^ ..."""
        if k < one:
            raise NoSolution("x ^ (x shifted by 0 places) is always 0")
        step, bits = k, made(width(ret))
        while step < bits:
            ret = ret ^ (ret >> step)
            step = step + step
        return ret

    def unshifted(ret: Any, k: Any, negative: Any) -> Any:
        if ret < zero:
            raise NoSolution("a xorshift to the right clears the sign")
        found = sum_of_shifts(ret, k)
        return ~found if negative else found

    by_sign: Any = lambda ret, k: sum_of_shifts(ret, k)  # noqa: E731
    both = parametric(
        lambda ret, v: (sum_of_shifts(ret, v), v), v=places, recover=lambda k: (k,)
    )  # fmt: skip
    if signed:
        by_sign = parametric(unshifted, negative=Bool, recover=lambda x: (x < 0,))
        both = parametric(
            lambda ret, v, negative: (unshifted(ret, v, negative), v), v=places, negative=Bool,
            recover=lambda x, k: (k, x < 0),
        )  # fmt: skip
    return relation(
        xorshift_right, made, made, "return = xorshift_right(x, k)",
        domain={"k": places}, codomain=Integers(0, kind=made),
        ret=lambda x, k: shifted(x, k),
        x=by_sign,
        k=parametric(
            lambda ret, x, wish: places_of(ret, x, wish), wish=places, recover=lambda k: (k,)
        ),
        xk=both,
    )  # fmt: skip


def sum_of_shifts_up(ret: Any, places: Any) -> Any:
    """``ret`` ^ (``ret`` << k) ^ (``ret`` << 2 * k) ^ ..., which undoes a xorshift by k."""
    if places < ONE:
        raise NoSolution("x ^ (x shifted by 0 places) is always 0")
    while places < WIDTH:
        ret = ret ^ (ret << places)
        places = places + places
    return ret


def xorshift_left_of(kind: IntegerKind) -> Relation:
    """The relation of xorshift_left, of words only; on integers its inverse is an infinite sum."""
    made, word, places = kind.type, np.uint64, Integers(1, kind.places, kind=kind.type)

    def shifted(x: Any, k: Any) -> Any:
        return made(word(x) ^ (word(x) << word(k)))

    def unshifted(ret: Any, k: Any) -> Any:
        return made(sum_of_shifts_up(word(ret), word(k)))

    places_of = first_places(kind, 1, shifted, CHANGED)
    return relation(
        xorshift_left, made, made, "return = xorshift_left(x, k)", domain={"k": places},
        ret=lambda x, k: xorshift_left(x, k),
        x=unshifted,
        k=parametric(
            lambda ret, x, wish: places_of(ret, x, wish), wish=places, recover=lambda k: (k,)
        ),
        xk=parametric(
            lambda ret, v: (unshifted(ret, v), v), v=places, recover=lambda k: (k,)
        ),
    )  # fmt: skip


def rotations() -> tuple[Relation, ...]:
    """The relations of rotate_left and rotate_right, for numpy.uint64 only."""
    return _rotation(rotate_left, rotate_right), _rotation(rotate_right, rotate_left)


def _rotation(target: Any, back: Any) -> Relation:
    places = Integers(0, UINT64.places, kind=np.uint64)
    places_of = first_places(UINT64, 0, target, "the result is not the word, rotated")
    return relation(
        target, np.uint64, np.uint64, f"return = {target.__name__}(x, k)",
        domain={"k": places},
        ret=lambda x, k: target(x, k),
        x=lambda ret, k: back(ret, k),
        k=parametric(
            lambda ret, x, wish: places_of(ret, x, wish), wish=places, recover=lambda k: (k,)
        ),
        xk=parametric(lambda ret, v: (back(ret, v), v), v=places, recover=lambda k: (k,)),
    )  # fmt: skip
