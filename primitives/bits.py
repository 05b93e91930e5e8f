"""Bits: & | ^ ~, shifts, xorshift steps, rotations and counts of ones.

An integer has the bits of its two's complement, endlessly many: those of a negative one are 1
from some place on. Integers are shifted by up to 1023 places, words by up to 63.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from primitives.arithmetic import HIGHEST
from primitives.domains import Bool, Domain, Integer, Integers, Word64
from primitives.errors import NoSolution
from primitives.integer import MOST, Exponent
from primitives.kernels import compiled_form
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

ONE, SHIFT, WIDTH = map(np.uint64, (1, 63, 64))


def xorshift_right(x: Any, k: Any) -> Any:
    """``x ^ (x >> k)``; with k = 1 the Gray code of x."""
    return x ^ (x >> k)


def xorshift_left(x: Any, k: Any) -> Any:
    """``x ^ (x << k)``."""
    return x ^ (x << k)


def rotate_left(x: Any, k: Any) -> Any:
    """The 64 bits of a numpy.uint64, moved round by k places, which count modulo 64."""
    places = np.uint64(k) & SHIFT
    return (x << places) | (x >> ((WIDTH - places) & SHIFT))


def rotate_right(x: Any, k: Any) -> Any:
    """The same in the other direction."""
    places = np.uint64(k) & SHIFT
    return (x >> places) | (x << ((WIDTH - places) & SHIFT))


def bit_count(x: Any) -> int:
    """How many of the lowest 64 bits of an integer or a word are 1."""
    count = 0
    for _ in range(64):
        if x & 1:
            count += 1
        x = x >> 1
    return count


# ---- bit by bit ---------------------------------------------------------------------------


# x & ~y is written x ^ (x & y), which means the same for truth values, where ~ does not


def masked(ret: Any, other: Any, free: Any) -> Any:
    """What & other gives ``ret``: where ``other`` has no bit, those of ``free``."""
    if ret & other != ret:
        raise NoSolution("the known value lacks a bit of the result")
    return ret | (free ^ (free & other))


def joined(ret: Any, other: Any, free: Any) -> Any:
    """What | other gives ``ret``: where ``other`` has a bit, those of ``free``."""
    if ret & other != other:
        raise NoSolution("the known value has a bit that the result lacks")
    return (ret ^ other) | (free & other)


def bitwise(kind: Any, domain: Domain) -> tuple[Relation, ...]:
    """The relations of & | ^ and ~ of integers or words of this type."""
    ones = ~kind(0)
    both = relation(
        operator.and_, kind, kind, "return = a & b",
        a=parametric(
            lambda ret, b, free: masked(ret, b, free), free=domain,
            recover=lambda a: (a,), unless=lambda b: b == ones,
        ),
        b=parametric(
            lambda ret, a, free: masked(ret, a, free), free=domain,
            recover=lambda b: (b,), unless=lambda a: a == ones,
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
            recover=lambda a: (a,), unless=lambda b: b == 0,
        ),
        b=parametric(
            lambda ret, a, free: joined(ret, a, free), free=domain,
            recover=lambda b: (b,), unless=lambda a: a == 0,
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


# ---- shifts of integers -------------------------------------------------------------------


def up(a: int, k: int) -> int:
    """a << k, refused where the machine would wrap."""
    return a << k


def down(a: int, k: int) -> int:
    """a >> k."""
    return a >> k


def filled(ret: int, k: int, low: int) -> int:
    """``ret`` << k, with the lowest k bits of ``low``."""
    return (ret << k) | (low & ((1 << k) - 1))


@compiled_form(up)
def up_64(a: int, k: int) -> int:
    if k < 0:
        raise NoSolution("a shift goes by at least 0 places")
    shifted = a << min(k, 63)
    if a != 0 and (k > 63 or shifted >> k != a):
        raise NoSolution("the shifted integer needs more than 64 bits")
    return shifted


@compiled_form(down)
def down_64(a: int, k: int) -> int:
    if k < 0:
        raise NoSolution("a shift goes by at least 0 places")
    return a >> min(k, 63)


@compiled_form(filled)
def filled_64(ret: int, k: int, low: int) -> int:
    if k > 63:
        if (ret == 0 and low >= 0) or (ret == -1 and low < 0):
            return low
        raise NoSolution("the integer needs more than 64 bits")
    mask = HIGHEST if k == 63 else (1 << k) - 1
    return up_64(ret, k) | (low & mask)


def length(a: int) -> int:
    """How many bits an integer has, its sign apart."""
    rest, count = (~a if a < 0 else a), 0
    while rest != 0:
        rest >>= 1
        count += 1
    return count


def zeros(a: int) -> int:
    """How many zeros follow the last 1 of an integer that is not 0."""
    count = 0
    while a & 1 == 0:
        a >>= 1
        count += 1
    return count


def without_zeros(ret: int, k: int) -> int:
    """What << k gives ``ret``."""
    if ret != 0 and zeros(ret) < k:
        raise NoSolution("the lowest bits of a shifted integer are 0")
    return down(ret, k)


def places_up(ret: int, a: int, free: int) -> int:
    """By how many places a is shifted to give ``ret``; ``free`` where both are 0."""
    if a == 0 and ret == 0:
        return free
    if a == 0 or ret == 0:
        raise NoSolution("what is shifted up is 0 where it was, and only there")
    found = zeros(ret) - zeros(a)
    if not 0 <= found <= MOST or down(ret, found) != a:
        raise NoSolution("the result is not the integer, shifted by up to 1023 places")
    return found


def places_down(ret: int, a: int, free: int) -> int:
    """The same to the right; of many, those that leave only the sign, the one near ``free``."""
    found = length(a) - length(ret)
    if not 0 <= found <= MOST or down(a, found) != ret:
        raise NoSolution("the result is not the integer, shifted by up to 1023 places")
    return max(found, free) if ret == 0 or ret == -1 else found


lshift_int = relation(
    operator.lshift, int, int, "return = a << k", domain={"k": Exponent},
    ret=lambda a, k: up(a, k),
    a=lambda ret, k: without_zeros(ret, k),
    k=parametric(
        places_up, free=Exponent, recover=lambda k: (k,), unless=lambda a: a != 0,
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
        recover=lambda a, k: (a & ((1 << k) - 1) if k < 63 else a,), unless=lambda k: k == 0,
    ),
    k=parametric(places_down, free=Exponent, recover=lambda k: (k,)),
    ak=parametric(
        lambda ret, v, low: (filled(ret, v, low), v), v=Exponent, low=Integer,
        recover=lambda a, k: (k, a & ((1 << k) - 1) if k < 63 else a),
    ),
)  # fmt: skip

# ---- xorshift of integers -----------------------------------------------------------------


def sum_of_shifts(ret: int, k: int) -> int:
    """``ret`` ^ (``ret`` >> k) ^ (``ret`` >> 2 * k) ^ ..."""
    if k < 1:
        raise NoSolution("a shift by 0 places leaves 0")
    places, bits = k, length(ret)
    while places < bits:
        ret ^= ret >> places
        places *= 2
    return ret


def unshifted(ret: int, k: int, negative: bool) -> int:
    """The integer of this sign whose xorshift is ``ret``; its complement has the same."""
    if ret < 0:
        raise NoSolution("a xorshift to the right clears the sign")
    found = sum_of_shifts(ret, k)
    return ~found if negative else found


def places_of_xorshift(ret: int, x: int, wish: int) -> int:
    """By how many places x is shifted to give ``ret``: the first from ``wish`` on, going round."""
    shifted = x ^ ret
    k = wish
    for _ in range(MOST):
        if down(x, k) == shifted:
            return k
        k = k % MOST + 1
    raise NoSolution("the result is not the integer, changed by a shift of up to 1023 places")


xorshift_right_int = relation(
    xorshift_right, int, int, "return = xorshift_right(x, k)",
    domain={"k": Integers(1, MOST)}, codomain=Integers(0),
    ret=lambda x, k: x ^ down(x, k),
    x=parametric(unshifted, negative=Bool, recover=lambda x: (x < 0,)),
    k=parametric(places_of_xorshift, wish=Integers(1, MOST), recover=lambda k: (k,)),
    xk=parametric(
        lambda ret, v, negative: (unshifted(ret, v, negative), v),
        v=Integers(1, MOST), negative=Bool,
        recover=lambda x, k: (k, x < 0),
    ),
)  # fmt: skip

# ---- counts of ones -----------------------------------------------------------------------

WAYS = np.zeros((65, 65), dtype=np.uint64)
"""WAYS[n, k]: how many ways there are to choose k of n places."""
WAYS[:, 0] = 1
for _n in range(1, 65):
    WAYS[_n, 1:] = WAYS[_n - 1, 1:] + WAYS[_n - 1, :-1]


def combination(ones: int, index: Any) -> Any:
    """The word of this index, counted around, among those with so many ones, by size."""
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
    """The index for which ``combination`` gives this word."""
    index, ones = ONE - ONE, 0
    for place in range(64):
        if (word >> np.uint64(place)) & ONE == ONE:
            ones += 1
            index = index + WAYS[place, ones]
    return index


def signed(word: Any) -> int:
    """The integer whose lowest 64 bits are those of a word."""
    return int(np.int64(word))


def counted(kind: Any, domain: Domain) -> Relation:
    """The relation of ``bit_count`` for this type; for integers, those of 64 bits."""
    made = signed if kind is int else kind
    word = np.uint64 if kind is not int else unsigned
    return relation(
        bit_count, kind, "return = bit_count(x)", returns=int,
        domain=domain, codomain=Integers(0, 64),
        x=parametric(
            lambda ret, index: made(combination(ret, index)), index=Word64,
            recover=lambda x: (index_of(word(x)),),
        ),
    )  # fmt: skip


def unsigned(a: int) -> Any:
    """The word of the lowest 64 bits of an integer of 64 bits."""
    return np.uint64(np.int64(a))


integers_bitwise = (
    *bitwise(int, Integer),
    lshift_int,
    rshift_int,
    xorshift_right_int,
    counted(int, Integers(-(2**63), 2**63 - 1)),
)
