"""Every row of the table of distributions, against scipy's."""

import math

import numpy as np
import pytest
from scipy import stats

from overlay import Context
from overlay.interpretations.probabilistic import (
    DISTRIBUTIONS,
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
    ProbabilisticError,
    StudentT,
    Uniform,
    draw,
    log_density,
    observe,
    sample,
    score,
    simulate,
)

PROBABILITIES = (0.2, 0.5, 0.3)

# of each class: instances with scipy's distribution of the same parameters
PEERS = {
    Normal: [(Normal(0.3, 2.0), stats.norm(0.3, 2.0))],
    HalfNormal: [(HalfNormal(2.0), stats.halfnorm(scale=2.0))],
    LogNormal: [(LogNormal(0.3, 0.7), stats.lognorm(0.7, scale=math.exp(0.3)))],
    StudentT: [(StudentT(3.5, 0.3, 2.0), stats.t(3.5, 0.3, 2.0))],
    Cauchy: [(Cauchy(0.3, 2.0), stats.cauchy(0.3, 2.0))],
    Laplace: [(Laplace(0.3, 2.0), stats.laplace(0.3, 2.0))],
    Uniform: [(Uniform(-1.0, 2.0), stats.uniform(-1.0, 3.0))],
    Exponential: [(Exponential(2.5), stats.expon(scale=0.4))],
    Gamma: [
        (Gamma(3.0, 2.0), stats.gamma(3.0, scale=0.5)),
        (Gamma(1.0, 2.0), stats.gamma(1.0, scale=0.5)),
    ],
    InverseGamma: [(InverseGamma(3.0, 2.0), stats.invgamma(3.0, scale=2.0))],
    Beta: [(Beta(2.0, 3.0), stats.beta(2.0, 3.0)), (Beta(1.0, 1.0), stats.beta(1.0, 1.0))],
    Bernoulli: [(Bernoulli(p), stats.bernoulli(p)) for p in (0.0, 0.3, 1.0)],
    Binomial: [(Binomial(9, p), stats.binom(9, p)) for p in (0.0, 0.3, 1.0)],
    NegativeBinomial: [(NegativeBinomial(2.5, 0.3), stats.nbinom(2.5, 0.3))],
    Geometric: [(Geometric(0.3), stats.geom(0.3)), (Geometric(1.0), stats.geom(1.0))],
    Poisson: [(Poisson(2.5), stats.poisson(2.5)), (Poisson(0.0), stats.poisson(0.0))],
    DiscreteUniform: [(DiscreteUniform(-2, 4), stats.randint(-2, 5))],
    Categorical: [
        (Categorical(PROBABILITIES), stats.rv_discrete(values=((0, 1, 2), PROBABILITIES)))
    ],
}
CASES = [pytest.param(*pair, id=repr(pair[0])) for pairs in PEERS.values() for pair in pairs]
REALS = (-1.5, 0.0, 0.25, 0.5, 1.0, 1.7, 30.0)
COUNTS = (-3, -1, 0, 1, 2, 3, 4, 9, 10)


def peers_density(peer, value):
    with np.errstate(divide="ignore"):
        return float(peer.logpmf(value) if hasattr(peer, "pmf") else peer.logpdf(value))


def values_of(distribution):
    return REALS if DISTRIBUTIONS[type(distribution)].kind is float else COUNTS


def test_every_row_has_a_peer():
    assert PEERS.keys() == DISTRIBUTIONS.keys()


@pytest.mark.parametrize(("distribution", "peer"), CASES)
def test_log_densities_are_those_of_scipy(distribution, peer):
    for value in values_of(distribution):
        assert log_density(distribution, value) == pytest.approx(
            peers_density(peer, value), rel=1e-12, abs=1e-12
        ), value


@pytest.mark.parametrize("cls", DISTRIBUTIONS, ids=lambda cls: cls.__name__)
def test_log_densities_compile(cls):
    compiled = Context().jit(log_density)
    for distribution, _ in PEERS[cls]:
        for value in values_of(distribution):
            assert compiled(distribution, value) == pytest.approx(
                log_density(distribution, value), rel=1e-13, abs=1e-13
            )


@pytest.mark.parametrize(("distribution", "peer"), CASES)
def test_draws_are_of_the_distribution(distribution, peer):
    rng = np.random.default_rng(7)
    values = [draw(distribution, rng) for _ in range(400)]
    assert {type(value) for value in values} == {DISTRIBUTIONS[type(distribution)].kind}
    assert all(log_density(distribution, value) > -math.inf for value in values)
    points = np.quantile(values, (0.2, 0.5, 0.8), method="inverted_cdf")
    below = [np.mean(np.asarray(values) <= point) for point in points]
    with np.errstate(divide="ignore"):
        assert below == pytest.approx(list(peer.cdf(points)), abs=0.08)


BAD = [
    Normal(0.0, 0.0),
    HalfNormal(-1.0),
    LogNormal(0.0, math.nan),
    StudentT(0.0),
    Cauchy(0.0, -1.0),
    Laplace(0.0, 0.0),
    Uniform(1.0, 1.0),
    Exponential(0.0),
    Gamma(-1.0),
    InverseGamma(0.0),
    Beta(1.0, 0.0),
    Bernoulli(1.5),
    Binomial(-1, 0.5),
    NegativeBinomial(0.0, 0.5),
    Geometric(0.0),
    Poisson(-1.0),
    DiscreteUniform(3, 2),
    Categorical((0.5, 0.6)),
    Binomial(2.5, 0.5),
    Binomial(math.inf, 0.5),
    DiscreteUniform(0.5, 3),
    DiscreteUniform(0, 2.5),
]


def test_every_row_has_bad_parameters():
    assert {type(each) for each in BAD} == DISTRIBUTIONS.keys()


@pytest.mark.parametrize("distribution", BAD, ids=repr)
def test_bad_parameters_are_refused_with_their_line(distribution):
    assert math.isnan(log_density(distribution, 1))
    with pytest.raises(ProbabilisticError, match="parameters that are not allowed") as raised:
        simulate(lambda: sample("x", distribution), rng=0)
    assert "test_distributions.py" in raised.value.where
    assert raised.value.help
    with pytest.raises(ProbabilisticError, match="parameters that are not allowed"):
        score(lambda: observe("x", distribution, 1), {})


@pytest.mark.parametrize(("distribution", "peer"), CASES)
@pytest.mark.parametrize("value", [math.nan, np.float64("nan")])
def test_nan_is_no_value(distribution, peer, value):
    with pytest.raises(ProbabilisticError, match="nan is no value of") as raised:
        score(lambda: observe("y", distribution, value), {})
    assert "test_distributions.py:" in raised.value.where


@pytest.mark.parametrize(("distribution", "peer"), CASES)
def test_an_infinity_has_no_density(distribution, peer):
    assert log_density(distribution, -math.inf) == -math.inf
    assert not log_density(distribution, math.inf) > -math.inf
