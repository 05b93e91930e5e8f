"""Conversions and reshaping of active arrays, as other people's code writes them."""

import numpy as np
import pytest
import scipy.optimize

from overlay import Context
from overlay.interpretations.autodiff import (
    NotDifferentiable,
    adjoint,
    autodiff,
    gradient,
    hessian,
)

X = np.array([0.5, 1.5, 2.0, -1.0, 0.25, 3.0])
HELD = np.zeros(2)

# fmt: off
CONVERTED = [
    lambda v: np.sum(np.asarray(v, order="C") ** 2),
    lambda v: np.sum(np.asarray(v, dtype=float) ** 2),
    lambda v: np.sum(np.asanyarray(v) ** 2),
    lambda v: np.sum(np.array(v, copy=True) ** 2),
    lambda v: np.sum(np.array(v, dtype=np.float64) ** 2),
    lambda v: np.sum(v.reshape(2, 3)[1] ** 2) + np.sum(v.reshape((2, 3))[0] ** 2),
    lambda v: np.sum(v.reshape(6) ** 2),
]
# fmt: on


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("f", CONVERTED)
def test_conversions_keep_the_derivative(f, mode):
    assert np.allclose(gradient(f, mode=mode)(X), 2 * X)


def test_a_conversion_is_compiled():
    def f(v):
        return np.sum(np.asarray(v) ** 2)

    assert np.allclose(Context().jit(lambda x: autodiff(f, x))(X), 2 * X)


@pytest.mark.parametrize("mode", ["auto", "forward"])
def test_the_rosenbrock_function_of_scipy(mode):
    x = np.linspace(-1, 1, 12)
    assert np.allclose(
        gradient(scipy.optimize.rosen, mode=mode)(x), scipy.optimize.rosen_der(x), atol=1e-10
    )


@pytest.mark.parametrize(
    "f",
    [
        lambda v: np.sum(np.array(v, dtype=np.float32)),
        lambda v: np.sum(np.asarray(v, dtype=complex).real),
        lambda v: np.sum(np.array(v, ndmin=2)),
    ],
)
def test_other_conversions_are_refused(f):
    with pytest.raises(NotDifferentiable, match="no derivative is known of"):
        gradient(f, mode="forward")(X)


def writes_through(v):
    same = np.asarray(v)
    same[0] = 2 * v[0]
    return v[0] * v[1]


def test_what_is_no_copy_is_not_taken_for_one():
    with pytest.raises(NotDifferentiable, match="that it did not create, or to part of one"):
        adjoint(writes_through, X)
    for mode in ("forward", "reverse"):
        found = gradient(writes_through, mode=mode)(X)
        assert np.allclose(found, [3.0, 1.0, 0, 0, 0, 0])


def writes_to_held(v):
    HELD[0] = v[0]
    return v.sum()


def writes_to_copy(v):
    own = np.copy(HELD)
    own[0] = v[0]
    return v.sum() * own[0]


def test_the_remedy_for_a_write_to_an_array_of_others_works():
    with pytest.raises(NotDifferentiable) as caught:
        adjoint(writes_to_held, X)
    assert "own = np.copy(array)" in str(caught.value)
    assert "forward" not in str(caught.value)
    for mode in ("forward", "reverse"):
        assert np.allclose(gradient(writes_to_copy, mode=mode)(X), X[0] + X.sum() * np.eye(6)[0])


@pytest.mark.parametrize("f", CONVERTED)
def test_conversions_keep_the_second_derivative(f):
    assert np.allclose(hessian(f, mode="forward")(X), 2 * np.eye(6) * (gradient(f)(X) != 0))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("name", ["__floor__", "__ceil__", "__trunc__", "__round__"])
def test_methods_of_floats_that_give_integers(name, mode):
    def program(x):
        return getattr(x, name)() * x

    assert gradient(program, mode=mode)(1.75) == getattr(1.75, name)()
