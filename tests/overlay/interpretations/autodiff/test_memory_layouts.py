"""Views and writes into arrays of all memory layouts: forward mode, the tape and differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.interpretations.autodiff import NotDifferentiable, jvp
from overlay.interpretations.autodiff.reverse.taped import taped

# fmt: off
VIEWS = (
    lambda a: a.ravel(), lambda a: a.T, lambda a: a[1:], lambda a: a[:, 1], lambda a: a[::-1, ::2],
    lambda a: a.reshape(4, 3), lambda a: np.reshape(a, -1), lambda a: a.flatten(),
    lambda a: np.asarray(a), lambda a: a.copy(), lambda a: np.transpose(a).ravel(),
    lambda a: np.squeeze(a), lambda a: np.atleast_2d(a), lambda a: np.moveaxis(a, 0, 1),
    lambda a: a[np.array([0, 1])], lambda a: np.flip(a, axis=0), lambda a: np.diagonal(a).copy(),
)
STARTS = (
    lambda x: x, lambda x: x * 2.0, lambda x: np.sin(x), lambda x: np.zeros((3, 4)) + x,
    lambda x: x.T.copy().T, lambda x: np.exp(x.T).T,
)
# fmt: on


def program(start, views, index):
    def f(x):
        a = STARTS[start](x)
        for view in views:
            part = VIEWS[view](a)
            place = index % part.shape[0]
            part[place] = part[place] * part[place] + 0.5
        return np.sum(a * a * np.arange(1.0, 13.0).reshape(3, 4)) + np.sum(part)

    return f


@settings(max_examples=60, deadline=None)
@given(
    start=st.integers(0, len(STARTS) - 1),
    views=st.lists(st.integers(0, len(VIEWS) - 1), min_size=1, max_size=3),
    index=st.integers(0, 3),
    order=st.sampled_from("CF"),
)
def test_writes_through_views(start, views, index, order):
    rng = np.random.default_rng(0)
    x = np.array(rng.normal(size=(3, 4)), order=order)
    direction = rng.normal(size=(3, 4))
    f = program(start, views, index)
    step = 1e-6 * np.array(direction, order=order)  # all in one layout
    expected = (f(x + step) - f(x - step)) / 2e-6
    value, found = jvp(f, (x,), (direction,))
    assert np.isclose(value, f(+x), rtol=1e-12)
    run = taped(f, (x,), (0,), ())
    assert np.isclose(run.value, f(+x), rtol=1e-12)
    pulled = np.sum(run.pull_back([1.0])[0] * direction)
    assert np.isclose(found, pulled, rtol=1e-9, atol=1e-11)
    assert np.isclose(found, expected, rtol=1e-5, atol=1e-6)


def reads_part(x):
    z = x * (1.0 + 2.0j)
    part = z.real
    part[0] = 3.0 * x[1]
    return np.sum(part * part)


def reads_whole(x):
    z = x * (1.0 + 2.0j)
    part = z[:2].real
    part[0] = 3.0
    return np.sum(np.abs(z))


def reads_old_part(x):
    z = x * (1.0 + 2.0j)
    part = z.real
    z[0] = 3.0
    return np.sum(part)


def test_parts_of_complex_arrays_are_written_to():
    x = np.array([1.0, 2.0, 3.0])
    assert np.allclose(taped(reads_part, (x,), (0,), ()).pull_back([1.0])[0], [0.0, 40.0, 6.0])


@pytest.mark.parametrize("f", [reads_whole, reads_old_part])
def test_what_a_write_to_the_part_or_the_whole_makes_stale_is_not_read(f):
    with pytest.raises(NotDifferentiable, match="real or imaginary part") as caught:
        taped(f, (np.array([1.0, 2.0, 3.0]),), (0,), ())
    assert "np.copy(z.real)" in str(caught.value)
