"""Contractors lose nothing: tested over the whole table of relations."""

import itertools
import math
import zlib

import numpy as np
import pytest

from inversion.contraction.contractors import CONTRACTORS
from inversion.contraction.variable_sets import every
from overlay.sets import number_set, point
from primitives.base_table import RELATIONS
from primitives.domains import domain_of
from primitives.errors import NoSolution
from primitives.testing import _points, domain_at

REFUSALS = (NoSolution, ValueError, ArithmeticError)


def set_around(value, rng):
    """A set that contains a number: the number alone, an interval, or two pieces."""
    alone = point(value)
    if rng.random() < 0.3:
        return alone
    size = float(rng.choice([1e-9, 1.0, 100.0])) * max(1.0, abs(float(value)))
    low, high = alone.low - size * rng.random(), alone.high + size * rng.random()
    if alone.whole:
        low, high = math.floor(low), math.ceil(high)
    pieces = [(low, high)] if rng.random() < 0.7 else [(low, high), (high + size, high + 2 * size)]
    if rng.random() < 0.2:
        pieces = [(low, math.inf)]
    return number_set(pieces, whole=alone.whole)


@pytest.mark.parametrize("relation", CONTRACTORS, ids=repr)
def test_what_a_function_gives_is_never_taken_away(relation):
    contractor = CONTRACTORS[relation]
    rng = np.random.default_rng(zlib.crc32(repr(relation).encode()))
    inside = [domain_at(relation, axis) for axis in relation.axes]
    # floats outside the domain as well; integers would be powers of any size
    wide = [d if d.kind is not float else domain_of(float) for d in inside]
    tried = 0
    for chosen in (inside, wide):
        for arguments in _points(chosen, rng, 4):
            try:
                with np.errstate(all="ignore"):
                    result = relation(*arguments)
            except REFUSALS:
                continue
            tried += 1
            args = [set_around(value, rng) for value in arguments]
            near = set_around(result, rng) if -1e300 < result < 1e300 else point(result)
            for ret in (every(relation.returns), point(result), near):
                found, left = contractor.contracted(ret, args)
                assert found.contains(result), (arguments, result, found)
                for arg, value in zip(left, arguments, strict=True):
                    assert arg.contains(value), (arguments, result, left)
    assert tried > 5


@pytest.mark.parametrize("relation", CONTRACTORS, ids=repr)
def test_nor_is_what_it_gives_for_nan(relation):
    contractor, rng = CONTRACTORS[relation], np.random.default_rng(0)
    domains = [domain_at(relation, axis) for axis in relation.axes]
    special = [[0.0, 1.0, 10.0] if d.kind is float else [0, 1] for d in domains]
    points = [*itertools.product(*special), *_points(domains, rng, 4)]
    floats = [i for i, d in enumerate(domains) if d.kind is float]
    for arguments, place in itertools.product(points, floats):
        given = [math.nan if i == place else x for i, x in enumerate(arguments)]
        try:
            with np.errstate(all="ignore"):
                result = relation(*given)
        except REFUSALS:
            continue
        held = [set_around(x, rng).with_nan(i == place) for i, x in enumerate(arguments)]
        found, left = contractor.contracted(every(relation.returns).with_nan(True), held)
        assert found.nan if result != result else found.contains(result), given
        assert left[place].nan, given
        if result == result:
            found, left = contractor.contracted(point(result), held)
            assert found.contains(result), given
            assert left[place].nan, given


def test_the_codomain_of_a_relation_without_a_contractor_holds():
    others = [r for r in RELATIONS if r not in CONTRACTORS and r.codomain is not None]
    checked = 0
    for relation in others:
        codomain, rng = relation.codomain.closure, np.random.default_rng(0)
        domains = [domain_at(relation, axis) for axis in relation.axes]
        for arguments in _points(domains, rng, 20) if codomain is not None else ():
            try:
                with np.errstate(all="ignore"):
                    result = relation(*arguments)
            except REFUSALS:
                continue
            assert codomain.contains(result), (relation, arguments)
            checked += 1
    assert checked > 100


def test_no_contractor_is_lost():
    # a relation that has none is looked for in smaller and smaller boxes: slower, and else the same
    assert len(CONTRACTORS) >= 126
