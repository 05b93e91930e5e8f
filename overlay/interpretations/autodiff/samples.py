"""Methods of a level for functions of the numbers in lists, tuples and arrays."""

from __future__ import annotations

import math
import statistics
from typing import Any

from overlay import call_next
from overlay.contexts.rules_alone import used_by
from overlay.interpretations.autodiff.active_arrays import parts_of
from overlay.interpretations.autodiff.levels import Level, declare, written

__all__ = ["declare_samples"]


def _mean(a: Any) -> Any:
    return sum(a) / len(a)


def _squares(a: Any) -> Any:
    """The sum of squares of the deviations from the mean."""
    mean = _mean(a)
    return sum([(each - mean) * (each - mean) for each in a])


def _variance(a: Any) -> Any:
    return _squares(a) / (len(a) - 1)


def _population_variance(a: Any) -> Any:
    return _squares(a) / len(a)


def _deviation(a: Any) -> Any:
    return math.sqrt(_variance(a))


def _population_deviation(a: Any) -> Any:
    return math.sqrt(_population_variance(a))


def _distance(a: Any, b: Any) -> Any:
    return math.sqrt(sum([(p - q) * (p - q) for p, q in zip(a, b, strict=True)]))


def _sum_of_products(a: Any, b: Any) -> Any:
    return sum([p * q for p, q in zip(a, b, strict=True)])


# With the number of arguments, and equivalent Python functions that have the same derivatives.
OF_SAMPLES: tuple[tuple[Any, int, Any], ...] = (
    (math.fsum, 1, sum),
    (statistics.mean, 1, _mean),
    (statistics.variance, 1, _variance),
    (statistics.pvariance, 1, _population_variance),
    (statistics.stdev, 1, _deviation),
    (statistics.pstdev, 1, _population_deviation),
    (math.dist, 2, _distance),
    *((f, 2, _sum_of_products) for f in [getattr(math, "sumprod", None)] if f is not None),
)


def declare_samples(level: Level) -> None:
    """Declare the methods for functions of several numbers at once."""
    for function, count, by in OF_SAMPLES:
        level.later(function, _declare_sample, function, count, by)


def _declare_sample(level: Level, function: Any, count: int, by: Any) -> None:
    """Declare a method whose value is the function's, which may sum without rounding, and whose
    tangents are those of the equivalent function."""
    names = [f"x{i}" for i in range(count)]
    given = ", ".join(names)
    lines = [
        f"def method({given}):",
        *(f"    {name} = list({name})" for name in names),
        f"    if not holds_active([{given}]):",
        f"        return call_next({given})",
        f"    value = call_next({', '.join(f'values({name})' for name in names)})",
        f"    return number(value, by({given}).tangents)",
    ]
    space = {"call_next": call_next, "by": by, **parts_of(level)}
    method = written("\n".join(lines), level, **space)
    declare(level.table, function, method, (Any,) * count)
    level.table.uses[method] = used_by(by)
