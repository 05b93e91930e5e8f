"""Random values of distributions, and log densities."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from overlay import generic
from overlay.contexts.rules_alone import runs_alone
from overlay.interpretations.probabilistic.densities import of_class
from overlay.interpretations.probabilistic.errors import (
    refuse_distribution,
    refuse_infinite,
    refuse_nan,
    refuse_parameters,
)
from overlay.interpretations.probabilistic.trace_rows import DISTRIBUTIONS

__all__ = [
    "OwnDensity",
    "density_of",
    "draw",
    "drawn",
    "log_density",
    "of_its_class",
    "scored",
    "values_of",
]


@generic
def log_density(distribution: Any, value: Any) -> float:
    """The log density of a distribution, or the log probability if its values are integers.

    To define a distribution, write a named tuple of its parameters, and a method of this function
    and of ``draw``.

    Parameters
    ----------
    distribution : named tuple
        A distribution, such as ``Normal(0.0, 1.0)``.
    value : float, int or bool
        A value.

    Returns
    -------
    float
        The log density; -inf for an impossible value, nan for nan or invalid parameters.

    Raises
    ------
    ProbabilisticError
        ``distribution`` is no distribution.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Uniform, log_density
    >>> log_density(Uniform(0.0, 1.0), 0.5), log_density(Uniform(0.0, 1.0), 2.0)
    (-0.0, -inf)
    """
    refuse_distribution(distribution, "log_density", DISTRIBUTIONS)


for _cls, _row in DISTRIBUTIONS.items():
    log_density.dispatch(of_class(_cls, _row.density))


@generic
@runs_alone
def draw(distribution: Any, rng: Any) -> Any:
    """Draw a value of a distribution.

    Parameters
    ----------
    distribution : named tuple
        A distribution, such as ``Normal(0.0, 1.0)``.
    rng : numpy.random.Generator
        Random numbers.

    Returns
    -------
    float, int or bool
        The value.

    Raises
    ------
    ProbabilisticError
        ``distribution`` is no distribution, or its parameters are invalid.

    Examples
    --------
    >>> import numpy as np
    >>> from overlay.interpretations.probabilistic import Bernoulli, draw
    >>> draw(Bernoulli(1.0), np.random.default_rng(0))
    True
    """
    row = DISTRIBUTIONS.get(type(distribution))
    if row is None:
        refuse_distribution(distribution, "draw", DISTRIBUTIONS)
    try:
        value = row.kind(row.draw(rng, *distribution))
    except (ValueError, ArithmeticError) as error:
        refuse_parameters(distribution, error)
    if value != value:  # no draw of valid parameters is nan
        refuse_parameters(distribution, None)
    return value


def drawn(distribution: Any, rng: np.random.Generator) -> tuple[Any, float]:
    """A random value, and its log density."""
    value = draw(distribution, rng)
    return value, scored(distribution, value)


def scored(distribution: Any, value: Any) -> float:
    """The log density of a value. Raises ProbabilisticError for invalid parameters."""
    row = DISTRIBUTIONS.get(type(distribution))
    found = row.density(value, *distribution) if row else log_density(distribution, value)
    if math.isnan(found):
        if isinstance(value, (float, np.floating)) and math.isnan(value):
            refuse_nan(distribution)
        refuse_parameters(distribution, None)
    return found


def of_its_class(distribution: Any, value: Any) -> Any:
    """A value of a choice, as the class that draws of its distribution have, if one equals it:
    random walks, and compiled code, move a value by its class."""
    row = DISTRIBUTIONS.get(type(distribution))
    if row is None or type(value) is row.kind or not isinstance(value, _NUMBERS):
        return value
    try:
        found = row.kind(value)
    except (ValueError, OverflowError):  # of nan, or an infinity
        return value
    return found if found == value else value


_NUMBERS = (int, float, np.bool_, np.integer, np.floating)


def values_of(distribution: Any, name: str) -> list[Any]:
    """The values of a finite choice. Raises ProbabilisticError for any other."""
    row = DISTRIBUTIONS.get(type(distribution))
    if row is None or row.support is None:
        refuse_infinite(name, distribution, [c for c, r in DISTRIBUTIONS.items() if r.support])
    first, count = row.support(*distribution)
    return [row.kind(first + k) for k in range(count)]


class OwnDensity(NamedTuple):
    """The log density of a user's class of distributions, as a function of value and parameters."""

    cls: type

    def __call__(self, value: Any, *parameters: Any) -> float:
        return log_density(self.cls(*parameters), value)


def density_of(cls: type) -> Callable[..., float]:
    """The log density of a class of distributions, as a function of value and parameters; equal for
    equal classes."""
    row = DISTRIBUTIONS.get(cls)
    return OwnDensity(cls) if row is None else row.density
