"""How one function relates sets: the image of its arguments, and inverse images of its result."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from inversion.contraction.values import Bound, Values, lower, raised, values
from overlay import Context
from overlay.analysis.interval_arithmetic import table
from overlay.analysis.values import Interval

__all__ = ["Contractor", "Real", "even", "falling", "image", "increasing", "mirrored"]

INF = math.inf
MOST_PIECES_OF_SEVERAL = 4
Image = Callable[..., Values]
Real = Callable[[float], float]


@dataclass(frozen=True)
class Contractor:
    """The sets of one function.

    ret: from sets of the arguments, without NaN, to a set that has all results, and NaN where
    these arguments may give it. arguments: for each argument, from sets of the result and of all
    arguments to a set that has all that lead there; None where nothing is known.
    quiet: whether NaN among the arguments always makes the result NaN.

    Laws: ``f(a, b)`` is in ``ret`` of sets with a and b; a is in ``arguments[0]`` of these.
    """

    ret: Image | None
    arguments: tuple[Image | None, ...] = ()
    quiet: bool = True

    def contracted(self, ret: Values, args: Sequence[Values]) -> tuple[Values, tuple[Values, ...]]:
        """The sets, less what no solution has."""
        nan = any(arg.nan for arg in args)
        if nan and not self.quiet:
            return ret, tuple(args)
        numbers = [arg.numbers() for arg in args]
        if len(numbers) > 1:  # each interval of one meets each of the others
            numbers = [arg.fewer(MOST_PIECES_OF_SEVERAL) for arg in numbers]
            ret = ret.fewer(MOST_PIECES_OF_SEVERAL)
        if self.ret is not None:
            found = self.ret(*numbers) if all(numbers) else values((), whole=ret.whole)
            ret = ret.meet(found.with_nan(found.nan or nan))
        if ret.nan:
            return ret, tuple(args)
        for place, backwards in enumerate(self.arguments):
            if backwards is not None and ret and all(numbers):
                numbers[place] = numbers[place].meet(backwards(ret, *numbers))
        return ret, tuple(numbers)


# ---- images by the interval analysis of programs -------------------------------------------


@functools.cache
def _transfer(target: Any, count: int) -> Callable[..., Any]:
    method = Context(table).method(target, *[Interval] * count)
    assert method is not None
    return method.function


def image(target: Callable[..., Any]) -> Image:
    """The image under a function that the analysis of intervals knows, piece by piece."""

    def images(*args: Values) -> Values:
        transfer, whole = _transfer(target, len(args)), all(arg.whole for arg in args)
        kind = "int" if whole else "float"
        found: list[tuple[Bound, Bound]] = []
        nan = False
        for pieces in itertools.product(*(arg.pieces for arg in args)):
            made = transfer(*(Interval(low, high, kind) for low, high in pieces))
            if isinstance(made, Interval):
                found.append((made.low, made.high))
                nan = nan or made.nan
                whole = whole and made.kind == "int"
        return values(found, whole=whole, nan=nan)

    return images


# ---- functions of one float ----------------------------------------------------------------


def _at(function: Real, x: float, ends: tuple[float, float], results: tuple[float, float]) -> float:
    """A growing function between two ends; beyond them, what it gives there."""
    if x <= ends[0] or x >= ends[1]:
        return results[0] if x <= ends[0] else results[1]
    try:
        found = function(x)
    except OverflowError:
        found = INF if x > 0 else -INF
    except ValueError:
        return math.nan
    return min(max(found, results[0]), results[1])


def _mapped(
    pieces: Iterable[tuple[Bound, Bound]],
    function: Real,
    ends: tuple[float, float],
    results: tuple[float, float],
) -> list[tuple[Bound, Bound]]:
    """Intervals under a growing function, rounded outwards, within its results."""
    found: list[tuple[Bound, Bound]] = []
    for low, high in pieces:
        if high < ends[0] or low > ends[1]:
            continue
        first, last = (_at(function, float(x), ends, results) for x in (low, high))
        # far beyond where it overflows, it is infinite for certain
        if first != INF or _at(function, low - 1e-9 * abs(low), ends, results) != INF:
            first = lower(first)
        if last != -INF or _at(function, high + 1e-9 * abs(high), ends, results) != -INF:
            last = raised(last)
        found.append((max(first, results[0]), min(last, results[1])))
    return found


def _widened(pieces: Iterable[tuple[Bound, Bound]]) -> list[tuple[Bound, Bound]]:
    return [(lower(float(low)), raised(float(high))) for low, high in pieces]


def increasing(
    function: Real,
    inverse: Real,
    ends: tuple[float, float] = (-INF, INF),
    results: tuple[float, float] = (-INF, INF),
) -> Contractor:
    """The contractor of a function that grows from one of ``results`` to the other between two
    ends, and gives nothing, or NaN, beyond."""

    def ret(a: Values) -> Values:
        outside = a.low < ends[0] or a.high > ends[1]
        return values(_mapped(a.pieces, function, ends, results), nan=outside)

    def back(ret: Values, a: Values) -> Values:
        return values(_mapped(_widened(ret.pieces), inverse, results, ends))

    return Contractor(ret, (back,))


def falling(function: Real, inverse: Real, **bounds: tuple[float, float]) -> Contractor:
    """The contractor of a function that falls where ``-function`` grows; bounds: those of it."""
    grows = increasing(lambda x: -function(x), lambda y: inverse(-y), **bounds)

    def ret(a: Values) -> Values:
        assert grows.ret is not None
        return mirrored(grows.ret(a))

    def back(ret: Values, a: Values) -> Values:
        (backwards,) = grows.arguments
        assert backwards is not None
        return backwards(mirrored(ret), a)

    return Contractor(ret, (back,))


def mirrored(a: Values) -> Values:
    """The negatives."""
    return values(((-high, -low) for low, high in a.pieces), whole=a.whole, nan=a.nan)


def even(right: Contractor) -> Contractor:
    """The contractor of a function of the size of its argument. right: for sizes."""
    sizes = image(abs)

    def ret(a: Values) -> Values:
        assert right.ret is not None
        return right.ret(sizes(a))

    def back(ret: Values, a: Values) -> Values:
        (backwards,) = right.arguments
        assert backwards is not None
        found = backwards(ret, a)
        return found.join(mirrored(found))

    return Contractor(ret, (back,))
