"""Distributions, as named tuples of their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = [
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "DiscreteUniform",
    "Exponential",
    "Gamma",
    "Geometric",
    "HalfNormal",
    "InverseGamma",
    "Laplace",
    "LogNormal",
    "NegativeBinomial",
    "Normal",
    "Poisson",
    "StudentT",
    "Uniform",
]


# ---- of real numbers ------------------------------------------------------------------------


class Normal(NamedTuple):
    """The normal distribution with mean ``loc`` and standard deviation ``scale`` > 0."""

    loc: float = 0.0
    scale: float = 1.0


class HalfNormal(NamedTuple):
    """The distribution of the absolute value of ``Normal(0, scale)``, scale > 0."""

    scale: float = 1.0


class LogNormal(NamedTuple):
    """The distribution of positive numbers whose logarithm is ``Normal(loc, scale)``, scale > 0."""

    loc: float = 0.0
    scale: float = 1.0


class StudentT(NamedTuple):
    """Student's t distribution with ``df`` > 0 degrees of freedom, shifted by ``loc`` and scaled by
    ``scale`` > 0."""

    df: float
    loc: float = 0.0
    scale: float = 1.0


class Cauchy(NamedTuple):
    """The Cauchy distribution with median ``loc`` and half width ``scale`` > 0."""

    loc: float = 0.0
    scale: float = 1.0


class Laplace(NamedTuple):
    """The Laplace distribution around ``loc``, with mean absolute deviation ``scale`` > 0."""

    loc: float = 0.0
    scale: float = 1.0


class Uniform(NamedTuple):
    """The uniform distribution between ``low`` and ``high``, low < high."""

    low: float = 0.0
    high: float = 1.0


class Exponential(NamedTuple):
    """The exponential distribution with mean ``1 / rate``, rate > 0."""

    rate: float = 1.0


class Gamma(NamedTuple):
    """The gamma distribution with mean ``shape / rate``, both > 0."""

    shape: float
    rate: float = 1.0


class InverseGamma(NamedTuple):
    """The distribution of positive numbers whose reciprocal is ``Gamma(shape, rate=scale)``."""

    shape: float
    scale: float = 1.0


class Beta(NamedTuple):
    """The beta distribution between 0 and 1, with mean ``alpha / (alpha + beta)``, both > 0."""

    alpha: float
    beta: float


# ---- of integers ----------------------------------------------------------------------------


class Bernoulli(NamedTuple):
    """True with probability ``p`` from 0 to 1, else False."""

    p: float


class Binomial(NamedTuple):
    """The number of successes in ``n`` trials, each with probability ``p``."""

    n: int
    p: float


class NegativeBinomial(NamedTuple):
    """The number of failures before the ``n``-th success, in trials with probability ``p`` > 0; n >
    0."""

    n: float
    p: float


class Geometric(NamedTuple):
    """The number of trials up to the first success, from 1, each with probability ``p`` > 0."""

    p: float


class Poisson(NamedTuple):
    """The Poisson distribution with mean ``rate`` >= 0."""

    rate: float


class DiscreteUniform(NamedTuple):
    """A uniform integer from ``low`` to ``high``, both included."""

    low: int
    high: int


class Categorical(NamedTuple):
    """An index into ``probabilities``, which sum to 1."""

    probabilities: Sequence[float]
