"""Unknowns that share linear equations are solved together, as a system."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inversion import NoSolution, choose, invert
from inversion.planning.plan import Root
from tests.examples import examples

F = float
whole = st.integers(-9, 9).map(float)


def pair(x, y):
    return x + 2 * y, 3 * x - y


def by_coefficients(x, y, a, b, c, d):
    return a * x + b * y, c * x + d * y


COEFFICIENTS = ("a", "b", "c", "d")
general = choose(by_coefficients, *[F] * 6, known=("return", *COEFFICIENTS))


def is_one_system(inverse):
    return [
        s.relation.name.partition("_")[0]
        for s in (
            step.solved.statement for step in inverse.program.steps if not isinstance(step, Root)
        )
    ].count("system") == 1 and not any(isinstance(s, Root) for s in inverse.program.steps)


def test_two_equations_are_one_system_and_need_no_search():
    inverse = invert(pair, F, F, root_finding=False)
    assert is_one_system(inverse)
    assert inverse.parameters.optional  # where it is singular only
    assert inverse((5.0, 1.0)) == pytest.approx((1.0, 2.0))
    assert inverse.compile()((5.0, 1.0), (0.0, 0.0)) == pytest.approx((1.0, 2.0))


@settings(max_examples=examples(60))
@given(x=whole, y=whole, coefficients=st.lists(whole, min_size=4, max_size=4))
def test_any_coefficients_are_solved_or_leave_a_family(x, y, coefficients):
    value = by_coefficients(x, y, *coefficients)
    theta = general.recover(x, y, *coefficients)
    assert general(value, *coefficients, theta) == pytest.approx((x, y), abs=1e-8)
    other = general(value, *coefficients, (0.5, -3.0))
    assert by_coefficients(*other, *coefficients) == pytest.approx(value, abs=1e-8)
    a, b, c, d = coefficients
    if a * d != b * c:
        assert other == pytest.approx((x, y), abs=1e-8)


@settings(max_examples=examples(40))
@given(value=st.tuples(whole, whole), coefficients=st.lists(whole, min_size=4, max_size=4))
def test_what_has_no_solution_is_refused_and_nothing_else(value, coefficients):
    matrix = np.reshape(coefficients, (2, 2))
    solvable = np.linalg.matrix_rank(matrix) == np.linalg.matrix_rank(
        np.column_stack([matrix, value])
    )
    try:
        found = general(value, *coefficients)
    except NoSolution:
        assert not solvable
        return
    assert by_coefficients(*found, *coefficients) == pytest.approx(value, abs=1e-8)


def test_a_system_of_any_size_behind_functions_that_are_no_lines():
    rng = np.random.default_rng(0)
    size = 8
    matrix = rng.normal(size=(size, size)).tolist()
    names = [f"x{i}" for i in range(size)]
    rows = [" + ".join(f"{matrix[i][j]!r} * {names[j]}" for j in range(size)) for i in range(size)]
    namespace = {"math": math}
    exec(
        f"def f({', '.join(names)}):\n    return math.exp({rows[0]}), {', '.join(rows[1:])}\n",
        namespace,
    )
    inverse = invert(namespace["f"], *[F] * size)
    assert is_one_system(inverse)
    wanted = tuple(rng.uniform(-1, 1, size).tolist())
    assert inverse(namespace["f"](*wanted)) == pytest.approx(wanted, rel=1e-8)


def test_unknowns_that_are_too_many_are_chosen():
    inverse = invert(lambda x, y, z: (x + 2 * y + 3 * z, 3 * x - y + z), F, F, F)
    assert inverse.parameters.names == ("z", "near_x", "near_y")
    theta = inverse.recover(1.0, 2.0, 3.0)
    assert inverse((14.0, 4.0), theta) == pytest.approx((1.0, 2.0, 3.0))


def test_all_solutions_of_a_system_are_a_point_or_a_family():
    known = choose(lambda x, y, a: (x + a * y, a * x + y), F, F, F, known=("return", "a"))
    (point,) = known.solutions((2.0, 2.0), 2.0)
    assert point.point == pytest.approx((2 / 3, 2 / 3))
    (family,) = known.solutions((2.0, 2.0), 1.0)
    assert family.parameters.names == ("near_x", "near_y")
    assert sum(family.sample(np.random.default_rng(0))) == pytest.approx(2.0)
    quadratic = choose(lambda x, a, b: a * x * x + b * x, F, F, F, known=("return", "a", "b"))
    assert [b.point for b in quadratic.solutions(6.0, 1.0, 1.0)] == [(2.0,), (-3.0,)]
    assert all(b.parameters.names == ("x",) for b in quadratic.solutions(0.0, 0.0, 0.0))


def test_equations_that_are_too_many_are_checked():
    inverse = invert(lambda x, y: (x + 2 * y, 3 * x - y, x - y), F, F)
    assert inverse((5.0, 1.0, -1.0)) == pytest.approx((1.0, 2.0))
    with pytest.raises(NoSolution):
        inverse((5.0, 1.0, 3.0))


def test_variables_may_have_any_names():
    def f(i, point):
        base = i + 2 * point
        matrix = 3 * i - point
        return base, matrix

    assert invert(f, F, F)((5.0, 1.0)) == pytest.approx((1.0, 2.0))
