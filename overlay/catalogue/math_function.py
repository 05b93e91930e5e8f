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
    """A function of real numbers, and what is known of it.

    function: the one of ``math``. numpy: its spellings in numpy.
    partials: given ``math``, or numpy's functions under the same names, a function that gives the
    derivative by each argument; a last parameter ``ret`` of that is what the function gives.
    between: for each argument the bounds between which the derivatives are checked.
    domain: the bounds of the arguments that have a value; without: those of these bounds that have
    none; ``math`` raises ValueError there and beyond. overflows: whether ``math`` raises
    OverflowError where the result is beyond all floats.
    enclosure: from the bounds of each argument to those of the result. defined: from the bounds of
    each argument to 1 where the function has a value everywhere, -1 where it has none, and 0
    otherwise.
    shape: whether it grows or falls on its domain, or is even and grows with the size of its
    argument. reach: between which floats it is called for an enclosure. inverse: where it has a
    shape, the enclosure of its inverse, for sizes where it is even, or the name of the function
    that this is; None where it is found by trying.
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
        """The function under all its names."""
        return (self.function, *self.numpy)

    @property
    def arity(self) -> int:
        """How many arguments it takes."""
        return len(self.between)

    @property
    def ends(self) -> Bounds:
        """The first and the last float that have a value."""
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
    """One row. results: the bounds of all that the function gives; ulps: by how many units in the
    last place ``math`` may be off. The enclosure is derived from these where there is a shape."""
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
    """Whether a function that has a value for all numbers has one: always."""
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
