"""``add_gradient``: gradients that are added to arrays, interpreted and compiled."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay import Context, MethodTable
from overlay.interpretations.autodiff import (
    NotDifferentiable,
    add_gradient,
    add_shared_gradient,
    adjoint_of,
    autodiff,
    derivative,
    differentiation,
    gradient,
)
from overlay.interpretations.autodiff.reverse import gradients as entry
from overlay.kernels import local_array
from tests.examples import examples


def one_layer(w, x, y):
    out = 0.0
    for j in range(4):
        out += w[8 + j] * math.tanh(w[j] * x + w[4 + j])
    return (out - y) ** 2


def two_layers(w, x, y):
    hidden = local_array(4)
    for j in range(4):
        hidden[j] = math.tanh(w[0, j] * x + w[1, j])
    out = 0.0
    for k in range(3):
        total = 0.0
        row = w[2 + k]
        for j in range(4):
            total += row[j] * hidden[j]
        out += math.tanh(total)
    return (out - y) ** 2


def recurrent(w, x, y):
    state = 0.0 * x
    for _ in range(6):
        state = math.tanh(w[0] * state + w[1] * x)
    return (state - y) ** 2


def whole(w, x, y):
    return np.sum(w * w) * x + y


SHAPES = {one_layer: (12,), two_layers: (5, 4), recurrent: (2,), whole: (3,)}


def run_one_layer(w, d_w, x, d_x, y):
    add_gradient(one_layer, (w, d_w), (x, d_x), y)


def run_two_layers(w, d_w, x, d_x, y):
    add_gradient(two_layers, (w, d_w), (x, d_x), y)


def run_recurrent(w, d_w, x, d_x, y):
    add_gradient(recurrent, (w, d_w), (x, d_x), y)


def run_whole(w, d_w, x, d_x, y):
    add_gradient(whole, (w, d_w), (x, d_x), y)


RUNS = {
    one_layer: run_one_layer,
    two_layers: run_two_layers,
    recurrent: run_recurrent,
    whole: run_whole,
}
WAYS = list(RUNS.items())
WAYS += [(f, Context().jit(RUNS[f])) for f in (two_layers, recurrent)]


@settings(max_examples=examples(12), deadline=None)
@given(st.sampled_from(WAYS), st.integers(0, 1000))
def test_it_adds_the_gradient_to_what_is_there(way, seed):
    f, run = way
    rng = np.random.default_rng(seed)
    w, x, y = rng.normal(size=SHAPES[f]), rng.normal(), rng.normal()
    d_w, d_x = np.ones_like(w), np.full(1, 2.0)
    run(w, d_w, x, d_x, y)
    by_w, by_x = gradient(f, active=("w", "x"), mode="forward")(w, x, y)
    assert np.allclose(d_w, 1.0 + by_w, rtol=1e-12)
    assert np.allclose(d_x, 2.0 + by_x, rtol=1e-12)


def test_arguments_that_are_in_no_pair_are_constant_and_floats_may_be_single():
    def run(w, d_w):
        add_gradient(one_layer, (w, d_w), 0.5, 1)

    for dtype in (np.float64, np.float32):
        w = np.linspace(-1, 1, 12).astype(dtype)
        d_w = np.zeros_like(w)
        Context().jit(run)(w, d_w)
        assert np.allclose(d_w, gradient(one_layer, active=("w",))(w, 0.5, 1.0), rtol=1e-5)


def test_an_adjoint_adds_to_a_row_in_place():
    """The adjoint of a row of an array that nothing writes to is a row of its adjoint."""
    seen = []

    class Watched(np.ndarray):
        def __getitem__(self, index):
            seen.append(index)
            return super().__getitem__(index)

    form = entry.Form(adds=True)
    kinds = [entry.NumberKind("f", 2), entry.FLOAT, entry.FLOAT]
    adjoint = entry.adjoint_for(two_layers, kinds, [0], (), form)
    assert "zeros_like" not in adjoint.source
    w = np.linspace(-1, 1, 20).reshape(5, 4)
    d_w = np.zeros((5, 4)).view(Watched)
    assert adjoint.function(w, 0.5, 1.0, 1.0, d_w) == ()
    assert set(seen) & {2, 3, 4}
    assert np.allclose(d_w, gradient(two_layers, active=("w",))(w, 0.5, 1.0))


@pytest.mark.parametrize("compiled", [False, True])
def test_what_is_no_pair_is_refused(compiled):
    def without(w):
        add_gradient(whole, w, 1.0, 2.0)

    def no_array(w):
        add_gradient(whole, (w, 1.0), 1.0, 2.0)

    for wrong in (without, no_array):
        run = Context().jit(wrong) if compiled else wrong
        with pytest.raises(NotDifferentiable, match="pair for each argument"):
            run(np.ones(3))


def add_to_array(x, into):
    add_gradient(lambda v: np.sum(v * v), (x, into))


def add_shared_to_array(x, into):
    add_shared_gradient(lambda v: np.sum(v * v), (x, into))


def add_to_number(x, into):
    add_gradient(lambda v: v * v, (x, into))


ADDED = {add_to_array: np.arange(4.0), add_shared_to_array: np.arange(4.0), add_to_number: 3.0}
INTO = {
    "4 floats": lambda: np.zeros(4),
    "4 single floats": lambda: np.zeros(4, np.float32),
    "each other one": lambda: np.zeros(8)[::2],
    "1 float": lambda: np.zeros(1),
    "too few": lambda: np.zeros(2),
    "none": lambda: np.zeros(0),
    "too many": lambda: np.zeros(6),
    "two axes": lambda: np.zeros((2, 2)),
    "a column": lambda: np.zeros((4, 1)),
    "no axis": lambda: np.zeros(()),
    "integers": lambda: np.zeros(4, int),
    "complex numbers": lambda: np.zeros(4, complex),
    "a list": lambda: [0.0] * 4,
    "a number": lambda: 0.0,
}
FITS = {"4 floats", "4 single floats", "each other one"}


@pytest.mark.parametrize("run", ADDED)
def test_both_engines_refuse_an_array_that_does_not_fit_its_argument_before_they_add(run):
    compiled, x = Context().jit(run), ADDED[run]
    for name, make in INTO.items():
        fits = name == "1 float" if run is add_to_number else name in FITS
        for call in (run, compiled):
            into = make()
            if fits:
                call(x, into)
                assert np.array_equal(into, [6.0] if run is add_to_number else 2 * x)
                continue
            with pytest.raises(NotDifferentiable, match="pair for each argument") as caught:
                call(x, into)
            assert "d_x has the shape of x, or one element for a number" in str(caught.value)
            assert np.array_equal(into, make())


def test_nothing_is_added_where_a_later_pair_does_not_fit():
    def run(x, d_x, y, d_y):
        add_gradient(lambda x, y: np.sum(x * y), (x, d_x), (y, d_y))

    for call in (run, Context().jit(run)):
        d_x = np.zeros(3)
        with pytest.raises(NotDifferentiable, match="pair for each argument"):
            call(np.ones(3), d_x, np.ones(3), np.zeros(2))
        assert not d_x.any()


@pytest.mark.parametrize("count", [0, 13])
@pytest.mark.parametrize("adding", [add_gradient, add_shared_gradient])
def test_too_few_and_too_many_arguments_are_refused_in_both_engines(adding, count):
    args = (1.0,) * count

    def program():
        adding(one_layer, *args)

    for run in (program, Context().jit(program)):
        with pytest.raises(NotDifferentiable, match="takes from 1 to 12 arguments") as caught:
            run()
        assert caught.value.help


def test_rules_and_changes_of_the_program_are_seen_and_it_is_differentiated_itself():
    table = MethodTable("rules")

    @table.overlay(adjoint_of(whole))
    def back(d, w: np.ndarray, x, y):
        return np.full(3, 7.0), 0.0, 0.0

    context, d_w, d_x = differentiation(table), np.zeros(3), np.zeros(1)
    context.wrap(run_around)(np.ones(3), d_w, 1.0, d_x, 1.0)
    assert d_w.tolist() == [7.0] * 3
    context.jit(run_around)(np.ones(3), d_w, 1.0, d_x, 1.0)
    assert d_w.tolist() == [14.0] * 3

    def slope(x):
        d_x = np.zeros(1)
        add_gradient(lambda y: y[0] ** 4, (np.array([x]), d_x))
        return d_x[0]

    assert derivative(slope)(2.0) == 48.0


def around(w, x, y):
    return whole(w, x, y)


def run_around(w, d_w, x, d_x, y):
    add_gradient(around, (w, d_w), (x, d_x), y)


def test_local_arrays_take_active_numbers():
    def kept(x):
        held = local_array(2)
        held[0] = x * x
        counts = local_array(2, np.int64)
        counts[0] = 3
        return held[0] * x * counts[0]

    assert derivative(kept)(2.0) == 36.0
    assert Context().jit(lambda x: autodiff(kept, x))(2.0) == 36.0
    assert gradient(lambda x: kept(x[0]), mode="reverse")(np.full(1, 2.0)).tolist() == [36.0]
