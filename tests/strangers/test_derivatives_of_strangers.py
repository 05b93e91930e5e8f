"""Functions that nobody wrote for this package, differentiated: what is right stays right.

``derivative_outcomes.json`` has what becomes of each; ``try_derivatives.py --write`` renews it.
"""

import pytest

from tests.strangers.derivative_trials import programs, table, tried, ways

PROGRAMS = 55
RIGHT = {"forward": 55, "reverse": 55, "compiled": 50}
"""At least so many of them are right, in each way."""


@pytest.mark.parametrize("name", programs())
def test_a_derivative_is_right_or_refused_and_no_worse_than_the_table_says(name):
    for way in ways:
        found = tried(programs()[name], way)
        assert found.partition(":")[0] in ("right", "refused"), (way, found)
        assert found == "right" or table()[name][way] != "right", (way, found)


def test_no_program_is_left_out():
    assert len(programs()) >= PROGRAMS
    assert list(table()) == list(programs())
    assert all([*row] == [*ways] for row in table().values())


def test_as_many_are_right_as_ever():
    for way, least in RIGHT.items():
        assert sum(row[way] == "right" for row in table().values()) >= least
