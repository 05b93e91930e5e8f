"""One row of the catalogue: the facts of a function of real numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from overlay.sets import Bounds, even, falling, growing, negative
from overlay.sets.elementary import ULPS
from overlay.sets.rounding import LARGEST

__all__ = ["MathFunction", "everywhere", "row"]

INF = math.inf
ALL, FINITE = (-INF, INF), (-LARGEST, LARGEST)
Shape = Literal["growing", "falling", "even"]


@dataclass(frozen=True, eq=False)
class MathFunction:
    """A function of real numbers and the facts about it.

    function: the function of ``math``. numpy: the ufuncs that compute it.
    partials: takes ``math``, or numpy's functions under the same names, and returns a function of
    the arguments that returns the partial derivative by each; if its last parameter is named
    ``ret``, it is given the function's result.
    between: for each argument the bounds between which the derivatives are tested.
    domain: the bounds of the arguments at which the function is defined. without: those of these
    bounds at which it is not. ``math`` raises ValueError outside. overflows: whether ``math``
    raises OverflowError where the result is beyond all floats.
    enclosure: maps the bounds of each argument to those of the result. defined: maps the bounds of
    each argument to 1 where the function is defined everywhere, -1 where it is nowhere, and 0
    otherwise.
    shape: ``"growing"`` or ``"falling"`` on its domain, or ``"even"``, growing with the absolute
    value of its argument. reach: the floats between which an enclosure calls it. inverse: for a
    function with a shape, the enclosure of its inverse, on arguments >= 0 where it is even, or the
    name of the function that is its inverse; None where bisection finds it.
    """

    function: Callable[..., float]
    numpy: tuple[np.ufunc, ...]
    partials: Callable[[Any], Callable[..., tuple[Any, ...]]]
    between: tuple[Bounds, ...]
    domain: Bounds
    without: tuple[float, ...]
    overflows: bool
    enclosure: Callable[..., Bounds]
    defined: Callable[..., int]
    shape: Shape | None
    reach: Bounds
    inverse: Callable[[Bounds], Bounds] | str | None

    @property
    def name(self) -> str:
        """Its name in ``math``."""
        return self.function.__name__

    @property
    def spellings(self) -> tuple[Callable[..., Any], ...]:
        """The function of ``math`` and its ufuncs."""
        return (self.function, *self.numpy)

    @property
    def arity(self) -> int:
        """The number of arguments."""
        return len(self.between)

    @property
    def ends(self) -> Bounds:
        """The first and the last float at which the function is defined."""
        return _ends(self.domain, self.without)


def row(
    function: Callable[..., float],
    partials: Callable[[Any], Callable[..., tuple[Any, ...]]],
    *between: Bounds,
    numpy: tuple[np.ufunc, ...] = (),
    domain: Bounds = ALL,
    without: tuple[float, ...] = (),
    results: Bounds = ALL,
    overflows: bool = False,
    enclosure: Callable[..., Bounds] | None = None,
    defined: Callable[..., int] | None = None,
    shape: Shape | None = None,
    reach: Bounds = FINITE,
    ulps: int = ULPS,
    inverse: Callable[[Bounds], Bounds] | str | None = None,
) -> MathFunction:
    """Make a row; the parameters are the fields of ``MathFunction`` and two more.

    results: the bounds of all values of the function. ulps: the error of ``math``, in units in the
    last place. The enclosure, where none is given, is derived from these and the shape.
    """
    if enclosure is None:
        assert shape is not None, f"{function.__name__} needs a shape, or an enclosure"
        enclosure = _enclosure(function, shape, reach, results, domain, ulps)
    return MathFunction(
        function,
        numpy,
        partials,
        between,
        domain,
        without,
        overflows,
        enclosure,
        defined or (everywhere if domain == ALL else _within(*_ends(domain, without))),
        shape,
        reach,
        inverse,
    )


def _ends(domain: Bounds, without: tuple[float, ...]) -> Bounds:
    low, high = domain
    return (
        math.nextafter(low, INF) if low in without else low,
        math.nextafter(high, -INF) if high in without else high,
    )


def everywhere(*bounds: Bounds) -> int:
    """``MathFunction.defined`` of a function that is defined for all numbers: always 1."""
    return 1


def _within(first: float, last: float) -> Callable[[Bounds], int]:
    def defined(a: Bounds) -> int:
        if a[0] >= first and a[1] <= last:
            return 1
        return -1 if a[1] < first or a[0] > last else 0

    return defined


def _enclosure(
    function: Callable[..., float],
    shape: Shape,
    reach: Bounds,
    results: Bounds,
    domain: Bounds,
    ulps: int,
) -> Callable[[Bounds], Bounds]:
    """The enclosure of a function that has a shape."""
    if shape == "growing":
        return growing(function, reach, results, domain, ulps)
    if shape == "even":
        return even(growing(function, reach, results, domain, ulps))

    def grows(x: float) -> float:
        return -function(x)

    return falling(growing(grows, reach, negative(results), domain, ulps))
