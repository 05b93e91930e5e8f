"""bool values: not, and, or, exclusive or, equality, and the truth of numbers.

Python's ``and`` and ``or`` are branches; these are & and | of truth values.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from primitives.domains import Bool, Domain, Integers
from primitives.errors import NoSolution
from primitives.relation import Relation, parametric, relation

__all__ = ["booleans", "truth"]


def settled(ret: bool, known: bool, neutral: bool, free: bool) -> bool:
    """The other argument of "and" (``neutral`` is True) or "or" (False); ``free`` if the known one
    alone determines the result.
    """
    if known == neutral:
        return ret
    if ret == neutral:
        raise NoSolution("the known value alone determines another result")
    return free


def pair(ret: bool, neutral: bool, case: int) -> tuple[bool, bool]:
    """Two arguments with this result.

    case: which of them determine a result that is not neutral: both (0), only the first (1), or
    only the second (2).
    """
    if ret == neutral:
        return neutral, neutral
    return neutral == (case == 2), neutral == (case == 1)


def case_of(a: bool, b: bool, neutral: bool) -> int:
    """The case for which ``pair`` returns these arguments."""
    return 2 if a == neutral and b != neutral else int(b == neutral and a != neutral)


def _connective(target: Any, sign: str, neutral: bool) -> Relation:
    """The relation of a connective. neutral: its neutral element."""
    return relation(
        target, bool, bool, f"return = a {sign} b",
        a=parametric(
            lambda ret, b, free: settled(ret, b, neutral, free), free=Bool,
            recover=lambda a: (a,), determined_if=lambda b: b == neutral,
        ),
        b=parametric(
            lambda ret, a, free: settled(ret, a, neutral, free), free=Bool,
            recover=lambda b: (b,), determined_if=lambda a: a == neutral,
        ),
        ab=parametric(
            lambda ret, case: pair(ret, neutral, case), case=Integers(0, 2),
            recover=lambda a, b: (case_of(a, b, neutral),),
        ),
    )  # fmt: skip


def _difference(target: Any, sign: str, differ: bool) -> Relation:
    """The relation of a comparison of truth values. differ: whether it is true for different
    arguments, or for equal ones.
    """
    return relation(
        target, bool, bool, f"return = a {sign} b",
        a=lambda ret, b: (ret == differ) != b,
        b=lambda ret, a: (ret == differ) != a,
        ab=parametric(
            lambda ret, v: ((ret == differ) != v, v), v=Bool,
            recover=lambda a, b: (b,),
        ),
    )  # fmt: skip


booleans = (
    _connective(operator.and_, "&", True),
    _connective(operator.or_, "|", False),
    _difference(operator.xor, "^", True),
    _connective(np.logical_and, "&", True),  # for numbers it is a different function from &
    _connective(np.logical_or, "|", False),
    _difference(np.logical_xor, "^", True),
    _difference(operator.ne, "!=", True),
    _difference(operator.eq, "==", False),
    relation(
        operator.not_, bool, "return = not a",
        ret=lambda a: not a,
        a=lambda ret: not ret,
    ),
    relation(
        bool, bool, "return = bool(a)",
        ret=lambda a: a,
        a=lambda ret: ret,
    ),
)  # fmt: skip

# ---- of numbers ---------------------------------------------------------------------------


def truth(kind: Any, nonzero: Domain) -> tuple[Relation, Relation]:
    """The relations of bool() and ``not`` for numbers of this type. nonzero: the domain of those
    other than 0.
    """
    zero, default = kind(0), nonzero.default
    return (
        relation(
            bool, kind, "return = bool(a)", returns=bool,
            ret=lambda a: a != zero,
            a=parametric(
                lambda ret, other: other if ret else zero, other=nonzero,
                recover=lambda a: (a if a else default,),
            ),
        ),
        relation(
            operator.not_, kind, "return = not a", returns=bool,
            ret=lambda a: a == zero,
            a=parametric(
                lambda ret, other: zero if ret else other, other=nonzero,
                recover=lambda a: (a if a else default,),
            ),
        ),
    )  # fmt: skip
