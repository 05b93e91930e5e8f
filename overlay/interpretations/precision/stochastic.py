"""Random rounding: estimates of the digits of a result that are free of rounding errors."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special  # pyright: ignore[reportMissingTypeStubs]

from overlay import Context, MethodTable, OverlayError, call_next, current_context, nonoverlay
from overlay.contexts.rules_alone import in_program, runs_alone
from overlay.core.location import caller, name_of
from overlay.core.short_repr import short_repr
from overlay.interpretations.precision.operations import (
    ARRAY_BINARY,
    ARRAY_UNARY,
    BINARY,
    UNARY,
    add_for_numbers,
    add_operators_of_arrays,
)

__all__ = ["Significance", "significance", "stochastic"]

context: Any = current_context
Array = NDArray[np.float64]
MOST_DIGITS = 53 * math.log10(2)
"""The number of decimal digits of a float."""
_CONFIDENCE = 0.95
_SPLIT = 2.0**27 + 1

# ---- rounding errors, exactly where no product overflows ------------------------------------


def error_of_sum(a: float, b: float, total: float) -> float:
    """The rounding error of a sum."""
    part = total - a
    return (a - (total - part)) + (b - part)


def error_of_difference(a: float, b: float, difference: float) -> float:
    """The rounding error of a difference."""
    return error_of_sum(a, -b, difference)


def error_of_product(a: float, b: float, product: float) -> float:
    """The rounding error of a product; NaN where it is unknown."""
    c, d = _SPLIT * a, _SPLIT * b
    high_a, high_b = c - (c - a), d - (d - b)
    low_a, low_b = a - high_a, b - high_b
    return low_a * low_b - (product - high_a * high_b - low_a * high_b - high_a * low_b)


def error_of_quotient(a: float, b: float, quotient: float) -> float:
    """A number with the sign of the rounding error of a quotient; NaN where it is unknown."""
    product = quotient * b
    rest = (a - product) - error_of_product(quotient, b, product)
    return rest / b


def randomly_rounded(x: float, error: float, chance: float) -> float:
    """x, or the neighbouring float on the side of the error; on either side if the error is NaN,
    which means unknown. chance: a random number from 0 to 1."""
    if error == 0.0 or x == 0.0 or not math.isfinite(x):
        return x
    if error != error:
        if chance < 0.25:
            return math.nextafter(x, math.inf)
        return math.nextafter(x, -math.inf) if chance < 0.5 else x
    if chance < 0.5:
        return x
    return math.nextafter(x, math.inf if error > 0.0 else -math.inf)


def randomly_rounded_array(x: Any, chances: Any) -> Any:
    """An array or number, each element randomly moved to a neighbouring float or left. chances: a
    random number from 0 to 1 for each element."""
    return x + np.spacing(x) * np.rint(2.0 * chances - 1.0)


class NoRandomNumbers(OverlayError):
    """An inner context with another state hides the generator of random rounding."""

    def __init__(self) -> None:
        super().__init__(
            "random rounding finds no random numbers: a context inside it has another state",
            where=caller(),
            help="round inside the other context: other(lambda: significance(f, ...)), or give "
            "that one the state, inner.replace(state=stochastic(seed).state)",
        )


def chance(state: Any) -> float:
    """A random number from 0 to 1. Raises NoRandomNumbers if the state is None."""
    if state is None:
        raise NoRandomNumbers
    return state.random()


def chances(state: Any, shape: Any) -> Any:
    """An array of random numbers from 0 to 1. Raises NoRandomNumbers if the state is None."""
    if state is None:
        raise NoRandomNumbers
    return state.random(shape)


# ---- the table ----------------------------------------------------------------------------

UNKNOWN = math.nan
_EXACT: dict[Any, Callable[..., Any]] = {
    operator.add: error_of_sum,
    operator.sub: error_of_difference,
    operator.mul: error_of_product,
    operator.truediv: error_of_quotient,
}


def error_not_known(a: float, b: float, result: float) -> float:
    """The rounding error of a function for which it is not computed: NaN."""
    return UNKNOWN


def _add_numbers(table: MethodTable, target: Any) -> None:
    error_of = _EXACT.get(target, error_not_known)

    def both(a: Any, b: Any) -> Any:
        found = call_next(a, b)
        error = nonoverlay(error_of)(float(a), float(b), found)  # plain, without own operators
        return nonoverlay(randomly_rounded)(found, error, nonoverlay(chance)(context().state))

    def left(a: Any, b: Any) -> Any:
        return target(a, float(b))

    def right(a: Any, b: Any) -> Any:
        return target(float(a), b)

    add_for_numbers(table, target, (float, float), both)
    add_for_numbers(table, target, (float, int), left)
    add_for_numbers(table, target, (int, float), right)


def _add_unary(table: MethodTable, target: Any) -> None:
    @table.overlay(target)
    def number(a: float) -> Any:
        found = call_next(a)
        return nonoverlay(randomly_rounded)(found, UNKNOWN, nonoverlay(chance)(context().state))


_ARRAYS = ((Array, Array), (Array, float | int), (float | int, Array))


def _add_arrays(table: MethodTable, target: Any) -> None:
    for first, second in _ARRAYS:
        table.overlay(target)(_array_method(first, second))


def _array_method(first: Any, second: Any) -> Callable[..., Any]:
    def operate(a: Any, b: Any) -> Any:
        found = call_next(a, b)
        drawn = nonoverlay(chances)(context().state, found.shape)
        return nonoverlay(randomly_rounded_array)(found, drawn)

    operate.__annotations__ = {"a": first, "b": second}
    return operate


def _add_array(table: MethodTable, target: Any) -> None:
    @table.overlay(target)
    def array(a: Array) -> Any:
        found = call_next(a)
        drawn = nonoverlay(chances)(context().state, found.shape)
        return nonoverlay(randomly_rounded_array)(found, drawn)


def _add_sums(table: MethodTable) -> None:
    """Sums and means, added sequentially, so that the estimate relies on no better order of
    summation."""

    @table.overlay(np.sum)
    def summed(a: Array) -> Any:
        total = 0.0
        for x in a.flat:
            total = total + x
        return total

    @table.overlay(np.mean)
    def mean(a: Array) -> Any:
        return np.sum(a) / a.size


def _made() -> MethodTable:
    table = MethodTable("random rounding")
    _add_sums(table)
    for add, targets in (
        (_add_numbers, BINARY),
        (_add_unary, UNARY),
        (_add_arrays, (*ARRAY_BINARY, operator.matmul)),
        (_add_array, ARRAY_UNARY),
    ):
        for target in targets:
            add(table, target)
    for kinds in _ARRAYS:
        add_operators_of_arrays(table, kinds)
    return table


_table = _made()


@runs_alone
def stochastic(seed: int = 0) -> Context:
    """A context in which each inexact operation on floats is rounded up or down at random.

    The random numbers come from the context's state, a numpy generator.

    Parameters
    ----------
    seed : int
        The seed of the generator.

    Returns
    -------
    Context
        The context.

    Examples
    --------
    >>> from overlay.interpretations.precision import stochastic
    >>> context = stochastic(seed=0)
    >>> len({context(lambda x: x / 3.0, 1.0) for _ in range(50)}) > 1
    True

    References
    ----------
    J. Vignes, "Discrete stochastic arithmetic for validating results of numerical software",
    Numerical Algorithms 37, 2004.
    """
    return Context(_table, state=np.random.default_rng(seed))


# ---- estimates ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Significance:
    """The estimate of random rounding for a result.

    Attributes
    ----------
    value : float or array
        The mean of the samples.
    digits : float or array
        The number of its decimal digits that are significant, with 95 % confidence.
    samples : array
        The result of each run.

    Examples
    --------
    >>> from overlay.interpretations.precision import significance
    >>> found = significance(lambda x: x / 3.0, 1.0)
    >>> bool(found.digits > 14), found.samples.shape
    (True, (10,))
    """

    value: Any
    digits: Any
    samples: Any

    @runs_alone
    def __repr__(self) -> str:
        digits = f"{float(np.min(self.digits)):.1f} digits"
        return short_repr("Significance", f"{digits} of {self.value!r}")

    @runs_alone
    def __str__(self) -> str:
        pairs = zip(np.ravel(self.value), np.ravel(self.digits), strict=True)
        return "\n".join(f"{value:.17g}   {digits:.1f} digits" for value, digits in pairs)


@runs_alone
def significance(
    f: Callable[..., Any], /, *args: Any, samples: int = 10, seed: int = 0, **kwargs: Any
) -> Significance:
    """Estimate the number of significant digits of a result, by running a function with random
    rounding.

    Parameters
    ----------
    f : callable
        A function whose result is a number, an array, or a tuple of numbers.
    *args, **kwargs
        Its arguments.
    samples : int
        The number of runs, at least 2.
    seed : int
        The seed of the random numbers.

    Returns
    -------
    Significance
        The mean of the results, and its significant digits.

    Raises
    ------
    OverlayError
        The result has another type, its shape differs between runs, or there are too few samples.

    Examples
    --------
    >>> from overlay.interpretations.precision import significance
    >>> round(significance(lambda x: (x + 1e12) - 1e12, 0.1).digits)
    3

    References
    ----------
    J. Vignes, "Discrete stochastic arithmetic for validating results of numerical software",
    Numerical Algorithms 37, 2004.
    """
    if samples < 2:
        raise OverlayError(
            f"the digits of {name_of(f)} cannot be estimated from {samples} samples",
            where=caller(),
            help="pass samples=2 or more, or leave it out for ten",
        )
    rounding = stochastic(seed)
    found = [_numbers(f, in_program(rounding, f, *args, **kwargs)) for _ in range(samples)]
    if len({each.shape for each in found}) > 1:
        raise _refused(f, "gave results of several lengths")
    values = np.array(found)
    mean = values.mean(axis=0)
    return Significance(_plain(mean), _plain(_digits(values, mean)), values)


def _plain(found: Any) -> Any:
    """A float in place of an array without dimensions."""
    array = np.asarray(found)
    return array if array.ndim else array.item()


def _digits(values: Any, mean: Any) -> Any:
    """Significant digits, by the confidence interval of Student's distribution, as in CESTAC."""
    count = len(values)
    factor = special.stdtrit(count - 1, (1 + _CONFIDENCE) / 2) / math.sqrt(count)
    with np.errstate(all="ignore"):
        digits = np.log10(np.abs(mean) / (values.std(axis=0, ddof=1) * factor))
    equal = (values == values[0]).all(axis=0)
    return np.where(equal, MOST_DIGITS, np.clip(np.nan_to_num(digits, nan=0.0), 0.0, MOST_DIGITS))


def _numbers(f: Callable[..., Any], result: Any) -> Any:
    try:
        return np.asarray(result, dtype=np.float64)
    except (TypeError, ValueError):
        raise _refused(f, f"gave {type(result).__qualname__}") from None


def _refused(f: Callable[..., Any], what: str) -> OverlayError:
    return OverlayError(
        f"the digits of {name_of(f)} cannot be estimated: it {what}",
        where=caller(),
        help="give a function whose result is a number, an array, or a tuple of numbers",
    )
