"""All solutions: every branch, each single solution once, and proofs that there is none."""

import itertools
import math
import random
import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from inversion import NoSolution, NotInvertible, SolutionBranch, WrongArguments, choose, invert
from inversion.solving.solutions import branch_of
from inversion.solving.starting import box_of, infeasible, states
from primitives import Integers, Reals
from tests.examples import examples
from tests.laws.control_flow import Program
from tests.laws.straight_line import function, random_program, value_of

F = float


def points(inverse, *known):
    """All solutions, if they are single ones."""
    found = list(inverse.solutions(*known))
    assert all(branch.is_point for branch in found)
    return sorted(branch.point for branch in found)


def close(found, wanted):
    return len(found) == len(wanted) and np.allclose(found, wanted, rtol=1e-9, atol=1e-12)


# ---- single solutions ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "value", "wanted"),
    [
        (lambda x: x * x + x, 6.0, [-3, 2]),
        (lambda x: x**2, 4.0, [-2, 2]),
        (lambda x: x**2, 0.0, [0]),
        (lambda x: x**3, -8.0, [-2]),
        (lambda x: abs(x - 1), 3.0, [-2, 4]),
        (lambda x: abs(abs(x) - 2), 1.0, [-3, -1, 1, 3]),
        (lambda x: math.cosh(x), 1.0, [0]),
        (lambda x: math.tanh(x), 0.5, [math.atanh(0.5)]),
        (lambda x: (x if x > 0 else -2 * x) + 1, 3.0, [-1, 2]),
        (lambda x: max(x, 1.0) * 2, 6.0, [3]),
        # by search: all roots
        (lambda x: x * math.exp(x), -0.2, [-2.5426413577735265, -0.2591711018190738]),
        (lambda x: x * math.exp(x), 0.2, [0.16891597349910956]),
        (lambda x: x**5 - x, 0.0, [-1, 0, 1]),
        (
            lambda x: x**3 - 3 * x,
            1.0,
            [-1.5320888862379562, -0.3472963553338607, 1.8793852415718169],
        ),
        (lambda x: math.exp(x) - 3 * x, 0.0, [0.6190612867359452, 1.5121345516578424]),
    ],
)
def test_all_solutions_are_found_once(f, value, wanted):
    assert close(points(invert(f, F), value), [(x,) for x in wanted])


def test_a_double_root_counts_once():
    found = points(invert(lambda x: (x - 1) * (x - 1) * (x + 2), F), 0.0)
    assert np.allclose(np.ravel(found), [-2, 1], atol=1e-6)


@pytest.mark.parametrize(
    ("f", "types", "value", "wanted"),
    [
        (lambda n: n // 4, (int,), 3, [(12,), (13,), (14,), (15,)]),
        (lambda n: abs(n) // 2, (int,), 1, [(-3,), (-2,), (2,), (3,)]),
        (lambda n: n * n, (int,), 49, [(-7,), (7,)]),
        (lambda a, b: a and not b, (bool, bool), True, [(True, False)]),
        (lambda a, b: a or b, (bool, bool), True, [(False, True), (True, False), (True, True)]),
    ],
)
def test_integers_and_truth_values_are_enumerated(f, types, value, wanted):
    assert points(invert(f, *types), value) == wanted


def test_all_divisors_are_found():
    found = points(invert(lambda a, b: a * b, int, int), 12)
    assert found == sorted((a, 12 // a) for a in range(-12, 13) if a and 12 % a == 0)


def test_a_declared_range_makes_endless_choices_finite():
    turns = invert(lambda x: math.sin(x), F, domain={"x": Reals(0, 10)})
    wanted = [math.pi / 6, math.pi * 5 / 6, math.pi * 13 / 6, math.pi * 17 / 6]
    assert close(points(turns, 0.5), [(x,) for x in wanted])
    rests = invert(lambda x: x % 3.0, F, domain={"x": Reals(0, 10)})
    assert close(points(rests, 1.0), [(1,), (4,), (7,), (10,)])
    minutes = invert(lambda s: s // 60 % 60, int, domain={"s": Integers(0, 86399)})
    found = points(minutes, 3)
    assert found == [(s,) for s in range(86400) if s // 60 % 60 == 3]


def test_endless_choices_are_enumerated_outwards_and_lazily():
    periods = invert(lambda x: math.sin(x), F).solutions(0.0)
    first = [branch.point[0] / math.pi for branch in itertools.islice(periods, 5)]
    assert np.allclose(first, [0, 1, -1, 2, -2])
    both = invert(lambda a, b: math.sin(a) + 0 * b, F, int)
    assert len(list(itertools.islice(both.solutions(0.0), 20))) == 20
    pairs = invert(lambda m, n: (m % 3, n % 5), int, int).solutions((1, 2))
    found = {branch.point for branch in itertools.islice(pairs, 60)}
    assert {(1, 2), (4, 2), (1, 7), (-2, -3), (4, 7)} <= found  # neither of both waits for ever


def test_known_arguments_take_part():
    legs = choose(lambda a, b: math.hypot(a, b), F, F, known=("return", "a"))
    assert close(points(legs, 5.0, 3.0), [(-4,), (4,)])
    with pytest.raises(WrongArguments, match=r"each known axis \(return, a\)"):
        legs.solutions(5.0)


# ---- families -----------------------------------------------------------------------------


def test_what_stays_free_is_a_family_whose_points_are_solutions():
    inverse = invert(lambda a, b: math.sin(a + b), F, F)
    rng = np.random.default_rng(0)
    for branch in itertools.islice(inverse.solutions(0.5), 4):
        assert isinstance(branch, SolutionBranch)
        assert not branch.is_point
        assert set(branch.chosen).isdisjoint(branch.parameters.names)
        assert {*branch.chosen, *branch.parameters.names} == set(inverse.parameters.names)
        a, b = branch.sample(rng)
        assert math.isclose(math.sin(a + b), 0.5, rel_tol=1e-8)
        assert branch.contains(a, b)
        with pytest.raises(WrongArguments, match="is a family"):
            _ = branch.point


def test_the_open_parameters_are_narrowed_to_where_solutions_lie():
    inverse = invert(lambda x, y: x * x + y * y, F, F)
    found = list(inverse.solutions(4.0))
    assert len(found) == 2
    for branch in found:
        (parameter,) = branch.parameters
        assert -2.001 < parameter.domain.low < -1.999
        assert 1.999 < parameter.domain.high < 2.001
        for theta in branch.parameters.sample(np.random.default_rng(0), 50):
            x, y = branch(theta)
            assert math.isclose(x * x + y * y, 4.0)


def test_a_plateau_of_rounding_is_a_family():
    (branch,) = invert(lambda x: math.tanh(x), F).solutions(1.0)
    assert branch((25.0,)) == (25.0,)
    assert branch.contains(19.5)
    assert not branch.contains(1.0)


def test_where_every_number_is_a_root_there_is_a_family():
    inverse = invert(lambda x, y: (x - y) / (x - y), F, F)
    found = list(inverse.solutions(1.0))
    assert found
    assert not any(branch.is_point for branch in found)
    assert any(branch.contains(5.0, 2.0) for branch in found)
    assert any(branch.contains(-5.0, 2.0) for branch in found)


# ---- proofs -------------------------------------------------------------------------------


def cooled(x):
    return math.exp(x) + 1


def clipped(x, y):
    a = math.sin(x)
    b = math.cos(y)
    return a * b + 3


@pytest.mark.parametrize(
    ("f", "types", "value", "line"),
    [
        (lambda n: n * n, (int,), 50, 0),
        (cooled, (F,), 0.5, 1),
        (clipped, (F, F), 0.5, 3),
        (clipped, (F, F), 4.5, 3),
    ],
)
def test_that_there_is_no_solution_is_proven_with_the_line(f, types, value, line):
    found = invert(f, *types).solutions(value)
    assert list(found) == []
    assert found.status == "complete"
    assert re.search(r"has no solution .* whatever θ", found.reason)
    assert f"test_solutions.py:{f.__code__.co_firstlineno + line}" in found.reason
    assert "constraint propagation backwards through the program" in found.reason


def test_an_arm_that_cannot_be_is_not_tried():
    def f(x):
        if x > 2:
            return math.exp(x)
        return x - 1

    inverse = invert(f, F)
    assert [b.chosen["then_x"] for b in inverse.solutions(20.0)] == [True]
    assert [b.chosen["then_x"] for b in inverse.solutions(-20.0)] == [False]
    nothing = inverse.solutions(3.0)
    assert len(nothing) == 0
    assert re.search("(?s)then: .* else: ", nothing.reason)
    nothing = invert(looped, F).solutions(-1.0)  # through a loop as well
    assert len(nothing) == 0
    assert "whatever θ" in nothing.reason


def looped(x):
    total = 1.0
    for i in range(20):
        total = total + x * x * i
    return total


# ---- laws ---------------------------------------------------------------------------------


def check_solutions(f, count, args, value):
    """Check that no proof excludes the value, and that the arguments are on one of the first
    branches; return whether there were enough branches for that.
    """
    try:
        inverse = invert(f, *[F] * count)
        inverse.recover(*args)
    except (NotInvertible, NoSolution):
        return None
    assert infeasible(inverse, (value,)) is None
    box = box_of(inverse, (value,))
    for variable, argument in zip(inverse.origin.inputs, args, strict=True):
        assert variable not in box or box[variable].contains(argument)
    for step, state in zip(range(40), states(inverse, (value,), {}), strict=False):
        branch = None if state is None else branch_of(inverse, (value,), state)
        if branch is not None and holds(branch, args):
            return True
        if step == 39:
            return False
    raise AssertionError(f"no branch has {args}")


def holds(branch, args):
    if branch.is_point:
        return np.allclose(np.ravel(branch.point), args, rtol=1e-6, atol=1e-8)
    return branch.contains(*args)


@settings(max_examples=examples(15))
@given(seed=st.integers(0, 10**9))
def test_arguments_are_among_the_solutions_of_their_result(seed):
    rng = random.Random(seed)
    source, count = random_program(rng, 0.3)
    args = [rng.uniform(-3, 3) for _ in range(count)]
    f = function(source)
    value = value_of(f, args)
    assume(value is not None)
    check_solutions(f, count, args, value)


@settings(max_examples=examples(5))
@given(seed=st.integers(0, 10**9))
def test_arguments_of_programs_with_control_flow_are_among_the_solutions(seed):
    rng = random.Random(seed)
    program = Program(rng)
    args = [round(rng.uniform(-3, 3), 3) for _ in range(program.count)]
    value = value_of(program.function, args)
    assume(value is not None)
    check_solutions(program.function, program.count, args, value)


def test_most_arguments_are_met_among_the_first_branches():
    rng, seen = random.Random(5), []
    while len(seen) < 20:
        source, count = random_program(rng, 0.3)
        args = [rng.uniform(-3, 3) for _ in range(count)]
        f = function(source)
        value = value_of(f, args)
        if value is not None:
            seen.append(check_solutions(f, count, args, value))
    assert seen.count(True) >= 16


@pytest.mark.parametrize(
    ("f", "kind", "value", "wanted"),
    [
        (lambda s: s.upper(), str, "A", {"A", "a"}),
        (lambda s: s.rjust(4), str, "   a", {"a", " a", "  a", "   a"}),
        (lambda n: str(n).zfill(5), int, "00005", {5}),
        (lambda n: math.isqrt(n), int, 5, set(range(25, 36))),
        (lambda n: n * np.uint64(6), np.uint64, np.uint64(30), {5, 5 + 2**63}),
    ],
)
def test_a_coordinate_that_numbers_a_few_solutions_ends(f, kind, value, wanted):
    found = invert(f, kind).solutions(value)
    assert {branch.point[0] for branch in found} == wanted
    assert found.status == "complete" or "in a row gave no other solution" in found.reason


def test_infinitely_many_solutions_go_on():
    found = invert(math.sin, float).solutions(0.5)
    assert len(list(itertools.islice(found, 3000))) == 3000
    assert found.status == "searching"
