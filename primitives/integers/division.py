"""Division with remainder, of integers and words.

In compiled code the solvers of integers refuse results beyond 64 bits, where the machine would
wrap. The quotient of the lowest numpy.int64 and -1 wraps: it is the dividend. Division by 0, for
which numpy warns and returns 0, is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from primitives.domains import Bool, Integer
from primitives.errors import NoSolution
from primitives.integers.exact import product_and_rest
from primitives.integers.integer_arithmetic import divisor_at_most
from primitives.integers.integer_kinds import ALL, INTEGERS, KINDS, NONE, ONE, IntegerKind
from primitives.relation import Relation, parametric, relation

__all__ = ["FLOOR_DIVISIONS", "Division", "floordiv_int", "is_remainder", "mod_int"]


def remainder(a: Any, b: Any) -> Any:
    if b == 0:
        raise NoSolution("a division by 0 has no value")
    return a % b


def is_remainder(ret: Any, b: Any) -> bool:
    """Return whether ``ret`` can be a remainder of division by b."""
    return 0 <= ret < b or b < ret <= 0


def quotient_of(kind: IntegerKind) -> Callable[..., Any]:
    """The function for a // b, which raises NoSolution for b = 0."""
    zero, opposite, signed, negated = kind.type(0), ~kind.type(0), kind.signed, kind.negated

    def quotient(a: Any, b: Any) -> Any:
        if b == zero:
            raise NoSolution("a division by 0 has no value")
        return negated(a) if signed and b == opposite else a // b

    return quotient


# ---- quotients ----------------------------------------------------------------------------


class _Dividends(NamedTuple):
    """Solvers for the dividend of a // b.

    by_offset(ret, b, offset): one of the dividends whose quotient by b is ``ret``. offset_of(ret,
    a, b): its offset. near(ret, b): b, or a divisor nearer to 0 for which ``ret`` is a quotient.
    """

    by_offset: Callable[..., Any]
    offset_of: Callable[..., Any]
    near: Callable[..., Any]


def _integer_dividends() -> _Dividends:
    """Dividends of integers; their offset is the remainder."""

    def integer_by_offset(ret: int, b: int, offset: int) -> int:
        return product_and_rest(ret, b, remainder(offset, b))

    def integer_offset(ret: int, a: int, b: int) -> int:
        return a % b

    def any_divisor(ret: int, b: int) -> int:
        return b

    return _Dividends(integer_by_offset, integer_offset, any_divisor)


def _word_dividends(kind: IntegerKind, quotient: Callable[..., Any]) -> _Dividends:
    """Dividends of words; their offset counts from the lowest one. At the ends of the range some
    remainders do not occur, and not every quotient occurs for each divisor.
    """
    made, signed, word = kind.type, kind.signed, np.uint64
    zero, one, opposite = made(0), made(1), ~made(0)
    lowest, highest = kind.lowest, made(np.iinfo(made).max)

    def reached(ret: Any, b: Any) -> Any:
        """Return whether some word divided by b has this quotient."""
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

    def word_by_offset(ret: Any, b: Any, offset: Any) -> Any:
        low, high = ends(ret, b)
        return made(word(low) + offset % (word(high) - word(low) + ONE))

    def word_offset(ret: Any, a: Any, b: Any) -> Any:
        return word(a) - word(ends(ret, b)[0])

    def reaching_divisor(ret: Any, b: Any) -> Any:
        while not reached(ret, b):
            b = made(word(b) >> ONE) if b > zero else made(NONE - ((NONE - word(b)) >> ONE))
        return b

    return _Dividends(word_by_offset, word_offset, reaching_divisor)


class _Divisors(NamedTuple):
    """Solvers for the divisor of a // b.

    by_step(ret, a, step, negative): the divisor for which a // b is ``ret``, ``step`` beyond the
    smallest, modulo their number; ``negative`` chooses where it may have either sign. step_of(ret,
    a, b): the step of b.
    """

    by_step: Callable[..., Any]
    step_of: Callable[..., Any]


def _sizes_of_divisors(kind: IntegerKind) -> Callable[..., Any]:
    size, largest, plus, wraps = kind.size, kind.largest, kind.plus, kind.wraps
    zero, opposite, none, one = kind.type(0), ~kind.type(0), kind.step(0), kind.step(1)

    def divisor_sizes(ret: Any, a: Any, negative: Any) -> Any:
        """The smallest and the largest size of a divisor of this sign for which a // b is ``ret``.
        The largest is 0 if there is none.

        The largest is 0 where there is none.
        """
        n = size(a)
        if n == none and ret != zero:
            raise NoSolution("0 divided by anything is 0")
        if ret == zero:  # a divisor larger than a
            low, high = plus(n, one), largest(negative)
        elif ret > zero:
            q = size(ret)
            low, high = one if q >= n else n // (q + one) + one, n // q
        elif ret == opposite:  # a divisor at least as large as a
            low, high = n, largest(negative)
        else:
            q = size(ret)
            low, high = (n - one) // q + one, (n - one) // (q - one)
        endless = not wraps and opposite <= ret <= zero
        if (low > high and not endless) or low == none:
            raise NoSolution("no divisor gives this quotient")
        return low, high

    return divisor_sizes


def _divisors(kind: IntegerKind) -> _Divisors:
    wraps, signed, size, of_size = kind.wraps, kind.signed, kind.size, kind.of_size
    zero, opposite, lowest = kind.type(0), ~kind.type(0), kind.lowest
    none, one, plus = kind.step(0), kind.step(1), kind.plus
    divisor_sizes = _sizes_of_divisors(kind)

    def is_wrapped(ret: Any, a: Any) -> Any:
        """Return whether -1 is a divisor because its quotient wraps."""
        return wraps and signed and a == lowest and ret == lowest

    def divisor_by_step(ret: Any, a: Any, step: Any, negative: Any) -> Any:
        either = a == zero or is_wrapped(ret, a)
        below = signed and (negative if either else (a < zero) == (ret >= zero))
        if below and is_wrapped(ret, a):
            return opposite
        low, high = divisor_sizes(ret, a, below)
        found = plus(low, step) if high == none else low + step % (high - low + one)
        return of_size(found, below)

    def step_of(ret: Any, a: Any, b: Any) -> Any:
        if is_wrapped(ret, a) and b == opposite:
            return none
        return size(b) - divisor_sizes(ret, a, b < zero)[0]

    return _Divisors(divisor_by_step, step_of)


def _floor(kind: IntegerKind, quotient: Callable[..., Any]) -> Relation:
    """The relation of a // b."""
    dividends = _word_dividends(kind, quotient) if kind.wraps else _integer_dividends()
    by_offset, offset_of, near = dividends
    by_step, step_of = _divisors(kind)
    offsets = kind.steps if kind.wraps else kind.domain

    def both(ret: Any, v: Any, offset: Any) -> Any:
        b = near(ret, v)
        return by_offset(ret, b, offset), b

    return relation(
        operator.floordiv, kind.type, kind.type, "return = a // b", domain={"b": kind.nonzero},
        ret=quotient,
        a=parametric(
            by_offset, offset=offsets, recover=lambda ret, a, b: (offset_of(ret, a, b),),
            determined_if=lambda b: b == 1 or b == -1,
        ),
        b=parametric(
            by_step, step=kind.steps, negative=Bool,
            recover=lambda ret, a, b: (step_of(ret, a, b), b < 0),
        ),
        ab=parametric(
            both, v=kind.nonzero, offset=offsets,
            recover=lambda ret, a, b: (b, offset_of(ret, a, b)),
        ),
    )  # fmt: skip


# ---- remainders ---------------------------------------------------------------------------


class Moduli(NamedTuple):
    """Solvers for the divisor of a % b.

    near(ret, a, wish, negative): a divisor of size near ``wish`` for which a % b is ``ret``: it
    divides a - ret, and is the largest one up to ``wish``, or the smallest one above ``ret``.
    larger(ret, excess, negative): the divisor that is larger than ``ret`` by ``excess``.
    excess_of(ret, b): the excess of b. ``negative`` is the sign where ``ret`` is 0.
    """

    near: Callable[..., Any]
    larger: Callable[..., Any]
    excess_of: Callable[..., Any]


def _moduli(kind: IntegerKind) -> Moduli:
    wraps, signed, size, of_size = kind.wraps, kind.signed, kind.size, kind.of_size
    largest, distance, plus = kind.largest, kind.distance, kind.plus
    zero, none, one = kind.type(0), kind.step(0), kind.step(1)
    nearest = one if wraps else none  # an excess of words wraps around, from 0 on

    def is_below(ret: Any, negative: Any) -> Any:
        """Return whether a divisor with remainder ``ret`` is negative."""
        return signed and (ret < zero or (ret == zero and negative))

    def modulus(ret: Any, a: Any, wish: Any, negative: Any) -> Any:
        below, n = is_below(ret, negative), size(ret)
        most = largest(below)
        if wraps and n >= most:
            raise NoSolution("no divisor leaves this remainder")
        limit = min(wish, most) if wraps else wish
        whole = distance(a, ret)
        if whole == none:
            return of_size(max(limit, plus(n, one)), below)
        if whole <= n:
            raise NoSolution("no divisor leaves this remainder")
        found = divisor_at_most(whole, limit, one)
        if found <= n:
            found = whole // divisor_at_most(whole, whole // (n + one), one)
        if wraps and found > most:
            raise NoSolution("no divisor leaves this remainder")
        return of_size(found, below)

    def larger(ret: Any, excess: Any, negative: Any) -> Any:
        below, n = is_below(ret, negative), size(ret)
        most = largest(below)
        if not wraps:
            return of_size(plus(n, excess), below)
        if n >= most:
            raise NoSolution("no divisor leaves this remainder")
        return of_size(n + one + excess % (most - n), below)

    def excess_of(ret: Any, b: Any) -> Any:
        return size(b) - size(ret) - nearest

    return Moduli(modulus, larger, excess_of)


def _integer_rest(moduli: Moduli) -> Relation:
    """The relation of a % b, of integers. The parameter for a is the quotient, because there is no
    lowest dividend from which to count.
    """
    modulus, larger, excess_of = moduli

    def by_quotient(ret: int, b: int, k: int) -> int:
        if not is_remainder(ret, b):
            raise NoSolution("a remainder lies between 0 and the divisor")
        return product_and_rest(k, b, ret)

    def dividend_and_larger(ret: int, k: int, excess: int, negative: bool) -> tuple[int, int]:
        b = larger(ret, excess, negative)
        return product_and_rest(k, b, ret), b

    return relation(
        operator.mod, int, int, "return = a % b", domain={"b": INTEGERS.nonzero},
        ret=remainder,
        a=parametric(by_quotient, k=Integer, recover=lambda a, b: (a // b,)),
        b=parametric(
            lambda ret, a, size, negative: modulus(ret, a, size, negative),
            size=INTEGERS.sizes, negative=Bool, recover=lambda b: (abs(b), b < 0),
        ),
        ab=parametric(
            dividend_and_larger, k=Integer, excess=INTEGERS.sizes, negative=Bool,
            recover=lambda ret, a, b: (a // b, excess_of(ret, b), b < 0),
        ),
    )  # fmt: skip


def _word_rest(kind: IntegerKind, moduli: Moduli) -> Relation:
    """The relation of a % b, of words. The parameter for a counts from the lowest word with this
    remainder.
    """
    modulus, larger, excess_of = moduli
    made, size, word = kind.type, kind.size, np.uint64
    lowest, highest = word(kind.lowest), word(np.iinfo(made).max)

    def least(ret: Any, b: Any) -> Any:
        """The bits of the lowest word with remainder ``ret``."""
        if not is_remainder(ret, b):
            raise NoSolution("a remainder lies between 0 and the divisor")
        return lowest + (word(ret) - lowest) % size(b)

    def by_index(ret: Any, b: Any, index: Any) -> Any:
        low, step = least(ret, b), size(b)
        last = (highest - low) // step
        return made(low + (index if last == ALL else index % (last + ONE)) * step)

    def index_of(ret: Any, a: Any, b: Any) -> Any:
        return (word(a) - least(ret, b)) // size(b)

    def dividend_and_larger(ret: Any, index: Any, excess: Any, negative: Any) -> Any:
        b = larger(ret, excess, negative)
        return by_index(ret, b, index), b

    return relation(
        operator.mod, made, made, "return = a % b", domain={"b": kind.nonzero},
        ret=remainder,
        a=parametric(
            by_index, index=kind.steps, recover=lambda ret, a, b: (index_of(ret, a, b),),
        ),
        b=parametric(modulus, wish=kind.sizes, negative=Bool, recover=lambda b: (size(b), b < 0)),
        ab=parametric(
            dividend_and_larger, index=kind.steps, excess=kind.steps, negative=Bool,
            recover=lambda ret, a, b: (index_of(ret, a, b), excess_of(ret, b), b < 0),
        ),
    )  # fmt: skip


# ---- both ---------------------------------------------------------------------------------


class Division(NamedTuple):
    """The relations of // and % of one kind, and the solvers for divisors of a remainder."""

    floor: Relation
    rest: Relation
    moduli: Moduli


def _division(kind: IntegerKind) -> Division:
    moduli = _moduli(kind)
    rest = _word_rest(kind, moduli) if kind.wraps else _integer_rest(moduli)
    return Division(_floor(kind, quotient_of(kind)), rest, moduli)


FLOOR_DIVISIONS = {kind.type: _division(kind) for kind in KINDS}
floordiv_int, mod_int, _ = FLOOR_DIVISIONS[int]
