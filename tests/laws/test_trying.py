"""The trials for thousands of random programs, on a few, and on programs that failed once."""

import numpy as np
import pytest

from inversion import invert
from tests.laws.trying import KINDS, Outcome, check, close, made, tried


@pytest.mark.parametrize("kind", KINDS)
def test_no_random_program_is_inverted_wrongly(kind):
    outcomes = [tried(kind, seed, made(kind, seed)) for seed in range(12)]
    assert [outcome.defects for outcome in outcomes] == [[]] * 12
    assert sum(outcome.recovered == "back" for outcome in outcomes) >= 6
    assert sum(outcome.thetas["answered"] for outcome in outcomes) >= 12


# kind and seed; in each the right answer was refused, or something else was raised
ONCE_LOST = [("arrays", seed) for seed in (37, 38, 69, 83)]


@pytest.mark.parametrize(("kind", "seed"), ONCE_LOST)
def test_a_program_that_once_failed_is_inverted(kind, seed):
    outcome = tried(kind, seed, made(kind, seed))
    assert (outcome.end, outcome.recovered, outcome.defects) == ("inverted", "back", [])
    assert outcome.thetas["answered"]


def test_a_sum_of_elements_and_their_own_first_is_solved_in_one_system():
    def shifted(x, y):
        total = x + y
        return (total + total[0]).sum()

    inverse = invert(shifted, np.zeros(3), np.zeros(3))
    theta = inverse.parameters.sample(np.random.default_rng(0))
    assert shifted(*inverse(4.0, theta)) == pytest.approx(4.0)


def test_wrong_answers_are_noticed():
    outcome = Outcome("straight line", 0)
    check(outcome, lambda x: x + 1, (3.0,), 4.0, None)
    assert outcome.defects == []
    check(outcome, lambda x: x + 1, (3.0 + 1e-7,), 4.0, None)
    check(outcome, lambda x: 1 / x, (0.0,), 4.0, None)
    assert len(outcome.defects) == 2
    assert all(defect.startswith("WRONG") for defect in outcome.defects)
    assert not close((1, 2.0), (2, 2.0))
    assert not close(float("nan"), 1.0)
    assert close((np.array([1.0, 2.0]), 3), (np.array([1.0, 2.0]), 3))
