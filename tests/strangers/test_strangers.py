"""Programs that nobody wrote for this package: what is accepted and answered stays so.

``outcomes.json`` has what becomes of each; ``try_strangers.py --write`` renews it.
"""

import pytest

from tests.strangers.stranger_trials import programs, table, tried

PROGRAMS = 54
ACCEPTED = 34
ANSWERED_WITHOUT_THETA = 34
SHARE = 0.95
"""Of the programs that are accepted, at least this many answer without θ."""


@pytest.mark.parametrize("name", programs())
def test_a_program_becomes_what_the_table_says_or_better(name):
    before, found = table()[name], tried(programs()[name])
    assert not found.wrong
    if not before.refused:
        assert not found.refused
        assert found.recovered == "exact" or before.recovered != "exact"
        assert found.without_theta == "answered" or before.without_theta != "answered"


def test_no_program_is_left_out():
    assert len(programs()) >= PROGRAMS
    assert list(table()) == list(programs())


def test_as_many_are_accepted_and_answered_as_ever():
    accepted = [outcome for outcome in table().values() if not outcome.refused]
    answered = [outcome for outcome in accepted if outcome.without_theta == "answered"]
    assert len(accepted) >= ACCEPTED
    assert len(answered) >= max(ANSWERED_WITHOUT_THETA, SHARE * len(accepted))
    assert all(outcome.recovered == "exact" and not outcome.wrong for outcome in accepted)
