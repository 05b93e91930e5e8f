"""Log densities of the distributions: plain functions of numbers, which numba compiles, too.

Each takes the value, then the parameters in the order of its class. It returns -inf for an
impossible value, and nan for invalid parameters or a value that is nan.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

__all__ = [
    "bernoulli",
    "beta",
    "binomial",
    "categorical",
    "cauchy",
    "discrete_uniform",
    "exponential",
    "gamma",
    "geometric",
    "half_normal",
    "inverse_gamma",
    "laplace",
    "log_normal",
    "negative_binomial",
    "normal",
    "of_class",
    "poisson",
    "student_t",
    "uniform",
]

_HALF_LOG_TAU = 0.9189385332046727  # log(2 pi) / 2
_LOG_PI = 1.1447298858494002
_TOLERANCE = 1e-9  # of the sum of probabilities


# ---- of real numbers ------------------------------------------------------------------------


def normal(value: float, loc: float, scale: float) -> float:
    if not scale > 0.0:
        return math.nan
    z = (value - loc) / scale
    return -0.5 * z * z - math.log(scale) - _HALF_LOG_TAU


def half_normal(value: float, scale: float) -> float:
    if not scale > 0.0:
        return math.nan
    if value < 0.0:
        return _impossible(value)
    return math.log(2.0) + normal(value, 0.0, scale)


def log_normal(value: float, loc: float, scale: float) -> float:
    if not scale > 0.0:
        return math.nan
    if not value > 0.0:
        return _impossible(value)
    logarithm = math.log(value)
    return normal(logarithm, loc, scale) - logarithm


def student_t(value: float, df: float, loc: float, scale: float) -> float:
    if not (df > 0.0 and scale > 0.0):
        return math.nan
    z = (value - loc) / scale
    constant = math.lgamma(0.5 * (df + 1.0)) - math.lgamma(0.5 * df)
    constant -= 0.5 * (math.log(df) + _LOG_PI) + math.log(scale)
    return constant - 0.5 * (df + 1.0) * math.log1p(z * z / df)


def cauchy(value: float, loc: float, scale: float) -> float:
    if not scale > 0.0:
        return math.nan
    z = (value - loc) / scale
    return -_LOG_PI - math.log(scale) - math.log1p(z * z)


def laplace(value: float, loc: float, scale: float) -> float:
    if not scale > 0.0:
        return math.nan
    return -abs(value - loc) / scale - math.log(2.0 * scale)


def uniform(value: float, low: float, high: float) -> float:
    if not low < high:
        return math.nan
    if not (value >= low and value <= high):
        return _impossible(value)
    return -math.log(high - low)


def exponential(value: float, rate: float) -> float:
    if not rate > 0.0:
        return math.nan
    if value < 0.0:
        return _impossible(value)
    return math.log(rate) - rate * value


def gamma(value: float, shape: float, rate: float) -> float:
    if not (shape > 0.0 and rate > 0.0):
        return math.nan
    if value < 0.0:
        return _impossible(value)
    constant = shape * math.log(rate) - math.lgamma(shape)
    return constant + _times_log(shape - 1.0, value) - rate * value


def inverse_gamma(value: float, shape: float, scale: float) -> float:
    if not (shape > 0.0 and scale > 0.0):
        return math.nan
    if not value > 0.0:
        return _impossible(value)
    constant = shape * math.log(scale) - math.lgamma(shape)
    return constant - (shape + 1.0) * math.log(value) - scale / value


def beta(value: float, alpha: float, beta: float) -> float:
    if not (alpha > 0.0 and beta > 0.0):
        return math.nan
    if not (value >= 0.0 and value <= 1.0):
        return _impossible(value)
    constant = math.lgamma(alpha + beta) - math.lgamma(alpha) - math.lgamma(beta)
    return constant + _times_log(alpha - 1.0, value) + _times_log1m(beta - 1.0, value)


# ---- of integers ----------------------------------------------------------------------------


def bernoulli(value: Any, p: float) -> float:
    if not (p >= 0.0 and p <= 1.0):
        return math.nan
    if value != 0 and value != 1:
        return _impossible(value)
    return _log(p) if value else _times_log1m(1.0, p)


def binomial(value: float, n: int, p: float) -> float:
    if not (p >= 0.0 and p <= 1.0 and n >= 0 and n % 1 == 0):
        return math.nan
    if value < 0 or value > n or value % 1 != 0:
        return _impossible(value)
    ways = math.lgamma(n + 1.0) - math.lgamma(value + 1.0) - math.lgamma(n - value + 1.0)
    return ways + _times_log(value, p) + _times_log1m(n - value, p)


def negative_binomial(value: float, n: float, p: float) -> float:
    if not (p > 0.0 and p <= 1.0 and n > 0.0):
        return math.nan
    if value < 0 or value % 1 != 0:
        return _impossible(value)
    ways = math.lgamma(value + n) - math.lgamma(value + 1.0) - math.lgamma(n)
    return ways + n * math.log(p) + _times_log1m(value, p)


def geometric(value: float, p: float) -> float:
    if not (p > 0.0 and p <= 1.0):
        return math.nan
    if value < 1 or value % 1 != 0:
        return _impossible(value)
    return math.log(p) + _times_log1m(value - 1, p)


def poisson(value: float, rate: float) -> float:
    if not rate >= 0.0:
        return math.nan
    if value < 0 or value % 1 != 0:
        return _impossible(value)
    return _times_log(value, rate) - rate - math.lgamma(value + 1.0)


def discrete_uniform(value: float, low: int, high: int) -> float:
    if not (low <= high and low % 1 == 0 and high % 1 == 0):
        return math.nan
    if value < low or value > high or value % 1 != 0:
        return _impossible(value)
    return -math.log(high - low + 1.0)


def categorical(value: int, probabilities: Any) -> float:
    total = 0.0
    for p in probabilities:
        if not p >= 0.0:
            return math.nan
        total += p
    if not abs(total - 1.0) <= _TOLERANCE:
        return math.nan
    if value < 0 or value >= len(probabilities) or value % 1 != 0:
        return _impossible(value)
    return _log(probabilities[int(value)])


def of_class(cls: type, density: Callable[..., float]) -> Callable[..., float]:
    """The density as a method for instances of a class, which are tuples of parameters."""

    def method(distribution: Any, value: Any) -> float:
        return density(value, *distribution)

    method.__annotations__ = {"distribution": cls, "value": Any, "return": float}
    return method


# ---- limits ---------------------------------------------------------------------------------


def _impossible(value: Any) -> float:
    """The log density of an impossible value; nan for nan."""
    return math.nan if value != value else -math.inf


def _log(x: float) -> float:
    return math.log(x) if x > 0.0 else -math.inf


def _times_log(factor: float, x: float) -> float:
    """``factor * log(x)``, or 0 if the factor is 0."""
    if factor == 0.0:
        return 0.0
    return factor * math.log(x) if x > 0.0 else -math.inf * factor


def _times_log1m(factor: float, x: float) -> float:
    """``factor * log(1 - x)``, or 0 if the factor is 0."""
    if factor == 0.0:
        return 0.0
    return factor * math.log1p(-x) if x < 1.0 else -math.inf * factor
