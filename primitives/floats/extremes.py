"""Minimum and maximum of two floats, and clipping."""

from __future__ import annotations

import numpy as np

from primitives.domains import Bool, Integers, NonNegative, Real
from primitives.errors import NoSolution
from primitives.floats.tolerance import above, agrees, below, is_at
from primitives.relation import parametric, relation

__all__ = ["clip", "maximum", "minimum"]


def other_of_smaller(ret: float, known: float, excess: float) -> float:
    """The other argument of a minimum: ``excess`` above it if ``known`` may be the minimum."""
    if known > ret and not is_at(ret, known):
        return ret
    if not agrees(known, ret):
        raise NoSolution("the smaller of two numbers is larger than one of them")
    return above(ret, excess, False)


def other_of_larger(ret: float, known: float, excess: float) -> float:
    """The other argument of a maximum: ``excess`` below it if ``known`` may be the maximum."""
    return -other_of_smaller(-ret, -known, excess)


def pair_above(ret: float, excess: float, left: bool) -> tuple[float, float]:
    """``ret`` and a number larger by ``excess``; ``ret`` is first if ``left``."""
    other = above(ret, excess, False)
    return (ret, other) if left else (other, ret)


def pair_below(ret: float, excess: float, left: bool) -> tuple[float, float]:
    """``ret`` and a number smaller by ``excess``; ``ret`` is first if ``left``."""
    other = below(ret, excess, False)
    return (ret, other) if left else (other, ret)


minimum = relation(
    min, float, float, "return = min(a, b)",
    edges="excess matters if the known argument is ret",
    ret=lambda a, b: min(a, b),
    a=parametric(
        lambda ret, b, excess: other_of_smaller(ret, b, excess), excess=NonNegative,
        recover=lambda ret, a: (a - ret,),
    ),
    b=parametric(
        lambda ret, a, excess: other_of_smaller(ret, a, excess), excess=NonNegative,
        recover=lambda ret, b: (b - ret,),
    ),
    ab=parametric(
        pair_above, excess=NonNegative, left=Bool,
        recover=lambda a, b: (abs(a - b), a <= b),
    ),
)  # fmt: skip
maximum = relation(
    max, float, float, "return = max(a, b)",
    edges="excess matters if the known argument is ret",
    ret=lambda a, b: max(a, b),
    a=parametric(
        lambda ret, b, excess: other_of_larger(ret, b, excess), excess=NonNegative,
        recover=lambda ret, a: (ret - a,),
    ),
    b=parametric(
        lambda ret, a, excess: other_of_larger(ret, a, excess), excess=NonNegative,
        recover=lambda ret, b: (ret - b,),
    ),
    ab=parametric(
        pair_below, excess=NonNegative, left=Bool,
        recover=lambda a, b: (abs(a - b), a >= b),
    ),
)  # fmt: skip

# ---- bounds -------------------------------------------------------------------------------


def unclipped(ret: float, low: float, high: float, beyond: float) -> float:
    """A value that is clipped to ``ret``: further out by ``beyond`` if that is a bound."""
    at_low, at_high = is_at(ret, low), is_at(ret, high)
    if low < ret < high and not (at_low or at_high):
        return ret
    if low >= high or ret >= high or (at_high and ret > low):
        if not agrees(ret, high):
            raise NoSolution("it is outside the bounds")
        if low >= high and beyond < 0:
            return below(high, -beyond, False)
        return above(ret if ret < high else high, abs(beyond), False)
    if not agrees(ret, low):
        raise NoSolution("it is outside the bounds")
    return below(ret if ret > low else low, abs(beyond), False)


def lower_bound(ret: float, a: float, high: float, beyond: float) -> float:
    """The lower bound that clips ``a`` to ``ret``, given the upper one."""
    if ret < high and a < ret:
        return ret
    if ret < high and (a == ret or (agrees(a, ret) and not agrees(ret, high))):
        return below(ret, abs(beyond), False)
    if not agrees(ret, high):
        raise NoSolution("it is above the upper bound, or below the value")
    return ret + beyond if a >= high else above(high, abs(beyond), False)


def upper_bound(ret: float, a: float, low: float, beyond: float) -> float:
    """The upper bound that clips ``a`` to ``ret``, given the lower one."""
    larger = max(a, low)
    if larger > ret:
        return ret
    if not agrees(larger, ret):
        raise NoSolution("it is above the value and the lower bound")
    return above(ret, abs(beyond), False)


def clipped_three(ret: float, which: int, v: float, w: float) -> tuple[float, float, float]:
    """A value and two bounds that clip it to ``ret``: the value, the lower or the upper bound."""
    if which == 0:
        return ret, below(ret, abs(v), False), above(ret, abs(w), False)
    if which == 1:
        return below(ret, abs(v), False), ret, above(ret, abs(w), False)
    if v < 0:
        return below(ret, -v, False), above(ret, abs(w), False), ret
    return above(ret, v, False), (
        above(ret, w, False) if w >= 0 else below(ret, -w, False)
    ), ret  # fmt: skip


def clipped_choice(ret: float, a: float, low: float, high: float) -> tuple[int, float, float]:
    """The coordinates for which ``clipped_three`` gives these."""
    if high == ret:
        return 2, a - ret, low - ret
    return (0, ret - low, high - ret) if a == ret else (1, ret - a, high - ret)


clip = relation(
    np.clip, float, float, float, "return = clip(a, low, high)",
    edges="low > high: ret is high; beyond matters if ret is a bound: a is then outside it, or, if "
    "both bounds are ret, on the side of the sign of beyond",
    ret=lambda a, low, high: min(max(a, low), high),
    a=parametric(unclipped, beyond=Real, recover=lambda ret, a: (a - ret,)),
    low=parametric(lower_bound, beyond=Real, recover=lambda ret, low: (low - ret,)),
    high=parametric(upper_bound, beyond=Real, recover=lambda ret, high: (high - ret,)),
    alowhigh=parametric(
        clipped_three, which=Integers(0, 2), v=Real, w=Real, recover=clipped_choice,
    ),
)  # fmt: skip
