"""Interpretations of programs: simulating, scoring, conditioning, replaying, tracing."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from overlay import Context, MethodNotFound, MethodTable, call_next
from overlay.interpretations.probabilistic import (
    DuplicateSite,
    Normal,
    ProbabilisticError,
    Trace,
    Uniform,
    UnknownSite,
    condition,
    conditioning,
    draw,
    log_density,
    metropolis_hastings,
    observe,
    replay,
    replaying,
    sample,
    score,
    simulate,
    simulating,
    tracing,
)


def chain(n):
    x = sample("start", Normal(0.0, 1.0))
    for i in range(n):
        x = sample(f"x{i}", Normal(x, 1.0))
        observe(f"y{i}", Normal(x, 0.5), 0.3)
    return x


def test_equal_seeds_give_equal_runs():
    one, other = simulate(chain, 3, rng=5), simulate(chain, 3, rng=5)
    assert one.sites == other.sites
    assert list(one.sites) == ["start", "x0", "y0", "x1", "y1", "x2", "y2"]
    assert simulate(chain, 3, rng=6).values != one.values
    assert one.result == one["x2"]


def test_a_program_runs_as_itself_without_an_interpretation():
    assert isinstance(chain(2), float)


def test_the_score_is_the_sum_of_all_log_densities():
    trace = simulate(chain, 2, rng=1)
    x = [trace["start"], trace["x0"], trace["x1"]]
    pairs = [(0.0, x[0], 1.0), (x[0], x[1], 1.0), (x[1], x[2], 1.0)]
    pairs += [(x[1], 0.3, 0.5), (x[2], 0.3, 0.5)]
    by_hand = sum(log_density(Normal(loc, scale), value) for loc, value, scale in pairs)
    assert score(chain, trace.values, 2) == trace.log_joint == pytest.approx(by_hand, rel=1e-14)


def test_a_conditioned_choice_is_an_observation():
    trace = simulate(condition(condition(chain, {"x0": 1.0}), {"x1": 2.0}), 2, rng=0)
    assert trace.sites["x0"].observed
    assert trace.sites["x1"].observed
    assert (trace["x0"], trace["x1"], trace.result) == (1.0, 2.0, 2.0)
    assert trace.values.keys() == {"start"}


def test_a_replayed_run_has_its_choices():
    first = simulate(chain, 2, rng=0)
    assert replay(first, chain, 2).sites == first.sites
    longer = replay(first, chain, 3, rng=1)
    assert longer["x1"] == first["x1"]
    assert "x2" in longer.values


def test_interpretations_join_like_any_contexts():
    trace = Trace()
    with simulating(0) | conditioning({"start": 2.0}) | replaying({"x0": 1.0}) | tracing(trace):
        chain(1)
    assert trace["x0"] == 1.0
    assert trace.sites["start"].observed
    assert trace.sites["start"].log_density == log_density(Normal(0.0, 1.0), 2.0)


def test_a_users_table_stands_around_or_inside():
    rounded = MethodTable("rounded")

    @rounded.overlay(sample)
    def whole(name: str, distribution: Normal):
        return float(round(call_next(name, distribution)))

    inside = simulate(Context(rounded).wrap(chain), 2, rng=0)
    assert all(value == round(value) for value in inside.values.values()) is False
    assert inside.result == round(inside.result)


class Triangular(NamedTuple):
    """Falls from 0 to 1."""

    width: float


@log_density.dispatch
def triangular_density(distribution: Triangular, value: float):
    inside = 0.0 <= value <= distribution.width
    return math.log(2.0 * (1.0 - value / distribution.width)) if inside else -math.inf


@draw.dispatch
def triangular_draw(distribution: Triangular, rng: np.random.Generator):
    return distribution.width * (1.0 - math.sqrt(rng.random()))


def test_a_distribution_of_ones_own_has_methods():
    trace = simulate(lambda: sample("x", Triangular(1.0)), rng=0)
    assert trace.log_joint == math.log(2.0 * (1.0 - trace["x"]))


def twice():
    return sample("a", Normal()), sample("a", Normal())


def seen_once():
    observe("y", Normal(sample("a", Normal()), 1.0), 0.5)


REFUSED = {
    "a name that stands twice": (
        lambda: simulate(twice),
        DuplicateSite,
        "two sites of the name 'a'",
    ),
    "a choice without a value": (lambda: score(chain, {}, 1), UnknownSite, "no value is given"),
    "a value without a choice": (
        lambda: score(chain, {**simulate(chain, 1).values, "x9": 1.0}, 1),
        UnknownSite,
        "score names the site 'x9'",
    ),
    "a condition without a choice": (
        lambda: simulate(condition(chain, {"x9": 1.0}), 1),
        UnknownSite,
        "condition names the site 'x9'",
    ),
    "a replayed value without a choice": (
        lambda: replay({"x9": 1.0}, chain, 1),
        UnknownSite,
        "replay names the site 'x9'",
    ),
    "a value of an observation": (
        lambda: score(seen_once, {"a": 0.0, "y": 1.0}),
        UnknownSite,
        "score names the site 'y', which is an observation",
    ),
    "a replayed value of an observation": (
        lambda: replay({"y": 1.0}, seen_once),
        UnknownSite,
        "replay names the site 'y', which is an observation",
    ),
    "an initial value of an observation": (
        lambda: metropolis_hastings(seen_once, initial={"y": 1.0}),
        UnknownSite,
        "initial names the site 'y', which is an observation",
    ),
    "what is no distribution": (
        lambda: simulate(lambda: sample("a", 3.0)),
        ProbabilisticError,
        "3.0 is not a distribution",
    ),
    "a scale below 0": (
        lambda: simulate(lambda: observe("a", Uniform(2.0, 1.0), 1.0)),
        ProbabilisticError,
        "not allowed",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_input_is_refused_with_line_and_remedy(what):
    run, cls, text = REFUSED[what]
    with pytest.raises(cls, match=text) as raised:
        run()
    assert "test_language.py:" in raised.value.where
    assert raised.value.help


def test_a_trace_refuses_names_that_it_does_not_have():
    with pytest.raises(UnknownSite, match="no site 'z'"):
        simulate(chain, 1)["z"]


def test_names_are_text():
    with pytest.raises(MethodNotFound, match="sample"):
        simulate(lambda: sample(3, Normal()))
