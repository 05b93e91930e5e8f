"""Relations of floats at their edges: values worked out by hand."""

import cmath
import math
import operator

import numpy as np
import pytest

from overlay import Context
from primitives import NoSolution, base_relations, relation_of
from primitives.testing import check_complete

LARGEST = 1.7976931348623157e308
TINY = 5e-324


def find(target, *types):
    method = Context(base_relations).method(relation_of(target), *types)
    return method.implementation(types)


def solve(target, unknown, *values, types=(float,)):
    """The answer of the mode for these axes, to values in its own order."""
    mode = find(target, *types).mode(unknown.split())
    return mode.solver(*values)


TWO = (float, float)

# target, types, unknown axes, what the mode takes (ret, known axes, coordinates), answer
ANSWERS = [
    (math.tan, (float,), "a", (1.0, 0), math.pi / 4),
    (math.tan, (float,), "a", (1.0, -1), -3 * math.pi / 4),
    (math.acos, (float,), "a", (math.pi,), -1.0),
    # directions of the axes, and of zeros with signs
    (math.atan2, TWO, "y x", (math.pi, 0.0), (0.0, -0.0)),
    (math.atan2, TWO, "y x", (-math.pi / 2, 3.0), (-3.0, 0.0)),
    (math.atan2, TWO, "y x", (math.pi / 4, LARGEST), (LARGEST, LARGEST)),
    (math.atan2, TWO, "x", (0.0, 0.0, 7.0), 7.0),
    (math.atan2, TWO, "x", (math.pi, 0.0, 7.0), -7.0),
    (math.atan2, TWO, "y", (-math.pi / 2, 0.0, 7.0), -7.0),
    (math.hypot, TWO, "a", (5.0, -3.0, True), -4.0),
    (math.hypot, TWO, "a", (3.0, 3.0, False), 0.0),
    (math.hypot, TWO, "a b", (0.0, 1.0), (0.0, 0.0)),
    (math.tanh, (float,), "a", (1.0, 25.0), 25.0),
    (math.tanh, (float,), "a", (-1.0, 25.0), -20.0),
    (math.cosh, (float,), "a", (1.0, True), -0.0),
    (math.log2, (float,), "a", (1024.0,), LARGEST),
    (math.log2, (float,), "a", (10.0,), 1024.0),
    (math.log10, (float,), "a", (2.0,), 100.0),
    (math.log10, (float,), "a", (math.log10(LARGEST),), LARGEST),
    (math.expm1, (float,), "a", (1e-20,), 1e-20),
    # powers: roots of perfect powers are exact, also negative ones
    (operator.pow, TWO, "a", (-27.0, 3.0, 1.0), -3.0),
    (operator.pow, TWO, "a", (64.0, 3.0, 1.0), 4.0),
    (operator.pow, TWO, "a", (4.0, 2.0, -1.0), -2.0),
    (operator.pow, TWO, "a", (4.0, 0.5, -1.0), 16.0),
    (operator.pow, TWO, "a", (1.0, 0.0, -7.5), -7.5),
    (operator.pow, TWO, "a", (-0.125, -3.0, 1.0), -2.0),
    (operator.pow, TWO, "b", (8.0, 2.0, 0.0), 3.0),
    (operator.pow, TWO, "b", (-8.0, -2.0, 0.0), 3.0),
    (operator.pow, TWO, "b", (1.0, 1.0, 0.25), 0.25),
    (operator.pow, TWO, "b", (0.0, 0.0, 2.5), 2.5),
    (operator.pow, TWO, "b", (0.0, 0.0, -2.5), 1.0),
    (operator.pow, (float, int), "b", (-1.0, -1.0, 4), 1),
    (operator.pow, (float, int), "b", (1.0, -1.0, 4), 4),
    (operator.pow, (float, int), "a b", (9.0, -1.0, 2), (-3.0, 2)),
    (math.cbrt, (float,), "a", (-3.0,), -27.0),
    (math.ldexp, (float, int), "a", (12.0, 2), 3.0),
    (math.ldexp, (float, int), "b", (12.0, 3.0, 0), 2),
    (math.ldexp, (float, int), "b", (TINY, 1.0, 0), -1074),
    (math.ldexp, (float, int), "b", (0.0, 0.0, 5), 5),
    (math.copysign, TWO, "b", (-2.0, 2.0, 3.0), -3.0),
    (math.copysign, TWO, "a", (-2.0, -7.0, False), 2.0),
    (np.sign, (float,), "a", (-1.0, 3.0), -3.0),
    (np.heaviside, TWO, "a", (0.5, 0.5, 3.0), 0.0),
    (np.heaviside, TWO, "a", (1.0, 0.5, -3.0), 3.0),
    # rounding: u stays inside, and from 2**52 on counts for nothing
    (math.floor, (float,), "a", (-3, 0.25), -2.75),
    (math.floor, (float,), "a", (3, math.nextafter(1.0, 0.0)), math.nextafter(4.0, 0.0)),
    (math.floor, (float,), "a", (2**60, 0.5), 2.0**60),
    (math.ceil, (float,), "a", (3, 0.25), 2.75),
    (int, (float,), "a", (-3, 0.25, False), -3.25),
    (int, (float,), "a", (0, 0.25, True), -0.25),
    (round, (float,), "a", (2, 0.5), 2.5),
    (round, (float,), "a", (2, -0.5), 1.5),
    (round, (float,), "a", (3, 0.5), math.nextafter(3.5, 3.0)),
    (round, (float,), "a", (3, -0.5), math.nextafter(2.5, 3.0)),
    (np.rint, (float,), "a", (2.0**53, 0.5), 2.0**53),
    # remainders
    (operator.mod, TWO, "a", (1.0, 3.0, 10.5), 10.0),
    (operator.mod, TWO, "a", (-1.0, -3.0, 10.5), 11.0),
    (operator.mod, TWO, "b", (1.0, 10.0, 3.2), 3.0),
    (operator.mod, TWO, "b", (4.0, 10.0, 1.0), 6.0),
    (operator.mod, TWO, "b", (4.0, 4.0, 2.0), 6.0),
    (math.fmod, TWO, "a", (-1.0, 3.0, 10.0), -10.0),
    (math.fmod, TWO, "b", (-1.0, -10.0, -3.2), -3.0),
    (operator.floordiv, TWO, "a", (-2.0, 3.0, 0.5), -4.5),
    (operator.floordiv, TWO, "b", (2.0, 10.0, 0.5, 1.0), 4.0),
    (operator.floordiv, TWO, "b", (0.0, 0.0, 0.5, -7.0), -7.0),
    # extremes
    (min, TWO, "a", (2.0, 2.0, 1.5), 3.5),
    (min, TWO, "a", (2.0, 3.0, 1.5), 2.0),
    (max, TWO, "b", (2.0, 2.0, 1.5), 0.5),
    (max, TWO, "a b", (2.0, 1.5, False), (0.5, 2.0)),
    (np.clip, (float, float, float), "a", (1.0, 0.0, 1.0, -2.5), 3.5),
    (np.clip, (float, float, float), "a", (0.0, 0.0, 1.0, 2.5), -2.5),
    (np.clip, (float, float, float), "a", (0.5, 0.0, 1.0, 2.5), 0.5),
    (np.clip, (float, float, float), "a", (1.0, 1.0, 1.0, -2.5), -1.5),
    (np.clip, (float, float, float), "a", (-3e-14, -3e-14, -1e-15, -2.0), -2.0 - 3e-14),
    (np.clip, (float, float, float), "low", (1e-14, 1e-14, 2e-14, -5.0), 1e-14 - 5.0),
    (np.clip, (float, float, float), "low", (2.0, 7.0, 2.0, -5.0), -3.0),
    (np.clip, (float, float, float), "high", (2.0, 1.0, 2.0, 3.0), 5.0),
    # comparisons: by the smallest step where the excess is none
    (operator.lt, TWO, "b", (True, 1.0, 0.0), math.nextafter(1.0, 2.0)),
    (operator.lt, TWO, "b", (True, 1e20, 1.0), math.nextafter(1e20, math.inf)),
    (operator.lt, TWO, "b", (False, 1.0, 0.0), 1.0),
    (operator.le, TWO, "b", (False, 1.0, 0.5), 0.5),
    (operator.gt, TWO, "a", (True, 1.0, 0.5), 1.5),
    (operator.eq, TWO, "a", (False, 0.0, 0.0), TINY),
    (operator.eq, TWO, "a", (True, 4.0, 1.0), 4.0),
    (operator.ne, TWO, "a", (True, 4.0, -1.0), 3.0),
    (np.where, (bool, float, float), "a", (2.0, False, 2.0, 9.0), 9.0),
    (np.where, (bool, float, float), "c", (2.0, 2.0, 2.0, True), True),
    (np.where, (bool, float, float), "c", (2.0, 3.0, 2.0, True), False),
    # the error functions, against values of tables
    (math.erf, (float,), "a", (0.8427007929497149, 0.0), 1.0),
    (math.erf, (float,), "a", (1.0, 9.0), 9.0),
    (math.erf, (float,), "a", (1.0, 1.0), 6.0),
    (math.erfc, (float,), "a", (0.004677734981047266, 0.0), 2.0),
    (math.erfc, (float,), "a", (2.088487583762545e-45, 0.0), 10.0),
    (math.gamma, (float,), "a", (24.0, 0), 5.0),
    (math.gamma, (float,), "a", (math.sqrt(math.pi), 1), 0.5),
    (math.gamma, (float,), "a", (-2 * math.sqrt(math.pi), 2), -0.5),
    (math.gamma, (float,), "a", (4 / 3 * math.sqrt(math.pi), 4), -1.5),
    (math.lgamma, (float,), "a", (0.0, 0), 2.0),
    (math.lgamma, (float,), "a", (0.0, 1), 1.0),
    # complex numbers
    (operator.mul, (complex, complex), "a", (0j, 0j, 3 + 1j), 3 + 1j),
    (operator.truediv, (complex, complex), "a", (1j, 2j), -2 + 0j),
    (abs, (complex,), "a", (2.0, math.pi), -2 + 0j),
    (np.angle, (complex,), "a", (math.pi / 4, 3.0), 3 + 3j),
    (cmath.exp, (complex,), "a", (-1 + 0j, 1), 3j * math.pi),
    (cmath.sqrt, (complex,), "a", (1 + 1j,), 2j),
    (complex, TWO, "a b", (3 - 4j,), (3.0, -4.0)),
]  # fmt: skip


def shown(value):
    """A value in the name of a test, equal in every process."""
    return value.__name__ if hasattr(value, "__name__") else str(value)[:40]


@pytest.mark.parametrize(("target", "types", "unknown", "values", "answer"), ANSWERS, ids=shown)
def test_solutions_at_edges(target, types, unknown, values, answer):
    found = solve(target, unknown, *values, types=types)
    assert found == pytest.approx(answer, rel=1e-14, abs=1e-15)
    if isinstance(answer, float):  # what is exact is exact, zeros have their signs
        assert math.copysign(1, found) == math.copysign(1, answer)


EXACT = [case for case in ANSWERS if case[0] not in (
    math.tan, math.tanh, math.atan2, math.erf, math.erfc, math.gamma, math.hypot, math.log10,
    math.lgamma, abs, np.angle, cmath.exp, cmath.sqrt,
)]  # fmt: skip


@pytest.mark.parametrize(("target", "types", "unknown", "values", "answer"), EXACT, ids=shown)
def test_solutions_at_edges_are_exact(target, types, unknown, values, answer):
    assert solve(target, unknown, *values, types=types) == answer


REFUSED = [
    (math.atan2, TWO, "y", (3.0, 1.0, 5.0), "other side of the y axis"),
    (math.atan2, TWO, "x", (1.0, -2.0, 5.0), "other side of the x axis"),
    (math.atan2, TWO, "y x", (1.0, 0.0), "the origin"),
    (math.hypot, TWO, "a", (2.0, 3.0, False), "longer than the hypotenuse"),
    (math.log1p, (float,), "a", (-40.0,), "too small"),
    (math.asinh, (float,), "a", (711.0,), "larger than any float|range"),
    (operator.pow, TWO, "a", (-4.0, 2.0, 1.0), "odd exponent"),
    (operator.pow, TWO, "a", (2.0, 0.0, 1.0), "exponent 0 is 1"),
    (operator.pow, TWO, "a", (0.0, -1.0, 1.0), "exponent is positive"),
    (operator.pow, TWO, "b", (-1.0, 2.0, 1.0), "is positive"),
    (operator.pow, (float, int), "b", (5.0, 2.0, 1), "not a whole power"),
    (operator.pow, (float, int), "b", (1e-13, 0.5, 1), "not a whole power"),
    (math.ldexp, (float, int), "b", (12.0, 5.0, 0), "power of two"),
    (math.copysign, TWO, "a", (2.0, -1.0, True), "sign of the second"),
    (math.copysign, TWO, "b", (2.0, 3.0, 1.0), "size of the first"),
    (math.floor, (float,), "a", (2**60 + 1, 0.0), "no float is this integer"),
    (np.floor, (float,), "a", (0.5, 0.0), "not a whole number"),
    (operator.mod, TWO, "a", (3.0, 2.0, 0.0), "smaller than the divisor"),
    (operator.mod, TWO, "a", (-1.0, 2.0, 0.0), "its sign"),
    (operator.mod, TWO, "b", (2.0, 3.0, 1.0), "remainder"),
    (min, TWO, "a", (2.0, 1.0, 0.0), "larger than one of them"),
    (np.clip, (float, float, float), "a", (2.0, 0.0, 1.0, 0.0), "outside the bounds"),
    (operator.lt, TWO, "b", (True, LARGEST, 1.0), "larger than any float"),
    (np.where, (bool, float, float), "c", (2.0, 3.0, 4.0, True), "neither argument"),
    (math.gamma, (float,), "a", (0.5, 0), "does not reach"),
    (math.gamma, (float,), "a", (-1.0, 0), "other sign"),
    (math.gamma, (float,), "a", (1e-30, 44), "does not reach"),
    (math.gamma, (float,), "a", (1.0, 10**9), "are not searched for"),
    (cmath.log, (complex,), "a", (4j,), "principal branch"),
    (complex, TWO, "a", (3 - 4j, 4.0), "parts of the result"),
]  # fmt: skip


@pytest.mark.parametrize(("target", "types", "unknown", "values", "reason"), REFUSED, ids=shown)
def test_what_has_no_solution_is_refused_with_the_reason(target, types, unknown, values, reason):
    with pytest.raises((NoSolution, OverflowError), match=reason):
        solve(target, unknown, *values, types=types)


SMOOTH = [(math.expm1, -8, 700), (math.atan, -1e3, 1e3)]


@pytest.mark.parametrize(("target", "low", "high"), SMOOTH, ids=str)
def test_modes_that_leave_out_what_rounding_merges_are_complete_elsewhere(target, low, high):
    import copy
    from dataclasses import replace

    rel = copy.copy(find(target, float))
    mode = rel.mode(["a"])
    assert mode.incomplete
    rel.modes = {**rel.modes, frozenset("a"): replace(mode, incomplete=None)}
    for value in np.linspace(low, high, 501):
        check_complete(rel, (float(value),))


def test_numpys_and_maths_spellings_are_one_relation_where_they_mean_the_same():
    assert find(np.tanh, float) is find(math.tanh, float)
    assert find(math.pow, float, float) is find(operator.pow, float, float)
    assert find(np.fmin, float, float) is find(min, float, float)
    assert find(math.trunc, float) is find(int, float)
    assert find(math.floor, float) is not find(np.floor, float)
    assert find(math.floor, float).returns is int
    assert find(np.floor, float).returns is float
    assert find(np.exp, complex) is find(cmath.exp, complex)
    assert find(np.exp, float) is find(math.exp, float)
