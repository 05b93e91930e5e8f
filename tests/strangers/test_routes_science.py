"""Routes of numpy and scipy to a function, written by nobody of this package: each call is seen.

``routes_science.py`` is kept as it was found, with ``routes_base.py``, which it stands on.
"""

import warnings

import pytest

pytest.importorskip("scipy")

with warnings.catch_warnings():  # what these modules import may be deprecated
    warnings.simplefilter("ignore")
    from tests.strangers import routes_base, routes_science

from overlay import Context

SCENARIOS = {program.__name__: program for program in routes_base.S}
AT_LEAST = 47
"""How many scenarios there are; none is ever taken out."""
VARYING = {"linear_operator"}
"""What natively calls the target now five times, now six: ARPACK goes by the last bits."""


def run(program):
    """The outcome, how often the target's own code ran, and how often the method in its place."""
    routes_base.NAT[0] = routes_base.HITS[0] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome = routes_base.attempt(program)
    return outcome, routes_base.NAT[0], routes_base.HITS[0]


def test_no_scenario_is_left_out():
    assert len(SCENARIOS) == len(routes_base.S) >= AT_LEAST
    assert {vars(routes_science)[name] for name in SCENARIOS} == set(routes_base.S)


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_call_of_the_target_is_seen_and_the_outcome_is_as_natively(name):
    program = SCENARIOS[name]
    outcome, calls, hits = run(program)
    if outcome == ("exc", "ModuleNotFoundError"):
        pytest.skip("its library is not installed")
    assert hits == 0
    assert outcome[0] == "ok"
    assert calls > 0
    context = Context(routes_base.table)
    inside = run(lambda: context(program))
    assert inside[:1] == (outcome,)
    assert inside[1] == inside[2]
    after = run(program)
    assert (after[0], after[2]) == (outcome, 0)
    if name not in VARYING:
        assert inside[1] == after[1] == calls
