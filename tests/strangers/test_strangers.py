"""Programs that nobody wrote for this package: what is accepted and answered stays so.

``outcomes.json`` has what becomes of each; ``try_strangers.py --write`` renews it.
``first_outcomes.json`` has what became of each when it was tried first.
"""

import pytest

from tests.strangers.stranger_trials import FIRST, counts, parameters, programs, table, tried

PROGRAMS = 210
ACCEPTED, ANSWERED, EXACT = 193, 185, 188
"""At least so many are accepted, answer without θ, and find their arguments again."""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # TooSlow, lost
@pytest.mark.parametrize("name", parameters())
def test_a_program_becomes_what_the_table_says_or_better(name):
    before, found = table()[name], tried(programs()[name])
    assert not found.wrong
    if not before.refused:
        assert not found.refused
        assert found.recovered == "exact" or before.recovered != "exact"
        assert found.without_theta == "answered" or before.without_theta != "answered"


def test_no_program_is_left_out():
    assert len(programs()) >= PROGRAMS
    assert list(table()) == list(table(FIRST)) == list(programs())


def test_as_many_are_accepted_and_answered_as_ever_and_none_is_wrong():
    found = counts([*table().values()])
    assert found["accepted"] >= ACCEPTED
    assert found["answered without θ"] >= ANSWERED
    assert found["recovered exactly"] >= EXACT
    assert found["wrong"] == 0
