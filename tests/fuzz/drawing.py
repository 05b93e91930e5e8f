"""Values drawn by strategies of hypothesis, numbered by seeds: equal for equal seeds."""

import functools

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings

__all__ = ["BATCH", "example"]

BATCH = 10
"""How many seeds in a row share one run of hypothesis."""


def example(strategy, seed):
    """The value of a strategy for a seed, which ``strategy`` makes from the number of its batch.

    ``strategy`` is a function, so that its values are cached for the seeds of the batch.
    """
    found = _batch(strategy, seed // BATCH)
    return found[seed % BATCH % len(found)]


@functools.lru_cache(maxsize=4)
def _batch(strategy, number):
    found = []

    @hypothesis.seed(number)
    @settings(
        max_examples=BATCH + 1,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy(number))
    def take(value):
        found.append(value)

    take()
    return found[1:] or found  # the first is the simplest that there is
