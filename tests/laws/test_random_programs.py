"""The laws of inverses, for random straight-line programs."""

import random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from inversion import NoSolution, NotInvertible, WrongArguments, invert
from inversion.minimal import run_backwards
from tests.examples import examples
from tests.laws.straight_line import UNARY, function, random_program, value_of


@st.composite
def programs(draw, *, reuse):
    """A function of one to four floats, as source; ``reuse``: variables may be used again."""
    inputs = draw(st.integers(1, 4))
    pending = [f"x{i}" for i in range(inputs)]
    names, lines = list(pending), []
    count = draw(st.integers(inputs, 9))
    while len(pending) > 1 or len(lines) < count:
        first = pending.pop(draw(st.integers(0, len(pending) - 1)))
        if not pending and draw(st.booleans()):
            lines.append(f"t{len(lines)} = {draw(st.sampled_from(UNARY))}({first})")
        else:
            second = _operand(draw, pending, names if reuse else [])
            operator = draw(st.sampled_from("+-*/"))
            pair = (first, second) if draw(st.booleans()) else (second, first)
            lines.append(f"t{len(lines)} = {pair[0]} {operator} {pair[1]}")
        pending.append(f"t{len(lines) - 1}")
        names.append(pending[-1])
    body = "\n    ".join([*lines, f"return {pending[0]}"])
    return f"def f({', '.join(names[:inputs])}):\n    {body}\n", inputs


def _operand(draw, pending, names):
    kind = draw(st.integers(0, 3))
    if kind == 0 and names:
        name = draw(st.sampled_from(names))
        if name in pending:
            pending.remove(name)
        return name
    if kind < 3 and pending:
        return pending.pop(draw(st.integers(0, len(pending) - 1)))
    return repr(round(draw(st.floats(0.5, 3)), 2))


def check_inverse(source, inputs, args, units):
    """Check that it is sound for any θ, and complete for the recovered one; return whether it
    answered there.
    """
    f = function(source)
    value = value_of(f, args)
    assume(value is not None)
    inverse = invert(f, *[float] * inputs)
    space = inverse.parameters
    assert invert(function(source), *[float] * inputs).parameters.names == space.names
    for theta in (space.from_unit(units[: len(space)]), space.default()):
        try:
            answer = inverse(value, *((theta,) if theta else ()))
        except NoSolution:
            continue
        assert abs(f(*answer) - value) <= 1e-12 + 1e-9 * abs(value)
    theta = inverse.recover(*args)
    answer = inverse(value, *((theta,) if theta else ()))
    assert answer == pytest.approx(args, rel=1e-9, abs=1e-12)


numbers = st.lists(st.floats(-3, 3), min_size=4, max_size=4)
unit_points = st.lists(st.floats(0, 1), min_size=40, max_size=40)


@settings(max_examples=examples(100))
@given(program=programs(reuse=False), args=numbers, units=unit_points)
def test_programs_that_use_each_variable_once_are_invertible(program, args, units):
    source, inputs = program
    try:
        check_inverse(source, inputs, args[:inputs], units)
    except NoSolution:
        assume(False)


@settings(max_examples=examples(100))
@given(program=programs(reuse=True), args=numbers, units=unit_points)
def test_programs_that_use_variables_again_are_solved_rightly_or_refused(program, args, units):
    source, inputs = program
    try:
        check_inverse(source, inputs, args[:inputs], units)
    except (NoSolution, NotInvertible) as error:
        refusal = error
    else:
        return
    assert "test_random_programs" in refusal.where or refusal.where.startswith("<string>")
    assert refusal.help


@settings(max_examples=examples(60))
@given(
    program=programs(reuse=False),
    args=numbers,
    choices=st.lists(st.integers(-2, 3), min_size=20, max_size=20),
)
def test_the_planner_agrees_with_inversion_by_overlays_alone(program, args, choices):
    source, inputs = program
    f = function(source)
    value = value_of(f, args[:inputs])
    assume(value is not None)
    try:
        found = run_backwards(f, value, choices, inputs=inputs)
    except (NoSolution, WrongArguments):
        assume(False)
    inverse = invert(f, *[float] * inputs)
    try:
        theta = inverse.recover(*found)
    except NoSolution:
        assume(False)
    answer = inverse(f(*found), *((theta,) if theta else ()))
    assert answer == pytest.approx(found, rel=1e-9, abs=1e-12)


# ---- how much is answered -----------------------------------------------------------------


def shares(reuse, count=120):
    """The shares of random programs with a value that are planned, recovered, and answered for
    random θ.
    """
    rng, draws = random.Random(1), np.random.default_rng(1)
    tried = planned = recovered = answered = 0
    while tried < count:
        source, inputs = random_program(rng, reuse)
        f = function(source)
        args = [rng.uniform(-3, 3) for _ in range(inputs)]
        value = value_of(f, args)
        if value is None or abs(value) > 1e8:
            continue
        tried += 1
        try:
            inverse = invert(f, *[float] * inputs)
        except NotInvertible:
            continue
        planned += 1
        theta = inverse.parameters.sample(draws)
        answered += answers(inverse, value, *((theta,) if theta else ()))
        recovered += answers(inverse.recover, *args)
    return planned / tried, recovered / planned, answered / planned


def answers(function, *args):
    try:
        function(*args)
    except NoSolution:
        return False
    return True


def test_nearly_every_program_that_uses_each_variable_once_is_answered():
    planned, recovered, answered = shares(reuse=0.0)
    assert planned == 1
    assert recovered >= 0.98
    assert answered >= 0.5


def test_most_programs_that_use_variables_again_are_answered():
    planned, recovered, answered = shares(reuse=0.3)
    assert planned >= 0.98
    assert recovered >= 0.98
    assert answered >= 0.5
