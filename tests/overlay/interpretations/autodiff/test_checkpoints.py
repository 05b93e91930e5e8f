"""Checkpoints: the memory of reverse mode, and the tables in force when a part runs again."""

import operator

import numpy as np
import pytest

from overlay import Context, MethodTable, call_next
from overlay.interpretations.autodiff import NotDifferentiable, checkpoint, gradient
from overlay.interpretations.autodiff.reverse.taped import taped

X = np.linspace(0.1, 1.0, 10)
PARTS, STEPS = 10, 50


def steps(y, rate):
    for _ in range(STEPS):
        y = y - rate * 0.01 * np.sin(y)
    return y


def with_checkpoints(x):
    y = x
    for _ in range(PARTS):
        y = checkpoint(steps)(y, 1.0)
    return np.sum(y * y)


def without(x):
    y = x
    for _ in range(PARTS):
        y = steps(y, 1.0)
    return np.sum(y * y)


def recorded(f):
    run = taped(f, (X,), (0,), ())
    return run.variables, run.pull_back([1.0])[0]


def test_a_tape_holds_the_arguments_of_the_parts_alone():
    few, found = recorded(with_checkpoints)
    many, expected = recorded(without)
    assert np.allclose(found, expected, rtol=1e-12)
    assert few < 5 * PARTS * len(X) < many


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("other", [np.tan, operator.matmul, np.add])
def test_parts_run_again_with_the_tables_in_force(mode, other):
    table = MethodTable("cosine")
    table.overlay(np.sin)(lambda a: np.cos(a))
    table.overlay(other)(lambda *args: call_next(*args))
    context = Context(table)
    found = context(lambda: gradient(with_checkpoints, mode=mode)(X))
    expected = context(lambda: gradient(without, mode="forward")(X))
    assert np.allclose(found, expected, rtol=1e-12)
    assert not np.allclose(expected, gradient(without)(X))


def test_parts_may_give_several_results():
    def both(x, y):
        return np.sin(x) * y, np.sum(x * y)

    def f(x):
        part, total = checkpoint(both)(x, x * x)
        return np.sum(part) * total

    assert np.allclose(gradient(f, mode="reverse")(X), gradient(f, mode="forward")(X))


def test_parts_that_read_active_values_are_refused():
    def f(x):
        first = x[0]
        return np.sum(checkpoint(lambda y: y * first)(x))

    with pytest.raises(NotDifferentiable, match="not one of its arguments") as caught:
        recorded(f)
    assert "checkpoint(f)(x, value)" in str(caught.value)


def test_outside_of_derivatives_it_is_the_function():
    assert np.array_equal(checkpoint(steps)(X, 1.0), steps(X, 1.0))
