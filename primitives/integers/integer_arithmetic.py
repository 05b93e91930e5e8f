"""Sums, products and squares: exact for integers, modulo 2**64 for words.

Products of words have separate solvers: modulo 2**64, an odd factor is invertible, and a factor
with factors of two leaves the top bits of the other one undetermined. In the interpreter numpy
warns where these scalars wrap; here wrapping is intended.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from primitives.domains import Bool, Integer, Word64
from primitives.errors import NoSolution
from primitives.floats.arithmetic import squared
from primitives.integers.exact import minus, times
from primitives.integers.integer_kinds import INTEGERS, NONE, ONE, IntegerKind
from primitives.relation import Relation, parametric, relation

__all__ = [
    "add_int",
    "divisor_at_most",
    "mul_int",
    "neg_int",
    "square_int",
    "sub_int",
    "sums",
    "whole_root",
    "word_products",
]

SEARCHED = 100_000
"""The largest number of candidates tried for a divisor."""
TWO, THREE, SEVEN, HALF, WIDTH = map(np.uint64, (2, 3, 7, 32, 64))

# ---- sums ---------------------------------------------------------------------------------


def sums(kind: IntegerKind) -> tuple[Relation, Relation, Relation]:
    """The relations of +, - and negation."""
    plus, minus, negated = kind.plus, kind.minus, kind.negated
    add = relation(
        operator.add, kind.type, kind.type, "return = a + b",
        ret=lambda a, b: plus(a, b),
        a=lambda ret, b: minus(ret, b),
        b=lambda ret, a: minus(ret, a),
        ab=parametric(lambda ret, v: (minus(ret, v), v), v=kind.domain, recover=lambda a, b: (b,)),
    )  # fmt: skip
    sub = relation(
        operator.sub, kind.type, kind.type, "return = a - b",
        ret=lambda a, b: minus(a, b),
        a=lambda ret, b: plus(ret, b),
        b=lambda ret, a: minus(a, ret),
        ab=parametric(lambda ret, v: (plus(ret, v), v), v=kind.domain, recover=lambda a, b: (b,)),
    )  # fmt: skip
    neg = relation(
        operator.neg, kind.type, "return = -a",
        ret=lambda a: negated(a),
        a=lambda ret: negated(ret),
    )  # fmt: skip
    return add, sub, neg


add_int, sub_int, neg_int = sums(INTEGERS)

# ---- products of integers -----------------------------------------------------------------


def exact_quotient(ret: int, other: int, free: int) -> int:
    """The factor whose product with ``other`` is ``ret``; ``free`` if both are 0."""
    if other == -1:
        return minus(0, ret)
    if other == 0:
        if ret != 0:
            raise NoSolution("a product with 0 is 0")
        return free
    if ret % other != 0:
        raise NoSolution("the product is not a multiple of the known factor")
    return ret // other


def divisor_at_most(n: Any, limit: Any, one: Any) -> Any:
    """The largest divisor of n that is at most ``limit``; all are at least 1.

    one: 1 in the type of the others, an integer or a word.
    """
    candidate = min(n, limit)
    if n % candidate == 0:
        return candidate
    cofactor = (n - one) // candidate + one
    steps = 0
    while cofactor <= n // cofactor and cofactor <= candidate and steps < SEARCHED:
        if n % cofactor == 0:
            return n // cofactor
        cofactor += one
        steps += 1
    candidate = min(candidate, cofactor)
    while n % candidate != 0 and steps < SEARCHED:
        candidate -= one
        steps += 1
    if n % candidate != 0:
        raise NoSolution("no divisor is near the one asked for")
    return candidate


def divisor_pair(ret: int, v: int, left: bool) -> tuple[int, int]:
    """A pair with this product: the second is the nearest divisor to v towards 0.

    If the product is 0, ``left`` says which factor is v.
    """
    if ret == 0:
        return (v, 0) if left else (0, v)
    size = ret if ret > 0 else minus(0, ret)
    limit = v if v >= 0 else minus(0, v)
    b = divisor_at_most(size, max(limit, 1), 1)
    return (minus(0, ret // b), -b) if v < 0 else (ret // b, b)


def whole_root(ret: int, negative: bool) -> int:
    """The integer whose square is ``ret``."""
    if ret < 0:
        raise NoSolution("a square is not negative")
    root, better = ret, ret // 2 + 1
    while better < root:
        root, better = better, (better + ret // better) // 2
    if times(root, root) != ret:
        raise NoSolution("it is not the square of an integer")
    return -root if negative else root


mul_int = relation(
    operator.mul, int, int, "return = a * b",
    ret=lambda a, b: times(a, b),
    a=parametric(
        lambda ret, b, free: exact_quotient(ret, b, free), free=Integer,
        recover=lambda a: (a,), determined_if=lambda b: b != 0,
    ),
    b=parametric(
        lambda ret, a, free: exact_quotient(ret, a, free), free=Integer,
        recover=lambda b: (b,), determined_if=lambda a: a != 0,
    ),
    ab=parametric(
        divisor_pair, v=Integer, left=Bool,
        recover=lambda a, b: (a, True) if b == 0 else (b, False),
    ),
)  # fmt: skip
square_int = relation(
    squared, int, "return = a * a",
    ret=lambda a: times(a, a),
    a=parametric(whole_root, negative=Bool, recover=lambda a: (a < 0,)),
)  # fmt: skip

# ---- products of words --------------------------------------------------------------------


def twos(value: Any) -> Any:
    """The number of factors of two of a word; 64 for 0."""
    count = NONE
    while count < WIDTH and (value >> count) & ONE == NONE:
        count += ONE
    return count


def inverse_of_odd(value: Any) -> Any:
    """The inverse of an odd word modulo 2**64. Newton's iteration starts with three correct bits,
    and doubles them in each step.
    """
    guess = value
    for _ in range(5):
        guess = guess * (TWO - value * guess)
    return guess


def word_factor(ret: Any, other: Any, high: Any) -> Any:
    """The factor whose product with ``other`` is ``ret``, modulo 2**64. As many of its top bits as
    ``other`` has factors of two are taken from ``high``.
    """
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
    """The top bits of a factor that its product with ``other`` does not determine."""
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
    for _ in range(6):  # Newton's iteration for 1 / sqrt doubles the correct bits, less two
        reciprocal = reciprocal * ((THREE - odd * reciprocal * reciprocal) >> ONE)
    root = odd * reciprocal
    if root & TWO != NONE:
        root = NONE - root
    half = count >> ONE
    kept = WIDTH - ONE - count
    root = (root & ((ONE << kept) - ONE)) | (high << kept)
    return (NONE - root if negative else root) << half


def root_choice(root: Any) -> Any:
    """The sign and the high bits for which ``word_root`` returns this root."""
    square = root * root
    if square == NONE:
        return False, root >> HALF
    half = twos(square) >> ONE
    negative = (root >> half) & TWO != NONE
    size = NONE - root if negative else root
    return bool(negative), size >> (WIDTH - ONE - half)


def word_products(words: IntegerKind) -> tuple[Relation, Relation]:
    """The relations of * and squares of these words, modulo 2**64."""
    kind, domain, word = words.type, words.domain, np.uint64
    mul = relation(
        operator.mul, kind, kind, "return = a * b",
        ret=lambda a, b: a * b,
        a=parametric(  # the coordinate matters if b is even
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
    return mul, square
