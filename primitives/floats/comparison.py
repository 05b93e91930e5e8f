"""Comparisons of floats, and ``where``.

The coordinate ``excess`` is the distance between the two. If they have to differ, they differ by at
least one ulp: an excess of 0 gives the nearest float.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from primitives.domains import Bool, NonNegative, Real
from primitives.errors import NoSolution
from primitives.floats.tolerance import above, agrees, below
from primitives.relation import Relation, parametric, relation

__all__ = ["COMPARISONS", "eq", "ge", "gt", "le", "lt", "ne", "where"]


def larger_if(above_it: bool, bound: float, excess: float, equal: bool) -> float:
    """The number on this side of ``bound``, at distance ``excess``. equal: whether it may be the
    bound.
    """
    return above(bound, excess, not equal) if above_it else below(bound, excess, not equal)


# a < b means that b lies above a; if it is false, below or on it
lt = relation(
    operator.lt, float, float, "return = a < b", returns=bool,
    ret=lambda a, b: a < b,
    a=parametric(
        lambda ret, b, excess: larger_if(not ret, b, excess, not ret),
        excess=NonNegative, recover=lambda a, b: (abs(a - b),),
    ),
    b=parametric(
        lambda ret, a, excess: larger_if(ret, a, excess, not ret),
        excess=NonNegative, recover=lambda a, b: (abs(a - b),),
    ),
    ab=parametric(
        lambda ret, excess, v: (larger_if(not ret, v, excess, not ret), v),
        excess=NonNegative, v=Real, recover=lambda a, b: (abs(a - b), b),
    ),
)  # fmt: skip
le = relation(
    operator.le, float, float, "return = a <= b", returns=bool,
    ret=lambda a, b: a <= b,
    a=parametric(
        lambda ret, b, excess: larger_if(not ret, b, excess, ret),
        excess=NonNegative, recover=lambda a, b: (abs(a - b),),
    ),
    b=parametric(
        lambda ret, a, excess: larger_if(ret, a, excess, ret),
        excess=NonNegative, recover=lambda a, b: (abs(a - b),),
    ),
    ab=parametric(
        lambda ret, excess, v: (larger_if(not ret, v, excess, ret), v),
        excess=NonNegative, v=Real, recover=lambda a, b: (abs(a - b), b),
    ),
)  # fmt: skip
gt = relation(
    operator.gt, float, float, "return = a > b", returns=bool,
    ret=lambda a, b: a > b,
    a=parametric(
        lambda ret, b, excess: larger_if(ret, b, excess, not ret),
        excess=NonNegative, recover=lambda a, b: (abs(a - b),),
    ),
    b=parametric(
        lambda ret, a, excess: larger_if(not ret, a, excess, not ret),
        excess=NonNegative, recover=lambda a, b: (abs(a - b),),
    ),
    ab=parametric(
        lambda ret, excess, v: (larger_if(ret, v, excess, not ret), v),
        excess=NonNegative, v=Real, recover=lambda a, b: (abs(a - b), b),
    ),
)  # fmt: skip
ge = relation(
    operator.ge, float, float, "return = a >= b", returns=bool,
    ret=lambda a, b: a >= b,
    a=parametric(
        lambda ret, b, excess: larger_if(ret, b, excess, ret),
        excess=NonNegative, recover=lambda a, b: (abs(a - b),),
    ),
    b=parametric(
        lambda ret, a, excess: larger_if(not ret, a, excess, ret),
        excess=NonNegative, recover=lambda a, b: (abs(a - b),),
    ),
    ab=parametric(
        lambda ret, excess, v: (larger_if(ret, v, excess, ret), v),
        excess=NonNegative, v=Real, recover=lambda a, b: (abs(a - b), b),
    ),
)  # fmt: skip


def equal_if(same: bool, known: float, gap: float) -> float:
    """The known float, or one that differs from it by ``gap``."""
    if same:
        return known
    return above(known, gap, True) if gap >= 0 else below(known, -gap, True)


def equality(target: Callable[..., Any], sign: str, forward: Any, negated: bool) -> Relation:
    """The relation of == or, if ``negated``, of !=."""
    return relation(
        target, float, float, f"return = a {sign} b", returns=bool,
        ret=forward,
        a=parametric(
            lambda ret, b, gap: equal_if(ret != negated, b, gap), gap=Real,
            recover=lambda a, b: (a - b,),
        ),
        b=parametric(
            lambda ret, a, gap: equal_if(ret != negated, a, gap), gap=Real,
            recover=lambda a, b: (b - a,),
        ),
        ab=parametric(
            lambda ret, gap, v: (equal_if(ret != negated, v, gap), v), gap=Real, v=Real,
            recover=lambda a, b: (a - b, b),
        ),
    )  # fmt: skip


eq = equality(operator.eq, "==", lambda a, b: a == b, False)
ne = equality(operator.ne, "!=", lambda a, b: a != b, True)

COMPARISONS: tuple[Relation, ...] = (lt, le, gt, ge, eq, ne)

# ---- where --------------------------------------------------------------------------------


def chosen(ret: float, other: float, taken: bool, free: float) -> float:
    """The argument of where: the result if it is taken, else ``free``."""
    if taken:
        return ret
    if not agrees(other, ret):
        raise NoSolution("the argument that is taken differs from the result")
    return free


def which(ret: float, a: float, b: float, first: bool) -> bool:
    """The condition that selects ``ret``; ``first`` if both arguments do."""
    is_a, is_b = agrees(a, ret), agrees(b, ret)
    if is_a and is_b and a != b:
        return abs(a - ret) <= abs(b - ret)
    if is_a and is_b:
        return first
    if not is_a and not is_b:
        raise NoSolution("neither argument is the result")
    return is_a


where = relation(
    np.where, bool, float, float, "return = where(c, a, b)", returns=float,
    edges="free is the argument that is not selected; first is the condition if both are ret",
    ret=lambda c, a, b: a if c else b,
    a=parametric(
        lambda ret, c, b, free: chosen(ret, b, c, free), free=Real,
        recover=lambda a: (a,), determined_if=lambda c: c,
    ),
    b=parametric(
        lambda ret, c, a, free: chosen(ret, a, not c, free), free=Real,
        recover=lambda b: (b,), determined_if=lambda c: not c,
    ),
    c=parametric(which, first=Bool, recover=lambda c: (c,)),
    ab=parametric(
        lambda ret, c, free: (ret, free) if c else (free, ret), free=Real,
        recover=lambda c, a, b: (b if c else a,),
    ),
    cab=parametric(
        lambda ret, first, free: (True, ret, free) if first else (False, free, ret),
        first=Bool, free=Real,
        recover=lambda c, a, b: (c, b if c else a),
    ),
)  # fmt: skip
