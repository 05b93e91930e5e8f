"""Partial derivatives agree with central differences, for the whole table of rules."""

import numpy as np
import pytest

from overlay import Context
from primitives import NoSolution, base_partials, partials_of
from primitives.errors import NoSolution as Refused
from primitives.partial_slopes import RULES
from primitives.testing import domain_at

REFUSALS = (Refused, ValueError, ArithmeticError)


def difference(relation, values, place):
    """The central difference quotient of a function in one argument."""
    step = 1e-6 * max(1.0, abs(values[place]))
    ends = []
    for side in (step, -step):
        moved = list(values)
        moved[place] += side
        ends.append(np.atleast_1d(relation(*moved)))
    return (ends[0] - ends[1]) / (2 * step)


@pytest.mark.parametrize(("relation", "rule"), RULES, ids=[repr(one) for one, _ in RULES])
def test_a_rule_gives_the_slope_of_its_function(relation, rule):
    method = Context(base_partials).method(partials_of(relation.target), *relation.types)
    rng, checked = np.random.default_rng(0), 0
    domains = [domain_at(relation, axis) for axis in relation.axes]
    for _ in range(60):
        values = [domain.sample(rng) for domain in domains]
        try:
            found = np.atleast_2d(method.function(*values))
            for place, kind in enumerate(relation.types):
                if kind is float and not np.isnan(found[:, place]).any():
                    wanted = difference(relation, values, place)
                    size = max(1.0, *np.abs(np.atleast_1d(relation(*values))), *np.abs(wanted))
                    assert np.allclose(found[:, place], wanted, rtol=1e-4, atol=1e-5 * size)
                    checked += 1
        except REFUSALS:
            continue
    assert checked > 20


@pytest.mark.parametrize(
    ("function", "values"),
    [(abs, (0.0,)), (min, (1.0, 1.0)), (np.floor, (2.0,)), (np.rint, (0.5,)), (np.sign, (0.0,))],
)
def test_there_is_no_derivative_at_a_kink_or_step(function, values):
    method = Context(base_partials).method(partials_of(function), *[float] * len(values))
    with pytest.raises(NoSolution, match="no derivative"):
        method.function(*values)
