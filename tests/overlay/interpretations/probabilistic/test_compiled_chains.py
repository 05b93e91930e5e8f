"""Chains in compiled code, against the interpreted ones by the same random numbers."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.interpretations.probabilistic import (
    DISTRIBUTIONS,
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    Cauchy,
    Conditional,
    DiscreteUniform,
    Exponential,
    Gamma,
    Geometric,
    HalfNormal,
    InverseGamma,
    Laplace,
    LogNormal,
    MetropolisHastings,
    NegativeBinomial,
    Normal,
    Poisson,
    Prior,
    ProbabilisticError,
    RandomWalk,
    StudentT,
    Uniform,
    compiled_steps,
    gibbs,
    metropolis_hastings,
    observe,
    sample,
)
from overlay.interpretations.probabilistic.model_runs import simulate
from tests.examples import examples
from tests.overlay.interpretations.probabilistic.test_metropolis import (
    arrays,
    block,
    branches,
    hierarchy,
    library,
    mixture,
    random_program,
)

ULPS = 8  # between log densities, or of 1 near 0; the choices are the same, bit for bit


@pytest.fixture(autouse=True)
def compiled_at_once(monkeypatch):
    """Moves are compiled when they are met: the chains here are short."""
    monkeypatch.setattr(compiled_steps, "PATIENCE", 0)


def both(model, *args, steps=200, rng=0, **options):
    """A compiled chain, and the interpreted one, with which it has to agree."""
    plain = MetropolisHastings(model, *args, rng=rng, **options)
    ours = MetropolisHastings(model, *args, rng=rng, compiled=True, **options)
    expected, found = plain.run(steps), ours.run(steps)
    assert found.accepted == expected.accepted == ours.accepted
    assert found.reruns == expected.reruns
    assert found.names == expected.names
    for name in found.names:
        one, other = found[name], expected[name]
        assert one.dtype == other.dtype
        assert np.array_equal(np.ma.getmaskarray(one), np.ma.getmaskarray(other))
        assert np.array_equal(np.ma.filled(one, 0), np.ma.filled(other, 0))
    assert ours.trace.sites.keys() == plain.trace.sites.keys()
    for name, site in ours.trace.sites.items():
        other = plain.trace.sites[name]
        unit = math.ulp(max(1.0, abs(other.log_density)))
        assert abs(site.log_density - other.log_density) <= ULPS * unit
        assert site.value == other.value
        assert type(site.value) is type(other.value)
    return ours


def is_compiled(sampler):
    """Whether all steps ran in compiled code, but for the first of each choice."""
    structures = sampler.structures
    return structures.interpreted == {} and structures.halts <= len(sampler.names)


def of_each_distribution():
    x = sample("Normal", Normal(0.0, 1.0))
    scale = sample("HalfNormal", HalfNormal(1.0))
    sample("LogNormal", LogNormal(x, 0.5))
    sample("StudentT", StudentT(3.0, x, 0.5 + scale))
    sample("Cauchy", Cauchy(x, 0.5 + scale))
    sample("Laplace", Laplace(x, 0.5 + scale))
    p = sample("Beta", Beta(2.0, 3.0))
    sample("Uniform", Uniform(x, x + 1.0))
    rate = sample("Exponential", Exponential(0.5 + p))
    sample("Gamma", Gamma(1.0 + p, 1.0))
    sample("InverseGamma", InverseGamma(2.0, 0.5 + rate))
    n = sample("Binomial", Binomial(10, p))
    sample("NegativeBinomial", NegativeBinomial(3.0, p))
    sample("Geometric", Geometric(p))
    sample("Poisson", Poisson(1.0 + rate))
    sample("DiscreteUniform", DiscreteUniform(0, n + 1))
    flag = sample("Bernoulli", Bernoulli(p))
    kind = sample("Categorical", Categorical((p, 1.0 - p)))
    observe("seen", Normal(x + flag + kind, 1.0), 1.0)


@pytest.mark.long
@pytest.mark.parametrize("proposals", [None, RandomWalk(0.7)])
def test_all_distributions_are_drawn_and_scored_as_interpreted(proposals):
    names = {cls.__name__ for cls in DISTRIBUTIONS}
    assert names <= simulate(of_each_distribution, rng=0).sites.keys()
    ours = both(of_each_distribution, proposals=proposals, steps=500)
    assert is_compiled(ours)


def test_a_hierarchy_has_the_same_chain_and_a_move_is_compiled_once():
    walks = {"width": RandomWalk(0.5)}
    ours = both(hierarchy, 6, (0.3, 0.1), proposals=walks)
    assert ours.reruns == 1
    assert is_compiled(ours)
    before = moves_compiled()
    more = both(hierarchy, 9, (0.5, 0.2), proposals=walks)
    assert moves_compiled() == before
    assert more.reruns == 1


def moves_compiled():
    return sum(barrier.compiled for barrier in compiled_steps.steps_made().barriers())


def test_mixtures_arrays_and_libraries_have_the_same_chain():
    for model, args in {
        mixture: ((0.1, 2.0, -1.5, 0.3),),
        arrays: (np.random.default_rng(0).normal(size=(6, 3)),),
        library: ((0.3, 0.4, 1.5),),
    }.items():
        ours = both(model, *args)
        assert ours.reruns == 1
        assert is_compiled(ours)


def test_conditional_draws_are_the_same():
    ours = both(mixture, (0.1, 2.0, -1.5), conditional=True, proposals=RandomWalk(0.5))
    assert ours.reruns == 1
    assert is_compiled(ours)


def test_changes_of_structure_run_the_whole_program():
    ours = both(branches, (0.7, 1.2), steps=300)
    assert 1 < ours.reruns < 300


def test_a_branch_on_a_finite_choice_is_drawn_by_running_the_whole_program():
    def two_ways():
        way = sample("way", Bernoulli(0.5))
        x = sample("x", Normal(0.0, 1.0))
        observe("y", Normal(x if way else -x, 1.0), 0.5)

    ours = both(two_ways, conditional=True)
    assert ours.reruns > 1


def test_what_compiled_code_cannot_hold_is_left_to_the_interpreter_and_told():
    def large():
        x = sample("x", Poisson(3.0))
        y = sample("y", Normal(round(x / 3.0, 1), 1.0))
        z = sample("z", Poisson(1e10))
        observe("power", Normal(y, 1.0), 2.0)
        observe("other", Normal(z * 1e-10, 1.0), 1.0)

    ours = both(large)
    assert ours.structures.interpreted.keys() == {"x", "z"}
    assert "round" in ours.structures.interpreted["x"]


def test_values_beyond_the_words_of_compiled_code_are_computed_by_the_interpreter():
    def growing():
        x = sample("x", DiscreteUniform(1, 60000))
        y = x * x * 3
        observe("y", Normal(math.log(y), 5.0), 10.0)
        return y

    ours = both(growing, initial={"x": 10}, steps=300)
    assert ours.trace.result == ours.trace["x"] ** 2 * 3


def test_a_choice_beyond_the_words_of_compiled_code_is_settled_by_the_interpreter():
    def counting():
        n = sample("n", Poisson(2.0**31 - 1e5))
        observe("y", Normal(n * n * n, 1e40), 0.0)
        return n * n * n

    ours = both(counting, initial={"n": 2**31 - 100_000}, steps=60)
    assert ours.trace.result == ours.trace["n"] ** 3 > 2**63
    assert ours.structures.halts > 1


def test_an_error_of_the_program_is_raised_at_its_line():
    def root():
        x = sample("x", Normal(0.0, 1.0))
        observe("y", Normal(math.sqrt(x), 1.0), 1.0)  # raises below 0

    def beyond():
        k = sample("k", DiscreteUniform(0, 5))
        observe("y", Normal([0.0, 1.0, 2.0][k], 1.0), 1.0)

    for model, initial, error in ((root, {"x": 1.0}, ValueError), (beyond, {"k": 0}, IndexError)):
        sampler = MetropolisHastings(model, initial=initial, rng=0, compiled=True)
        with pytest.raises(error) as raised:
            sampler.run(100)
        assert any(each.name == model.__name__ for each in raised.traceback)


def test_an_initial_value_of_another_class_is_replaced_by_one_of_its_own():
    both(hierarchy, 2, (0.3,), initial={"centre": 1}, steps=60)


@pytest.mark.long
@given(block, st.integers(0, 99))
@settings(max_examples=examples(2))
def test_random_programs_have_the_same_chain(statements, seed):
    both(random_program(statements, seed), steps=60, rng=seed)


def test_a_step_of_a_compiled_chain_is_one_step():
    ours = MetropolisHastings(hierarchy, 2, (0.3,), rng=0, compiled=True)
    plain = MetropolisHastings(hierarchy, 2, (0.3,), rng=0)
    assert [ours.step() for _ in range(20)] == [plain.step() for _ in range(20)]
    chain, expected = ours.run(50), plain.run(50)
    assert (chain["centre"] == expected["centre"]).all()
    assert ours.step() == plain.step()


def test_what_conditional_draws_need_is_told():
    def other_choices():
        if sample("way", Bernoulli(0.5)):
            sample("x", Normal(0.0, 1.0))

    for compiled in (False, True):
        with pytest.raises(ProbabilisticError, match="makes different choices") as raised:
            gibbs(other_choices, rng=0, compiled=compiled)
        assert "Prior()" in raised.value.help
        gibbs(other_choices, rng=0, steps=50, proposals={"way": Prior()}, compiled=compiled)
        with pytest.raises(ProbabilisticError, match="no finite set of values") as raised:
            metropolis_hastings(
                hierarchy, 2, (0.3,), proposals={"centre": Conditional()}, compiled=compiled
            )
        assert "RandomWalk" in raised.value.help


def test_a_move_is_compiled_once_it_was_made_some_times(monkeypatch):
    def alone():
        x = sample("x", Normal(0.0, 1.0))
        observe("y", Normal(x * x * x, 2.0), 1.5)

    monkeypatch.setattr(compiled_steps, "PATIENCE", 50)
    before = moves_compiled()
    ours = MetropolisHastings(alone, rng=0, compiled=True)
    ours.run(50)
    assert (ours.structures.halts, moves_compiled()) == (50, before)
    ours.run(50)
    assert (ours.structures.halts, moves_compiled()) == (51, before + 1)


def test_a_chain_that_runs_all_is_not_compiled():
    with pytest.raises(ProbabilisticError, match="cannot be compiled"):
        metropolis_hastings(hierarchy, 2, (0.3,), incremental=False, compiled=True)


def test_an_error_of_no_step_is_raised_and_no_step_is_counted(monkeypatch):
    def steps_made():
        raise RuntimeError("the code does not begin")

    monkeypatch.setattr(compiled_steps, "steps_made", steps_made)
    ours = MetropolisHastings(hierarchy, 6, (0.3, 0.1), rng=0, compiled=True)
    with pytest.raises(RuntimeError, match="does not begin"):
        ours.run(20)
