"""Arithmetic modulo 2**64, of numpy.int64 and numpy.uint64.

Interpreted, numpy warns where these scalars wrap; wrapping is what is meant here.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from primitives.domains import Domain, Int64, Word64
from primitives.errors import NoSolution
from primitives.relation import Relation, parametric, relation

__all__ = ["wrapping"]

ONE, TWO, WIDTH = np.uint64(1), np.uint64(2), np.uint64(64)
NONE = np.uint64(0)


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


def wrapping(kind: Any) -> tuple[Relation, ...]:
    """The relations of + - * and negation of this numpy type, modulo 2**64."""
    domain: Domain = Int64 if kind is np.int64 else Word64
    word = np.uint64
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
            recover=lambda a, b: (high_bits(word(a), word(b)),), unless=lambda b: b % 2 != 0,
        ),
        b=parametric(
            lambda ret, a, high: kind(word_factor(word(ret), word(a), high)), high=Word64,
            recover=lambda a, b: (high_bits(word(b), word(a)),), unless=lambda a: a % 2 != 0,
        ),
        ab=parametric(
            lambda ret, v, high: (kind(word_factor(word(ret), word(v), high)), v),
            v=domain, high=Word64,
            recover=lambda a, b: (b, high_bits(word(a), word(b))),
        ),
    )  # fmt: skip
    return add, sub, neg, mul
