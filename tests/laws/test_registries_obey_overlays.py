"""Every function with a rule of differentiation, an enclosure or a relation, overlaid by another
function: derivatives, enclosures and inverses are those of the overlay.
"""

import operator

import numpy as np
import pytest

from inversion import invert
from overlay import Context, MethodTable
from overlay.core.target import describe
from overlay.interpretations.autodiff import derivative, gradient
from overlay.interpretations.autodiff.rules import RULES
from overlay.interpretations.intervals import Interval, enclose
from overlay.interpretations.intervals.interval_rules import RULES as ENCLOSURES
from primitives.base_table import RELATIONS

X, Y = 0.5, 0.25


def ten_times(x: float):
    return 10.0 * x


def ten_and(x: float, y: float):
    return 10.0 * x + y


def in_the_place_of(function, arity):
    """A context in which the function is ten times its first argument, and the second. None if that
    would be computed by the function itself.
    """
    used = (operator.add, operator.mul, operator.iadd, operator.imul)
    if arity > 2 or any(function is each for each in used):
        return None
    table = MethodTable("tens")
    table.overlay(function)(ten_times if arity == 1 else ten_and)
    return Context(table)


def cases(rules, arity_of):
    found = {}
    for rule in rules:
        for function in getattr(rule, "spellings", None) or (rule.target,):
            context = in_the_place_of(function, arity_of(rule))
            if context is not None:
                found[f"{describe(function)} of {arity_of(rule)}"] = (
                    context, function, arity_of(rule)
                )  # fmt: skip
    return [pytest.param(*each, id=name) for name, each in found.items()]


@pytest.mark.parametrize(("context", "function", "arity"), cases(RULES, lambda r: len(r.domain)))
def test_a_derivative_is_that_of_what_stands_there(context, function, arity):
    if arity == 1:
        assert derivative(context.wrap(lambda x: function(x)))(X) == 10.0
        assert context(derivative(lambda x: function(x)), X) == 10.0
        assert context(gradient(lambda x: function(x), mode="reverse"), X) == 10.0
        return
    assert gradient(context.wrap(lambda x, y: function(x, y)))(X, Y) == (10.0, 1.0)
    assert context(gradient(lambda x, y: function(x, y)), X, Y) == (10.0, 1.0)
    by_both = context(gradient(lambda x, y: function(x, y), mode="reverse"), X, Y)
    assert by_both == (10.0, 1.0)


@pytest.mark.parametrize(("context", "function", "arity"), cases(ENCLOSURES, lambda r: r.arity))
def test_an_enclosure_is_that_of_what_stands_there(context, function, arity):
    box = Interval(X, X + 0.5)
    given, wanted = ((box,), 5.0) if arity == 1 else ((box, Interval(Y)), 5.25)
    program = (lambda x: function(x)) if arity == 1 else (lambda x, y: function(x, y))
    for found in (enclose(context.wrap(program), *given), context(enclose, program, *given)):
        assert abs(found.low - wanted) < 1e-12
        assert abs(found.high - wanted - 5.0) < 1e-12


def of_one_float(relation):
    return relation.types == (float,) and relation.returns is float


@pytest.mark.parametrize(
    ("context", "function", "arity"),
    cases([r for r in RELATIONS if of_one_float(r)], lambda r: 1),
)
def test_an_inverse_is_that_of_what_stands_there(context, function, arity):
    inverse = invert(lambda x: function(x), float, context=context)
    assert inverse(5.0) == (X,)
    assert np.isclose(inverse.log_abs_det(5.0), -np.log(10.0))
    assert np.isclose(derivative(lambda z: inverse(z)[0])(5.0), 0.1)
