"""The relations of integers and of words."""

from __future__ import annotations

from primitives.integers import number_theory
from primitives.integers.bits import bitwise, counted, integers_bitwise
from primitives.integers.conversion import (
    abs_int,
    absolute,
    int_of_bool,
    int_of_int,
    word_conversions,
)
from primitives.integers.divmod import DIVISION
from primitives.integers.integer_arithmetic import (
    add_int,
    mul_int,
    neg_int,
    square_int,
    sub_int,
    sums,
    word_products,
)
from primitives.integers.integer_kinds import INT64, INTEGERS, UINT64, IntegerKind
from primitives.integers.integer_powers import power_int
from primitives.integers.modular_powers import power_modulo
from primitives.integers.ordering import ordered
from primitives.integers.shifts import lshift_int, rshift_int, word_shifts
from primitives.integers.xorshift import rotations, xorshift_left_of, xorshift_right_of
from primitives.logical import truth
from primitives.relation import Relation

__all__ = ["INTEGER_RELATIONS"]


def _of_any_kind(kind: IntegerKind) -> tuple[Relation, ...]:
    return (
        *ordered(kind),
        counted(kind),
        *truth(kind.type, kind.nonzero),
        xorshift_right_of(kind),
        *DIVISION[kind.type],
    )


def _of_words(kind: IntegerKind) -> tuple[Relation, ...]:
    return (
        *sums(kind),
        *word_products(kind),
        *_of_any_kind(kind),
        *bitwise(kind),
        absolute(kind),
        *word_shifts(kind),
        xorshift_left_of(kind),
        *word_conversions(kind.type),
    )


INTEGER_RELATIONS: tuple[Relation, ...] = (
    add_int,
    sub_int,
    neg_int,
    mul_int,
    square_int,
    *_of_any_kind(INTEGERS),
    *integers_bitwise,
    abs_int,
    lshift_int,
    rshift_int,
    int_of_int,
    int_of_bool,
    # words have none: the powers of numpy wrap, and gcd, comb, factorial and isqrt are of int
    power_int,
    power_modulo,
    number_theory.gcd,
    number_theory.comb,
    number_theory.factorial,
    number_theory.isqrt,
    *_of_words(INT64),
    *_of_words(UINT64),
    *rotations(),
)
