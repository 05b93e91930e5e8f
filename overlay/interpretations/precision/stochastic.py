"""Random rounding: how many digits of a result rounding errors leave."""

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
from overlay.core.location import caller, name_of
from overlay.interpretations.precision.operations import (
    ARRAY_BINARY,
    ARRAY_UNARY,
    BINARY,
    UNARY,
)

__all__ = ["Significance", "significance", "stochastic"]

context: Any = current_context
Array = NDArray[np.float64]
MOST_DIGITS = 53 * math.log10(2)
"""As many decimal digits as a float has."""
_CONFIDENCE = 0.95
_SPLIT = 2.0**27 + 1

# ---- rounding errors, exactly where no product overflows ------------------------------------


def error_of_sum(a: float, b: float, total: float) -> float:
    """What was rounded away in a sum."""
    part = total - a
    return (a - (total - part)) + (b - part)


def error_of_difference(a: float, b: float, difference: float) -> float:
    """The same of a difference."""
    return error_of_sum(a, -b, difference)


def error_of_product(a: float, b: float, product: float) -> float:
    """The same of a product; NaN where it is not known."""
    c, d = _SPLIT * a, _SPLIT * b
    high_a, high_b = c - (c - a), d - (d - b)
    low_a, low_b = a - high_a, b - high_b
    return low_a * low_b - (product - high_a * high_b - low_a * high_b - high_a * low_b)


def error_of_quotient(a: float, b: float, quotient: float) -> float:
    """A number with the sign of what was rounded away in a quotient; NaN where it is not known."""
    product = quotient * b
    rest = (a - product) - error_of_product(quotient, b, product)
    return rest / b


def randomly_rounded(x: float, error: float, chance: float) -> float:
    """x, or the next float on the side of the error; with an error that is not known, on either
    side. chance: from 0 to 1."""
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
    """The same for an array or number, of which no error is known."""
    return x + np.spacing(x) * np.rint(2.0 * chances - 1.0)


class NoRandomNumbers(OverlayError):
    """A context inside, which has no generator as its state, hides that of random rounding."""

    def __init__(self) -> None:
        super().__init__(
            "random rounding finds no random numbers: a context inside it has another state",
            where=caller(),
            help="round inside the other context: other(lambda: significance(f, ...)), or give "
            "that one the state, inner.replace(state=stochastic(seed).state)",
        )


def chance(state: Any) -> float:
    """A random number from 0 to 1."""
    if state is None:
        raise NoRandomNumbers
    return state.random()


def chances(state: Any, shape: Any) -> Any:
    """The same for each element of an array."""
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
    """Of a function whose rounding error is not computed."""
    return UNKNOWN


def _add_numbers(table: MethodTable, target: Any) -> None:
    error_of = _EXACT.get(target, error_not_known)

    @table.overlay(target)
    def both(a: float, b: float) -> Any:
        found = call_next(a, b)
        error = nonoverlay(error_of)(a, b, found)
        return nonoverlay(randomly_rounded)(found, error, nonoverlay(chance)(context().state))

    @table.overlay(target)
    def left(a: float, b: int) -> Any:
        return target(a, float(b))

    @table.overlay(target)
    def right(a: int, b: float) -> Any:
        return target(float(a), b)


def _add_unary(table: MethodTable, target: Any) -> None:
    @table.overlay(target)
    def number(a: float) -> Any:
        found = call_next(a)
        return nonoverlay(randomly_rounded)(found, UNKNOWN, nonoverlay(chance)(context().state))


def _add_arrays(table: MethodTable, target: Any) -> None:
    for first, second in ((Array, Array), (Array, float | int), (float | int, Array)):
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
    """One after the other: no digit is promised that another order might lose."""

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
    return table


_table = _made()


def stochastic(seed: int = 0) -> Context:
    """A context in which each operation on floats that is not exact is rounded up or down at
    random. The context's state, a numpy generator, says how."""
    return Context(_table, state=np.random.default_rng(seed))


# ---- estimates ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Significance:
    """What random rounding says of a result: a number, or an array for several.

    value: the mean of the samples. digits: how many decimal digits of it rounding errors leave,
    with 95 % confidence. samples: each of the results.
    """

    value: Any
    digits: Any
    samples: Any

    def __str__(self) -> str:
        pairs = zip(np.ravel(self.value), np.ravel(self.digits), strict=True)
        return "\n".join(f"{value:.17g}   {digits:.1f} digits" for value, digits in pairs)


def significance(
    f: Callable[..., Any], /, *args: Any, samples: int = 10, seed: int = 0, **kwargs: Any
) -> Significance:
    """Run ``f(*args, **kwargs)`` several times with random rounding and estimate how many digits
    of its result, numbers or arrays, are significant. samples: how often, at least twice. Raises
    OverlayError for other results."""
    if samples < 2:
        raise OverlayError(
            f"the digits of {name_of(f)} cannot be estimated of {samples} samples",
            where=caller(),
            help="take two or more, as ten, which are taken where samples is left out",
        )
    rounding = stochastic(seed)
    found = [_numbers(f, rounding(f, *args, **kwargs)) for _ in range(samples)]
    if len({each.shape for each in found}) > 1:
        raise _refused(f, "gave results of several lengths")
    values = np.array(found)
    mean = values.mean(axis=0)
    return Significance(mean[()], _digits(values, mean)[()], values)


def _digits(values: Any, mean: Any) -> Any:
    """By the confidence interval of Student's distribution, as CESTAC does."""
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
