"""Functions with two results: quotients with remainders, and decompositions of floats.

If a mode computes one of the two results, the other has to agree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from primitives.domains import Bool, Integers, NonZero, Real, Reals, WholeFloats
from primitives.errors import NoSolution
from primitives.floats.powers import scaled
from primitives.floats.remainders import (
    beyond,
    denominator,
    floordiv,
    mod,
    neighbour,
    numerator,
    part,
)
from primitives.floats.remainders import dividend as float_dividend
from primitives.floats.remainders import modulus as float_modulus
from primitives.floats.rounding import above_its_floor, beyond_trunc, trunc_of
from primitives.floats.tolerance import agrees, finite, whole
from primitives.integers.divmod import DIVISION
from primitives.relation import Relation, parametric, relation

__all__ = ["PAIRS", "SEVERAL", "divmod_float", "frexp", "modf"]

FRACTION = Reals(0, 1, open_high=True)
HALF_TO_ONE = Reals(0.5, 1, open_high=True)
SCALE = Integers(-1073, 1024)
"""The exponents of floats, including subnormal ones."""
DISAGREE = "the other result is not this one"


# ---- quotients and remainders of floats ---------------------------------------------------


def divided_float(a: float, b: float) -> tuple[float, float]:
    """The quotient, rounded down, and the remainder."""
    return a // b, a % b


def fits(q: float, r: float, a: float, b: float) -> bool:
    """Return whether q and r are the quotient and remainder of a and b, up to rounding."""
    return b != 0 and a // b == q and agrees(a % b, r)


def dividend_of_both(q: float, r: float, b: float) -> float:
    """The dividend with quotient q and remainder r by b."""
    found = finite(q * b + r)
    for step in (0, 1, -1):
        if fits(q, r, neighbour(found, step), b):
            return neighbour(found, step)
    raise NoSolution("no float has this quotient and this remainder")


def divisor_of_both_float(q: float, r: float, a: float, near: float) -> float:
    """The divisor for which ``a`` has quotient q and remainder r; ``near`` if that is one."""
    if fits(q, r, a, near):
        return near
    found = finite((a - r) / q if q != 0 else beyond(r, near))
    for step in (0, 1, -1):
        if fits(q, r, a, neighbour(found, step)):
            return neighbour(found, step)
    raise NoSolution("no float is the divisor for this quotient and this remainder")


def quotient_agreeing_float(r: float, a: float, b: float) -> float:
    if not agrees(a % b, r):
        raise NoSolution(DISAGREE)
    return a // b


def remainder_agreeing_float(q: float, a: float, b: float) -> float:
    if a // b != q:
        raise NoSolution(DISAGREE)
    return a % b


def quotient_and_dividend(r: float, b: float, near: float) -> tuple[float, float]:
    a = float_dividend(r, b, near)
    return a // b, a


def remainder_and_dividend(q: float, b: float, u: float) -> tuple[float, float]:
    a = numerator(q, b, u)
    return a % b, a


def quotient_and_divisor(r: float, a: float, near: float) -> tuple[float, float]:
    b = float_modulus(r, a, near)
    return a // b, b


def remainder_and_divisor(q: float, a: float, u: float, near: float) -> tuple[float, float]:
    b = denominator(q, a, u, near)
    return a % b, b


def both_of_floats(q: float, r: float, excess: float) -> tuple[float, float]:
    b = beyond(r, excess)
    return dividend_of_both(q, r, b), b


def any_of_remainder_float(r: float, near: float, excess: float) -> tuple[float, float, float]:
    b = beyond(r, excess)
    a = float_dividend(r, b, near)
    return a // b, a, b


def any_of_quotient_float(q: float, v: float, u: float) -> tuple[float, float, float]:
    a = numerator(q, v, u)
    return a % v, a, v


def excess_of(r: float, b: float) -> float:
    """The excess of a divisor over the absolute value of the remainder."""
    return b if r == 0 else b - r


divmod_float = relation(
    divmod, float, float, "q, r = divmod(a, b)",
    returns=(float, float), domain={"b": NonZero},
    edges="b is near if that is a solution; otherwise, for q = 0, r is a and b exceeds it",
    ret=divided_float,
    q=quotient_agreeing_float,
    r=remainder_agreeing_float,
    a=dividend_of_both,
    b=parametric(divisor_of_both_float, near=NonZero, recover=lambda b: (b,)),
    qa=parametric(quotient_and_dividend, near=Real, recover=lambda a: (a,)),
    ra=parametric(
        remainder_and_dividend, u=FRACTION,
        recover=lambda q, a, b: (part(q, a, b),),
    ),
    qb=parametric(quotient_and_divisor, near=NonZero, recover=lambda b: (b,)),
    rb=parametric(
        remainder_and_divisor, u=FRACTION, near=NonZero,
        recover=lambda q, a, b: (part(q, a, b), b),
    ),
    ab=parametric(both_of_floats, excess=Real, recover=lambda r, b: (excess_of(r, b),)),
    qab=parametric(
        any_of_remainder_float, near=Real, excess=Real,
        recover=lambda r, a, b: (a, excess_of(r, b)),
    ),
    rab=parametric(
        any_of_quotient_float, v=NonZero, u=FRACTION,
        recover=lambda q, a, b: (b, part(q, a, b)),
    ),
)  # fmt: skip

# ---- decompositions of floats -------------------------------------------------------------


def fraction_and_whole(a: float) -> tuple[float, float]:
    """The fraction and the whole part of a float, in this order."""
    n = trunc_of(a)
    return a - n, n


def put_together(f: float, n: float) -> float:
    """The float with this fraction and this whole part."""
    n = whole(n)
    found = f + n
    if not abs(f) < 1 or f * n < 0 or trunc_of(found) != n or not agrees(found - n, f):
        raise NoSolution("no float has this fraction and this whole part")
    return found


def whole_agreeing(f: float, a: float) -> float:
    if not agrees(a - trunc_of(a), f):
        raise NoSolution(DISAGREE)
    return trunc_of(a)


def fraction_agreeing(n: float, a: float) -> float:
    if trunc_of(a) != n:
        raise NoSolution(DISAGREE)
    return a - n


def with_fraction(n: float, u: float, negative: bool) -> tuple[float, float]:
    """A fraction, and the float that has it and this whole part."""
    a = beyond_trunc(n, u, negative)
    return a - trunc_of(a), a


def with_whole(f: float, near: float) -> tuple[float, float]:
    """A whole part with the sign of the fraction, and the float of both."""
    n = math.copysign(near, f) if f != 0 else near
    return n, put_together(f, n)


modf = relation(
    math.modf, float, "f, n = modf(a)", returns=(float, float),
    edges="both have the sign of a; from 2**52 on all floats are whole",
    ret=fraction_and_whole,
    f=fraction_agreeing,
    n=whole_agreeing,
    a=put_together,
    fa=parametric(
        with_fraction, u=FRACTION, negative=Bool,
        recover=lambda a: (above_its_floor(abs(a)), a < 0),
    ),
    na=parametric(with_whole, near=WholeFloats(), recover=lambda n: (n,)),
)  # fmt: skip


def scaled_together(m: float, e: int) -> float:
    """The float with this significand and this exponent."""
    found = finite(scaled(m, e))
    if math.frexp(found) != (m, e):
        raise NoSolution("no float has this significand and this exponent")
    return found


def exponent_agreeing(m: float, a: float) -> int:
    if not agrees(math.frexp(a)[0], m):
        raise NoSolution(DISAGREE)
    return math.frexp(a)[1]


def significand_agreeing(e: int, a: float) -> float:
    if math.frexp(a)[1] != e:
        raise NoSolution(DISAGREE)
    return math.frexp(a)[0]


def with_significand(e: int, size: float, negative: bool, zero: bool) -> tuple[float, float]:
    """A significand of this size and sign, or 0, and the float that has it and this exponent."""
    if zero and e == 0:
        return 0.0, 0.0
    m = -size if negative else size
    return m, scaled_together(m, e)


def with_exponent(m: float, near: int) -> tuple[int, float]:
    """An exponent, which is 0 for a significand of 0, and the float of both."""
    e = 0 if m == 0 else near
    return e, scaled_together(m, e)


frexp = relation(
    math.frexp, float, "m, e = frexp(a)", returns=(float, int),
    edges="abs(m) is in [0.5, 1), or m and e are 0; exact",
    ret=lambda a: math.frexp(a),
    m=significand_agreeing,
    e=exponent_agreeing,
    a=scaled_together,
    ma=parametric(
        with_significand, size=HALF_TO_ONE, negative=Bool, zero=Bool,
        recover=lambda m: (abs(m) if m != 0 else 0.5, m < 0, m == 0),
    ),
    ea=parametric(with_exponent, near=SCALE, recover=lambda e: (e,)),
)  # fmt: skip

SEVERAL: tuple[Relation, ...] = (divmod_float, modf, frexp)

PAIRS: Mapping[tuple[Relation, Relation], Relation] = {
    **{(floor, rest): both for floor, rest, both in DIVISION.values()},
    (floordiv, mod): divmod_float,
}
"""For two functions of equal arguments, the relation of the function that returns both results."""
