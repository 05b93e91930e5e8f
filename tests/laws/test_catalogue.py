"""Every interpretation supports every function of the catalogue, under all its names; and the
domain in a row of the catalogue agrees with ``math``.
"""

import math

import numpy as np
import pytest

from inversion.contraction.contractors import CONTRACTORS
from inversion.emitting.raising import raising
from overlay import Context
from overlay.analysis.abstract_values import Number, floats
from overlay.analysis.interval_arithmetic import table as interval_analysis
from overlay.analysis.kind_functions import one, result_of
from overlay.catalogue import FUNCTIONS, elementwise
from overlay.catalogue.inverse_enclosures import inverse_enclosure
from overlay.interpretations.autodiff import RULES as DERIVATIVES
from overlay.interpretations.intervals import RULES as ENCLOSURES
from overlay.interpretations.intervals import Interval
from overlay.interpretations.parallel.known_effects import computes
from overlay.interpretations.precision import single_precision, stochastic
from primitives import base_relations, relation_of
from primitives.base_table import RELATIONS
from primitives.partial_slopes import base_partials, partials_of

INF, LARGEST = math.inf, 1.7976931348623157e308
every = pytest.mark.parametrize("row", FUNCTIONS, ids=lambda row: row.name)
with_shape = pytest.mark.parametrize(
    "row", [row for row in FUNCTIONS if row.shape], ids=lambda row: row.name
)


def rules_of(function, rules):
    return [rule for rule in rules if any(function is each for each in rule.spellings)]


def relation_for(row):
    kinds = (float,) * row.arity
    found = [r for r in RELATIONS if r.target is row.function and r.types == kinds]
    assert found, f"{row.function} has no relation: add one in a module of primitives/floats"
    return found[0]


def places(row, count=20):
    """Arguments between the bounds of a row."""
    rng = np.random.default_rng(1)
    return [[float(rng.uniform(*bounds)) for bounds in row.between] for _ in range(count)]


def outcome(function, *args):
    try:
        return function(*args)
    except (ValueError, OverflowError) as error:
        return type(error)


def test_no_function_has_two_rows():
    spellings = [spelling for row in FUNCTIONS for spelling in row.spellings]
    assert len(spellings) == len({id(spelling) for spelling in spellings}) > 50


@every
def test_every_spelling_has_a_derivative_and_an_enclosure(row):
    for spelling in row.spellings:
        (rule,) = rules_of(spelling, DERIVATIVES)
        assert rule.domain == row.between
        assert rule.arrays == (spelling is not row.function)
        (rule,) = rules_of(spelling, ENCLOSURES)
        assert rule.enclosure is row.enclosure
    for spelling in row.numpy:
        assert hasattr(Interval, spelling.__name__)
    if row.numpy:
        assert getattr(elementwise, row.name) is row.numpy[0]


@every
def test_every_spelling_is_rounded_and_is_pure(row):
    for spelling in row.spellings:
        assert spelling in single_precision.tables[0].targets()
        assert spelling in stochastic().tables[0].targets()
        assert computes(spelling)


@every
def test_analyses_know_what_it_gives(row):
    assert result_of(row.function, (float,) * row.arity) == one(float)
    method = Context(interval_analysis).method(row.function, *[Number] * row.arity)
    for args in places(row):
        found = method.function(*(floats(x, x + 0.125) for x in args))
        assert found.low <= row.function(*args) <= found.high


@every
def test_every_spelling_has_a_relation_with_derivatives(row):
    wanted = relation_for(row)
    for spelling in row.spellings:
        found = Context(base_relations).method(relation_of(spelling), *[float] * row.arity)
        assert found.function() is wanted
    assert Context(base_partials).method(partials_of(row.function), *[float] * row.arity)


@every
def test_its_relation_has_its_domain(row):
    for domain in relation_for(row).domain.values():
        assert (domain.low, domain.high) == row.domain
        closed = [end for end in row.domain if domain.contains(end)]
        assert [end for end in closed if math.isfinite(end)] == [
            end for end in row.domain if math.isfinite(end) and end not in row.without
        ]


@every
def test_math_raises_where_the_row_says(row):
    first, last = row.ends
    for end, beyond in ((first, -INF), (last, INF)):
        if end != beyond:
            assert outcome(row.function, math.nextafter(end, beyond)) is ValueError
    within = [min(max(x, first), last) for x in (-LARGEST, LARGEST)]
    found = [outcome(row.function, *[x] * row.arity) for x in within]
    assert (OverflowError in found) == row.overflows


@every
def test_compiled_code_of_inverses_raises_there_too(row):
    restricted = row.overflows or row.ends != (-INF, INF)
    assert (row.function in raising.targets()) == restricted


@with_shape
def test_a_function_that_has_a_shape_has_a_contractor(row):
    contractor = CONTRACTORS[relation_for(row)]
    assert contractor.ret is not None
    assert contractor.arguments[0] is not None


@with_shape
def test_the_enclosure_of_its_inverse_holds_the_argument(row):
    inverse = inverse_enclosure(row)
    for (x,) in places(row):
        size = abs(x) if row.shape == "even" else x
        low, high = inverse(row.enclosure((x, x)))
        assert low <= size <= high
        assert high - low < 1e-3
