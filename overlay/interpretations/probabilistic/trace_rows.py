"""The table of distributions: a line for each."""

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

__all__ = ["DISTRIBUTIONS", "Row"]


class Row(NamedTuple):
    """What there is of a distribution.

    density: the log density, of the value and the parameters. draw: a value, of a numpy generator
    and the parameters. kind: the class of its values.
    """

    density: Callable[..., float]
    draw: Callable[..., Any]
    kind: type


_D, _R = densities, np.random.Generator
DISTRIBUTIONS: Final[dict[type, Row]] = {
    Normal: Row(_D.normal, _R.normal, float),
    HalfNormal: Row(_D.half_normal, lambda rng, scale: abs(rng.normal(0.0, scale)), float),
    LogNormal: Row(_D.log_normal, _R.lognormal, float),
    StudentT: Row(_D.student_t, lambda rng, df, m, s: m + s * rng.standard_t(df), float),
    Cauchy: Row(_D.cauchy, lambda rng, m, s: m + s * rng.standard_cauchy(), float),
    Laplace: Row(_D.laplace, _R.laplace, float),
    Uniform: Row(_D.uniform, _R.uniform, float),
    Exponential: Row(_D.exponential, lambda rng, rate: rng.exponential(1.0 / rate), float),
    Gamma: Row(_D.gamma, lambda rng, shape, rate: rng.gamma(shape, 1.0 / rate), float),
    InverseGamma: Row(_D.inverse_gamma, lambda rng, shape, s: s / rng.gamma(shape), float),
    Beta: Row(_D.beta, _R.beta, float),
    Bernoulli: Row(_D.bernoulli, lambda rng, p: rng.random() < p, bool),
    Binomial: Row(_D.binomial, _R.binomial, int),
    NegativeBinomial: Row(_D.negative_binomial, _R.negative_binomial, int),
    Geometric: Row(_D.geometric, _R.geometric, int),
    Poisson: Row(_D.poisson, _R.poisson, int),
    DiscreteUniform: Row(_D.discrete_uniform, lambda rng, a, b: rng.integers(a, b + 1), int),
    Categorical: Row(_D.categorical, lambda rng, p: rng.choice(len(p), p=p), int),
}
