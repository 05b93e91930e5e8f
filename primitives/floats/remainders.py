"""Floor quotients and remainders of floats."""

from __future__ import annotations

import math
import operator

from primitives.domains import NonZero, Real, Reals, WholeFloats
from primitives.errors import NoSolution
from primitives.floats.tolerance import agrees, finite, floor_of, matches
from primitives.relation import parametric, relation

__all__ = ["floordiv", "fmod", "mod"]

FRACTION = Reals(0, 1, open_high=True)


def neighbour(value: float, step: int) -> float:
    """The float itself for step 0, or the next one in this direction."""
    return value if step == 0 else math.nextafter(value, step * math.inf)


def beyond(ret: float, excess: float) -> float:
    """The number further from 0 than ``ret`` by this excess, whose sign matters if ret is 0."""
    return excess if ret == 0 else finite(ret + math.copysign(excess, ret))


# ---- the remainder has the sign of the divisor --------------------------------------------


def dividend(ret: float, b: float, near: float) -> float:
    """The number with this remainder that is nearest to ``near``."""
    if matches(near % b, ret):
        return near
    if abs(ret) > abs(b) or (ret != 0 and (ret > 0) != (b > 0)):
        raise NoSolution("a remainder is smaller than the divisor, and has its sign")
    found = finite(ret + floor_of((near - ret) / b + 0.5) * b)
    for step in (0, 1, -1):
        if agrees(neighbour(found, step) % b, ret):
            return neighbour(found, step)
    raise NoSolution("the dividend is too large to determine the remainder")


def parts(whole: float, ret: float, near: float) -> float:
    """The number of parts, larger than ``ret``, into which to divide ``whole`` so that they are
    close to ``near``.
    """
    wanted = max(floor_of(whole / abs(near) + 0.5), 1.0) if near != 0 else 1.0
    most = -floor_of(-whole / abs(ret)) - 1.0 if ret != 0 else wanted
    if most < 1:
        raise NoSolution("a remainder is smaller than the divisor")
    return min(wanted, most)


def modulus(ret: float, a: float, near: float) -> float:
    """A divisor of ``a`` with remainder ``ret``: ``near``, or a close one."""
    if near != 0 and matches(a % near, ret):
        return near
    whole = a - ret
    if ret == a:
        found = finite(beyond(ret, near))
    elif ret == 0:
        found = math.copysign(whole / parts(abs(whole), ret, near), near)
    else:
        found = math.copysign(whole / parts(abs(whole), ret, near), ret)
    if found == 0 or not agrees(a % found, ret):
        raise NoSolution("no divisor that leaves this remainder is near the one asked for")
    return found


mod = relation(
    operator.mod, float, float, "return = a % b", domain={"b": NonZero},
    edges="ret has the sign of b, and may round to b itself; a is the solution nearest to near; "
    "b is near if that is a solution, else a divisor of a - ret",
    ret=lambda a, b: a % b,
    a=parametric(dividend, near=Real, recover=lambda a: (a,)),
    b=parametric(modulus, near=NonZero, recover=lambda b: (b,)),
    ab=parametric(
        lambda ret, near, excess: (dividend(ret, beyond(ret, excess), near), beyond(ret, excess)),
        near=Real, excess=Real,
        recover=lambda ret, a, b: (a, b if ret == 0 else b - ret),
    ),
)  # fmt: skip

# ---- the remainder has the sign of the dividend -------------------------------------------


def remainder(a: float, b: float) -> float:
    """The remainder of ``a``, with its sign."""
    return math.copysign(abs(a) % abs(b), a)


def fmod_dividend(ret: float, b: float, near: float) -> float:
    """The number with this remainder that is nearest to ``near``."""
    if matches(remainder(near, b), ret):
        return near
    if abs(ret) >= abs(b):
        raise NoSolution("a remainder is smaller than the divisor")
    size = dividend(abs(ret), abs(b), max(abs(near), abs(ret)))
    return math.copysign(size, near if ret == 0 else ret)


def fmod_divisor(ret: float, a: float, near: float) -> float:
    """A divisor of ``a`` with remainder ``ret``: ``near``, or a close one."""
    if near != 0 and matches(remainder(a, near), ret):
        return near
    if ret != 0 and (a > 0) != (ret > 0):
        raise NoSolution("a remainder has the sign of the dividend")
    return math.copysign(modulus(abs(ret), abs(a), abs(near)), near)


def fmod_beyond(ret: float, excess: float) -> float:
    """A divisor larger than the remainder by this excess, with the sign of the excess."""
    return math.copysign(finite(abs(ret) + abs(excess)), excess)


fmod = relation(
    math.fmod, float, float, "return = fmod(a, b)", domain={"b": NonZero},
    edges="ret has the sign of a. a is the solution nearest to near; for ret = 0 it has the sign "
    "of near. b is near if that is a solution, else a divisor of a - ret with the sign of near",
    ret=lambda a, b: remainder(a, b),
    a=parametric(fmod_dividend, near=Real, recover=lambda a: (a,)),
    b=parametric(fmod_divisor, near=NonZero, recover=lambda b: (b,)),
    ab=parametric(
        lambda ret, near, excess: (
            fmod_dividend(ret, fmod_beyond(ret, excess), near), fmod_beyond(ret, excess)
        ),
        near=Real, excess=NonZero,
        recover=lambda ret, a, b: (a, math.copysign(abs(b) - abs(ret), b)),
    ),
)  # fmt: skip

# ---- floor quotients ----------------------------------------------------------------------


def numerator(ret: float, b: float, u: float) -> float:
    """The dividend for the quotient ``ret`` plus the fraction ``u``."""
    found = finite((ret + u) * b)
    for step in (0, 1, -1):
        if neighbour(found, step) // b == ret:
            return neighbour(found, step)
    return found


def denominator(ret: float, a: float, u: float, near: float) -> float:
    """The divisor of ``a`` for the quotient ``ret + u``; ``near`` if its floor quotient fits."""
    if a // near == ret:
        return near
    quotient = ret + u
    if a == 0 or quotient == 0:
        raise NoSolution("a floor quotient is 0 if the numerator is 0 or smaller than the divisor")
    found = finite(a / quotient)
    for step in (0, 1, -1):
        candidate = neighbour(found, step)
        if candidate != 0 and agrees(a // candidate, ret):
            return candidate
    raise NoSolution("no float is the divisor")


def part(ret: float, a: float, b: float) -> float:
    """The fraction of a quotient beyond its floor."""
    return min(max(a / b - ret, 0.0), 1 - 2.0**-53)


floordiv = relation(
    operator.floordiv, float, float, "return = a // b",
    domain={"b": NonZero}, codomain=WholeFloats(),
    edges="u is the fraction of the quotient above ret; a = 0: ret is 0; b is near if that is a "
    "solution",
    ret=lambda a, b: a // b,
    a=parametric(numerator, u=FRACTION, recover=lambda ret, a, b: (part(ret, a, b),)),
    b=parametric(
        denominator, u=FRACTION, near=NonZero,
        recover=lambda ret, a, b: (part(ret, a, b), b),
    ),
    ab=parametric(
        lambda ret, v, u: (numerator(ret, v, u), v), v=NonZero, u=FRACTION,
        recover=lambda ret, a, b: (b, part(ret, a, b)),
    ),
)  # fmt: skip
