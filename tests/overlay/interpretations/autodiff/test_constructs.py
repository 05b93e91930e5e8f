"""Constructs of Python in programs that are differentiated: all ways agree with differences, or
refuse by name."""

import ast
import contextlib
import dis
import inspect
import math
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from overlay import Context, MethodTable
from overlay.interpretations.autodiff import (
    NotDifferentiable,
    adjoint,
    autodiff,
    gradient,
    hessian,
    reverse,
)
from tests.overlay.interpretations.autodiff.constructs import ALIASING, CONSTRUCTS

POINTS = (np.array([0.77, 0.43, 1.12]), np.array([1.31, 0.68, 0.52]))
# by numpy functions that write to arrays which they have made
NOT_FORWARDS = ("full", "linspace")


def by_differences(f, x, h=1e-4):
    def of(step):
        rows = np.eye(len(x)) * step
        return np.array([(f(x + s) - f(x - s)) / (2 * step) for s in rows])

    return (4 * of(h) - of(2 * h)) / 3


def assert_agrees(f, derivative):
    for point in POINTS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = derivative(point.copy())
        assert np.allclose(found, by_differences(f, point), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", CONSTRUCTS)
def test_in_reverse_it_is_right(name):
    f = CONSTRUCTS[name]
    assert_agrees(f, gradient(f, mode="reverse"))


@pytest.mark.parametrize("name", [n for n in CONSTRUCTS if n not in NOT_FORWARDS])
def test_forwards_it_is_right(name):
    f = CONSTRUCTS[name]
    assert_agrees(f, gradient(f, mode="forward"))


@pytest.mark.parametrize("name", CONSTRUCTS)
def test_compiled_it_is_right(name):
    f = CONSTRUCTS[name]
    assert_agrees(f, Context().jit(lambda x: autodiff(f, x)))


REFUSED_ALIASING = 10


@pytest.mark.parametrize("name", ALIASING)
def test_with_aliases_it_is_right_or_refused(name):
    with contextlib.suppress(NotDifferentiable):
        assert_agrees(ALIASING[name], gradient(ALIASING[name], mode="reverse"))


def test_few_programs_with_aliases_are_refused():
    refused = 0
    for f in ALIASING.values():
        try:
            gradient(f, mode="reverse")(POINTS[0].copy())
        except NotDifferentiable:
            refused += 1
    assert refused <= REFUSED_ALIASING


# ---- what compiled derivatives depend on --------------------------------------------------


class Scaled:
    factor = 3.0

    def __init__(self, value):
        self.value = value

    def read(self):
        return self.value * self.factor


def helped(x):
    return x * x


def depends(x):
    return Scaled(helped(x[0])).read() + abs(x[1])


def test_compiled_derivatives_see_what_changes_in_the_program(monkeypatch):
    table = MethodTable("table")
    run = Context(table).jit(lambda x: autodiff(depends, x))
    x = np.array([2.0, 3.0])
    assert run(x).tolist() == [12.0, 1.0]
    monkeypatch.setattr(Scaled, "factor", 5.0)
    assert run(x).tolist() == [20.0, 1.0]
    monkeypatch.setitem(globals(), "helped", lambda x: 4.0 * x)
    assert run(x).tolist() == [20.0, 1.0]
    monkeypatch.setattr(Scaled, "read", lambda self: self.value)
    assert run(x).tolist() == [4.0, 1.0]

    @table.overlay(abs)
    def twice(x: float):
        return 2.0 * x

    assert run(x).tolist() == [4.0, 2.0]


class Settings:
    def __init__(self):
        self.factor = 2.0


settings = Settings()


def test_compiled_derivatives_refuse_objects_that_they_cannot_watch():
    def f(x):
        return x[0] * settings.factor

    assert gradient(f, mode="reverse")(np.array([1.0])).tolist() == [2.0]
    with pytest.raises(NotDifferentiable, match="attribute 'factor' of an object from outside"):
        Context().jit(lambda x: autodiff(f, x))(np.array([1.0]))


# ---- refusals -----------------------------------------------------------------------------

names, kept = [], []


def appends_in_while(x):
    items = [x[0]]
    while items[-1] < 10.0:
        items.append(items[-1] * 1.5 + x[1])
    return sum(items)


def makes_a_set(x):
    return sum({x[0], x[1]})


def sets_global(x):
    global names
    names = []
    return x[0]


def sets_outer(x):
    total = 0.0

    def add(value):
        nonlocal total
        total = total + value

    add(x[0])
    return total


def sets_attribute(x):
    settings.last = 1.0
    return x[0]


def appends_outside(x):
    kept.append(x[0])
    return x[0]


def opens(x):
    with open("file") as file:
        return x[0] * float(file.read())


def unknown_key(x):
    return {0: x[0], 1: x[1]}[int(x[2])]


def unknown_depth(x):
    return x[0] if x[0] > 100 else unknown_depth(x * 2.0)


def one_kind_or_another(x):
    return x if x[0] > 100 else x[0]


def long_tuple(x):
    total = 0.0
    for each in (x[0],) * 100:
        total = total + each
    return total


def awaits(x):
    async def inner():
        return x[0]

    return inner()


def prints(x):
    print(x[0])
    return x[0]


def sorts_by_key(x):
    return sorted([x[0], x[1]], key=abs)[0]


def second_of_while(x):
    def f(t):
        total = 0.0
        while t < 8.0:
            t = t * 1.7
            total = total + t * t
        return total

    return autodiff(f, x[0])


REFUSED = {
    appends_in_while: "it appends to a list, or takes from it, in a loop of unknown length",
    makes_a_set: "it makes a set",
    sets_global: "assignment to a global",
    sets_outer: "it reads the variable 'total', which may be rebound while it runs",
    sets_attribute: "it sets the attribute 'last' of an object that it did not create",
    appends_outside: "it calls list.append",
    opens: "it calls _io.open, which is not written in Python",
    unknown_key: "a dict by a key that is not known",
    unknown_depth: "calls itself, and how often is not known",
    one_kind_or_another: "one kind of value on one path",
    long_tuple: "it goes through more than 64 items",
    prints: "it prints",
    sorts_by_key: "it calls sorted with arguments with which it is not followed",
    second_of_while: "it differentiates f, whose loops store values",
}


def handles(x):
    try:
        return x[1] * math.log(x[0] - 1.0)
    except ValueError:
        return x[2]


def test_an_exception_that_the_program_handles_is_recorded_on_the_tape():
    taken = gradient(handles, mode="reverse")
    for point in POINTS:
        assert np.allclose(taken(point), by_differences(handles, point))
        twice = hessian(handles, mode="reverse")(point)
        assert np.allclose(twice, hessian(handles, mode="forward")(point))
    with pytest.raises(NotDifferentiable, match="raise none in compiled code"):
        Context().jit(lambda x: autodiff(handles, x))(POINTS[1])


def is_free_of_instructions(text):
    """Whether no word of a text is an instruction's name."""
    return not set(re.findall(r"[A-Z][A-Z_0-9]{2,}", text)) & set(dis.opmap)


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_a_refusal_names_the_construct_and_its_line(f):
    with pytest.raises(NotDifferentiable, match=REFUSED[f]) as caught:
        adjoint(f, POINTS[0])
    lines, first = inspect.getsourcelines(f)
    line = int(re.search(r"\(line (\d+)\)", caught.value.asked)[1])
    assert first < line < first + len(lines)
    assert is_free_of_instructions(str(caught.value))
    assert caught.value.help


def test_no_refusal_of_the_lifter_names_an_instruction():
    texts = [text for module in modules() for text in refusals_in(module)]
    assert len(texts) > 60
    for text in texts:
        assert is_free_of_instructions(text), text


def modules():
    return sorted(Path(reverse.__file__).parent.glob("*.py"))


def refusals_in(module):
    """The texts of all refusals in a module."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
            "Unreadable",
            "refuse_reverse",
        ):
            for each in ast.walk(node):
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    yield each.value
