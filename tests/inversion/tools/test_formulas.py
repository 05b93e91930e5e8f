"""The text of an inverse: solved formulas, in lines that fit a page."""

import math
import re

import numpy as np
import pytest

from inversion import NotInvertible, choose, invert
from inversion.tools.formulas import formula_of
from tests.laws.trying import KINDS, made
from tests.strangers.stranger_trials import LIMIT, asked, parameters, programs


def steps(f, *types, **options):
    return [str(step) for step in choose(f, *types, **options).program.steps]


def backwards(f, *types):
    return steps(f, *types, known=("return",))


def test_a_solved_step_is_a_formula():
    assert backwards(lambda x: 2 * math.exp(x) + 3, float) == [
        "v2 = v3 - 3.0", "v1 = v2 / 2.0", "x = log(v1)",
    ]  # fmt: skip
    named = choose(lambda x, y: x * y, float, float, known=("return", "x"))
    assert steps(lambda x, y: x - y, float, float, known=("return", "x")) == ["y = x - v1"]
    assert [str(step) for step in named.program.steps] == ["y = v1 / x if x != 0 else θ.y"]


def test_a_root_is_shown_by_its_equation():
    root, _ = backwards(lambda x: x * math.exp(x), float)
    assert root == "x solves x * exp(x) = v2, from near_x"


def test_what_is_no_single_expression_is_shown_by_its_equation_and_choices():
    (step,) = backwards(math.sin, float)
    assert step == "x solves sin(x) = result, choosing branch_of_sin"


def test_arms_show_the_parameters_of_the_whole():
    def f(x):
        if x > 3:
            return math.sin(x)
        return math.sin(x) + 10

    text = str(invert(f, float))
    for parameter in invert(f, float).parameters:
        assert re.search(rf"choosing .*{parameter.name}\b", text)


def test_formulas_are_true():
    """Executed from top to bottom, they give the answers of the inverse."""

    def f(x, y, z):
        a = 3 * x - 1
        b = math.exp(y) / a
        return a, b, math.atan(z) + b

    inverse = invert(f, float, float, float)
    values = f(1.5, 0.3, -0.4)
    names = dict(zip(inverse.program.program.results.values(), values, strict=True))
    env = {str(variable): value for variable, value in names.items()} | vars(math)
    for step in inverse.program.steps:
        exec(str(step), env)
    assert (env["x"], env["y"], env["z"]) == inverse(values, *spare(inverse))


def spare(inverse):
    return (inverse.parameters.default(),) if len(inverse.parameters) else ()


@pytest.mark.parametrize("name", parameters())
def test_no_line_is_longer_than_a_page(name):
    program = programs()[name]
    known = program.get("known", ("return",))
    inverse, _ = asked(lambda: choose(program["f"], *program["types"], known=known), LIMIT)
    if inverse is None:
        return
    place = re.compile(r"\s*\S+:\d+$")  # a path may be longer than a line itself
    lines = str(inverse).splitlines()
    assert all(len(line) <= 100 or place.fullmatch(line) for line in lines)
    assert all(len(re.sub(r"\S+:\d+$", "", line)) <= 100 for line in lines)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_any_plan_is_shown(kind, seed):
    from tests.laws.straight_line import function

    trial = made(kind, seed)
    try:
        inverse = invert(function(trial.source), *trial.types)
    except NotInvertible:
        return
    assert all(" = " in formula_of(step) for step in inverse.program.steps)
    assert all(len(re.sub(r"\S+:\d+$", "", s)) <= 100 for s in str(inverse).splitlines())


def test_elements_and_wholes_are_shown():
    text = str(invert(lambda x: np.exp(x) * 2 + 1, np.zeros(3)))
    assert "x = log(v1)" in text
