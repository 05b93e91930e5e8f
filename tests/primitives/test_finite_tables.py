"""Finite tables as relations: the entry of a key, and membership."""

import math

import numpy as np
import pytest

from inversion.contraction.contractors import contractor_of
from overlay.sets import number_set
from primitives import Integers, NoSolution
from primitives.finite_tables import entry, membership
from primitives.testing import check_relation

TABLES = {
    "places": entry(int, tuple(range(-4, 4)), (3, 1, 4, 1, 3, 1, 4, 1)),
    "floats": entry(int, (0, 1, 2), (0.1, 0.2, -1.5)),
    "texts": entry(int, tuple(range(-3, 3)), tuple("abcabc")),
    "by text": entry(str, ("a", "b", "c"), (1.5, 2.5, 1.5)),
    "truths": entry(bool, (False, True), (2.0, 3.0)),
    "of truths": entry(int, (1, 2, 5), (True, False, True)),
    "words": entry(np.int64, (0, 1, 2), (7, 8, 9)),
    "by float": entry(float, (0.5, 1.5), (1, 2)),
    "all alike": entry(int, (0, 1), (5, 5)),
}
MEMBERS = {
    "integers": membership(int, (3, 5, 4)),
    "texts": membership(str, ("a", "e")),
    "floats": membership(float, (0.5, 2.0)),
    "truths": membership(bool, (True,)),
}


@pytest.mark.parametrize("name", MEMBERS)
def test_membership_keeps_the_laws(name):
    check_relation(MEMBERS[name])


@pytest.mark.parametrize("name", TABLES)
def test_each_key_is_found_again_by_its_entry(name):
    rel = TABLES[name]
    mode = rel.mode(["a"])
    for key, value in rel.target.held.items():
        assert rel(key) == value
        if not mode.coordinates:
            assert mode.solver(value) == key
            continue
        (which,) = mode.recover(value, key)
        assert mode.coordinates["which"].contains(which)
        assert mode.solver(value, which) == key
        for other in range(mode.coordinates["which"].high + 1):
            assert rel(mode.solver(value, other)) == value


def test_what_is_not_in_a_table_has_no_solution():
    rel = TABLES["places"]
    with pytest.raises(NoSolution):
        rel(4)
    with pytest.raises(NoSolution):
        rel.mode(["a"]).solver(7, 0)


def test_a_float_is_found_within_rounding_only():
    solve = TABLES["floats"].mode(["a"]).solver
    assert solve(math.nextafter(0.2, 1)) == 1
    with pytest.raises(NoSolution):
        solve(0.201)


def test_equal_tables_of_other_types_are_other_relations():
    whole, real, truth = (entry(int, (0, 1), (kind(0), kind(1))) for kind in (int, float, bool))
    assert (whole.returns, real.returns, truth.returns) == (int, float, bool)
    assert entry(int, (0, 1), (0, 1)) is whole
    assert entry(bool, (0, 1), (0, 1)).types == (bool,)


def test_domains_are_those_of_the_keys_and_entries():
    rel = TABLES["places"]
    assert (rel.domain["a"], rel.codomain) == (Integers(-4, 3), Integers(1, 4))


@pytest.mark.parametrize("name", [n for n in TABLES if "text" not in n])
def test_sets_are_contracted_and_lose_no_pair(name):
    rel = TABLES[name]
    contractor = contractor_of(rel)
    whole = not isinstance(rel.target.entries[0], float), not isinstance(rel.target.keys[0], float)
    wide = number_set([(-math.inf, math.inf)], whole=whole[1])
    for key, value in rel.target.held.items():
        ret, (keys,) = contractor.contracted(number_set([(value, value)], whole=whole[0]), [wide])
        assert ret.contains(value)
        assert keys.contains(key)
        assert all(rel(k) == value for k in rel.target.keys if keys.contains(k))


def test_membership_is_contracted():
    contractor = contractor_of(MEMBERS["integers"])
    yes, no = (number_set([(x, x)], whole=True) for x in (1, 0))
    some = number_set([(2, 4)], whole=True)
    assert contractor.contracted(yes, [some])[1][0] == number_set([(3, 4)], whole=True)
    assert contractor.contracted(no, [some])[1][0] == number_set([(2, 2)], whole=True)
    either = number_set([(0, 1)], whole=True)
    assert contractor.contracted(either, [number_set([(7, 9)], whole=True)])[0] == no
