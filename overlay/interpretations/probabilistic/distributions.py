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
    """With mean ``loc`` and standard deviation ``scale``."""

    loc: float = 0.0
    scale: float = 1.0


class HalfNormal(NamedTuple):
    """The absolute value of a normal number around 0."""

    scale: float = 1.0


class LogNormal(NamedTuple):
    """Of which the logarithm is ``Normal(loc, scale)``."""

    loc: float = 0.0
    scale: float = 1.0


class StudentT(NamedTuple):
    """Student's t with ``df`` degrees of freedom."""

    df: float
    loc: float = 0.0
    scale: float = 1.0


class Cauchy(NamedTuple):
    """With median ``loc`` and half width ``scale``."""

    loc: float = 0.0
    scale: float = 1.0


class Laplace(NamedTuple):
    """Falling on both sides of ``loc``, with mean distance ``scale``."""

    loc: float = 0.0
    scale: float = 1.0


class Uniform(NamedTuple):
    """Between ``low`` and ``high``."""

    low: float = 0.0
    high: float = 1.0


class Exponential(NamedTuple):
    """With mean ``1 / rate``."""

    rate: float = 1.0


class Gamma(NamedTuple):
    """With mean ``shape / rate``."""

    shape: float
    rate: float = 1.0


class InverseGamma(NamedTuple):
    """Of which the reciprocal is ``Gamma(shape, rate=scale)``."""

    shape: float
    scale: float = 1.0


class Beta(NamedTuple):
    """Between 0 and 1, with mean ``alpha / (alpha + beta)``."""

    alpha: float
    beta: float


# ---- of whole numbers -----------------------------------------------------------------------


class Bernoulli(NamedTuple):
    """True with probability ``p``."""

    p: float


class Binomial(NamedTuple):
    """How many of ``n`` trials succeed, each with probability ``p``."""

    n: int
    p: float


class NegativeBinomial(NamedTuple):
    """How many trials fail before the ``n``-th that succeeds, each with probability ``p``."""

    n: float
    p: float


class Geometric(NamedTuple):
    """The number of the first trial that succeeds, from 1."""

    p: float


class Poisson(NamedTuple):
    """With mean ``rate``."""

    rate: float


class DiscreteUniform(NamedTuple):
    """A whole number from ``low`` to ``high``, both included."""

    low: int
    high: int


class Categorical(NamedTuple):
    """A place in ``probabilities``, which sum to 1."""

    probabilities: Sequence[float]
