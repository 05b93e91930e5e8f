"""Hamiltonian Monte Carlo: compiled against interpreted, moments of each distribution, and what is
refused."""

import math
import warnings

import numpy as np
import pytest

from overlay import Context, MethodTable
from overlay.interpretations.probabilistic import (
    DISTRIBUTIONS,
    Bernoulli,
    Beta,
    Cauchy,
    Exponential,
    Gamma,
    HalfNormal,
    HamiltonianMonteCarlo,
    InverseGamma,
    Laplace,
    LogNormal,
    Normal,
    ProbabilisticError,
    StudentT,
    Uniform,
    hmc,
    observe,
    sample,
)

ULPS = 4096  # of a value after 30 trajectories, whose steps pass on what the ones before rounded


def every_domain(x, y):
    a = sample("a", Normal(0.0, 2.0))
    scale = sample("scale", HalfNormal(1.0))
    part = sample("part", Beta(2.0, 3.0))
    shift = sample("shift", Uniform(-1.0, 3.0))
    slopes = np.array([sample(f"slope{i}", Laplace(0.0, 1.0)) for i in range(3)])
    means = x @ slopes
    for i in range(len(y)):
        observe(f"y{i}", StudentT(4.0, a + part * shift + means[i], scale), y[i])
    return math.exp(a)


def test_compiled_trajectories_are_those_of_the_interpreter():
    x = np.random.default_rng(0).normal(size=(5, 3))
    y = [0.3, 0.1, -0.4, 1.2, 0.8]
    options = {"steps": 20, "warmup": 10, "leaps": 6, "rng": 3}
    plain = hmc(every_domain, x, y, compiled=False, **options)
    ours = hmc(every_domain, x, y, **options)
    assert ours.accepted == plain.accepted > 0
    assert ours.divergent == plain.divergent
    assert ours.names == plain.names
    for name in ours.names:
        for found, expected in zip(ours[name], plain[name], strict=True):
            assert abs(found - expected) <= ULPS * math.ulp(max(1.0, abs(expected)))
    assert ((ours["part"] > 0) & (ours["part"] < 1)).all()
    assert ((ours["shift"] > -1) & (ours["shift"] < 3)).all()


MOMENTS = [  # a mean that the transformation has to keep
    (Normal(1.0, 2.0), 1.0),
    (HalfNormal(2.0), 2.0 * math.sqrt(2 / math.pi)),
    (LogNormal(0.5, 0.5), math.exp(0.625)),
    (StudentT(8.0, 1.0, 2.0), 1.0),
    (Laplace(1.0, 2.0), 1.0),
    (Uniform(-1.0, 3.0), 1.0),
    (Exponential(0.5), 2.0),
    (Gamma(3.0, 2.0), 1.5),
    (InverseGamma(6.0, 5.0), 1.0),
    (Beta(2.0, 3.0), 0.4),
]


def test_each_distribution_keeps_its_mean():
    def prior():
        for i, (distribution, _) in enumerate(MOMENTS):
            sample(f"x{i}", distribution)

    real = {cls for cls, row in DISTRIBUTIONS.items() if row.domain != "integers"}
    assert {type(each) for each, _ in MOMENTS} == real - {Cauchy}  # which has no mean
    chain = hmc(prior, steps=20_000, rng=1)
    for i, (_, mean) in enumerate(MOMENTS):
        batches = chain[f"x{i}"].reshape(25, -1).mean(axis=1)
        error = batches.std(ddof=1) / 5
        assert error < 0.1
        assert batches.mean() == pytest.approx(mean, abs=4 * error)


def test_the_step_size_is_adapted_and_a_run_goes_on():
    def narrow():
        sample("x", Normal(0.0, 0.1))
        sample("y", Normal(0.0, 3.0))

    sampler = HamiltonianMonteCarlo(narrow, rng=0, step_size=1.0, compiled=False)
    sampler.warm_up(400)
    chain = sampler.run(400)
    assert 0.5 < chain.accepted / 400 <= 1.0
    assert sampler.widths[0] < 0.3 < 1.0 < sampler.widths[1]
    assert len(sampler.run(10)) == 10
    assert sampler.steps == 810


def test_a_trajectory_to_where_the_program_raises_is_rejected_and_counted():
    def root():
        x = sample("x", Normal(1.0, 1.0))
        observe("y", Normal(math.sqrt(x), 1.0), 1.0)

    for compiled in (False, True):
        chain = hmc(root, initial={"x": 1}, steps=100, rng=1, step_size=0.5, compiled=compiled)
        assert chain.divergent > 0
        assert (chain["x"] > 0).all()


def finite():
    sample("flag", Bernoulli(0.5))


def branch():
    x = sample("x", Normal(0.0, 1.0))
    observe("y", Normal(1.0 if x > 0 else -1.0, 1.0), 0.5)


def bounds():
    x = sample("x", Normal(0.0, 1.0))
    sample("y", Uniform(x, x + 1.0))


REFUSED = {
    finite: ("'flag' is a Bernoulli", "gibbs"),
    branch: ("decide the control flow of the program", "np.where"),
    bounds: ("bounds of the choice 'y' depend", "scale it"),
}


@pytest.mark.parametrize("model", REFUSED)
def test_what_has_no_trajectories_is_refused_with_a_remedy(model):
    message, remedy = REFUSED[model]
    with pytest.raises(ProbabilisticError, match=message) as raised:
        hmc(model, rng=0)
    assert remedy in raised.value.help
    if model is branch:
        assert "test_hamiltonian.py:" in dict(raised.value.notes)["a condition"]


def test_a_beginning_on_a_bound_is_refused():
    with pytest.raises(ProbabilisticError, match="on a bound"):
        hmc(lambda: sample("x", Beta(1.0, 1.0)), initial={"x": 0.0})


def test_options_that_make_no_trajectory_are_refused():
    for options in (
        *({"leaps": 0}, {"leaps": 2.5}, {"target": 1.0}),
        *({"step_size": 0.0}, {"step_size": math.inf}, {"step_size": math.nan}),
    ):
        with pytest.raises(ProbabilisticError, match="not allowed"):
            hmc(bounds, **options)


def quadratic(table):
    @table.overlay(math.exp)
    def near_zero(x: float) -> float:
        return 1.0 + x + x * x / 2


def test_annotated_methods_of_a_context_inside_see_the_number():
    table = MethodTable("inside")
    quadratic(table)

    def program():
        x = sample("x", Normal(0.0, 1.0))
        observe("y", Normal(math.exp(x), 1.0), 1.5)

    def written():
        x = sample("x", Normal(0.0, 1.0))
        observe("y", Normal(1.0 + x + x * x / 2, 1.0), 1.5)

    options = {"steps": 30, "warmup": 20, "rng": 0, "compiled": False}
    inside = hmc(Context(table).wrap(program), **options)
    assert np.array_equal(inside["x"], hmc(written, **options)["x"])


def test_numbers_that_overflow_on_a_trajectory_are_no_warning():
    def steep():
        x = sample("x", Normal(0.0, 1.0))
        observe("y", Normal(x * x * x, 1.0), 1.5)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chain = hmc(steep, steps=20, warmup=10, step_size=1e60, rng=0, compiled=False)
    assert len(chain["x"]) == 20


def bounded(low, high):
    x = sample("x", Uniform(low, high))
    sample("part", Beta(2, 3))
    observe("y", Normal(x, 1), 4)


@pytest.mark.parametrize("bounds", [(0, 10), (0.0, 10), (0, 10.0), (np.int64(0), np.float64(10))])
def test_bounds_are_numbers_of_any_class(bounds):
    options = {"steps": 20, "warmup": 20, "rng": 0, "compiled": False}
    expected, found = hmc(bounded, 0.0, 10.0, **options), hmc(bounded, *bounds, **options)
    assert expected.names == found.names == ("x", "part")
    for name in found.names:
        assert np.array_equal(found[name], expected[name])


def test_a_chain_of_no_trajectories_is_empty_and_one_of_less_is_refused():
    options = {"warmup": 5, "rng": 0, "compiled": False}
    chain = hmc(bounded, 0, 10, steps=0, **options)
    assert (len(chain), chain["x"].shape) == (0, (0,))
    with pytest.raises(ProbabilisticError, match="no -1 steps"):
        hmc(bounded, 0, 10, steps=-1, **options)
