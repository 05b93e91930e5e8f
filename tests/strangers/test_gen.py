"""Programs of Gen.jl's tests (probcomp/Gen.jl) and of the question that a pass be configured by
data of the running program, its results cached for each value; written again in Python."""

import math

import numpy as np
import pytest

from overlay import Context, MethodTable, Plugin, current_context, recurse
from overlay.interpretations.probabilistic import (
    Bernoulli,
    MetropolisHastings,
    Normal,
    RandomWalk,
    compiled_steps,
    condition,
    observe,
    replay,
    sample,
    score,
    simulate,
)

THETA = 0.75
ran = []


def log_normal(x, mean, scale):
    return -0.5 * ((x - mean) / scale) ** 2 - math.log(scale) - 0.5 * math.log(math.tau)


def note(value):
    ran.append(1)
    return value


def bar(y, b):
    u = note(y + b)
    v = sample("v", Normal(0.0, 1.0))
    return u + v


def foo(a, b):
    x = sample("x", Normal(0.0, 1.0))
    y = sample("y", Normal(x, a))
    return bar(y, b) + 1 + a + THETA


def density(a, x, y, v):
    return log_normal(x, 0, 1) + log_normal(y, x, a) + log_normal(v, 0, 1)


# ---- test/static_ir/static_ir.jl -----------------------------------------------------------------


def test_a_model_is_simulated_and_scored():
    trace = simulate(foo, 1.0, 2.0, rng=0)
    values = [trace.values[name] for name in "xyv"]
    assert trace.log_joint == pytest.approx(density(1.0, *values))
    assert trace.result == pytest.approx(values[1] + 2.0 + values[2] + 1 + 1.0 + THETA)


def test_some_choices_are_given_and_others_drawn():
    given = {"y": 1.123, "v": 2.345}
    trace = simulate(condition(foo, given), 1.0, 2.0, rng=0)
    x = trace.values["x"]
    assert score(foo, {"x": x, **given}, 1.0, 2.0) == pytest.approx(
        density(1.0, x, *given.values())
    )
    assert replay({"x": 0.5, **given}, foo, 1.0, 2.0).result == pytest.approx(
        1.123 + 2.0 + 2.345 + 2 + THETA
    )


def test_another_argument_changes_the_score_of_what_depends_on_it_alone():
    values = {"x": 0.1, "y": 0.2, "v": 0.3}
    change = score(foo, values, 3.0, 2.0) - score(foo, values, 1.0, 2.0)
    assert change == pytest.approx(log_normal(0.2, 0.1, 3.0) - log_normal(0.2, 0.1, 1.0))


def test_a_step_runs_again_only_what_depends_on_the_choice():
    """Each step changes one choice; deterministic work that no choice reaches runs once"""

    def model():
        base = note(2.0)
        x = sample("x", Normal(0.0, 1.0))
        y = sample("y", Normal(x, base))
        observe("z", Normal(y, 1.0), 0.5)

    ran.clear()
    sampler = MetropolisHastings(model, rng=0)
    sampler.run(50)
    begun = len(ran)
    sampler.run(200)
    assert len(ran) == begun
    full = MetropolisHastings(model, rng=0, incremental=False)
    full.run(50)
    assert (full.run(200)["x"] == MetropolisHastings(model, rng=0).run(250)["x"][50:]).all()


def test_a_selected_choice_moves_and_the_others_stay():
    """The regression of issue 168: a selection of one address"""

    def model(variance):
        mean = sample("mean", Normal(0.0, 1.0))
        return sample("T", Normal(mean, variance))

    values = simulate(model, 1.0, rng=0).values
    chain = MetropolisHastings(condition(model, {"T": values["T"]}), 1.0, rng=1).run(100)
    assert len(np.unique(chain["mean"])) > 10


# ---- test/benchmarks/static_mh.jl, of examples/regression/static_model.jl ------------------------


def datum(x, place, inlier_std, outlier_std, slope, intercept, y):
    is_outlier = sample(f"z{place}", Bernoulli(0.5))
    std = outlier_std if is_outlier else inlier_std
    observe(f"y{place}", Normal(x * slope + intercept, std), y)


def regression(xs, ys):
    inlier_std = math.exp(sample("log_inlier_std", Normal(0.0, 2.0)))
    outlier_std = math.exp(sample("log_outlier_std", Normal(0.0, 2.0)))
    slope = sample("slope", Normal(0.0, 2.0))
    intercept = sample("intercept", Normal(0.0, 2.0))
    for i in range(len(xs)):
        datum(xs[i], i, inlier_std, outlier_std, slope, intercept, ys[i])


def test_the_pruned_program_of_each_move_is_compiled_once(monkeypatch):
    """The part that a changed choice reaches is compiled; another data set compiles nothing."""
    monkeypatch.setattr(compiled_steps, "PATIENCE", 0)
    names = "log_inlier_std", "log_outlier_std", "slope", "intercept"
    walks = {name: RandomWalk(0.5) for name in names}

    def compiled():
        return sum(barrier.compiled for barrier in compiled_steps.steps_made().barriers())

    def chain(ys, *, fast):
        options = {"proposals": walks, "rng": 0, "compiled": fast}
        return MetropolisHastings(regression, (-1.0, 0.0, 2.0), ys, **options)

    line, bent = (-1.1, 1.0, 5.2), (-1.1, 9.0, 5.2)
    before = compiled()
    found, expected = chain(line, fast=True).run(300), chain(line, fast=False).run(300)
    assert found.reruns == expected.reruns < 300
    assert all((found[name] == expected[name]).all() for name in expected.names)
    assert (made := compiled()) > before
    assert chain(bent, fast=True).run(300).names == expected.names
    assert compiled() == made


# ---- a pass that the running program configures --------------------------------------------------


def heavy(x):
    return math.sqrt(x) * 10.0


def light(x):
    return x + 1.0


def score_of(x, y, z):
    return heavy(x) + heavy(y) + light(z)


class Irrelevant(Plugin):
    """Leaves out the calls of which the metadata, a bit for each, say that nothing changed."""

    cache_token = "irrelevant"
    preserves = frozenset({"calls", "effects", "types"})

    def __init__(self):
        self.runs = []

    def before_inference(self, ir):
        if ir.function is score_of:
            self.runs.append(ir.metadata)
            for place, call in enumerate(ir.calls(heavy, light)):
                if not ir.metadata >> place & 1:
                    ir.set_result(call, 0.0)


def total(changes):
    found = 0.0
    for i in range(len(changes)):
        dirty = current_context().replace(metadata=changes[i])
        found += recurse(dirty, score_of, 1.0, 4.0, 9.0)
    return found


def test_a_pass_configured_by_run_time_data_runs_once_for_each_value():
    """Dependencies that change as the program runs decide what a pass removes; a value that was
    seen finds its code again"""
    pass_ = Irrelevant()
    incremental = Context(plugins=(pass_,), metadata=0).jit(total)
    assert incremental((0b001, 0b010, 0b001, 0b110)) == 10.0 + 20.0 + 10.0 + 30.0
    assert sorted(pass_.runs) == [0b001, 0b010, 0b110]
    compiled = incremental.barriers()[0].compiled
    assert incremental((0b110, 0b010, 0b001, 0b001)) == 70.0
    assert incremental.barriers()[0].compiled == compiled == 3
    assert sorted(pass_.runs) == [0b001, 0b010, 0b110]


def test_a_method_is_generated_of_the_graph_and_kept_for_it():
    """The way of the question: transform, compile to a function, find it again by the data"""
    table, made = MethodTable("pruned"), []

    @table.generated(score_of)
    def pruned(*types):
        graph = current_context().metadata
        made.append(graph)
        terms = {"x": "heavy(x)", "y": "heavy(y)", "z": "light(z)"}
        body = " + ".join(terms[name] for name in graph) or "0.0"
        return eval(f"lambda x, y, z: {body}", {"heavy": heavy, "light": light})

    context = Context(table, metadata=())
    for graph, expected in ((("x",), 10.0), (("x", "z"), 20.0), (("x",), 10.0), ((), 0.0)):
        assert context.replace(metadata=graph)(score_of, 1.0, 4.0, 9.0) == expected
    assert made == [("x",), ("x", "z"), ()]
    assert score_of(1.0, 4.0, 9.0) == 40.0
