"""Arithmetic modulo 2**64, of numpy.int64 and numpy.uint64.

Interpreted, numpy warns where these scalars wrap; wrapping is what is meant here.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from primitives.domains import Bool, Word64
from primitives.errors import NoSolution
from primitives.floats.arithmetic import squared
from primitives.integers.kinds import NONE, ONE, IntegerKind
from primitives.relation import Relation, parametric, relation

__all__ = ["wrapping"]

TWO, THREE, SEVEN, HALF, WIDTH = map(np.uint64, (2, 3, 7, 32, 64))


def twos(value: Any) -> Any:
    """How many factors of two a word has; 64 in 0."""
    count = NONE
    while count < WIDTH and (value >> count) & ONE == NONE:
        count += ONE
    return count


def inverse_of_odd(value: Any) -> Any:
    """What times an odd word is 1: Newton's iteration doubles the three right bits."""
    guess = value
    for _ in range(5):
        guess = guess * (TWO - value * guess)
    return guess


def word_factor(ret: Any, other: Any, high: Any) -> Any:
    """What times ``other`` is ``ret``; as many top bits as ``other`` has twos are ``high``'s."""
    count = twos(other)
    if count == WIDTH:
        if ret != NONE:
            raise NoSolution("a product with 0 is 0")
        return high
    if twos(ret) < count:
        raise NoSolution("the known factor has more factors of two than the product")
    low = (ret >> count) * inverse_of_odd(other >> count)
    if count == NONE:
        return low
    kept = WIDTH - count
    return ((low << count) >> count) | (high << kept)


def high_bits(value: Any, other: Any) -> Any:
    """The top bits of a factor that its product with ``other`` does not show."""
    count = twos(other)
    return NONE if count == NONE else value >> (WIDTH - count)


def word_root(ret: Any, negative: Any, high: Any) -> Any:
    """A word whose square is ``ret``, modulo 2**64.

    Of ret = 4**k * odd the root is 2**k * odd; the lowest 63 - k bits of the root or of its
    negative are those of the one root that is 1 modulo 4, the others are ``high``'s.
    """
    if ret == NONE:
        return high << HALF
    count = twos(ret)
    odd = ret >> count
    if count & ONE != NONE or odd & SEVEN != ONE:
        raise NoSolution("it is not the square of a word")
    reciprocal = ONE
    for _ in range(6):  # Newton's iteration for 1 / sqrt doubles the right bits, less two
        reciprocal = reciprocal * ((THREE - odd * reciprocal * reciprocal) >> ONE)
    root = odd * reciprocal
    if root & TWO != NONE:
        root = NONE - root
    half = count >> ONE
    kept = WIDTH - ONE - count
    root = (root & ((ONE << kept) - ONE)) | (high << kept)
    return (NONE - root if negative else root) << half


def root_choice(root: Any) -> Any:
    """The sign and the high bits for which ``word_root`` gives this root."""
    square = root * root
    if square == NONE:
        return False, root >> HALF
    half = twos(square) >> ONE
    negative = (root >> half) & TWO != NONE
    size = NONE - root if negative else root
    return bool(negative), size >> (WIDTH - ONE - half)


def wrapping(words: IntegerKind) -> tuple[Relation, ...]:
    """The relations of + - *, negation and squares of these words, modulo 2**64."""
    kind, domain, word = words.type, words.domain, np.uint64
    zero = kind(0)
    add = relation(
        operator.add, kind, kind, "return = a + b",
        ret=lambda a, b: a + b,
        a=lambda ret, b: ret - b,
        b=lambda ret, a: ret - a,
        ab=parametric(lambda ret, v: (ret - v, v), v=domain, recover=lambda a, b: (b,)),
    )  # fmt: skip
    sub = relation(
        operator.sub, kind, kind, "return = a - b",
        ret=lambda a, b: a - b,
        a=lambda ret, b: ret + b,
        b=lambda ret, a: a - ret,
        ab=parametric(lambda ret, v: (ret + v, v), v=domain, recover=lambda a, b: (b,)),
    )  # fmt: skip
    neg = relation(
        operator.neg, kind, "return = -a",
        ret=lambda a: zero - a,
        a=lambda ret: zero - ret,
    )  # fmt: skip
    mul = relation(
        operator.mul, kind, kind, "return = a * b",
        ret=lambda a, b: a * b,
        a=parametric(  # the coordinate counts where b is even
            lambda ret, b, high: kind(word_factor(word(ret), word(b), high)), high=Word64,
            recover=lambda a, b: (high_bits(word(a), word(b)),), determined_if=lambda b: b % 2 != 0,
        ),
        b=parametric(
            lambda ret, a, high: kind(word_factor(word(ret), word(a), high)), high=Word64,
            recover=lambda a, b: (high_bits(word(b), word(a)),), determined_if=lambda a: a % 2 != 0,
        ),
        ab=parametric(
            lambda ret, v, high: (kind(word_factor(word(ret), word(v), high)), v),
            v=domain, high=Word64,
            recover=lambda a, b: (b, high_bits(word(a), word(b))),
        ),
    )  # fmt: skip
    square = relation(
        squared, kind, "return = a * a",
        ret=lambda a: a * a,
        a=parametric(
            lambda ret, negative, high: kind(word_root(word(ret), negative, high)),
            negative=Bool, high=Word64,
            recover=lambda a: root_choice(word(a)),
        ),
    )  # fmt: skip
    return add, sub, neg, mul, square
