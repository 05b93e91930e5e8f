"""Batched programs equal loops over their samples, and run once for each way through them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from overlay import Context, MethodTable, call_next
from overlay.interpretations.autodiff import gradient, hessian, jacobian
from overlay.interpretations.batching import batched, sample_loop
from tests.strangers import derivative_programs

XS = np.random.default_rng(0).normal(size=(20, 3))
PLACES = np.random.default_rng(1).integers(0, 3, 20)


def close(a: Any, b: Any) -> None:
    np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-14)
    assert a.dtype == b.dtype


@pytest.mark.parametrize("number", range(1, 56))
def test_programs_of_others_equal_the_loop_without_a_looped_call(number: int) -> None:
    f = getattr(derivative_programs, f"p{number:02d}")
    xs = np.random.default_rng(0).uniform(0.1, 1.5, (50, 3))
    looped: list[str] = []
    close(batched(f, trace=looped.append)(xs), np.stack([f(x) for x in xs]))
    assert not looped


def halved(x: Any) -> Any:
    n = 0
    while abs(x[0]) > 0.1:
        x = x / 2
        n += 1
    return x[0] + n


def root_or_none(x: Any) -> Any:
    try:
        return math.sqrt(x[0])
    except ValueError:
        return -1.0


def caught(x: Any) -> Any:
    try:
        if x[0] > 0:
            return 1.0
    except BaseException:
        return 99.0
    return 2.0


def writes_view(x: Any) -> Any:
    y = x.reshape(3, 1)
    y[0] = 5.0
    x[1:] *= 2
    return x


def keeps_number(x: Any) -> Any:
    first = x[0]
    x[0] = 9.0
    return first + x[0]


def fills(x: Any) -> Any:
    out = np.zeros(4)
    for i in range(3):
        out[i + 1] = out[i] + x[i]
    return out


def writes_constant(x: Any) -> Any:
    a = np.array([1.0, 2.0, 3.0])
    a[1] = x[0]
    return a


def singular(x: Any) -> Any:
    m = np.outer(x, x) + (np.eye(3) if x[0] > 0 else np.zeros((3, 3)))
    m[2] = m[1] if x[1] > 0 else m[2]
    try:
        return np.linalg.inv(m)[0, 0] if abs(np.linalg.det(m)) > 1e-9 else -1.0
    except np.linalg.LinAlgError:
        return -5.0


def divides(x: Any) -> Any:
    try:
        return 1.0 / max(float(x[0]), 0.0)
    except ZeroDivisionError:
        return 7.0


def chosen(x: Any) -> Any:
    return x[x > 0].sum() + x[np.argmax(x)]


def nested(x: Any) -> Any:
    return batched(lambda a: a * x[0] if a > x[1] else a + x.sum())(x)


def formatted(x: Any) -> Any:
    return float(f"{x[0]:.2f}")


PROGRAMS = [halved, root_or_none, caught, writes_view, keeps_number, fills, writes_constant]
PROGRAMS += [singular, divides, chosen, nested, formatted]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_program_equals_the_loop_and_leaves_its_arguments(f: Any) -> None:
    xs = XS.copy()
    close(batched(f)(xs), np.stack([f(x) for x in XS.copy()]))
    assert (xs == XS).all()


@pytest.mark.parametrize("set_too", [False, True])
def test_an_index_may_differ_among_samples(set_too: bool) -> None:
    def f(x: Any, i: Any) -> Any:
        if set_too:
            x[i] = 100.0
        return x * x[i]

    looped: list[str] = []
    found = batched(f, trace=looped.append)(XS, PLACES)
    close(found, np.stack([f(x.copy(), i) for x, i in zip(XS, PLACES, strict=True)]))
    assert not looped


def test_a_program_runs_at_most_twice_for_each_way_through_it() -> None:
    runs: list[int] = []

    def f(x: Any) -> Any:
        runs.append(0)
        return x if x > 0 else -x

    batched(f)(np.linspace(-1.0, 1.0, 1000))
    assert len(runs) == 3


@pytest.mark.parametrize("size", [3, 12])
@pytest.mark.parametrize("derivative", [gradient, hessian])
def test_derivatives_of_each_sample_equal_the_loop(derivative: Any, size: int) -> None:
    xs = np.random.default_rng(0).normal(size=(6, size))

    def f(x: Any) -> Any:
        return np.sum(np.sin(x) * x) if x[0] > 0 else x[1] ** 3 * x[2]

    close(batched(derivative(f))(xs), np.stack([derivative(f)(x) for x in xs]))
    jacobians = batched(jacobian(lambda x: x * np.sum(x)))(xs)
    close(jacobians, np.stack([jacobian(lambda x: x * np.sum(x))(x) for x in xs]))


@pytest.mark.parametrize("mode", ["forward", "reverse", "auto"])
def test_a_batched_function_has_derivatives(mode: Any) -> None:
    def f(x: Any) -> Any:
        return np.sum(np.sin(x) * x) if x[0] > 0 else x[1] * x[2]

    found = gradient(lambda xs: np.sum(batched(f)(xs)), mode=mode)(XS)
    close(found, np.stack([gradient(f)(x) for x in XS]))


def test_contexts_inside_and_around_hold() -> None:
    table = MethodTable("twice")

    @table.overlay(np.sin)
    def twice(x: Any) -> Any:
        return 2 * call_next(x)

    ctx = Context(table)

    def f(x: Any) -> Any:
        return np.sum(np.sin(x)) if x[0] > 0 else x[1]

    wanted = np.stack([ctx(f, x) for x in XS])
    for g in (batched(ctx.wrap(f)), ctx.wrap(batched(f))):
        close(g(XS), wanted)


def test_the_loop_compiles_to_the_same() -> None:
    def f(x: Any, w: Any, m: Any) -> Any:
        return np.sum(x * w) + m[0] if x[0] > 0 else x[1]

    axes = (0, None, 1)
    given = (XS, np.ones(3), XS.T)
    compiled: Any = Context().jit(sample_loop(f, axes=axes))
    close(compiled(*given), batched(f, axes=axes)(*given))


def test_errors_are_those_of_the_samples() -> None:
    with pytest.raises(ZeroDivisionError):
        batched(lambda x: 1 / int(x))(np.array([1.0, 0.0, 2.0]))
    with pytest.raises(ValueError, match="different numbers of samples"):
        batched(lambda x, y: x + y)(np.ones(2), np.ones(3))
    with pytest.raises(ValueError, match="different shapes"):
        batched(lambda x: x[x > 0])(np.array([[1.0, -1.0], [1.0, 1.0]]))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: math.log(8.0, x),
        lambda x: math.log(x, 2.0),
        lambda x: math.log(x, x + 1.0),
        lambda x: math.log(x),
        lambda x: math.hypot(x, 3.0, x),
        lambda x: math.perm(5, int(x)),
    ],
)
def test_functions_with_optional_arguments_get_all_of_them(f):
    xs = np.array([2.0, 3.0])
    assert np.allclose(batched(f)(xs), [f(2.0), f(3.0)], rtol=1e-15)
