"""The laws of relations, over the whole base table."""

import copy
import math
import operator
from dataclasses import replace
from types import FunctionType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay import OverlayError
from primitives import (
    Bool,
    Integer,
    Integers,
    NoSolution,
    Positive,
    Real,
    Reals,
    base_relations,
    parametric,
    relation,
)
from primitives.floats.arithmetic import factor, squared
from primitives.integers.modular_powers import power_modulo
from primitives.sequences.lists import Lists, is_sequence
from primitives.solver_forms import compiled_solvers
from primitives.testing import (
    BrokenLaw,
    check_complete,
    check_forward,
    check_relation,
    check_sound,
    domain_at,
)
from tests.examples import examples

TABLE = list(dict.fromkeys(m.function() for m in base_relations.methods()))
MODES = [(r, mode) for r in TABLE for mode in r.modes.values()]
# strings and lists are not compiled, nor are powers modulo an integer
COMPILED = [
    (r, m)
    for r, m in MODES
    if not any(map(is_sequence, r.kinds.values())) and r is not power_modulo
]


def members(domain):
    """Members of a domain: its edges, samples, and further values inside."""
    if isinstance(domain, Integers):
        anything = st.integers(domain.low, domain.high)
    elif domain.kind is complex:
        anything = st.complex_numbers(allow_nan=False)
    elif domain.kind is str:
        anything = st.text()
    elif isinstance(domain, Lists):
        anything = st.lists(members(domain.element))
    else:
        anything = st.floats(allow_nan=False) if domain.kind is float else st.booleans()
    return st.one_of(
        st.sampled_from(domain.edges),
        st.floats(0, 1).map(domain.from_unit),
        anything.filter(domain.contains).map(domain.cast),
    )


@pytest.mark.parametrize("rel", TABLE, ids=repr)
@settings(max_examples=examples(30))
@given(data=st.data())
def test_every_mode_of_every_relation_is_sound_and_complete(rel, data):
    arguments = [data.draw(members(domain_at(rel, axis))) for axis in rel.axes]
    check_forward(rel, arguments)
    check_complete(rel, arguments)
    for mode in rel.modes.values():
        takes = {name: data.draw(members(domain_at(rel, name, mode))) for name in mode.takes}
        check_sound(rel, mode, takes)


@pytest.mark.parametrize("rel", TABLE, ids=repr)
def test_every_relation_passes_the_public_checker(rel):
    check_relation(rel, samples=50)


@pytest.mark.parametrize("rel", TABLE, ids=repr)
def test_every_relation_solves_for_each_input_and_for_all(rel):
    assert rel.mode(rel.outputs) is not None
    for axis in rel.axes:
        assert rel.mode([axis]) is not None
    assert rel.mode(rel.axes) is not None


REFUSALS = (OverlayError, ValueError, ArithmeticError)


def solvable(rel, mode, rng):
    """Arguments of a mode: at some arguments, with the coordinates recovered, and at
    random ones.
    """
    domains = [domain_at(rel, axis) for axis in rel.axes]
    edges = ([d.edges[rng.integers(len(d.edges))] for d in domains] for _ in range(12))
    drawn = ([domain.sample(rng) for domain in domains] for _ in range(20))
    for arguments in (*edges, *drawn):
        result = refused_or(rel, arguments)
        if isinstance(result, Exception):
            continue
        results = result if len(rel.outputs) > 1 else (result,)
        values = dict(zip((*rel.axes, *rel.outputs), (*arguments, *results), strict=True))
        if mode.recover is not None:
            found = mode.recover(*(values[name] for name in mode.recovers))
            pairs = zip(mode.coordinates.items(), found, strict=True)
            values.update({name: domain.cast(value) for (name, domain), value in pairs})
        yield [values[name] for name in mode.takes]
    for _ in range(10):
        yield [domain_at(rel, name, mode).sample(rng) for name in mode.takes]


def refused_or(function, values):
    """The answer, or the error that refuses it."""
    try:
        return function(*values)
    except REFUSALS as error:
        return error


@pytest.mark.parametrize(("rel", "mode"), COMPILED, ids=repr)
def test_compiled_modes_answer_as_interpreted_ones(rel, mode):
    """Except for integers that need more than 64 bits, which compiled solvers refuse."""
    is_python = isinstance(mode.solver, FunctionType)  # what is in C is called as it is
    fast = compiled_solvers.jit(mode.solver) if is_python else mode.solver
    answered = 0
    with np.errstate(all="ignore"):
        for values in solvable(rel, mode, np.random.default_rng(1)):
            if any(type(value) is int and not -(2**63) <= value < 2**63 for value in values):
                continue
            plain, found = refused_or(mode.solver, values), refused_or(fast, values)
            if isinstance(plain, Exception):  # compiled, the logarithm of 0 is infinite
                assert isinstance(found, Exception) or float in rel.types
            elif isinstance(found, Exception):
                assert int in rel.kinds.values()
                assert "64 bits" in str(found)
            else:
                assert found == pytest.approx(plain, rel=1e-15)
                answered += 1
    assert answered >= 5


# ---- the checker catches what is wrong ----------------------------------------------------


def wrong(**modes):
    return relation(operator.add, float, float, "return = a + b", **modes)


def halved_branch(ret, k):
    return k * 2 * math.pi + math.asin(ret)


def small_root(ret, negative):
    if ret > 4:
        raise NoSolution("it is too large")
    return -math.sqrt(ret) if negative else math.sqrt(ret)


WRONG = {
    "sign": wrong(a=lambda ret, b: ret + b),
    "axis": wrong(b=lambda ret, a: a - ret),
    "recovered coordinate": wrong(
        ab=parametric(lambda ret, v: (ret - v, v), v=Real, recover=lambda a: (a,))
    ),
    "order of the answers": wrong(
        ab=parametric(lambda ret, v: (v, 2 * (ret - v)), v=Real, recover=lambda a: (a,))
    ),
    "missing branches": relation(
        math.sin, float, "return = sin(a)", codomain=Reals(-1, 1),
        a=parametric(halved_branch, k=Integer, recover=lambda a: (round(a / 2 / math.pi),)),
    ),
    "coordinate outside its domain": wrong(
        ab=parametric(
            lambda ret, v: (ret - v, v), v=Reals(0, 1), recover=lambda a, b: (b,)
        )
    ),
    "no choice where the factor is 0": relation(
        operator.mul, float, float, "return = a * b", a=lambda ret, b: factor(ret, b, 0.0)
    ),
    "refusal": relation(
        math.exp, float, "return = exp(a)", a=lambda ret: math.log(ret - 1) + 0 * ret
    ),
    "integer off by one in one place": relation(
        operator.neg, int, "return = -a", a=lambda ret: -ret if ret != 97 else -96
    ),
    "one wrong float in a billion": relation(
        operator.neg, float, "return = -a", a=lambda ret: -ret if ret != 1e9 else -1e9 + 2
    ),
    "always nan": wrong(a=lambda ret, b: math.nan),
    "always infinite": wrong(a=lambda ret, b: math.inf),
    "opposite infinities": wrong(
        ab=parametric(lambda ret, v: (math.inf, -math.inf), v=Real, recover=lambda b: (b,))
    ),
    "outside the domain": relation(
        math.log, float, "return = log(a)", domain=Positive,
        ret=lambda a: math.log(abs(a)), a=lambda ret: -math.exp(ret), incomplete="half of it",
    ),
    "nowhere defined": relation(
        math.sqrt, float, "return = sqrt(a)", a=lambda ret: -1.0 - ret * ret, incomplete="all"
    ),
    "another function": wrong(ret=lambda a, b: a - b, a=lambda ret, b: ret + b),
    "another function far out": wrong(
        ret=lambda a, b: a + b if abs(a) < 1e11 else a, a=lambda ret, b: ret - b,
        incomplete="far out",
    ),
    "forward where the target refuses": relation(
        math.sqrt, float, "return = sqrt(a)", ret=lambda a: math.sqrt(abs(a))
    ),
    "refuses forward": relation(
        math.exp, float, "return = exp(a)", codomain=Positive,
        ret=lambda a: math.exp(math.sqrt(a)) + 0 * a,
    ),
    "outside the codomain": relation(
        math.sin, float, "return = sin(a)", codomain=Reals(-0.5, 0.5), incomplete="one branch",
        a=lambda ret: math.asin(ret),
    ),
    "refusal outside the codomain": relation(
        squared, float, "return = a * a", codomain=Reals(0, 4),
        a=parametric(small_root, negative=Bool, recover=lambda a: (a < 0,)),
    ),
    "floats for integers": relation(operator.neg, int, "return = -a", a=lambda ret: -1.0 * ret),
    "a float for an integer result": relation(
        operator.neg, int, "return = -a", ret=lambda a: -1.0 * a, a=lambda ret: -int(ret)
    ),
    "wrong between a million and a hundred million": relation(
        operator.neg, float, "return = -a",
        a=lambda ret: ret if 1e6 < abs(ret) < 1e8 else -ret,
    ),
    "wrong beyond a thousand, among integers": relation(
        operator.neg, int, "return = -a",
        a=lambda ret: ret if 1e4 < abs(ret) < 1e9 else -ret,
    ),
}  # fmt: skip


def shifted(answer):
    if isinstance(answer, tuple):
        return shifted(answer[0]), *answer[1:]
    if isinstance(answer, (str, list)):
        return answer + "x" if isinstance(answer, str) else [*answer, 0]
    return answer * 1.001 + 0.001 if isinstance(answer, float) else answer + type(answer)(1)


@pytest.mark.parametrize(("rel", "mode"), MODES, ids=repr)
def test_the_checker_catches_an_answer_that_is_a_little_off_in_any_mode(rel, mode):
    broken = copy.copy(rel)
    changed = replace(mode, solver=lambda *values: shifted(mode.solver(*values)), incomplete=None)
    broken.modes = {**rel.modes, frozenset(mode.unknown): changed}
    with np.errstate(over="ignore"), pytest.raises(BrokenLaw):
        check_relation(broken, samples=50)


@pytest.mark.parametrize("name", WRONG)
def test_the_checker_catches_a_wrong_relation(name):
    with pytest.raises(BrokenLaw) as caught:
        check_relation(WRONG[name])
    assert "test_relations.py" in str(caught.value)
    assert "help:" in str(caught.value)


def test_an_incomplete_mode_passes_where_it_says_so():
    first_branch = {"a": lambda ret: math.asin(ret)}
    silent = relation(math.sin, float, "return = sin(a)", codomain=Reals(-1, 1), **first_branch)
    with pytest.raises(BrokenLaw):
        check_relation(silent)
    honest = relation(
        math.sin, float, "return = sin(a)", codomain=Reals(-1, 1),
        incomplete={"a": "the first branch only"}, **first_branch,
    )  # fmt: skip
    check_relation(honest)
    assert honest.mode(["a"]).incomplete == "the first branch only"


def test_the_checker_asks_for_domains_it_cannot_know():
    unknown = relation(len, set, "return = len(a)", returns=int)
    with pytest.raises(OverlayError, match="no domain is known for 'a'"):
        check_relation(unknown)
