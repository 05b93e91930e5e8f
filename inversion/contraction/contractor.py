"""The contractor of one function: the image of its arguments, and inverse images of its result."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from overlay.sets import (
    Bound,
    Bounds,
    Enclosure,
    NumberSet,
    Piece,
    above,
    below,
    integer_bounds,
    number_set,
)

__all__ = [
    "Contractor",
    "enclosed",
    "enclosed_pairs",
    "even",
    "image",
    "lower",
    "mirrored",
    "monotone",
    "raised",
    "widened",
]

INF = math.inf
MOST_PIECES_OF_SEVERAL = 4
NONE = number_set(())
SLACK = 8  # the largest error of library functions, in ulp
Image = Callable[..., NumberSet]


@dataclass(frozen=True)
class Contractor:
    """Contractor of the sets of one function's arguments and result.

    ret: maps sets of the arguments, without NaN, to a set that contains all results, including NaN
    if these arguments may give it. arguments: for each argument a map from sets of the result and
    of all arguments to a set that contains all its values that give such a result; None if no such
    map is known. of_nan: the results that NaN as an argument may give beside NaN; None if these are
    not known.

    Laws: for sets that contain a and b, ``f(a, b)`` is in ``ret(...)``, and a is in
    ``arguments[0](...)``.
    """

    ret: Image | None
    arguments: tuple[Image | None, ...] = ()
    of_nan: NumberSet | None = NONE

    def contracted(
        self, ret: NumberSet, args: Sequence[NumberSet]
    ) -> tuple[NumberSet, tuple[NumberSet, ...]]:
        """The sets without values that belong to no solution."""
        nan = any(arg.nan for arg in args)
        if nan and self.of_nan is None:
            return ret, tuple(args)
        numbers = [arg.numbers() for arg in args]
        if len(numbers) > 1:  # intervals are combined each with each
            numbers = [arg.fewer(MOST_PIECES_OF_SEVERAL) for arg in numbers]
            ret = ret.fewer(MOST_PIECES_OF_SEVERAL)
        if self.ret is not None:
            found = self.ret(*numbers) if all(numbers) else number_set((), whole=ret.whole)
            if nan and self.of_nan:
                found = found.join(self.of_nan)
            ret = ret.meet(found.with_nan(found.nan or nan))
        if ret.nan or (nan and self.of_nan):
            return ret, tuple(args)
        for place, backwards in enumerate(self.arguments):
            if backwards is not None and ret and all(numbers):
                numbers[place] = numbers[place].meet(backwards(ret, *numbers))
        return ret, tuple(numbers)


# ---- exact images --------------------------------------------------------------------------


def image(enclosure: Callable[..., Piece]) -> Image:
    """The image under an exact operation, piece by piece; of integers a set of integers."""

    def images(*args: NumberSet) -> NumberSet:
        pieces = itertools.product(*(arg.pieces for arg in args))
        whole = all(arg.whole for arg in args)
        return number_set(itertools.starmap(enclosure, pieces), whole=whole)

    return images


# ---- functions of floats -------------------------------------------------------------------


def enclosed(enclosure: Enclosure, a: NumberSet) -> list[tuple[Bound, Bound]]:
    """The images of a set's intervals under a real function, widened by the error of its
    implementation.
    """
    found = [enclosure((float(low), float(high))) for low, high in a.pieces]
    return [(lower(low), raised(high)) for low, high in found if low <= high]


def enclosed_pairs(enclosure: Callable[..., Bounds], a: NumberSet, b: NumberSet) -> list[Any]:
    """The images of each interval of a with each of b, rounded outwards to floats."""
    pairs = itertools.product(a.floats().pieces, b.floats().pieces)
    found = [enclosure(one, other) for one, other in pairs]
    return [(low, high) for low, high in found if low <= high]


def lower(bound: float) -> float:
    """The bound, lowered by the largest rounding error."""
    return below(float(bound), SLACK)


def raised(bound: float) -> float:
    """The bound, raised by the largest rounding error."""
    return above(float(bound), SLACK)


def widened(a: NumberSet) -> NumberSet:
    """The numbers that may round to a member."""
    return number_set((lower(float(low)), raised(float(high))) for low, high in a.pieces)


def monotone(
    enclosure: Enclosure,
    inverse: Enclosure,
    ends: tuple[float, float] = (-INF, INF),
    results: tuple[float, float] = (-INF, INF),
) -> Contractor:
    """The contractor of a monotone function.

    ends: the bounds of its domain, outside which it is undefined or NaN. results: its values at
    these bounds, in ascending order.
    """
    domain, codomain = number_set([ends]), number_set([results])

    def ret(a: NumberSet) -> NumberSet:
        outside = a.low < ends[0] or a.high > ends[1]
        return number_set(enclosed(enclosure, a.meet(domain)), nan=outside).meet(
            codomain.with_nan(True)
        )

    def back(ret: NumberSet, a: NumberSet) -> NumberSet:
        wide = widened(ret).meet(codomain)
        return number_set(enclosed(inverse, wide)).meet(domain)

    return Contractor(ret, (back,))


def mirrored(a: NumberSet) -> NumberSet:
    """The negatives of the members."""
    return number_set(((-high, -low) for low, high in a.pieces), whole=a.whole, nan=a.nan)


def even(right: Contractor) -> Contractor:
    """The contractor of an even function. right: the contractor for non-negative arguments."""
    sizes = image(integer_bounds.magnitude)

    def ret(a: NumberSet) -> NumberSet:
        assert right.ret is not None
        return right.ret(sizes(a))

    def back(ret: NumberSet, a: NumberSet) -> NumberSet:
        (backwards,) = right.arguments
        assert backwards is not None
        found = backwards(ret, a)
        return found.join(mirrored(found))

    return Contractor(ret, (back,))
