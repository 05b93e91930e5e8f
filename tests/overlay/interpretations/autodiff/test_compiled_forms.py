"""Forms of functions of numpy in compiled adjoints: they agree with numpy, and are what compiled
adjoints call."""

import numpy as np
import pytest

from overlay import Context
from overlay.interpretations.autodiff import autodiff, gradient
from overlay.interpretations.autodiff.reverse import compiled_forms as forms
from overlay.interpretations.autodiff.reverse import running

RNG = np.random.default_rng(0)
VECTOR, OTHER = RNG.normal(size=4), RNG.normal(size=3)
MATRIX, WIDE, CUBE = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 5)), RNG.normal(size=(2, 3, 4))

AS_NUMPY = [
    (forms.outer, (VECTOR, OTHER), np.outer(VECTOR, OTHER)),
    (forms.outer, (MATRIX, OTHER), np.outer(MATRIX, OTHER)),
    (forms.sum_along_0, (MATRIX,), MATRIX.sum(axis=0)),
    (forms.sum_along_0, (CUBE,), CUBE.sum(axis=0)),
    (forms.sum_along_1, (MATRIX,), MATRIX.sum(axis=1)),
    (forms.sum_along_1, (CUBE,), CUBE.sum(axis=1)),
    (forms.transposed_times, (MATRIX, WIDE), MATRIX.T @ WIDE),
    (forms.transposed_times, (MATRIX, OTHER), MATRIX.T @ OTHER),
    (forms.transposed_times, (OTHER, MATRIX), OTHER @ MATRIX),
    (forms.times_transposed, (WIDE.T, MATRIX.T), WIDE.T @ MATRIX),
    (forms.times_transposed, (VECTOR, MATRIX), VECTOR @ MATRIX.T),
    (forms.reshaped, (MATRIX, np.zeros((2, 6))), MATRIX.reshape(2, 6)),
    (forms.reshaped, (VECTOR, np.zeros(4)), VECTOR),
]


@pytest.mark.parametrize(("form", "args", "expected"), AS_NUMPY)
def test_a_form_gives_what_numpy_gives(form, args, expected):
    np.testing.assert_allclose(form(*args), expected, rtol=1e-14)


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("columns", [1, 4])
def test_adjoints_are_summed_to_the_shape_of_an_argument(rows, columns):
    like = np.zeros((rows, columns))
    np.testing.assert_allclose(forms.onto_2(MATRIX, like), running.onto_2(MATRIX, like))
    like = np.zeros(columns)
    np.testing.assert_allclose(forms.onto_1(VECTOR, like), running.onto_1(VECTOR, like))


@pytest.mark.parametrize(
    "a", [VECTOR, np.array([1.0, 3.0, 3.0]), np.array([1.0, np.nan, 2.0, np.nan]), MATRIX]
)
def test_the_largest_element_is_the_first_one_and_nan_comes_before_numbers(a):
    assert forms.argmax(a) == np.argmax(a)


INPUTS = RNG.normal(size=(6, 2))


def network(w):
    hidden = np.tanh(INPUTS @ w[:6].reshape(2, 3) + w[6:9])
    out = hidden @ w[9:12]
    return np.mean((out - w[12]) ** 2.0) + np.max(w)


def shares(x):
    """Whose adjoints of arrays are used again after they were begun."""
    y = x + x[0]
    z = y * y - y
    return np.sum(z * y) + np.sum(y)


def broadcast(x):
    rows = x.reshape(4, 1) * x[:3]
    return np.sum(rows * rows) + np.sum(np.outer(x, x[:2])[1])


@pytest.mark.parametrize("f", [network, shares, broadcast])
def test_compiled_gradients_are_those_of_interpreted_code(f):
    x = RNG.normal(size=13 if f is network else 4)
    compiled = Context().jit(lambda x: autodiff(f, x))(x)
    np.testing.assert_allclose(compiled, gradient(f, mode="forward")(x), rtol=1e-10, atol=1e-12)
