"""Samples follow the distributions that the documentation states."""

import math

import numpy as np
import pytest

from primitives import Bool, Complex, Integer, Integers, NonNegative, Positive, Real, Reals
from primitives.domains import Int64, WholeFloats, Word64

COUNT = 20_000
# the largest distance of an empirical distribution from its own, but in one of 10,000 samples
FAR = 2.3 / math.sqrt(COUNT)


def logistic(x):
    return 1 / (1 + np.exp(-x))


def odds(x):
    return np.where(x > 0, x / (1 + x), 0.0)


def uniform(low, high):
    return lambda x: np.clip((x - low) / (high - low), 0, 1)


def rounded_logistic(k):
    """Up to k: three times a logistic variable is below k + 1/2."""
    return logistic((k + 0.5) / 3)


def rounded_odds(k):
    return odds((k + 0.5) / 3)


def distance(samples, distribution):
    """The largest distance between the distribution of samples and another one, at the samples."""
    at, counts = np.unique(samples.astype(np.float64), return_counts=True)
    return np.max(np.abs(np.cumsum(counts) / len(samples) - distribution(at)))


DISTRIBUTIONS = [
    (Real, logistic),
    (NonNegative, odds),
    (Positive, odds),
    (Reals(5, math.inf), lambda x: odds(x - 5)),
    (Reals(-math.inf, 2), lambda x: 1 - odds(2 - x)),
    (Reals(-1, 3), uniform(-1, 3)),
    (Integer, rounded_logistic),
    (Integers(low=4), lambda k: rounded_odds(k - 4)),
    (Integers(high=4), lambda k: 1 - rounded_odds(4 - k - 1)),
    (Integers(0, 9), lambda k: (k + 1) / 10),
    (WholeFloats(), rounded_logistic),
    (WholeFloats(0, 9), lambda k: (k + 1) / 10),
    (Int64, uniform(-(2.0**63), 2.0**63)),
    (Word64, uniform(0, 2.0**64)),
    (Bool, lambda k: (k + 1) / 2),
]


NAMES = [repr(domain) for domain, _ in DISTRIBUTIONS]


@pytest.mark.parametrize(("domain", "distribution"), DISTRIBUTIONS, ids=NAMES)
def test_samples_follow_the_documented_distribution(domain, distribution):
    assert distance(domain.sample(np.random.default_rng(0), COUNT), distribution) < FAR
    singly = np.array([domain.sample(np.random.default_rng(i)) for i in range(400)])
    assert distance(singly, distribution) < 2.3 / math.sqrt(400)


@pytest.mark.parametrize(("domain", "distribution"), DISTRIBUTIONS, ids=NAMES)
def test_uniform_points_become_samples(domain, distribution):
    units = (np.arange(COUNT) + 0.5) / COUNT
    assert distance(np.array([domain.from_unit(u) for u in units[::20]]), distribution) < 0.003


def test_both_parts_of_a_complex_number_are_logistic_for_themselves():
    samples = Complex.sample(np.random.default_rng(0), COUNT)
    assert distance(samples.real, logistic) < FAR
    assert distance(samples.imag, logistic) < FAR
    assert abs(np.corrcoef(samples.real, samples.imag)[0, 1]) < 0.03


def test_a_uniform_point_gives_its_leading_half_to_the_real_part():
    units = (np.arange(COUNT) + 0.5) / COUNT
    values = Complex.spread(units)
    assert np.allclose(logistic(values.real), units, atol=2.0**-26)
    assert distance(values.imag, logistic) < 0.003
    assert abs(np.median(values.imag)) < 0.01
