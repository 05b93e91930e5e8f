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
    """The normal distribution.

    Parameters
    ----------
    loc : float
        The mean.
    scale : float
        The standard deviation, > 0.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Normal, log_density
    >>> round(log_density(Normal(0.0, 1.0), 0.0), 4)
    -0.9189
    """

    loc: float = 0.0
    scale: float = 1.0


class HalfNormal(NamedTuple):
    """The distribution of the absolute value of ``Normal(0, scale)``.

    Parameters
    ----------
    scale : float
        The standard deviation of the normal distribution, > 0.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import HalfNormal, log_density
    >>> log_density(HalfNormal(1.0), -1.0)
    -inf
    """

    scale: float = 1.0


class LogNormal(NamedTuple):
    """The distribution of positive numbers whose logarithm is ``Normal(loc, scale)``.

    Parameters
    ----------
    loc : float
        The mean of the logarithm.
    scale : float
        The standard deviation of the logarithm, > 0.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import LogNormal, log_density
    >>> round(log_density(LogNormal(0.0, 1.0), 1.0), 4)
    -0.9189
    """

    loc: float = 0.0
    scale: float = 1.0


class StudentT(NamedTuple):
    """Student's t distribution.

    Parameters
    ----------
    df : float
        The degrees of freedom, > 0.
    loc : float
        The median.
    scale : float
        The scale, > 0.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import StudentT, log_density
    >>> round(log_density(StudentT(1.0), 0.0), 4)
    -1.1447
    """

    df: float
    loc: float = 0.0
    scale: float = 1.0


class Cauchy(NamedTuple):
    """The Cauchy distribution.

    Parameters
    ----------
    loc : float
        The median.
    scale : float
        Half of the width at half of the maximum, > 0.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Cauchy, log_density
    >>> round(log_density(Cauchy(), 0.0), 4)
    -1.1447
    """

    loc: float = 0.0
    scale: float = 1.0


class Laplace(NamedTuple):
    """The Laplace distribution.

    Parameters
    ----------
    loc : float
        The mean.
    scale : float
        The mean absolute deviation, > 0.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Laplace, log_density
    >>> round(log_density(Laplace(), 0.0), 4)
    -0.6931
    """

    loc: float = 0.0
    scale: float = 1.0


class Uniform(NamedTuple):
    """The uniform distribution on an interval.

    Parameters
    ----------
    low, high : float
        The ends of the interval, low < high.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Uniform, log_density
    >>> log_density(Uniform(0.0, 1.0), 2.0)
    -inf
    """

    low: float = 0.0
    high: float = 1.0


class Exponential(NamedTuple):
    """The exponential distribution, with mean ``1 / rate``.

    Parameters
    ----------
    rate : float
        The rate, > 0.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Exponential, log_density
    >>> log_density(Exponential(1.0), 2.0)
    -2.0
    """

    rate: float = 1.0


class Gamma(NamedTuple):
    """The gamma distribution, with mean ``shape / rate``.

    Parameters
    ----------
    shape : float
        The shape, > 0.
    rate : float
        The rate (the inverse scale), > 0.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Gamma, log_density
    >>> log_density(Gamma(1.0, 1.0), 2.0)
    -2.0
    """

    shape: float
    rate: float = 1.0


class InverseGamma(NamedTuple):
    """The distribution of positive numbers whose reciprocal is ``Gamma(shape, rate=scale)``.

    Parameters
    ----------
    shape : float
        The shape, > 0.
    scale : float
        The scale, > 0.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import InverseGamma, log_density
    >>> log_density(InverseGamma(1.0, 1.0), 1.0)
    -1.0
    """

    shape: float
    scale: float = 1.0


class Beta(NamedTuple):
    """The beta distribution between 0 and 1, with mean ``alpha / (alpha + beta)``.

    Parameters
    ----------
    alpha, beta : float
        The shapes, > 0.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Beta, log_density
    >>> round(log_density(Beta(2.0, 1.0), 0.5), 6) == 0.0
    True
    """

    alpha: float
    beta: float


# ---- of integers ----------------------------------------------------------------------------


class Bernoulli(NamedTuple):
    """The Bernoulli distribution: True or False.

    Parameters
    ----------
    p : float
        The probability of True, from 0 to 1.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Bernoulli, log_density
    >>> round(log_density(Bernoulli(0.25), True), 4)
    -1.3863
    """

    p: float


class Binomial(NamedTuple):
    """The binomial distribution: the number of successes in independent trials.

    Parameters
    ----------
    n : int
        The number of trials, >= 0.
    p : float
        The probability of a success, from 0 to 1.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Binomial, log_density
    >>> round(log_density(Binomial(2, 0.5), 1), 4)
    -0.6931
    """

    n: int
    p: float


class NegativeBinomial(NamedTuple):
    """The negative binomial distribution: the number of failures before a number of successes.

    Parameters
    ----------
    n : float
        The number of successes, > 0.
    p : float
        The probability of a success, > 0 and at most 1.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import NegativeBinomial, log_density
    >>> round(log_density(NegativeBinomial(1, 0.5), 0), 4)
    -0.6931
    """

    n: float
    p: float


class Geometric(NamedTuple):
    """The geometric distribution: the number of trials up to the first success, from 1.

    Parameters
    ----------
    p : float
        The probability of a success, > 0 and at most 1.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Geometric, log_density
    >>> round(log_density(Geometric(0.5), 1), 4)
    -0.6931
    """

    p: float


class Poisson(NamedTuple):
    """The Poisson distribution.

    Parameters
    ----------
    rate : float
        The mean, >= 0.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Poisson, log_density
    >>> log_density(Poisson(1.0), 0)
    -1.0
    """

    rate: float


class DiscreteUniform(NamedTuple):
    """The uniform distribution on a range of integers.

    Parameters
    ----------
    low, high : int
        The ends, both included, low <= high.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import DiscreteUniform, log_density
    >>> log_density(DiscreteUniform(1, 6), 7)
    -inf
    """

    low: int
    high: int


class Categorical(NamedTuple):
    """The distribution of an index into a sequence of probabilities.

    Parameters
    ----------
    probabilities : sequence of float
        The probability of each index, from 0 to 1; they sum to 1.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Categorical, log_density
    >>> round(log_density(Categorical((0.25, 0.75)), 0), 4)
    -1.3863
    """

    probabilities: Sequence[float]
