"""Roots of one equation in one unknown: bracketing by a search outwards from a guess.

The equation is given as a function from the unknown to ``(found, wanted)``, which are equal at a
root. Where the function raises or gives NaN, the equation is undefined. It is plain Python that
numba compiles.

A root in a bracket is found by Chandrupatla's method: T. R. Chandrupatla, A new hybrid
quadratic/bisection algorithm for finding the zero of a nonlinear function without using
derivatives, Advances in Engineering Software 28 (1997) 145-149.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from overlay import MethodTable
from overlay.plugins.attempts import attempted
from primitives.errors import NoSolution

__all__ = ["find_root", "kernel_forms"]

kernel_forms = MethodTable("kernel forms", faithful=True)
"""Forms of these functions for kernels, where no exception can be caught."""

Equation = Callable[..., tuple[float, float]]

ROUNDING = 4e-16  # relative: values closer than this are equal
CLOSE = 1e-7  # relative to the guess: distance of its neighbours
FIRST_STEP = 1e-3  # relative to the guess
GROWTH = 1.15
STEPS = 320  # on each side; the last step is some 10**16 times the guess away
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def sides(equation: Equation, x: float, given: tuple[Any, ...]) -> tuple[float, float]:
    """Both sides of the equation at x."""
    found, wanted = equation(x, *given)
    return float(found), float(wanted)


def tried(equation: Equation, x: float, given: tuple[Any, ...]) -> tuple[float, float]:
    """Both sides of the equation at x: NaN where it is undefined."""
    try:
        found, wanted = sides(equation, x, given)
    except Exception:
        found, wanted = math.nan, math.nan
    return found, wanted


@kernel_forms.overlay(tried)
def tried_in_kernel(equation: Any, x: Any, given: Any) -> tuple[float, float]:
    """``tried`` without catching exceptions."""
    ended, (found, wanted) = attempted(sides, equation, x, given)
    return (found, wanted) if ended else (math.nan, math.nan)


def gap(equation: Equation, x: float, given: tuple[Any, ...]) -> float:
    """The difference of both sides at x: 0 up to rounding, NaN where the equation is undefined."""
    found, wanted = tried(equation, x, given)
    difference = found - wanted
    return 0.0 if abs(difference) <= ROUNDING * max(abs(found), abs(wanted)) else difference


def closed(
    equation: Equation, a: float, fa: float, b: float, fb: float, given: tuple[Any, ...]
) -> float:
    """The root in a bracket, between two points with gaps of different signs; NaN at a pole."""
    if fa == 0 or fb == 0:
        return a if fa == 0 else b
    limit = min(abs(fa), abs(fb))
    c, fc = a, fa
    part = 0.5
    best, smallest = (a, fa) if abs(fa) < abs(fb) else (b, fb)
    for _ in range(200):
        x = a + part * (b - a)
        if x in (a, b):
            break
        fx = gap(equation, x, given)
        if math.isnan(fx):
            part = 0.5
            a, fa = (a + b) / 2, gap(equation, (a + b) / 2, given)
            if math.isnan(fa) or (fa > 0) == (fb > 0):
                return math.nan
            continue
        if abs(fx) < abs(smallest):
            best, smallest = x, fx
        if fx == 0:
            return x
        if (fx > 0) == (fa > 0):
            c, fc = a, fa
        else:
            c, fc = b, fb
            b, fb = a, fa
        a, fa = x, fx
        if abs(b - a) <= 2 * ROUNDING * abs(best):
            break
        part = 0.5
        if fc in (fa, fb):  # no curve goes through two equal gaps
            continue
        xi = (a - b) / (c - b)
        phi = (fa - fb) / (fc - fb)
        if phi * phi < xi and (1 - phi) * (1 - phi) < 1 - xi:
            part = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (
                fc - fb
            )
            least = 2 * ROUNDING * abs(best) / abs(b - a)
            part = min(max(part, least), 1 - least)
    return best if is_small(equation, best, limit, given) else math.nan


def is_small(equation: Equation, x: float, around: float, given: tuple[Any, ...]) -> bool:
    """Return whether the gap at x is negligible compared with both sides or with the gaps around
    it; it is not at a pole.
    """
    found, wanted = tried(equation, x, given)
    difference = abs(found - wanted)
    return difference <= 1e-9 * max(abs(found), abs(wanted)) or difference <= 1e-6 * around


def touching(equation: Equation, a: float, b: float, sign: float, given: tuple[Any, ...]) -> float:
    """The point between two others where the gap touches 0 without a change of sign; NaN if there
    is none.
    """
    around = abs(gap(equation, a, given)) + abs(gap(equation, b, given))
    inner, outer = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
    f_inner = sign * gap(equation, inner, given)
    f_outer = sign * gap(equation, outer, given)
    for _ in range(80):
        if f_inner <= 0:  # the sign changes after all
            return closed(equation, a, gap(equation, a, given), inner, sign * f_inner, given)
        if f_outer <= 0:
            return closed(equation, outer, sign * f_outer, b, gap(equation, b, given), given)
        if f_inner < f_outer:
            b, outer, f_outer = outer, inner, f_inner
            inner = b - GOLDEN * (b - a)
            f_inner = sign * gap(equation, inner, given)
        else:
            a, inner, f_inner = inner, outer, f_outer
            outer = a + GOLDEN * (b - a)
            f_outer = sign * gap(equation, outer, given)
    middle = (a + b) / 2
    return middle if is_small(equation, middle, 1e-6 * around, given) else math.nan


def edge(equation: Equation, inside: float, outside: float, given: tuple[Any, ...]) -> float:
    """The last point at which the equation is defined, between a point inside its domain and one
    outside.
    """
    for _ in range(60):
        middle = (inside + outside) / 2
        if middle in (inside, outside):
            break
        if math.isnan(gap(equation, middle, given)):
            outside = middle
        else:
            inside = middle
    return inside


def between(
    equation: Equation, a: float, fa: float, b: float, fb: float, given: tuple[Any, ...]
) -> float:
    """A root between neighbouring points, at one of which the equation may be undefined; NaN if
    there is none.
    """
    if math.isnan(fa):
        a, fa, b, fb = b, fb, a, fa
    if math.isnan(fa):
        return math.nan
    if math.isnan(fb):
        b = edge(equation, a, b, given)
        fb = gap(equation, b, given)
        if fb == 0:
            return b
    if fb != 0 and (fa > 0) != (fb > 0):
        return closed(equation, a, fa, b, fb, given)
    return math.nan


def polished(
    equation: Equation, guess: float, start: float, low: float, high: float, given: tuple[Any, ...]
) -> float:
    """The root next to a guess that is almost a root; the guess itself if there is none."""
    step = CLOSE * max(1.0, abs(guess))
    for x in (max(guess - step, low), min(guess + step, high)):
        root = between(equation, guess, start, x, gap(equation, x, given), given)
        if not math.isnan(root):
            return root if abs(gap(equation, root, given)) < abs(start) else guess
    return guess


def find_root(
    equation: Equation, guess: float, low: float, high: float, given: tuple[Any, ...]
) -> float:
    """A root in [low, high]: the guess if it is a root, else the first one that a search outwards
    from it finds.

    equation: maps the unknown and ``given`` to ``(found, wanted)``. Raises NoSolution if no root is
    found.
    """
    start = gap(equation, guess, given)
    if start == 0:
        return guess
    # where both sides cancel, only neighbours of the guess show whether the gap is negligible
    left, right = (
        max(guess - CLOSE * max(1.0, abs(guess)), low),
        min(guess + CLOSE * max(1.0, abs(guess)), high),
    )
    before, after = abs(gap(equation, left, given)), abs(gap(equation, right, given))
    around = after if math.isnan(before) else before if math.isnan(after) else max(before, after)
    if is_small(equation, guess, 0.0 if math.isnan(around) else around, given):
        return polished(equation, guess, start, low, high, given)
    if abs(start) < before and abs(start) < after:
        root = touching(equation, left, right, math.copysign(1.0, start), given)
        if not math.isnan(root):
            return root
    step = FIRST_STEP * max(1.0, abs(guess))
    # on each side the last two points, and whether the search continues there
    x1, f1, x2, f2, right = guess, start, guess, math.nan, guess < high
    y1, g1, y2, g2, left = guess, start, guess, math.nan, guess > low
    for _ in range(STEPS):
        if right:
            x = min(guess + step, high)
            f = gap(equation, x, given)
            root = x if f == 0 else between(equation, x1, f1, x, f, given)
            if math.isnan(root) and abs(f1) < abs(f) and abs(f1) < abs(f2):
                root = touching(equation, x2, x, math.copysign(1.0, f1), given)
            if not math.isnan(root):
                return root
            right = x < high and x != x1
            x2, f2, x1, f1 = x1, f1, x, f
        if left:
            y = max(guess - step, low)
            g = gap(equation, y, given)
            root = y if g == 0 else between(equation, y1, g1, y, g, given)
            if math.isnan(root) and abs(g1) < abs(g) and abs(g1) < abs(g2):
                root = touching(equation, y, y2, math.copysign(1.0, g1), given)
            if not math.isnan(root):
                return root
            left = y > low and y != y1
            y2, g2, y1, g1 = y1, g1, y, g
        step *= GROWTH
    raise NoSolution("a search outwards from the guess found no root")
