"""Quotient and remainder of numpy.int64 and numpy.uint64, as the two results of divmod."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from primitives.domains import Bool, Integers, Word64
from primitives.errors import NoSolution
from primitives.integers.word_division import NONE, ONE, Size, division
from primitives.relation import Mode, Relation, parametric, relation

__all__ = ["WORD_DIVISION"]

DISAGREE = "the other result is not this one"


def _solver(mode: Mode) -> Any:
    return mode.solver


def _recover(mode: Mode) -> Any:
    return mode.recover


def quotient_and_remainder(kind: Any, floor: Relation, rest: Relation) -> Relation:
    """The relation of divmod for this numpy type. floor, rest: those of // and %."""
    info, word, signed = np.iinfo(kind), np.uint64, kind is np.int64
    zero, lowest = kind(0), kind(info.min)
    highest_size = word(info.max)
    nonzero = Integers(without=(0,), kind=kind)
    quotient, remainder = (rule.modes[frozenset(["return"])].solver for rule in (floor, rest))
    of_dividend, of_divisor, of_both = map(frozenset, (["a"], ["b"], ["a", "b"]))
    floor_a, floor_b, floor_ab = (floor.modes[axes] for axes in (of_dividend, of_divisor, of_both))
    rest_a, rest_b, rest_ab = (rest.modes[axes] for axes in (of_dividend, of_divisor, of_both))
    dividend_by_offset, divisor_by_step, both_by_offset = map(_solver, (floor_a, floor_b, floor_ab))
    dividend_by_index, divisor_by_wish, both_by_index = map(_solver, (rest_a, rest_b, rest_ab))
    offset_of, step_of, pair_of_quotient = map(_recover, (floor_a, floor_b, floor_ab))
    index_of, pair_of_remainder = map(_recover, (rest_a, rest_ab))

    def size(a: Any) -> Any:
        return word(a) if a >= zero else NONE - word(a)

    def largest(down: Any) -> Any:
        return highest_size + ONE if down else highest_size

    def with_size(found: Any, down: Any) -> Any:
        return kind(NONE - found if down else found)

    def dividend(q: Any, r: Any, b: Any) -> Any:
        a = kind(q * b + r)
        if quotient(a, b) != q or remainder(a, b) != r:
            raise NoSolution("no word has this quotient and this remainder")
        return a

    def beyond(r: Any, excess: Any, negative: Any) -> Any:
        """A divisor so much larger than its remainder."""
        down = signed and (r < zero or (r == zero and negative))
        n, most = size(r), largest(down)
        if n >= most or (r > zero and down):
            raise NoSolution("no divisor leaves this remainder")
        return with_size(n + ONE + excess % (most - n), down)

    def divisor(q: Any, r: Any, a: Any, excess: Any, negative: Any) -> Any:
        if q == zero:
            if a != r:
                raise NoSolution("what is smaller than the divisor is left whole")
            return beyond(r, excess, negative)
        if signed and negative and a == lowest and q == lowest and r == zero:
            return ~zero  # by -1 it wraps
        whole = word(a) - word(r) if a >= r else word(r) - word(a)
        found, down = whole // size(q), signed and ((a < r) != (q < zero))
        if found == NONE or found > largest(down):
            raise NoSolution("no divisor has this quotient and this remainder")
        b = with_size(found, down)
        if quotient(a, b) != q or remainder(a, b) != r:
            raise NoSolution("no divisor has this quotient and this remainder")
        return b

    def quotient_agreeing(r: Any, a: Any, b: Any) -> Any:
        if remainder(a, b) != r:
            raise NoSolution(DISAGREE)
        return quotient(a, b)

    def remainder_agreeing(q: Any, a: Any, b: Any) -> Any:
        if quotient(a, b) != q:
            raise NoSolution(DISAGREE)
        return remainder(a, b)

    def by_index(r: Any, b: Any, index: Any) -> Any:
        a = dividend_by_index(r, b, index)
        return quotient(a, b), a

    def by_offset(q: Any, b: Any, offset: Any) -> Any:
        a = dividend_by_offset(q, b, offset)
        return remainder(a, b), a

    def by_wish(r: Any, a: Any, wish: Any, negative: Any) -> Any:
        b = divisor_by_wish(r, a, wish, negative)
        return quotient(a, b), b

    def by_step(q: Any, a: Any, step: Any, negative: Any) -> Any:
        b = divisor_by_step(q, a, step, negative)
        return remainder(a, b), b

    def is_dividend(a: Any, q: Any, r: Any, b: Any) -> Any:
        return quotient(a, b) == q and remainder(a, b) == r

    def pair(q: Any, r: Any, excess: Any, negative: Any) -> Any:
        left = excess
        b = beyond(r, left, negative)
        while left != NONE and not is_dividend(kind(q * b + r), q, r, b):
            left = left >> ONE  # a smaller divisor may leave room for the product
            b = beyond(r, left, negative)
        return dividend(q, r, b), b

    def any_quotient(r: Any, index: Any, excess: Any, negative: Any) -> Any:
        a, b = both_by_index(r, index, excess, negative)
        return quotient(a, b), a, b

    def any_remainder(q: Any, v: Any, offset: Any) -> Any:
        a, b = both_by_offset(q, v, offset)
        return remainder(a, b), a, b

    def excess_of(r: Any, b: Any) -> Any:
        """By how much a divisor is larger than the remainder, less 1."""
        return size(b) - size(r) - ONE

    return relation(
        divmod, kind, kind, "q, r = divmod(a, b)", returns=(kind, kind), domain={"b": nonzero},
        edges="q = 0: b is so much larger than r, which is a",
        ret=lambda a, b: (quotient(a, b), remainder(a, b)),
        q=quotient_agreeing,
        r=remainder_agreeing,
        a=dividend,
        b=parametric(
            divisor, excess=Word64, negative=Bool, recover=lambda r, b: (excess_of(r, b), b < 0)
        ),
        qa=parametric(
            by_index, index=Word64, recover=lambda r, a, b: index_of(r, a, b),
        ),
        ra=parametric(
            by_offset, offset=Word64, recover=lambda q, a, b: offset_of(q, a, b),
        ),
        qb=parametric(
            by_wish, wish=Size, negative=Bool, recover=lambda b: (size(b), b < 0),
        ),
        rb=parametric(
            by_step, step=Word64, negative=Bool, recover=lambda q, a, b: step_of(q, a, b),
        ),
        ab=parametric(
            pair, excess=Word64, negative=Bool, recover=lambda r, b: (excess_of(r, b), b < 0)
        ),
        qab=parametric(
            any_quotient, index=Word64, excess=Word64, negative=Bool,
            recover=lambda r, a, b: pair_of_remainder(r, a, b),
        ),
        rab=parametric(
            any_remainder, v=nonzero, offset=Word64,
            recover=lambda q, a, b: pair_of_quotient(q, a, b),
        ),
    )  # fmt: skip


def _rules(kind: Any) -> tuple[Relation, Relation, Relation]:
    floor, rest = division(kind)
    return floor, rest, quotient_and_remainder(kind, floor, rest)


WORD_DIVISION: Mapping[Any, tuple[Relation, Relation, Relation]] = {
    kind: _rules(kind) for kind in (np.int64, np.uint64)
}
"""The relations of //, % and divmod, by numpy type."""
