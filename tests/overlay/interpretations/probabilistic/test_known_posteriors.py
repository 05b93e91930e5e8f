"""Programs as anyone would write them, sampled in compiled code: posterior means in closed form, by
enumeration or by quadrature, within the error of the chain."""

import itertools
import math

import numpy as np
import pytest

from overlay.interpretations.probabilistic import (
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    DiscreteUniform,
    Gamma,
    HalfNormal,
    MetropolisHastings,
    Normal,
    Poisson,
    RandomWalk,
    hmc,
    observe,
    sample,
    score,
)

BATCHES = 25


def agrees(values, expected, finest):
    """Whether the mean of a chain is the expected one within four standard errors, by the means of
    batches, and the error is small enough to say something."""
    batches = np.asarray(values[: len(values) // BATCHES * BATCHES], float).reshape(BATCHES, -1)
    error = batches.mean(axis=1).std(ddof=1) / math.sqrt(BATCHES)
    assert error < finest
    assert batches.mean() == pytest.approx(expected, abs=4 * error + 1e-12)


def gibbs_chain(model, *args, steps, proposals=None, rng=1):
    """A compiled chain that draws finite choices given all others, and runs the program once."""
    sampler = MetropolisHastings(
        model, *args, rng=rng, proposals=proposals, compiled=True, conditional=True
    )
    chain = sampler.run(steps)
    assert sampler.reruns == 1
    assert sampler.structures.interpreted == {}
    return chain


def enumerated(model, *args, choices):
    """The posterior means of finite choices, by all their values."""
    weights, rows = [], []
    names = list(choices)
    for values in itertools.product(*choices.values()):
        rows.append(values)
        weights.append(math.exp(score(model, dict(zip(names, values, strict=True)), *args)))
    means = np.average(np.array(rows, float), axis=0, weights=weights)
    return dict(zip(names, means, strict=True))


# ---- a coin -------------------------------------------------------------------------------------


def coin(heads, throws):
    p = sample("p", Beta(2.0, 3.0))
    observe("heads", Binomial(throws, p), heads)


def test_a_coin():
    chain = hmc(coin, 14, 20, steps=4_000, rng=1)
    agrees(chain["p"], 16 / 25, 0.005)
    ours = MetropolisHastings(coin, 14, 20, rng=1, proposals=RandomWalk(0.2), compiled=True)
    agrees(ours.run(40_000)["p"], 16 / 25, 0.005)


# ---- eight schools ------------------------------------------------------------------------------

# Rubin (1981), Estimation in parallel randomized experiments: effects and standard errors
EFFECTS = [28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0]
ERRORS = [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0]


def eight_schools(effects, errors):
    mu = sample("mu", Normal(0.0, 5.0))
    tau = sample("tau", HalfNormal(5.0))
    for i, (y, error) in enumerate(zip(effects, errors, strict=True)):
        eta = sample(f"eta{i}", Normal(0.0, 1.0))
        observe(f"y{i}", Normal(mu + tau * eta, error), y)


def test_eight_schools():
    mu, tau = np.meshgrid(np.linspace(-25, 35, 601), np.linspace(0.005, 40, 801))
    logs = -0.5 * (mu / 5) ** 2 - 0.5 * (tau / 5) ** 2
    for y, error in zip(EFFECTS, ERRORS, strict=True):
        variance = error**2 + tau**2
        logs += -0.5 * (y - mu) ** 2 / variance - 0.5 * np.log(variance)
    weights = np.exp(logs - logs.max())
    first = (mu * ERRORS[0] ** 2 + tau**2 * EFFECTS[0]) / (ERRORS[0] ** 2 + tau**2)
    chain = hmc(eight_schools, EFFECTS, ERRORS, steps=8_000, rng=1)
    agrees(chain["mu"], np.average(mu, weights=weights), 0.1)
    agrees(chain["tau"], np.average(tau, weights=weights), 0.1)
    school = chain["mu"] + chain["tau"] * chain["eta0"]
    agrees(school, np.average(first, weights=weights), 0.15)


# ---- linear regression --------------------------------------------------------------------------


def regression(x, y):
    a = sample("a", Normal(0.0, 10.0))
    b = sample("b", Normal(0.0, 10.0))
    for i in range(len(x)):
        observe(f"y{i}", Normal(a + b * x[i], 0.5), y[i])


def test_linear_regression():
    x = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
    y = [1.1, 1.9, 3.2, 3.9, 5.2, 5.8, 7.1]
    columns = np.stack([np.ones(7), x], axis=1)
    precision = np.eye(2) / 100 + columns.T @ columns / 0.25
    a, b = np.linalg.solve(precision, columns.T @ y / 0.25)
    chain = hmc(regression, x, y, steps=4_000, rng=1)
    agrees(chain["a"], a, 0.02)
    agrees(chain["b"], b, 0.02)
    covariance = np.linalg.inv(precision)
    agrees((chain["a"] - a) * (chain["b"] - b), covariance[0, 1], 0.01)


# ---- coal-mining disasters ----------------------------------------------------------------------

# Jarrett (1979), A note on the intervals between coal-mining disasters: each year from 1851 to 1962
DISASTERS_TEXT = """
4 5 4 0 1 4 3 4 0 6 3 3 4 0 2 6 3 3 5 4 5 3 1 4 4 1 5 5 3 4 2 5 2 2 3 4 2 1 3 2 2 1 1 1 1 3 0 0 1 0
1 1 0 0 3 1 0 3 2 2 0 1 1 1 0 1 0 1 0 0 0 2 1 0 0 0 1 1 0 2 3 3 1 1 2 1 1 1 1 2 4 2 0 0 1 4 0 0 0 1
0 0 0 0 0 1 0 0 1 0 1
"""
DISASTERS = list(map(int, DISASTERS_TEXT.split()))


def change_point(counts):
    early = sample("early", Gamma(2.0, 1.0))
    late = sample("late", Gamma(2.0, 1.0))
    switch = sample("switch", DiscreteUniform(1, len(counts) - 1))
    rates = np.where(np.arange(len(counts)) < switch, early, late)
    for i, count in enumerate(counts):
        observe(f"year{i}", Poisson(rates[i]), count)


def change_point_exactly(counts):
    """The posterior means of the rates and the change, which are conjugate given the change."""
    places = np.arange(1, len(counts))
    before = np.cumsum(counts)[:-1]
    after = sum(counts) - before
    spans = places, len(counts) - places
    logs = [
        math.lgamma(2 + b)
        - (2 + b) * math.log(1 + m)
        + math.lgamma(2 + a)
        - (2 + a) * math.log(1 + n)
        for b, a, m, n in zip(before, after, *spans, strict=True)
    ]
    weights = np.exp(np.array(logs) - max(logs))
    terms = (2 + before) / (1 + spans[0]), (2 + after) / (1 + spans[1]), places
    return [np.average(term, weights=weights) for term in terms]


def test_a_change_of_the_rate_of_coal_mining_disasters():
    early, late, switch = change_point_exactly(DISASTERS)
    assert 1886 < 1851 + switch < 1894  # about 1890, as in Carlin, Gelfand and Smith (1992)
    walks = {"early": RandomWalk(0.4), "late": RandomWalk(0.2)}
    chain = gibbs_chain(change_point, DISASTERS, steps=40_000, proposals=walks)
    agrees(chain["early"], early, 0.02)
    agrees(chain["late"], late, 0.02)
    agrees(chain["switch"], switch, 0.2)


# ---- a mixture of normal distributions ----------------------------------------------------------

POINTS = [-2.2, -1.4, -0.3, 0.6, 1.9, 2.4]


def mixture(points):
    means = [sample("left", Normal(-2.0, 0.5)), sample("right", Normal(2.0, 0.5))]
    for i, y in enumerate(points):
        kind = sample(f"kind{i}", Categorical([0.4, 0.6]))
        observe(f"y{i}", Normal(means[kind], 1.5), y)


def mixture_exactly(points):
    """The posterior means, by all assignments: given one the means are conjugate."""
    total, found = 0.0, np.zeros(2 + len(points))
    for kinds in itertools.product((0, 1), repeat=len(points)):
        logs, means = 0.0, []
        for k, centre in enumerate((-2.0, 2.0)):
            own = np.array([y for y, kind in zip(points, kinds, strict=True) if kind == k])
            precision = 4.0 + len(own) / 2.25
            mean = (4.0 * centre + own.sum() / 2.25) / precision
            rest = 4.0 * centre**2 + (own**2).sum() / 2.25 - precision * mean**2
            logs += len(own) * math.log((0.4, 0.6)[k]) - 0.5 * math.log(precision) - 0.5 * rest
            means.append(mean)
        total += math.exp(logs)
        found += math.exp(logs) * np.array([*means, *kinds])
    return found / total


def test_a_mixture_with_finite_assignments():
    left, right, *kinds = mixture_exactly(POINTS)
    walks = {"left": RandomWalk(0.8), "right": RandomWalk(0.8)}
    chain = gibbs_chain(mixture, POINTS, steps=100_000, proposals=walks)
    agrees(chain["left"], left, 0.02)
    agrees(chain["right"], right, 0.02)
    for i, kind in enumerate(kinds):
        agrees(chain[f"kind{i}"], kind, 0.02)


# ---- a hidden Markov chain ----------------------------------------------------------------------

TRANSITIONS = [(0.8, 0.15, 0.05), (0.1, 0.8, 0.1), (0.2, 0.3, 0.5)]
SEEN = [-0.9, -1.2, 0.1, 0.4, 2.2, 1.8]


def hidden_chain(seen):
    means = [-1.0, 0.0, 2.0]
    state = sample("z0", Categorical((0.4, 0.3, 0.3)))
    observe("y0", Normal(means[state], 1.0), seen[0])
    for i in range(1, len(seen)):
        state = sample(f"z{i}", Categorical(TRANSITIONS[state]))
        observe(f"y{i}", Normal(means[state], 1.0), seen[i])


def test_a_hidden_markov_chain():
    choices = {f"z{i}": range(3) for i in range(len(SEEN))}
    expected = enumerated(hidden_chain, SEEN, choices=choices)
    chain = gibbs_chain(hidden_chain, SEEN, steps=100_000)
    for name, mean in expected.items():
        agrees(chain[name], mean, 0.02)


# ---- spins in a row -----------------------------------------------------------------------------


def spins(count):
    values = [sample(f"s{i}", Bernoulli(0.5)) for i in range(count)]
    for i in range(count - 1):
        alike = values[i] == values[i + 1]
        observe(f"bond{i}", Bernoulli(0.25 + 0.5 * alike), True)
    observe("field", Normal(sum(values), 1.0), count - 1.0)


def test_spins_in_a_row():
    choices = {f"s{i}": (False, True) for i in range(6)}
    expected = enumerated(spins, 6, choices=choices)
    chain = gibbs_chain(spins, 6, steps=100_000)
    for name, mean in expected.items():
        agrees(chain[name], mean, 0.02)
