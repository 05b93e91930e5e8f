"""Chains whose steps run again only what depends on a change, against chains that run all."""

import itertools
import math
import statistics
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay import Context, MethodTable
from overlay.interpretations.probabilistic import (
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    DiscreteUniform,
    Exponential,
    Gamma,
    ImpossibleObservation,
    MetropolisHastings,
    Normal,
    NotTraceable,
    Poisson,
    ProbabilisticError,
    RandomWalk,
    Uniform,
    UnknownSite,
    condition,
    draw,
    gibbs,
    hmc,
    log_density,
    metropolis_hastings,
    observe,
    sample,
    simulate,
)
from tests.examples import examples


def both(model, *args, steps=80, rng=0, **options):
    """A chain made incrementally and one made by running all, which have to be the same."""
    ours = MetropolisHastings(model, *args, rng=rng, **options)
    full = MetropolisHastings(model, *args, rng=rng, incremental=False, **options)
    one, other = ours.run(steps), full.run(steps)
    assert one.accepted == other.accepted
    assert one.names == other.names
    for name in one.names:
        found, expected = one[name], other[name]
        assert np.array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(expected))
        assert np.array_equal(np.ma.filled(found, 0), np.ma.filled(expected, 0))
    assert repr(ours.trace.sites) == repr(full.trace.sites)
    assert repr(ours.trace.result) == repr(full.trace.result)
    assert full.reruns >= ours.reruns
    return ours, one


# ---- the same chain ---------------------------------------------------------------------------


def hierarchy(groups, data):
    centre = sample("centre", Normal(0.0, 3.0))
    width = sample("width", Exponential(1.0))
    for i in range(groups):
        mean = sample(f"mean{i}", Normal(centre, width))
        for j, y in enumerate(data):
            observe(f"y{i}_{j}", Normal(mean, 0.5), y)
    return centre + width


def test_only_what_depends_on_a_change_runs_again():
    ours, _ = both(hierarchy, 20, (0.3, 0.1))
    assert ours.reruns == 1  # the first run
    assert ours.structures.recorded == 1
    sizes = {name: len(slots(ours, name)) for name in ours.names}
    assert sizes["mean0"] == sizes["mean19"] == 3  # its own density, two observations
    assert sizes["centre"] == 22  # its own, those of the means, the result


def slots(sampler, name):
    """The slots that a change of a choice computes."""
    structure = sampler.structures.found(sampler.trace)
    return structure.slicing.slice(structure.tape.sites[name].value).outs


def test_choices_on_which_the_same_depends_share_one_program():
    ours, _ = both(hierarchy, 20, (0.3, 0.1))
    assert len(ours.structures.programs) == 3
    more = MetropolisHastings(hierarchy, 30, (0.3, 0.1, 0.5), rng=0)
    more.run(80)
    assert more.structures.programs.keys() == ours.structures.programs.keys()


def test_random_walks_give_the_same_chain():
    walks = {"centre": RandomWalk(0.5), "width": RandomWalk(0.5)}
    ours, _ = both(hierarchy, 5, (0.3,), proposals=walks)
    assert ours.reruns == 1
    both(hierarchy, 5, (0.3,), proposals=RandomWalk(0.3))


def branches(data):
    heads = sample("heads", Bernoulli(0.4))
    count = sample("count", Poisson(3.0))
    total = 0.0
    for i in range(count):
        total += sample(f"term{i}", Normal(0.0, 1.0) if heads else Uniform(-1.0, 2.0))
    if total > 1.0:
        total *= sample("factor", Gamma(2.0, 1.0))
    while total > 4.0:
        total -= 1.0
    for i, y in enumerate(data):
        observe(f"y{i}", Normal(total, 0.5), y)
    return total, heads


def test_programs_whose_structure_depends_on_choices_stay_right():
    ours, chain = both(branches, (0.7, 1.2), steps=300)
    assert {"factor", "term3"} <= set(chain.names)
    assert np.ma.isMaskedArray(chain["factor"])
    assert 1 < ours.structures.recorded < chain.reruns < 300


def of_math(x):
    try:
        return math.log(x)
    except ValueError:
        return -1.0


def of_operators(x):
    try:
        return 1.0 / round(x)
    except ZeroDivisionError:
        return 0.0


def of_items(x):
    try:
        return [0.5, 1.5][abs(round(x))]
    except IndexError:
        return 3.0


def of_numpy(x):
    try:
        return float(np.array([1.0, 2.0])[abs(round(x))])
    except IndexError:
        return 3.0


def of_a_ufunc(x):
    with np.errstate(invalid="raise"):
        try:
            return np.sqrt(x)
        except FloatingPointError:
            return -1.0


@pytest.mark.parametrize("caught", [of_math, of_operators, of_items, of_numpy, of_a_ufunc])
@pytest.mark.parametrize("rng", [0, 1, 2])
def test_what_an_exception_depends_on_is_followed(caught, rng):
    def program():
        observe("y", Normal(caught(sample("x", Normal(0.0, 1.0))), 0.5), 0.3)

    both(program, rng=rng, steps=200, proposals=RandomWalk(0.5))


def test_a_structure_that_comes_again_is_not_recorded_again():
    def two_ways():
        way = sample("way", Bernoulli(0.5))
        x = sample("x", Normal(0.0, 1.0))
        observe("y", Normal(x if way else -x, 1.0), 0.5)

    ours, chain = both(two_ways, steps=200)
    changes = np.count_nonzero(np.diff(chain["way"].astype(int)))
    assert changes > 10
    assert ours.structures.recorded == 2


def test_structures_that_do_not_last_are_seldom_recorded():
    def flags():
        for i in range(12):
            observe(f"y{i}", Normal(1.0 if sample(f"flag{i}", Bernoulli(0.5)) else -1.0, 2.0), 0.1)

    ours, _ = both(flags, steps=200)
    assert 1 < ours.structures.recorded < 8


def mixture(data):
    means = [sample(f"mean{k}", Normal(0.0, 2.0)) for k in range(3)]
    for i, y in enumerate(data):
        kind = sample(f"kind{i}", Categorical((0.2, 0.3, 0.5)))
        observe(f"y{i}", Normal(means[kind], 1.0), y)
    return [max(means), sum(means)]


def test_an_index_that_is_a_choice_is_no_change_of_structure():
    ours, _ = both(mixture, (0.1, 2.0, -1.5, 0.3))
    assert ours.reruns == 1
    assert ours.structures.fixed == []


def arrays(data):
    slopes = np.array([sample(f"slope{i}", Normal(0.0, 1.0)) for i in range(3)])
    scale = sample("scale", Gamma(2.0, 2.0))
    predicted = data @ slopes
    for i in range(len(data)):
        observe(f"y{i}", Normal(predicted[i], scale), 0.3 * i)
    return np.mean(np.exp(slopes)), predicted.sum()


def test_arrays_are_followed():
    data = np.random.default_rng(0).normal(size=(6, 3))
    ours, _ = both(arrays, data)
    assert ours.reruns == 1


def library(data):
    """Python's own ``statistics``, unmodified."""
    x = sample("x", Normal(0.0, 1.0))
    bell = statistics.NormalDist(x, 2.0)
    for i, y in enumerate(data):
        observe(f"y{i}", Bernoulli(min(1.0, math.fsum([bell.pdf(y), 0.1 * x * x]) / 5)), i % 2 == 0)
    return bell.zscore(0.3)


def written_to_an_item(bits):
    counts = [[0, 0], [0, 0]]
    for one, other in itertools.pairwise(bits):
        counts[one][other] += 1
    return counts[1][1]


def written_to_where_choices_decide(bits):
    counts = [[0, 0], [0, 0]]
    for one, other in itertools.pairwise(bits):
        counts[one][other] += 1
    return 3 if counts[1][1] > 1 else 0


def appended(bits):
    groups = [[], []]
    for i, bit in enumerate(bits):
        groups[bit].append(i)
    return sum(groups[1])


def appended_choices(bits):
    groups = ([0.5], [0.5])
    for i, bit in enumerate(bits):
        groups[bit].append(sample(f"x{i}", Normal(0.0, 1.0)))
    return sum(groups[1])


def sorted_in_place(bits):
    rows = [[2, 1], [4, 3]]
    rows[bits[0]].sort()
    return rows[1][0]


def written_to_under_another_name(bits):
    rows = [[1.0, 2.0], [3.0, 4.0]]
    row = rows[bits[0]]
    rows[0][0], rows[1][1] = 5.0, 7.0
    return sum(row)


def kept_in_an_object(bits):
    found = [{"n": 0}, {"n": 0}]
    for bit in bits:
        found[bit]["n"] += 1
    return found[1]["n"]


WRITES = [
    written_to_an_item,
    written_to_where_choices_decide,
    appended,
    appended_choices,
    sorted_in_place,
    written_to_under_another_name,
    kept_in_an_object,
]


@pytest.mark.parametrize("writes", WRITES)
@pytest.mark.parametrize("rng", [0, 1])
def test_what_a_program_writes_to_an_item_is_in_the_list(writes, rng):
    def model():
        bits = [sample(f"bit{i}", Bernoulli(0.5)) for i in range(5)]
        observe("y", Normal(writes(bits), 1.0), 3.0)

    both(model, rng=rng, steps=150)


def chosen(count=3):
    return (sample(f"x{i}", Normal(0.0, 1.0)) for i in range(count))


OF_GENERATORS = {
    "sum": lambda: sum(chosen()),
    "sum from a start": lambda: sum(chosen(), 1.0),
    "sum of a map": lambda: sum(map(math.sin, chosen())),
    "sum of calls": lambda: sum(math.exp(x) for x in chosen()),
    "max": lambda: max(chosen()),
    "min": lambda: min(math.sin(x) for x in chosen()),
    "fsum": lambda: math.fsum(chosen()),
    "prod": lambda: math.prod(chosen()),
    "prod from a start": lambda: math.prod(chosen(), start=2.0),
    "fmean": lambda: statistics.fmean(chosen()),
}


@pytest.mark.parametrize("program", OF_GENERATORS)
def test_the_code_of_a_generator_is_followed(program):
    def model():
        observe("y", Normal(OF_GENERATORS[program](), 1.0), 1.0)

    ours, _ = both(model, proposals=RandomWalk(0.5))
    assert ours.reruns == 1


class Exponent:
    """A number of a user's class, whose sum calls functions."""

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        added = other if isinstance(other, float) else other.value
        return Exponent(math.log(math.exp(self.value) + math.exp(added)))


def test_the_code_of_methods_that_a_function_calls_is_followed():
    def model():
        parts = [Exponent(sample("a", Normal())), sample("b", Normal())]
        observe("y", Normal(sum(parts, Exponent(0.0)).value, 1.0), 1.0)

    ours, _ = both(model, proposals=RandomWalk(0.5))
    assert ours.reruns == 1


def test_programs_of_a_library_are_followed():
    ours, _ = both(library, (0.3, 0.4, 1.5))
    assert ours.reruns == 1


def test_what_is_kept_in_containers_and_closures_is_followed():
    def program():
        box = {"a": sample("a", Normal(0.0, 1.0)), "b": [sample("b", Normal(0.0, 1.0))]}

        def shift(y):
            return y + box["a"]

        box["b"].append(shift(box["b"][0]))
        observe("y", Normal(abs(box["b"][-1]) + 0.5 * round(box["a"], 1), 1.0), 0.4)
        return sorted(box["b"]), f"{box['a'] > 0}", int(box["a"]), divmod(box["a"], 1.0)

    both(program)


class Ramp(NamedTuple):
    """A distribution of somebody else: from 0 to a width, denser at 0."""

    width: float


@log_density.dispatch
def ramp_density(distribution: Ramp, value: float):
    inside = 0.0 <= value < distribution.width
    return math.log(2.0 * (1.0 - value / distribution.width)) if inside else -math.inf


@draw.dispatch
def ramp_draw(distribution: Ramp, rng: np.random.Generator):
    return distribution.width * (1.0 - math.sqrt(rng.random()))


def test_distributions_of_ones_own_are_followed():
    def program():
        width = sample("width", Uniform(1.0, 3.0))
        x = sample("x", Ramp(width))
        observe("y", Normal(x, 0.3), 0.8)

    ours, _ = both(program)
    assert ours.reruns == 1


def test_a_context_inside_sees_the_program_and_one_around_is_refused():
    doubled = MethodTable("doubled")

    @doubled.overlay(math.exp)
    def exp(x):
        return 1.0 + x

    def program():
        x = sample("x", Normal(0.0, 1.0))
        observe("y", Normal(math.exp(x), 1.0), 2.0)
        return math.exp(x)

    trace = both(Context(doubled).wrap(program), steps=50)[0].trace
    assert trace.result == 1.0 + trace["x"]
    with pytest.raises(NotTraceable, match="the site 'y'") as raised:
        Context(doubled)(MetropolisHastings, program)
    assert "a context goes inside" in raised.value.help


def weight(v):
    return 5.0


def by_type(table):
    @table.overlay(weight)
    def twice(v: float) -> float:
        return v * 2.0


def by_value(table):
    @table.overlay(weight)
    def one(v: Literal[1]) -> float:
        return 7.0


def generated(table):
    @table.generated(weight)
    def made(v):
        return (lambda v: 1.0) if v is float else (lambda v: 2.0)


def of_array(table):
    @table.overlay(weight)
    def total(v: np.ndarray[Any, np.dtype[np.float64]]) -> float:
        return float(v.sum())


def of_numbers():
    """The class and the value of a number depend on a choice."""
    k = sample("k", Bernoulli(0.5))
    b = sample("b", Normal(0.0, 1.0))
    observe("y", Normal(weight((1, 2.5)[int(k)]) + b, 1.0), 5.0)


def of_arrays():
    """The dtype of an array depends on a choice."""
    k = sample("k", Bernoulli(0.5))
    v = np.array([1, 2]) * (1, 2.5)[int(k)]
    observe("y", Normal(weight(v), 1.0), 5.0)


@pytest.mark.parametrize("methods", [by_type, by_value, generated, of_array])
@pytest.mark.parametrize("program", [of_numbers, of_arrays])
def test_annotated_methods_of_a_context_inside_are_chosen_by_the_number(methods, program):
    table = MethodTable("annotated")
    methods(table)
    both(Context(table).wrap(program), steps=60)


# ---- random programs --------------------------------------------------------------------------

names = st.integers(0, 3)
leaf = st.one_of(
    st.tuples(
        st.sampled_from(["normal", "uniform", "bernoulli", "poisson", "observe"]), names, names
    ),
    st.tuples(st.sampled_from(["add", "mul", "sin", "max", "item", "round", "sum"]), names, names),
)
block = st.recursive(
    st.lists(leaf, min_size=1, max_size=4),
    lambda inner: st.lists(
        st.one_of(leaf, st.tuples(st.sampled_from(["if", "loop", "while"]), names, inner)),
        min_size=1,
        max_size=4,
    ),
    max_leaves=12,
)


class Machine:
    """Runs a random program: four variables, which statements read and set."""

    def __init__(self):
        self.values = [0.5, 1.0, 2, -0.25]
        self.count = 0

    def run(self, statements):
        for kind, to, what in statements:
            self.count += 1
            if kind == "if":
                if self.values[to] > 0.4:
                    self.run(what)
            elif kind == "loop":
                for _ in range(min(3, abs(int(self.values[to])))):
                    self.run(what)
            elif kind == "while":
                while self.values[to] > 0.0 and self.count < 60:
                    self.values[to] -= 1.0
                    self.run(what)
            else:
                self.values[to] = self.made(kind, self.values[to], self.values[what])

    def made(self, kind, x, y):
        name = f"{kind}{self.count}"
        match kind:
            case "normal":
                return sample(name, Normal(math.tanh(x), 0.5 + abs(math.tanh(y))))
            case "uniform":
                return sample(name, Uniform(min(x, 5.0) - 1.0, max(x, 5.0) + 1.0))
            case "bernoulli":
                return sample(name, Bernoulli(0.5 + 0.4 * math.sin(x)))
            case "poisson":
                return sample(name, Poisson(1.0 + math.sin(y)))
            case "observe":
                return observe(name, Normal(math.atan(x), 1.5), math.tanh(y))
            case "add":
                return math.atan(x + y)
            case "mul":
                return math.atan(x * y)
            case "sin":
                return math.sin(x)
            case "max":
                return max(x, y)
            case "item":
                return [x, y, 0.25][int(abs(math.tanh(x)) * 2.9)]
            case "round":
                return round(math.atan(x), 1)
            case _:
                return sum([x, y, math.fsum((x, 0.1))]) / 8.0


@given(block, st.integers(0, 99))
@settings(max_examples=examples(15))
def test_random_programs_have_the_same_chain(statements, seed):
    both(random_program(statements, seed), steps=30, rng=seed)


def random_program(statements, seed):
    def program():
        x = sample("x", Normal(0.0, 1.0))
        machine = Machine()
        machine.values[seed % 4] = x
        machine.run(statements)
        observe("y", Normal(math.atan(machine.values[0]), 1.0), 0.3)
        return machine.values

    return program


# ---- posteriors in closed form ----------------------------------------------------------------


def coins():
    p = sample("p", Beta(2.0, 2.0))
    observe("heads", Binomial(20, p), 14)


def measured():
    mu = sample("mu", Normal(1.0, 2.0))
    for i, y in enumerate((2.1, 2.9, 3.4)):
        observe(f"y{i}", Normal(mu, 1.0), y)


def counted():
    rate = sample("rate", Gamma(3.0, 1.0))
    for i, k in enumerate((2, 5, 3)):
        observe(f"k{i}", Poisson(rate), k)


PRECISION = 1 / 4 + 3
CLOSED = {
    coins: ("p", Beta(16.0, 8.0), 16 / 24, math.sqrt(16 * 8 / 25) / 24),
    measured: ("mu", None, (1 / 4 + 8.4) / PRECISION, PRECISION**-0.5),
    counted: ("rate", None, 13 / 4, math.sqrt(13) / 4),
}


@pytest.mark.parametrize("model", CLOSED)
def test_posteriors_are_those_in_closed_form(model):
    name, _, mean, deviation = CLOSED[model]
    chain = metropolis_hastings(model, steps=3_000, rng=3, proposals=RandomWalk(2 * deviation))
    assert chain[name].mean() == pytest.approx(mean, abs=0.2 * deviation)
    assert chain[name].std() == pytest.approx(deviation, rel=0.2)


def test_the_posterior_of_a_structure_is_that_in_closed_form():
    """Which of two programs it was: the ratio of the probabilities of what they say was seen."""

    def which():
        if sample("first", Bernoulli(0.5)):
            x = sample("x", Bernoulli(0.5))
            z = sample("z", Bernoulli(0.5))
            observe("y", Bernoulli(0.9 if x and z else 0.2), True)
        else:
            observe("y", Bernoulli(0.3), True)

    chain = metropolis_hastings(which, steps=3_000, rng=0)
    first, second = (0.9 + 3 * 0.2) / 4, 0.3
    assert chain["first"].mean() == pytest.approx(first / (first + second), abs=0.05)
    assert chain["x"].mask.mean() == pytest.approx(second / (first + second), abs=0.05)


def test_a_choice_that_a_change_makes_impossible_ends_the_run_before_it_is_used():
    def kinds():
        count = sample("count", DiscreteUniform(1, 2))
        means = [0.0, 3.0][:count]
        kind = sample("kind", Categorical([1 / count] * count))
        observe("y", Normal(means[kind], 1.0), 2.0)

    chain = both(kinds, steps=3_000)[1]
    near, far = math.exp(-0.5), math.exp(-2.0)
    two = (near + far) / 2
    assert chain["count"].mean() - 1 == pytest.approx(two / (two + far), abs=0.05)
    assert chain["kind"].mean() == pytest.approx(near / 2 / (two + far), abs=0.05)


def test_a_conditioned_program_has_the_posterior_of_one_that_observes():
    def line():
        x = sample("x", Normal(0.0, 1.0))
        sample("y", Normal(x, 1.0))

    ours, chain = both(condition(line, {"y": 1.0}), steps=600)
    assert ours.reruns == 1
    assert chain["x"].mean() == pytest.approx(0.5, abs=0.2)


# ---- what is refused --------------------------------------------------------------------------


def test_an_impossible_observation_is_named_with_its_line():
    def impossible():
        x = sample("x", Uniform(0.0, 1.0))
        observe("fine", Normal(x, 1.0), 0.5)
        observe("y", Bernoulli(0.0), True)

    with pytest.raises(ImpossibleObservation, match="True is impossible for 'y'") as raised:
        MetropolisHastings(impossible, rng=0)
    assert "test_metropolis.py:" in raised.value.where


def test_sites_that_are_named_have_to_be_there():
    for options in ({"initial": {"centr": 0.0}}, {"proposals": {"centr": RandomWalk(1.0)}}):
        with pytest.raises(UnknownSite, match="'centr'") as raised:
            MetropolisHastings(hierarchy, 2, (0.3,), rng=0, **options)
        assert dict(raised.value.notes)["closest"].startswith("'centre'")
    with pytest.raises(UnknownSite, match="'x'"):
        metropolis_hastings(hierarchy, 1, (0.3,), steps=5, rng=0)["x"]


@pytest.mark.parametrize("steps", [-1, 2.5, "10", None])
def test_a_number_of_steps_is_an_integer(steps):
    for sampler, distribution in [
        (metropolis_hastings, Normal()), (gibbs, Bernoulli(0.5)), (hmc, Normal())
    ]:  # fmt: skip
        with pytest.raises(ProbabilisticError, match="a chain has no"):
            sampler(partial(sample, "x", distribution), steps=steps)


@pytest.mark.parametrize(
    ("proposal", "match"),
    [
        (0.1, "0.1 is no proposal"),
        (RandomWalk, "is no proposal"),
        *((RandomWalk(scale), "a scale that") for scale in (0.0, -1.0, math.inf, math.nan)),
    ],
)
def test_a_proposal_that_moves_no_value_is_refused(proposal, match):
    name = next(iter(simulate(coins).values))
    for proposals in (proposal, {name: proposal}):
        with pytest.raises(ProbabilisticError, match=match) as raised:
            metropolis_hastings(coins, steps=1, proposals=proposals)
        assert "test_metropolis.py" in raised.value.where


def test_a_program_without_choices_is_refused():
    with pytest.raises(ProbabilisticError, match="makes no choices"):
        MetropolisHastings(lambda: observe("y", Normal(0.0, 1.0), 0.3))


def test_an_error_of_the_program_is_raised_at_its_line():
    def root():
        x = sample("x", Normal(0.0, 1.0))
        observe("y", Normal(math.sqrt(x), 1.0), 1.0)  # raises below 0

    for incremental in (True, False):
        sampler = MetropolisHastings(root, initial={"x": 1.0}, rng=0, incremental=incremental)
        with pytest.raises(ValueError, match=r"math domain error|nonnegative") as raised:
            sampler.run(100)
        assert any(each.name == "root" for each in raised.traceback)


def test_a_program_that_asks_for_the_class_behind_our_back_is_refused():
    def by_class():
        x = sample("x", Normal(0.0, 1.0))
        observe("y", Normal({float: 1.0}.get(x.__class__, 5.0), 1.0), 1.0)

    with pytest.raises(NotTraceable, match="the site 'y'") as raised:
        MetropolisHastings(by_class, rng=0)
    assert "incremental=False" in raised.value.help
    MetropolisHastings(by_class, rng=0, incremental=False).run(5)


def test_a_program_that_changes_an_array_of_choices_is_refused():
    def written():
        a = np.array([sample("x", Normal(0.0, 1.0)), 1.0])
        a[0] = 2.0
        observe("y", Normal(a[0], 1.0), 1.0)

    with pytest.raises(NotTraceable, match="writes into an array") as raised:
        MetropolisHastings(written, rng=0)
    assert "test_metropolis.py:" in raised.value.where


def test_a_value_that_outlives_its_run_is_refused():
    kept = []

    def leaks():
        kept.append(sample("x", Normal(0.0, 1.0)))
        observe("y", Normal(sum(kept[-2:]), 1.0), 1.0)

    with pytest.raises(NotTraceable):
        MetropolisHastings(leaks, rng=0)


def test_places_where_choices_decide_the_structure_are_told():
    ours = MetropolisHastings(branches, (0.7,), rng=0)
    assert {fixed.what for fixed in ours.structures.fixed} >= {"a condition", "an index or a count"}
    assert all("test_metropolis.py:" in fixed.where for fixed in ours.structures.fixed)


OTHER_CLASSES = {
    "an int of a Normal": (Normal(0.0, 1.0), 1),
    "a bool of a Normal": (Normal(0.0, 1.0), True),
    "a float32 of a Normal": (Normal(0.0, 1.0), np.float32(0.5)),
    "a float of a Poisson": (Poisson(3.0), 2.0),
    "an int64 of a Poisson": (Poisson(3.0), np.int64(2)),
    "an int64 of a DiscreteUniform": (DiscreteUniform(0, 5), np.int64(2)),
    "an int of a Bernoulli": (Bernoulli(0.5), 1),
    "a bool of numpy of a Bernoulli": (Bernoulli(0.5), np.bool_(True)),
}


class Shifted(NamedTuple):
    """A proposal whose values are of another class."""

    by: type

    def propose(self, distribution, value, rng):
        return self.by(rng.integers(0, 2)), 0.0


@pytest.mark.parametrize("which", OTHER_CLASSES)
def test_values_of_choices_are_of_the_class_of_their_distribution(which):
    distribution, value = OTHER_CLASSES[which]

    def model():
        observe("y", Normal(sample("x", distribution), 1.0), 1.0)

    own = type(simulate(model, rng=0)["x"])
    walk = {"proposals": RandomWalk(1.0), "rng": 0, "steps": 50}
    expected = metropolis_hastings(model, initial={"x": own(value)}, **walk)["x"]
    assert np.array_equal(metropolis_hastings(model, initial={"x": value}, **walk)["x"], expected)
    ours, _ = both(model, initial={"x": value}, proposals=Shifted(type(value)))
    assert type(ours.trace["x"]) is own


class Weights(NamedTuple):
    """A distribution of tuples of two numbers."""

    form: str


@log_density.dispatch
def density_of_weights(distribution: Weights, value: object):
    return 0.0


@draw.dispatch
def drawn_weights(distribution: Weights, rng: object):
    found = rng.random(2)
    return found if distribution.form == "array" else tuple(found.tolist())


@pytest.mark.parametrize("form", ["tuple", "array"])
@pytest.mark.parametrize("steps", [0, 1, 2, 9])
def test_a_chain_has_values_that_are_tuples_or_arrays(form, steps):
    def model():
        sample("sure", Bernoulli(1.0))
        return sample("x", Weights(form))

    sampler = MetropolisHastings(model, rng=0)
    rows = []
    chain = MetropolisHastings(model, rng=0).run(steps)
    for _ in range(steps):
        sampler.step()
        rows.append(tuple(sampler.trace["x"]))
    assert chain["x"].shape == (steps, 2)
    assert list(map(tuple, chain["x"])) == rows
