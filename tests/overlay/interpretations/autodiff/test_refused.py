"""What active values are given to and cannot go through is refused, with the line."""

import inspect

import numpy as np
import pytest

from overlay.interpretations.autodiff import NotDifferentiable, derivative, gradient, hessian

X = np.array([1.0, 2.0, 3.0])


def writes(x):
    y = x * 1.0
    y[0] = x[1] * x[2]
    return np.sum(y * y)


def fills(x):
    y = np.zeros(3)
    y.fill(x[0])
    return np.sum(y * x)


def vectorises(x):
    return np.sum(np.vectorize(lambda a: a * a, signature="()->()")(x))


def test_an_array_that_is_filled_is_active():
    assert np.allclose(gradient(fills)(X), [7.0, 1.0, 1.0])
    assert np.allclose(hessian(fills)(X), [[2, 1, 1], [1, 0, 0], [1, 0, 0]])


def test_a_write_that_an_outer_derivative_changes_is_refused():
    wanted = [[0, 0, 0], [0, 20, 24], [0, 24, 10]]
    assert np.allclose(hessian(writes, mode="reverse")(X), wanted)
    refused(lambda: hessian(writes)(X), writes, 'hessian(f, mode="reverse")')


@pytest.mark.parametrize(
    ("f", "words"), [(vectorises, "vectorize"), (lambda x: x.resize(2), "ndarray.resize")]
)
def test_what_is_not_followed_is_named(f, words):
    refused(lambda: gradient(f)(X), f, words)


def test_an_attribute_of_a_number_is_named():
    def f(x):
        return x.conjugate()

    refused(lambda: derivative(f)(1.0), f, "float.conjugate")


def refused(run, f, words):
    with pytest.raises(NotDifferentiable) as caught:
        run()
    lines, first = inspect.getsourcelines(f)
    text = str(caught.value)
    assert words in text
    assert any(f"test_refused.py:{first + i}" in text for i in range(len(lines)))
