"""What strategies of hypothesis write, as seeds number it: the same for a seed each time."""

import functools

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings

__all__ = ["BATCH", "example"]

BATCH = 10
"""How many seeds in a row share one run of hypothesis."""


def example(strategy, seed):
    """The seed's value of a strategy, which ``strategy`` makes from the number of its batch.

    ``strategy`` is a function, so that what it writes is kept for the seeds of the batch.
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
