"""The laws of relations, over the whole base table."""

import copy
import math
import operator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay import OverlayError
from primitives import (
    Bool,
    Integer,
    Interval,
    NoSolution,
    Positive,
    Real,
    parametric,
    relation,
    relations,
)
from primitives.arithmetic import factor, squared
from primitives.kernels import compiled
from primitives.relation import RETURN
from primitives.testing import (
    BrokenLaw,
    check_complete,
    check_forward,
    check_relation,
    check_sound,
    domain_at,
)

TABLE = list(dict.fromkeys(m.function() for m in relations.methods()))
MODES = [(r, mode) for r in TABLE for mode in r.modes.values()]


def members(domain):
    """The members of a domain: its edges, its samples, and anything else inside."""
    kinds = {float: st.floats(allow_nan=False), complex: st.complex_numbers(allow_nan=False)}
    anything = kinds.get(domain.kind, st.integers())
    return st.one_of(
        st.sampled_from(domain.edges),
        st.floats(0, 1).map(domain.from_unit),
        anything.filter(domain.contains).map(domain.cast),
    )


@pytest.mark.parametrize("rel", TABLE, ids=repr)
@settings(max_examples=50)
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
    assert rel.mode([RETURN]) is not None
    for axis in rel.axes:
        assert rel.mode([axis]) is not None
    assert rel.mode(rel.axes) is not None


@pytest.mark.parametrize(("rel", "mode"), MODES, ids=repr)
def test_compiled_modes_answer_as_interpreted_ones(rel, mode):
    fast = compiled(mode.solver)
    rng = np.random.default_rng(1)
    domains = [domain_at(rel, name, mode) for name in mode.takes]
    answered = 0
    for _ in range(20):
        arbitrary = [domain.sample(rng) for domain in domains]
        with np.errstate(all="ignore"):
            consistent = satisfying(rel, mode, rng)
        for values in (arbitrary, consistent):
            try:
                with np.errstate(all="ignore"):
                    plain = mode.solver(*values)
            except (TypeError, OverlayError, ValueError, ArithmeticError):
                continue
            assert fast(*values) == pytest.approx(plain, rel=1e-15)
            answered += 1
    assert answered


def satisfying(rel, mode, rng):
    """What a mode takes, read off random arguments; nothing where the function refuses these."""
    values = {axis: domain_at(rel, axis).sample(rng) for axis in rel.axes}
    try:
        values[RETURN] = rel(*values.values())
        chosen = mode.recover(*(values[a] for a in mode.recovers)) if mode.recover else ()
    except (OverlayError, ValueError, ArithmeticError):
        return ()
    return [{**values, **dict(zip(mode.coordinates, chosen, strict=True))}[n] for n in mode.takes]


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
        math.sin, float, "return = sin(a)", codomain=Interval(-1, 1),
        a=parametric(halved_branch, k=Integer, recover=lambda a: (round(a / 2 / math.pi),)),
    ),
    "coordinate outside its domain": wrong(
        ab=parametric(
            lambda ret, v: (ret - v, v), v=Interval(0, 1), recover=lambda a, b: (b,)
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
        math.sin, float, "return = sin(a)", codomain=Interval(-0.5, 0.5), incomplete="one branch",
        a=lambda ret: math.asin(ret),
    ),
    "refusal outside the codomain": relation(
        squared, float, "return = a * a", codomain=Interval(0, 4),
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
    silent = relation(math.sin, float, "return = sin(a)", codomain=Interval(-1, 1), **first_branch)
    with pytest.raises(BrokenLaw):
        check_relation(silent)
    honest = relation(
        math.sin, float, "return = sin(a)", codomain=Interval(-1, 1),
        incomplete={"a": "the first branch only"}, **first_branch,
    )  # fmt: skip
    check_relation(honest)
    assert honest.mode(["a"]).incomplete == "the first branch only"


def test_the_checker_asks_for_domains_it_cannot_know():
    unknown = relation(len, str, "return = len(a)", returns=int)
    with pytest.raises(OverlayError, match="no domain is known for 'a'"):
        check_relation(unknown)
