"""Bits: & | ^ ~ and counts of ones; and functions for xorshift steps and rotations.

An integer has the infinitely many bits of its two's complement: those of a negative one are 1 from
some position on.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from primitives.domains import Integers, Word64
from primitives.errors import NoSolution
from primitives.integers.integer_kinds import INTEGERS, ONE, IntegerKind
from primitives.relation import Relation, parametric, relation

__all__ = [
    "bit_count",
    "bitwise",
    "counted",
    "integers_bitwise",
    "rotate_left",
    "rotate_right",
    "xorshift_left",
    "xorshift_right",
]

SHIFT, WIDTH = map(np.uint64, (63, 64))


def xorshift_right(x: Any, k: Any) -> Any:
    """``x ^ (x >> k)``; with k = 1 the Gray code of x."""
    return x ^ (x >> k)


def xorshift_left(x: Any, k: Any) -> Any:
    """``x ^ (x << k)``."""
    return x ^ (x << k)


def rotate_left(x: Any, k: Any) -> Any:
    """The 64 bits of a numpy.uint64, rotated left by k places, modulo 64."""
    places = np.uint64(k) & SHIFT
    return (x << places) | (x >> ((WIDTH - places) & SHIFT))


def rotate_right(x: Any, k: Any) -> Any:
    """The 64 bits of a numpy.uint64, rotated right by k places, modulo 64."""
    places = np.uint64(k) & SHIFT
    return (x >> places) | (x << ((WIDTH - places) & SHIFT))


def bit_count(x: Any) -> int:
    """The number of ones among the lowest 64 bits of an integer or a word."""
    count = 0
    for _ in range(64):
        if x & 1:
            count += 1
        x = x >> 1
    return count


# ---- bit by bit ---------------------------------------------------------------------------


# x & ~y is written x ^ (x & y), which is equal, also for truth values, whose ~ differs


def masked(ret: Any, other: Any, free: Any) -> Any:
    """The value whose & with ``other`` is ``ret``; bits that are 0 in ``other`` are taken from
    ``free``.
    """
    if ret & other != ret:
        raise NoSolution("the known value lacks a bit of the result")
    return ret | (free ^ (free & other))


def joined(ret: Any, other: Any, free: Any) -> Any:
    """The value whose | with ``other`` is ``ret``; bits that are 1 in ``other`` are taken from
    ``free``.
    """
    if ret & other != other:
        raise NoSolution("the known value has a bit that the result lacks")
    return (ret ^ other) | (free & other)


def bitwise(whole: IntegerKind) -> tuple[Relation, ...]:
    """The relations of & | ^ and ~."""
    kind, domain = whole.type, whole.domain
    ones = ~kind(0)
    both = relation(
        operator.and_, kind, kind, "return = a & b",
        a=parametric(
            lambda ret, b, free: masked(ret, b, free), free=domain,
            recover=lambda a: (a,), determined_if=lambda b: b == ones,
        ),
        b=parametric(
            lambda ret, a, free: masked(ret, a, free), free=domain,
            recover=lambda b: (b,), determined_if=lambda a: a == ones,
        ),
        ab=parametric(
            lambda ret, v, free: (ret | v, masked(ret, ret | v, free)), v=domain, free=domain,
            recover=lambda a, b: (a, b),
        ),
    )  # fmt: skip
    either = relation(
        operator.or_, kind, kind, "return = a | b",
        a=parametric(
            lambda ret, b, free: joined(ret, b, free), free=domain,
            recover=lambda a: (a,), determined_if=lambda b: b == 0,
        ),
        b=parametric(
            lambda ret, a, free: joined(ret, a, free), free=domain,
            recover=lambda b: (b,), determined_if=lambda a: a == 0,
        ),
        ab=parametric(
            lambda ret, v, free: (ret & v, joined(ret, ret & v, free)), v=domain, free=domain,
            recover=lambda a, b: (a, b),
        ),
    )  # fmt: skip
    one_of_two = relation(
        operator.xor, kind, kind, "return = a ^ b",
        a=lambda ret, b: ret ^ b,
        b=lambda ret, a: ret ^ a,
        ab=parametric(lambda ret, v: (ret ^ v, v), v=domain, recover=lambda a, b: (b,)),
    )  # fmt: skip
    opposite = relation(
        operator.invert, kind, "return = ~a",
        ret=lambda a: a ^ ones,
        a=lambda ret: ret ^ ones,
    )  # fmt: skip
    return both, either, one_of_two, opposite


# ---- counts of ones -----------------------------------------------------------------------

WAYS = np.zeros((65, 65), dtype=np.uint64)
"""WAYS[n, k]: the number of ways to choose k of n places."""
WAYS[:, 0] = 1
for _n in range(1, 65):
    WAYS[_n, 1:] = WAYS[_n - 1, 1:] + WAYS[_n - 1, :-1]


def combination(ones: int, index: Any) -> Any:
    """The word at an index, modulo their number, among the words with this many ones, by size."""
    if not 0 <= ones <= 64:
        raise NoSolution("64 bits have from 0 to 64 ones")
    index = index % WAYS[64, ones]
    found = ONE - ONE
    for place in range(63, -1, -1):
        if ones > 0 and index >= WAYS[place, ones]:
            index = index - WAYS[place, ones]
            found = found | (ONE << np.uint64(place))
            ones -= 1
    return found


def index_of(word: Any) -> Any:
    """The index for which ``combination`` returns this word."""
    index, ones = ONE - ONE, 0
    for place in range(64):
        if (word >> np.uint64(place)) & ONE == ONE:
            ones += 1
            index = index + WAYS[place, ones]
    return index


def signed(word: Any) -> int:
    """The integer whose lowest 64 bits are those of a word."""
    return int(np.int64(word))


def unsigned(a: int) -> Any:
    """The word of the lowest 64 bits of an integer of 64 bits."""
    return np.uint64(np.int64(a))


def counted(kind: IntegerKind) -> Relation:
    """The relation of ``bit_count``; for integers its domain is that of 64 bits, because it counts
    only these.
    """
    made, word, domain = kind.type, np.uint64, kind.domain
    if not kind.wraps:
        made, word, domain = signed, unsigned, Integers(-(2**63), 2**63 - 1)
    return relation(
        bit_count, kind.type, "return = bit_count(x)", returns=int,
        domain=domain, codomain=Integers(0, 64),
        x=parametric(
            lambda ret, index: made(combination(ret, index)), index=Word64,
            recover=lambda x: (index_of(word(x)),),
        ),
    )  # fmt: skip


integers_bitwise = bitwise(INTEGERS)
