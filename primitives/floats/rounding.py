"""Rounding of floats: down, up, towards 0, and to the nearest whole number.

Each has a form with a float result (numpy's functions) and one with an integer (``math.floor``,
``int``, ``round``). The coordinate ``u`` is the part that rounding removed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from primitives.domains import Bool, Reals, WholeFloats
from primitives.errors import NoSolution
from primitives.floats.tolerance import WHOLE_FROM, floor_of, whole
from primitives.relation import Relation, parametric, relation
from primitives.solver_forms import compiled_forms

__all__ = ["ROUNDING", "ceil", "floor", "half_even", "rint", "trunc"]

BELOW_ONE = 1 - 2.0**-53
FRACTION = Reals(0, 1, open_high=True)
HALF = Reals(-0.5, 0.5)


def ceil_of(a: float) -> float:
    """The smallest whole number not below ``a``."""
    return -floor_of(-a)


def trunc_of(a: float) -> float:
    """``a`` without its fraction."""
    return floor_of(a) if a > 0 else ceil_of(a)


def half_even_of(a: float) -> float:
    """The nearest whole number; the even one of two."""
    return a if abs(a) >= WHOLE_FROM else float(round(a))


def above_floor(ret: float, u: float) -> float:
    """The number ``u`` above its floor ``ret``."""
    ret = whole(ret)
    found = ret + u
    return found if floor_of(found) == ret else math.nextafter(found, ret)


def below_ceil(ret: float, u: float) -> float:
    """The number ``u`` below its ceiling ``ret``."""
    return -above_floor(-ret, u)


def beyond_trunc(ret: float, u: float, negative: bool) -> float:
    """The number ``u`` further from 0 than its truncation ``ret``."""
    down = negative if ret == 0 else ret < 0
    return below_ceil(ret, u) if down else above_floor(ret, u)


def beside_half_even(ret: float, u: float) -> float:
    """The number ``u`` above its nearest whole number ``ret``."""
    ret = whole(ret)
    found = ret + u
    return found if half_even_of(found) == ret else math.nextafter(found, ret)


def above_its_floor(a: float) -> float:
    """The distance of a number from its floor, less than 1."""
    return min(a - floor_of(a), BELOW_ONE)


# ---- conversion ---------------------------------------------------------------------------


def whole_float(value: int) -> float:
    """The float equal to this integer."""
    found = float(value)
    if int(found) != value:
        raise NoSolution("no float is this integer")
    return found


@compiled_forms.overlay(whole_float)
def whole_float_64(value: Any) -> float:
    found = float(value)
    # 2**63 is not an integer of 64 bits
    if found >= 2.0**63 or int(found) != value:
        raise NoSolution("no float is this integer")
    return found


def integer(value: float) -> int:
    """The integer equal to a whole float."""
    return int(value)


@compiled_forms.overlay(integer)
def integer_64(value: Any) -> int:
    if not -(2.0**63) <= value < 2.0**63:
        raise NoSolution("the integer needs more than 64 bits")
    return int(value)


# ---- relations ----------------------------------------------------------------------------

WHOLE = "from 2**52 on all floats are whole, and u has no effect"
EXACT = f"{WHOLE}; an integer that no float equals is refused"

floor = relation(
    math.floor, float, "return = floor(a)", returns=int, edges=EXACT,
    ret=lambda a: integer(floor_of(a)),
    a=parametric(
        lambda ret, u: above_floor(whole_float(ret), u), u=FRACTION,
        recover=lambda a: (above_its_floor(a),),
    ),
)  # fmt: skip
floor_float = relation(
    np.floor, float, "return = floor(a)", codomain=WholeFloats(), edges=WHOLE,
    ret=lambda a: floor_of(a),
    a=parametric(above_floor, u=FRACTION, recover=lambda a: (above_its_floor(a),)),
)  # fmt: skip
ceil = relation(
    math.ceil, float, "return = ceil(a)", returns=int, edges=EXACT,
    ret=lambda a: integer(ceil_of(a)),
    a=parametric(
        lambda ret, u: below_ceil(whole_float(ret), u), u=FRACTION,
        recover=lambda a: (above_its_floor(-a),),
    ),
)  # fmt: skip
ceil_float = relation(
    np.ceil, float, "return = ceil(a)", codomain=WholeFloats(), edges=WHOLE,
    ret=lambda a: ceil_of(a),
    a=parametric(below_ceil, u=FRACTION, recover=lambda a: (above_its_floor(-a),)),
)  # fmt: skip
trunc = relation(
    int, float, "return = int(a)", returns=int,
    edges=f"ret = 0: a in (-1, 1), on the side given by negative; {EXACT}",
    ret=lambda a: integer(trunc_of(a)),
    a=parametric(
        lambda ret, u, negative: beyond_trunc(whole_float(ret), u, negative),
        u=FRACTION, negative=Bool,
        recover=lambda a: (above_its_floor(abs(a)), a < 0),
    ),
)  # fmt: skip
trunc_float = relation(
    np.trunc, float, "return = trunc(a)", codomain=WholeFloats(),
    edges=f"ret = 0: a in (-1, 1), on the side given by negative; {WHOLE}",
    ret=lambda a: trunc_of(a),
    a=parametric(
        beyond_trunc, u=FRACTION, negative=Bool,
        recover=lambda a: (above_its_floor(abs(a)), a < 0),
    ),
)  # fmt: skip
half_even = relation(
    round, float, "return = round(a)", returns=int,
    edges=f"a half is rounded to the even number, so next to an odd one abs(u) < 0.5; {EXACT}",
    ret=lambda a: integer(half_even_of(a)),
    a=parametric(
        lambda ret, u: beside_half_even(whole_float(ret), u), u=HALF,
        recover=lambda a: (a - half_even_of(a),),
    ),
)  # fmt: skip
rint = relation(
    np.rint, float, "return = rint(a)", codomain=WholeFloats(),
    edges=f"a half is rounded to the even number, so next to an odd one abs(u) < 0.5; {WHOLE}",
    ret=lambda a: half_even_of(a),
    a=parametric(
        beside_half_even, u=HALF, recover=lambda a: (a - half_even_of(a),),
    ),
)  # fmt: skip

ROUNDING: tuple[Relation, ...] = (
    floor, floor_float, ceil, ceil_float, trunc, trunc_float, half_even, rint,
)  # fmt: skip
