"""The table of distributions: a row for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

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
    generator and the parameters. kind: the class of its values. support: of a finite one, from the
    parameters, the first value and the number of values. Numba compiles all of them. domain: of the
    values of one of real numbers: real; positive; or bounded, by the parameters or 0 and 1.
    """

    density: Callable[..., float]
    draw: Callable[..., Any]
    kind: type
    support: Callable[..., tuple[int, int]] | None = None
    domain: str = "integers"


def whole(x: float) -> int:
    """A parameter that has to be an integer."""
    if x % 1 != 0:
        raise ValueError("a count or a bound is not an integer")
    return int(x)


def drawn_place(rng: Any, probabilities: Any) -> int:
    """A random place, as ``rng.choice`` draws it."""
    total = 0.0
    for p in probabilities:
        if not p >= 0.0:
            raise ValueError("probabilities are not negative")
        total += p
    if not abs(total - 1.0) <= 1e-8:
        raise ValueError("probabilities do not sum to 1")
    number = rng.random()
    below = 0.0
    for k, p in enumerate(probabilities):
        below += p
        if below / total > number:
            return k
    return len(probabilities) - 1


_D = densities
DISTRIBUTIONS: Final[dict[type, DistributionRow]] = {
    Normal: DistributionRow(_D.normal, lambda rng, m, s: rng.normal(m, s), float, domain="real"),
    HalfNormal: DistributionRow(
        _D.half_normal, lambda rng, scale: abs(rng.normal(0.0, scale)), float, domain="positive"
    ),
    LogNormal: DistributionRow(
        _D.log_normal, lambda rng, m, s: rng.lognormal(m, s), float, domain="positive"
    ),
    StudentT: DistributionRow(
        _D.student_t, lambda rng, df, m, s: m + s * rng.standard_t(df), float, domain="real"
    ),
    Cauchy: DistributionRow(
        _D.cauchy, lambda rng, m, s: m + s * rng.standard_cauchy(), float, domain="real"
    ),
    Laplace: DistributionRow(_D.laplace, lambda rng, m, s: rng.laplace(m, s), float, domain="real"),
    Uniform: DistributionRow(
        _D.uniform, lambda rng, a, b: rng.uniform(a, b), float, domain="bounded"
    ),
    Exponential: DistributionRow(
        _D.exponential, lambda rng, rate: rng.exponential(1.0 / rate), float, domain="positive"
    ),
    Gamma: DistributionRow(
        _D.gamma, lambda rng, shape, rate: rng.gamma(shape, 1.0 / rate), float, domain="positive"
    ),
    InverseGamma: DistributionRow(
        _D.inverse_gamma, lambda rng, shape, s: s / rng.gamma(shape, 1.0), float, domain="positive"
    ),
    Beta: DistributionRow(_D.beta, lambda rng, a, b: rng.beta(a, b), float, domain="bounded"),
    Bernoulli: DistributionRow(
        _D.bernoulli, lambda rng, p: rng.random() < p, bool, lambda p: (0, 2)
    ),
    Binomial: DistributionRow(_D.binomial, lambda rng, n, p: rng.binomial(whole(n), p), int),
    NegativeBinomial: DistributionRow(
        _D.negative_binomial, lambda rng, n, p: rng.negative_binomial(n, p), int
    ),
    Geometric: DistributionRow(_D.geometric, lambda rng, p: rng.geometric(p), int),
    Poisson: DistributionRow(_D.poisson, lambda rng, rate: rng.poisson(rate), int),
    DiscreteUniform: DistributionRow(
        _D.discrete_uniform,
        lambda rng, a, b: rng.integers(whole(a), whole(b) + 1),
        int,
        lambda a, b: (a, b - a + 1),
    ),
    Categorical: DistributionRow(_D.categorical, drawn_place, int, lambda p: (0, len(p))),
}
"""Row of each distribution: its density, and how it is drawn."""
