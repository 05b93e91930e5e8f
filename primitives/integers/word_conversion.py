"""Absolute values and conversions of numpy.int64 and numpy.uint64."""

from __future__ import annotations

from typing import Any

import numpy as np

from primitives.domains import Bool, Integers
from primitives.errors import NoSolution
from primitives.relation import Relation, parametric, relation
from primitives.solver_forms import compiled_forms

__all__ = ["conversions"]

NONE = np.uint64(0)


def to_int(value: Any) -> int:
    """The mathematical integer that a word is; compiled, where 64 bits with a sign hold it."""
    return int(value)


def to_word(value: int) -> Any:
    """The numpy.uint64 that an integer is."""
    if not 0 <= value <= 2**64 - 1:
        raise NoSolution("it is no word of 64 bits")
    return np.uint64(value)


def to_int64(value: int) -> Any:
    """The numpy.int64 that an integer is."""
    if not -(2**63) <= value <= 2**63 - 1:
        raise NoSolution("it is no word of 64 bits")
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
        raise NoSolution("it is no word of 64 bits")
    return np.uint64(value)


@compiled_forms.overlay(to_int64)
def to_int64_64(value: Any) -> Any:
    return np.int64(value)


def conversions(kind: Any) -> tuple[Relation, ...]:
    """The relations of abs(), of int() and of this type, called for an integer or a word."""
    other = np.uint64 if kind is np.int64 else np.int64
    made = to_int64 if kind is np.int64 else to_word
    inside = Integers(np.iinfo(kind).min, np.iinfo(kind).max)
    return (
        absolute(kind),
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


def absolute(kind: Any) -> Relation:
    """The relation of abs(); the lowest numpy.int64 is its own absolute value."""
    zero, lowest = kind(0), kind(np.iinfo(kind).min)
    if kind is np.uint64:
        return relation(abs, kind, "return = abs(a)", ret=lambda a: a, a=lambda ret: ret)

    def of_size(ret: Any, negative: Any) -> Any:
        if ret < zero and ret != lowest:
            raise NoSolution("an absolute value is not negative")
        return zero - ret if negative else ret

    return relation(
        abs, kind, "return = abs(a)",
        ret=lambda a: zero - a if a < zero else a,
        a=parametric(of_size, negative=Bool, recover=lambda a: (a < 0,)),
    )  # fmt: skip
