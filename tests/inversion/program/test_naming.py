"""Names of parameters: they follow expressions of the source, are unique, and stable."""

import cmath
import inspect
import keyword
import linecache
import math
import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inversion import NotInvertible, choose, invert
from inversion.program.variable_names import OF_FUNCTIONS, Label, names_of
from primitives import Reals
from primitives.base_table import RELATIONS
from tests.laws.trying import KINDS, made


def names(f, *types, **options):
    return invert(f, *types, **options).parameters.names


def written(source, name="f"):
    """A function in its own file, so that it has source lines."""
    filename = f"<written {random.random()}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    namespace = {"math": math}
    exec(compile(source, filename, "exec"), namespace)
    return namespace[name]


def test_a_name_says_what_is_chosen_and_of_what():
    assert names(math.sin, float) == ("branch_of_sin",)
    assert names(lambda x: abs(x), float) == ("negative_x",)
    assert names(lambda x: x * math.exp(x), float) == ("near_x",)
    product = choose(lambda x, y: x * y, float, float, known=("return", "x"))
    assert product.parameters.names == ("y",)


PAGE = Path(__file__).parents[3] / "docs/inversion.md"
TABLE = PAGE.read_text().partition("| Choice | Meaning |")[2].partition("\n\n")[0]
WORDS = set(re.findall(r"`(\w+)`", "\n".join(row.split("|")[1] for row in TABLE.splitlines()[2:])))
CHOICES = {word.removesuffix("_of_f") for word in WORDS}


def test_the_page_has_a_word_for_each_choice_of_each_relation():
    found = {
        OF_FUNCTIONS.get(c, c) for r in RELATIONS for m in r.modes.values() for c in m.coordinates
    }
    assert found - CHOICES == set()


def area(width, height):
    return width * height


def shorter(x: float, y: float):
    return x if x < y else y


def rounded(x: float):
    return math.floor(math.sin(x))


def counted(n: int, k: int):
    return n % k


def countdown(x: float, n: int):
    while n > 0:
        x, n = abs(x) + 1.0, n - 1
    return x


@pytest.mark.parametrize(
    ("f", "types"),
    [
        (area, (float, float)),
        (shorter, ()),
        (rounded, ()),
        (counted, ()),
        (countdown, ()),
        (lambda x, y: (x > y, x + y), (float, float)),
        (lambda a, b: (a, b)[a > b], (float, float)),
        (lambda x, y: x == y, (int, int)),
        (cmath.polar, (complex,)),
    ],
)
def test_the_names_of_worked_programs_have_a_form_of_the_page(f, types):
    form = re.compile(rf"({'|'.join(sorted(CHOICES, key=len, reverse=True))})(_of_\w+|_\w+)?$")
    program = invert(f, *types)
    own = {*inspect.signature(f).parameters}
    assert [n for n in program.parameters.names if not form.match(n) and n not in own] == []


def test_what_has_no_name_is_called_after_what_gives_it():
    assert names(lambda x: math.tanh(2 * x + 1), float) == ("near_sum",)
    assert names(lambda x: abs(math.log(x)), float) == ("negative_log",)


def test_one_line_is_told_apart_by_variables_and_several_by_lines():
    assert names(lambda x, y: (math.sin(x), math.sin(y)), float, float) == (
        "branch_of_sin_x", "branch_of_sin_y",
    )  # fmt: skip
    two_lines = written(
        "def f(x: float, y: float):\n    a = math.sin(x)\n    b = math.sin(y)\n    return a, b\n"
    )
    assert names(two_lines) == ("branch_of_sin_line_2", "branch_of_sin_line_3")


def test_a_statement_elsewhere_changes_no_name():
    one = written("def f(x: float):\n    y = math.exp(x)\n    return math.sin(y) ** 2\n")
    other = written(
        "def f(x: float):\n    a = 3 * x\n    b = a / 7 + 1\n    y = math.exp(b) + 2 * b / b\n"
        "    return 2 + 3 * math.sin(y) ** 2\n"
    )
    assert set(names(one)) <= set(names(other))


def test_a_variable_that_is_assigned_again_is_not_the_argument():
    again = written("def f(x: float, y: float):\n    x = x * y\n    return math.sin(x) * x\n")
    found = names(again)
    assert len(set(found)) == len(found)
    assert not any(name == "x" for name in found) or "y" not in found


def test_a_domain_keeps_the_name():
    declared = invert(math.cos, float, domain={"x": Reals(-10.0, 10.0)}).parameters
    assert set(declared.names) <= {"branch_of_cos"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(12))
def test_names_of_random_programs_are_identifiers_and_unique(kind, seed):
    from tests.laws.straight_line import function

    trial = made(kind, seed)
    f = function(trial.source)
    try:
        inverse = invert(f, *trial.types)
    except NotInvertible:
        return
    found = inverse.parameters.names
    check(found)
    assert invert(function(trial.source), *trial.types).parameters.names == found


def check(found):
    assert len(set(found)) == len(found)
    assert all(name.isidentifier() and not keyword.iskeyword(name) for name in found)


WORDS = st.sampled_from(["x", "y", "near_x", "near_x_line_1", "near_x_2", "class", "theta"])


@given(st.lists(st.builds(Label, WORDS, st.sampled_from(["f.py:1", "f.py:2", ""]), WORDS)))
def test_any_labels_are_told_apart(labels):
    found = names_of(labels, {"x"}, {"x", "y", "theta"})
    check(found)
    assert len(found) == len(labels)
    assert not {"x", "y", "theta"} & set(found)
