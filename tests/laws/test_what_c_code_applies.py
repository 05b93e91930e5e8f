"""Code in C applies operators and functions without overlays; so do its derivatives and
enclosures.
"""

import bisect
import functools
import itertools
import math
import operator
import statistics

import numpy as np
import pytest

from overlay import Context, MethodTable, call_next, nonoverlay
from overlay.interpretations.autodiff import derivative
from overlay.interpretations.intervals import Interval, enclose

BINARY = (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow)
COMPARISONS = (operator.lt, operator.gt, operator.le, operator.ge, operator.eq)


one_more = nonoverlay(lambda x: x + 1.0)
the_other = nonoverlay(operator.not_)


def changed():
    """Every operator, and a function, has another meaning for floats."""
    table = MethodTable("changed")
    for target in BINARY:

        @table.overlay(target)
        def _(a: float, b: float):
            return one_more(call_next(a, b))

    for target in COMPARISONS:

        @table.overlay(target)
        def _(a: float, b: float):
            return the_other(call_next(a, b))

    @table.overlay(math.sqrt)
    def _(x: float):
        return one_more(call_next(x))

    return Context(table)


PROGRAMS = {
    "sum": lambda x: sum([x, 3.0, x]),
    "fsum": lambda x: math.fsum([x, 3.0]),
    "prod": lambda x: math.prod([x, x, x]),
    "accumulate": lambda x: list(itertools.accumulate([x, x, 2.0]))[-1],
    "reduce": lambda x: functools.reduce(operator.add, [x, x, 2.0]),
    "max": lambda x: max([x, 3.0, x]),
    "min": lambda x: min(x, 3.0),
    "sorted": lambda x: sorted([3.0, x, 5.0])[0],
    "bisect": lambda x: x if bisect.bisect([0.0, 1.0, 2.0], x) == 1 else 0.0,
    "index": lambda x: float([1.0, x, 2.0].index(x)),
    "dist": lambda x: math.dist([x, 3.0], [0.0, 0.0]),
    "pstdev": lambda x: statistics.pstdev([x, 1.0, 2.0]),
}
ARRAYS = {
    "np.sum": lambda a: np.sum(a),
    "np.mean": lambda a: np.mean(a),
    "np.prod": lambda a: np.prod(a),
    "np.cumsum": lambda a: np.cumsum(a)[-1],
    "np.dot": lambda a: np.dot(a, a),
    "norm": lambda a: np.linalg.norm(a),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_derivative_is_that_of_what_c_code_computes(name):
    context, f, x, step = changed(), PROGRAMS[name], 0.75, 1e-6
    wanted = (context(f, x + step) - context(f, x - step)) / (2 * step)
    assert derivative(context.wrap(f))(x) == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_enclosure_is_that_of_what_c_code_computes(name):
    if name == "pstdev":  # exact fractions of intervals are refused
        return
    context, f, x = changed(), PROGRAMS[name], 0.75
    found = enclose(context.wrap(f), Interval(x))
    assert context(f, x) in found
    assert found.width < 1e-9


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_of_intervals_are_computed_with_as_arrays_of_floats_are(name):
    context, f, a = changed(), ARRAYS[name], np.array([1.0, 2.0, 3.0])
    found = enclose(context.wrap(f), np.array([Interval(x) for x in a]))
    assert context(f, a) in found
    assert found.width < 1e-9
