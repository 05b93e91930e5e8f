"""The Jacobian determinant of programs over arrays."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from inversion import NoSolution, NotInvertible, invert
from overlay import Context, MethodTable
from primitives import partials_of, relation, relation_of
from tests.examples import examples

MATRIX = np.array([[2.0, 1.0, 0.0], [0.5, -1.0, 0.25], [0.0, 1.0, 3.0]])


def flow(x):
    return MATRIX @ np.sinh(x) + 1


def running(x):
    return np.cumsum(np.exp(x))[::-1]


def doubled(x):
    for i in range(3):
        x = x * 2 + i
    return np.cumprod(x)


def kinked(x):
    return np.where(x > 0, 2 * x, x * x * x + x)


def ordered(x):
    return np.sort(3 * x)


def joined(x):
    return np.concatenate((x[:1], np.diff(x), x[1:2] * 0))[:3]


def scaled(x, s):
    return x * math.exp(s), 2 * s + x[0]


def inverted(x):
    return np.linalg.inv(x + 3 * np.eye(2))


def solved(x):
    return np.linalg.solve(MATRIX, np.tanh(x))


PROGRAMS = [flow, running, doubled, kinked, ordered, joined, solved]


def flat(values):
    return np.concatenate([np.ravel(v) for v in values])


def by_differences(f, arguments):
    """log |det| of the inverse's Jacobian, by central differences of the function."""
    at, rows = flat(arguments), []
    for place in range(at.size):
        ends = []
        for step in (1e-6, -1e-6):
            moved = at.copy()
            moved[place] += step
            parts = np.split(moved, np.cumsum([np.size(a) for a in arguments])[:-1])
            found = f(
                *(
                    p.reshape(np.shape(a)) if np.ndim(a) else float(p[0])
                    for p, a in zip(parts, arguments, strict=True)
                )
            )
            ends.append(flat(found if isinstance(found, tuple) else (found,)))
        rows.append((ends[0] - ends[1]) / 2e-6)
    return -np.linalg.slogdet(np.array(rows))[1]


def at(inverse, f, arguments):
    theta = inverse.recover(*arguments)
    return inverse.log_abs_det(f(*arguments), *((theta,) if theta else ()))


apart = st.lists(st.integers(-20, 20), min_size=3, max_size=3, unique=True)


@pytest.mark.parametrize("f", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
def test_it_agrees_with_central_differences(f):
    inverse = invert(f, np.zeros(3))

    @given(apart)
    @settings(max_examples=examples(10))
    def law(numbers):
        x = np.array(numbers) / 10 + 0.05
        assert at(inverse, f, (x,)) == pytest.approx(by_differences(f, (x,)), rel=1e-6, abs=1e-6)

    law()


def test_of_matrices_and_of_arrays_beside_numbers():
    x = np.array([[1.0, 0.5], [-0.25, 2.0]])
    found = at(invert(inverted, np.zeros((2, 2))), inverted, (x,))
    assert found == pytest.approx(by_differences(inverted, (x,)), rel=1e-6)
    arguments = np.array([0.3, -0.7]), 0.4
    found = at(invert(scaled, np.zeros(2), float), scaled, arguments)
    assert found == pytest.approx(by_differences(scaled, arguments), rel=1e-6)


def test_a_large_one_is_sparse():
    x = np.random.default_rng(0).normal(size=2_000)
    inverse = invert(lambda x: np.tanh(x[::-1] / 2), x)
    value = np.tanh(x[::-1] / 2)
    assert inverse.log_abs_det(value) == pytest.approx(-np.log((1 - value**2) / 2).sum())


def test_no_derivative_at_a_kink_and_no_determinant_where_it_is_singular():
    inverse = invert(ordered, np.zeros(3))
    tied = np.array([1.0, 2.0, 1.0])
    with pytest.raises(NoSolution, match="sort has a kink there"):
        at(inverse, ordered, (tied,))
    cubes = invert(lambda x: x * x * x, np.zeros(2))
    with pytest.raises(NoSolution, match="determinant of its Jacobian is 0"):
        cubes.log_abs_det(np.zeros(2), cubes.recover(np.zeros(2)) or ())


def test_what_is_not_square_counts_elements():
    total = invert(lambda x: x.sum(), np.zeros(3))
    with pytest.raises(NotInvertible, match=r"not square: 3 unknown numbers \(x\) and 1 result"):
        total.log_abs_det(1.0, total.recover(np.ones(3)))


def mixed(x):
    """A function of an array from elsewhere, whose code is not known."""
    return np.fft.irfft(np.fft.rfft(x) * 2, len(x))


def test_a_function_with_a_relation_of_its_own_has_derivatives_of_its_own():
    table = MethodTable("transforms")

    @table.generated(relation_of(mixed))
    def backwards(x: NDArray[np.float64]):
        return relation(mixed, x, "return = mixed(x)", returns=x, ret=mixed, x=lambda ret: ret / 2)

    x = np.array([1.0, 2.0, -1.0, 0.5])
    inverse = invert(lambda x: mixed(x) + 1, x, context=Context(table))
    with pytest.raises(NotInvertible, match="no partial derivatives are known"):
        inverse.log_abs_det(mixed(x) + 1)

    @table.overlay(partials_of(mixed))
    def slopes(x: NDArray[np.float64]):
        return (2 * np.eye(4),)

    inverse = invert(lambda x: mixed(x) + 1, x, context=Context(table))
    assert inverse.log_abs_det(mixed(x) + 1) == pytest.approx(-4 * math.log(2))
