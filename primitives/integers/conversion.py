"""Absolute values of integers and words, and conversions between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from primitives.domains import Bool, Integers
from primitives.errors import NoSolution
from primitives.integers.integer_kinds import INTEGERS, NONE, IntegerKind, Natural
from primitives.relation import Relation, parametric, relation
from primitives.solver_forms import compiled_forms

__all__ = ["abs_int", "absolute", "int_of_bool", "int_of_int", "word_conversions"]


# ---- conversions --------------------------------------------------------------------------


def to_int(value: Any) -> int:
    """A word as an integer; compiled code raises NoSolution if it does not fit in a signed integer
    of 64 bits.
    """
    return int(value)


def to_word(value: int) -> Any:
    """An integer as a numpy.uint64."""
    if not 0 <= value <= 2**64 - 1:
        raise NoSolution("it is not a word of 64 bits")
    return np.uint64(value)


def to_int64(value: int) -> Any:
    """An integer as a numpy.int64."""
    if not -(2**63) <= value <= 2**63 - 1:
        raise NoSolution("it is not a word of 64 bits")
    return np.int64(value)


@compiled_forms.overlay(to_int)
def to_int_64(value: Any) -> Any:
    found = np.int64(value)
    if (value < NONE) != (found < 0):
        raise NoSolution("the integer needs more than 64 bits")
    return found


@compiled_forms.overlay(to_word)
def to_word_64(value: Any) -> Any:
    if value < 0:
        raise NoSolution("it is not a word of 64 bits")
    return np.uint64(value)


@compiled_forms.overlay(to_int64)
def to_int64_64(value: Any) -> Any:
    return np.int64(value)


def truth_of(ret: int) -> bool:
    """The truth value of an integer, 0 or 1."""
    if ret != 0 and ret != 1:
        raise NoSolution("a truth value is 0 or 1")
    return ret == 1


int_of_int = relation(
    int, int, "return = int(a)",
    ret=lambda a: a,
    a=lambda ret: ret,
)  # fmt: skip
int_of_bool = relation(
    int, bool, "return = int(a)", returns=int, codomain=Integers(0, 1),
    ret=lambda a: 1 if a else 0,
    a=truth_of,
)  # fmt: skip


def word_conversions(kind: Any) -> tuple[Relation, ...]:
    """The relations of int() of this numpy type, and of the type called for an integer or word."""
    other = np.uint64 if kind is np.int64 else np.int64
    made = to_int64 if kind is np.int64 else to_word
    inside = Integers(np.iinfo(kind).min, np.iinfo(kind).max)
    return (
        relation(
            int, kind, "return = int(a)", returns=int, codomain=inside,
            ret=lambda a: to_int(a), a=lambda ret: made(ret),
        ),
        relation(
            kind, int, "return = word(a)", returns=kind, domain=inside,
            ret=lambda a: made(a), a=lambda ret: to_int(ret),
        ),
        relation(kind, kind, "return = word(a)", ret=lambda a: a, a=lambda ret: ret),
        relation(
            kind, other, "return = word(a)", returns=kind,
            ret=lambda a: kind(a), a=lambda ret: other(ret),
        ),
    )  # fmt: skip


# ---- absolute values ----------------------------------------------------------------------


def absolute(kind: IntegerKind) -> Relation:
    """The relation of abs(); the lowest numpy.int64 is its own absolute value."""
    zero, lowest, wraps, negated = kind.type(0), kind.lowest, kind.wraps, kind.negated
    if not kind.signed:
        return relation(abs, kind.type, "return = abs(a)", ret=lambda a: a, a=lambda ret: ret)

    def with_sign(ret: Any, negative: Any) -> Any:
        if ret < zero and not (wraps and ret == lowest):
            raise NoSolution("an absolute value is not negative")
        return negated(ret) if negative else ret

    return relation(
        abs, kind.type, "return = abs(a)", codomain=None if wraps else Natural,
        ret=lambda a: negated(a) if a < zero else a,
        a=parametric(with_sign, negative=Bool, recover=lambda a: (a < 0,)),
    )  # fmt: skip


abs_int = absolute(INTEGERS)
