"""Division with remainder of numpy.int64 and numpy.uint64.

The quotient of the lowest numpy.int64 and -1 wraps: it is the dividend. Nothing is divided by 0,
where numpy would warn and give 0.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from primitives.domains import Bool, Int64, Integers, Word64
from primitives.errors import NoSolution
from primitives.floats.arithmetic import divisor_at_most
from primitives.relation import Relation, parametric, relation

__all__ = ["division"]

NONE, ONE = map(np.uint64, (0, 1))
ALL = ~NONE
Size = Integers(1, kind=np.uint64)


def division(kind: Any) -> tuple[Relation, Relation]:
    """The relations of // and % for this numpy type."""
    return quotients(kind), remainders(kind)


def quotients(kind: Any) -> Relation:
    """The relation of a // b."""
    info, word, signed = np.iinfo(kind), np.uint64, kind is np.int64
    lowest, highest = kind(info.min), kind(info.max)
    zero, one = kind(0), kind(1)
    opposite = ~zero  # -1 of numpy.int64
    nonzero = Integers(without=(0,), kind=kind)

    def size(a: Any) -> Any:
        return word(a) if a >= zero else NONE - word(a)

    def quotient(a: Any, b: Any) -> Any:
        if b == zero:
            raise NoSolution("nothing is divided by 0")
        return zero - a if signed and b == opposite else a // b

    def reached(ret: Any, b: Any) -> Any:
        """Whether division by b gives this quotient of some word."""
        if signed and b == opposite:
            return True
        one_end, other_end = quotient(lowest, b), quotient(highest, b)
        return min(one_end, other_end) <= ret <= max(one_end, other_end)

    def ends(ret: Any, b: Any) -> Any:
        """The lowest and the highest word for which a // b is ``ret``."""
        if not reached(ret, b):
            raise NoSolution("no word gives this quotient")
        if signed and b == opposite:
            return zero - ret, zero - ret
        low = ret * b if b > zero else (ret + one) * b + one
        high = ret * b + (b - one) if b > zero else ret * b
        return (
            lowest if ret == quotient(lowest, b) else low,
            highest if ret == quotient(highest, b) else high,
        )

    def dividend(ret: Any, b: Any, offset: Any) -> Any:
        low, high = ends(ret, b)
        return kind(word(low) + offset % (word(high) - word(low) + ONE))

    def offset_of(ret: Any, a: Any, b: Any) -> Any:
        return word(a) - word(ends(ret, b)[0])

    def downward(ret: Any, a: Any, negative: Any) -> Any:
        """Whether the divisor is negative; ``negative`` where it may be either."""
        if a == zero or (signed and a == lowest and ret == lowest):
            return negative
        return (a < zero) == (ret >= zero)

    def sizes(ret: Any, a: Any, down: Any) -> Any:
        """The smallest and the largest size of a divisor of this sign."""
        n, most = size(a), word(highest) + (ONE if down else NONE)
        low, high = n, most
        if ret == zero:
            low = n + ONE
        elif ret > zero:
            q = word(ret)
            low, high = ONE if q >= n else n // (q + ONE) + ONE, n // q
        elif ret != opposite:
            q = NONE - word(ret)
            low, high = (n - ONE) // q + ONE, (n - ONE) // (q - ONE)
        if (n == NONE and ret != zero) or low > high or low == NONE:
            raise NoSolution("no divisor gives this quotient")
        return low, high

    def divisor(ret: Any, a: Any, step: Any, negative: Any) -> Any:
        down = signed and downward(ret, a, negative)
        if down and a == lowest and ret == lowest:
            return opposite
        low, high = sizes(ret, a, down)
        room = high - low
        found = low + (step if room == ALL else step % (room + ONE))
        return kind(NONE - found if down else found)

    def step_of(ret: Any, a: Any, b: Any) -> Any:
        if signed and b == opposite and a == lowest:
            return NONE
        return size(b) - sizes(ret, a, b < zero)[0]

    def both(ret: Any, v: Any, offset: Any) -> Any:
        b = v
        while not reached(ret, b):  # too large a divisor: nearer to 0 there is one
            b = kind(word(b) >> ONE) if b > zero else kind(NONE - ((NONE - word(b)) >> ONE))
        return dividend(ret, b, offset), b

    return relation(
        operator.floordiv, kind, kind, "return = a // b", domain={"b": nonzero},
        ret=quotient,
        a=parametric(
            dividend, offset=Word64, recover=lambda ret, a, b: (offset_of(ret, a, b),),
            determined_if=lambda b: b == 1 or b == -1,
        ),
        b=parametric(
            divisor, step=Word64, negative=Bool,
            recover=lambda ret, a, b: (step_of(ret, a, b), b < 0),
        ),
        ab=parametric(
            both, v=nonzero, offset=Word64,
            recover=lambda ret, a, b: (b, offset_of(ret, a, b)),
        ),
    )  # fmt: skip


def remainders(kind: Any) -> Relation:
    """The relation of a % b."""
    info, word, signed = np.iinfo(kind), np.uint64, kind is np.int64
    lowest, highest = word(kind(info.min)), word(kind(info.max))
    zero = kind(0)
    domain = Int64 if signed else Word64
    nonzero = Integers(without=(0,), kind=kind)

    def size(a: Any) -> Any:
        return word(a) if a >= zero else NONE - word(a)

    def remainder(a: Any, b: Any) -> Any:
        if b == zero:
            raise NoSolution("nothing is divided by 0")
        return a % b

    def least(ret: Any, b: Any) -> Any:
        """The bits of the lowest word that leaves ``ret``."""
        if not (zero <= ret < b or b < ret <= zero):
            raise NoSolution("a remainder lies between 0 and the divisor")
        return lowest + (word(ret) - lowest) % size(b)

    def dividend(ret: Any, b: Any, index: Any) -> Any:
        low, step = least(ret, b), size(b)
        last = (highest - low) // step
        return kind(low + (index if last == ALL else index % (last + ONE)) * step)

    def index_of(ret: Any, a: Any, b: Any) -> Any:
        return (word(a) - least(ret, b)) // size(b)

    def largest(down: Any) -> Any:
        """The largest size of a divisor of this sign."""
        return highest + ONE if down else highest

    def downward(ret: Any, negative: Any) -> Any:
        return signed and (ret < zero or (ret == zero and negative))

    def modulus(ret: Any, a: Any, wish: Any, negative: Any) -> Any:
        down, n = downward(ret, negative), size(ret)
        most = largest(down)
        whole = word(a) - word(ret) if a >= ret else word(ret) - word(a)
        if n >= most:
            raise NoSolution("no divisor leaves this remainder")
        if whole == NONE:
            found = min(max(wish, n + ONE), most)
        elif whole <= n:
            raise NoSolution("no divisor leaves this remainder")
        else:
            found = divisor_at_most(whole, min(wish, most), ONE)
            if found <= n:
                found = whole // divisor_at_most(whole, whole // (n + ONE), ONE)
        if found > most:
            raise NoSolution("no divisor leaves this remainder")
        return kind(NONE - found if down else found)

    def both(ret: Any, index: Any, excess: Any, negative: Any) -> Any:
        down, n = downward(ret, negative), size(ret)
        room = largest(down) - n
        if room == NONE or n > largest(down):
            raise NoSolution("no divisor leaves this remainder")
        found = n + ONE + excess % room
        b = kind(NONE - found if down else found)
        return dividend(ret, b, index), b

    return relation(
        operator.mod, kind, kind, "return = a % b", domain={"b": nonzero, "a": domain},
        ret=remainder,
        a=parametric(
            dividend, index=Word64, recover=lambda ret, a, b: (index_of(ret, a, b),),
        ),
        b=parametric(  # a divisor near the size wished for
            modulus, wish=Size, negative=Bool, recover=lambda b: (size(b), b < 0),
        ),
        ab=parametric(
            both, index=Word64, excess=Word64, negative=Bool,
            recover=lambda ret, a, b: (
                index_of(ret, a, b), size(b) - size(ret) - ONE, b < 0
            ),
        ),
    )  # fmt: skip
