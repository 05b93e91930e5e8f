"""The table of distributions: a row for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from overlay.interpretations.probabilistic import densities
from overlay.interpretations.probabilistic.distributions import (
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    Cauchy,
    DiscreteUniform,
    Exponential,
    Gamma,
    Geometric,
    HalfNormal,
    InverseGamma,
    Laplace,
    LogNormal,
    NegativeBinomial,
    Normal,
    Poisson,
    StudentT,
    Uniform,
)

__all__ = ["DISTRIBUTIONS", "DistributionRow"]


class DistributionRow(NamedTuple):
    """The functions of a distribution.

    density: the log density, from the value and the parameters. draw: a random value, from a numpy
    generator and the parameters. kind: the class of its values.
    """

    density: Callable[..., float]
    draw: Callable[..., Any]
    kind: type


_D, _R = densities, np.random.Generator
DISTRIBUTIONS: Final[dict[type, DistributionRow]] = {
    Normal: DistributionRow(_D.normal, _R.normal, float),
    HalfNormal: DistributionRow(
        _D.half_normal, lambda rng, scale: abs(rng.normal(0.0, scale)), float
    ),
    LogNormal: DistributionRow(_D.log_normal, _R.lognormal, float),
    StudentT: DistributionRow(
        _D.student_t, lambda rng, df, m, s: m + s * rng.standard_t(df), float
    ),
    Cauchy: DistributionRow(_D.cauchy, lambda rng, m, s: m + s * rng.standard_cauchy(), float),
    Laplace: DistributionRow(_D.laplace, _R.laplace, float),
    Uniform: DistributionRow(_D.uniform, _R.uniform, float),
    Exponential: DistributionRow(
        _D.exponential, lambda rng, rate: rng.exponential(1.0 / rate), float
    ),
    Gamma: DistributionRow(_D.gamma, lambda rng, shape, rate: rng.gamma(shape, 1.0 / rate), float),
    InverseGamma: DistributionRow(
        _D.inverse_gamma, lambda rng, shape, s: s / rng.gamma(shape), float
    ),
    Beta: DistributionRow(_D.beta, _R.beta, float),
    Bernoulli: DistributionRow(_D.bernoulli, lambda rng, p: rng.random() < p, bool),
    Binomial: DistributionRow(_D.binomial, _R.binomial, int),
    NegativeBinomial: DistributionRow(_D.negative_binomial, _R.negative_binomial, int),
    Geometric: DistributionRow(_D.geometric, _R.geometric, int),
    Poisson: DistributionRow(_D.poisson, _R.poisson, int),
    DiscreteUniform: DistributionRow(
        _D.discrete_uniform, lambda rng, a, b: rng.integers(a, b + 1), int
    ),
    Categorical: DistributionRow(_D.categorical, lambda rng, p: rng.choice(len(p), p=p), int),
}
