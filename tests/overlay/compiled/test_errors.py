"""Errors of the compiled engine: our own, with file and line, and a remedy."""

import math
import operator
from typing import ClassVar

import numba
import numpy as np
import pytest
import typeguard
from numba import njit

from overlay import Context, MethodTable, NotCompilable, OverlayError, call_next, current_context

table = MethodTable("faulty")


@table.overlay(math.sin)
def opens_a_file(x: float):
    return open("x")


@table.overlay(math.cos)
def calls_itself(x: float):
    return 1.0 if x < 0 else math.cos(x)


@table.overlay(math.tan)
def calls_itself_by_way_of_a_helper(x: float):
    return tangent(x)


@table.overlay(math.log)
def meant_for_text(x: str):
    return 1.0


class Opaque:
    """A class that numba cannot compile."""


@table.overlay(Opaque)
def make(x: int):
    return 1.0


def tangent(x):
    return math.tan(x) + 1


def helper(x):
    return math.sin(x)


def line_of(function):
    return function.__code__.co_firstlineno


def error_of(program, *args, kind=OverlayError):
    with pytest.raises(kind) as caught:
        Context(table).jit(program)(*args)
    assert caught.value.help
    return caught.value


def test_a_body_that_cannot_be_compiled_is_named_first_and_its_callers_after():
    def program(x):
        return helper(x)

    error = error_of(program, 1.0, kind=NotCompilable)
    assert error.asked.startswith("the method of math.sin in table 'faulty' cannot be compiled")
    assert error.where.endswith(f"test_errors.py:{line_of(opens_a_file) + 2}")
    callers = [text for label, text in error.notes if label == "called from"]
    assert [c.split()[-1].rsplit(":")[-1] for c in callers] == [
        str(line_of(helper) + 1),
        str(line_of(program) + 1),
    ]
    assert "open" in str(error)
    assert "\x1b" not in str(error)


@pytest.mark.parametrize("target", [math.cos, math.tan])
def test_a_method_that_calls_its_own_target_with_the_same_types_is_told_the_remedy(target):
    def program(x):
        return target(x)

    error = error_of(program, 1.0)
    assert "the same method again" in error.asked
    assert "call_next" in error.help
    assert "nonoverlay" in error.help
    assert error.where.endswith(f":{line_of(table.methods(target)[0].function)}")


def test_a_target_that_numba_does_not_know_names_the_nearest_methods():
    def program(x):
        return Opaque(x)

    assert Context(table).jit(program)(1) == 1.0
    error = error_of(program, 1.5, kind=NotCompilable)
    assert error.where.endswith(f":{line_of(program) + 1}")
    assert any(label == "closest" and "Opaque(int)" in text for label, text in error.notes)


def test_a_call_that_neither_a_method_nor_numba_accepts_names_the_nearest_methods():
    def inside(x):
        return math.log((x, x))

    def program(x):
        return inside(x) + math.log(2.0)

    assert Context(table).jit(lambda: math.log("a") + math.log(1.0))() == 1.0
    error = error_of(program, 1.0, kind=NotCompilable)
    assert error.asked.startswith("no method accepts math.log(")
    assert error.where.endswith(f":{line_of(inside) + 1}")
    assert any(label == "closest" and "math.log(str)" in text for label, text in error.notes)
    assert [text.split()[-1] for label, text in error.notes if label == "called from"][-1].endswith(
        f":{line_of(program) + 1}"
    )
    assert "numba" not in [label for label, _ in error.notes]


def test_a_name_that_is_not_defined_is_told_the_remedy():
    names = {}
    exec("def program(x):\n    return nowhere(x)", names)
    error = error_of(names["program"], 1.0, kind=NotCompilable)
    assert "'nowhere'" in str(error)
    assert "define it" in error.help


def test_an_error_before_types_are_known_names_its_line():
    def program(x):
        y = x + 1.0
        return y + current_context().state

    with pytest.raises(NotCompilable, match="cannot hold the state") as caught:
        Context(table, state={}).jit(program)(1.0)
    assert caught.value.where.endswith(f":{line_of(program) + 2}")


def test_numbas_own_refusals_name_the_function():
    def program(x):
        return x.no_such_attribute

    error = error_of(program, 1.0, kind=NotCompilable)
    assert error.where.endswith(f":{line_of(program) + 1}")
    assert "no_such_attribute" in str(error)


def test_what_python_cannot_have_is_refused_as_a_result_and_no_sooner():
    def library(x):
        return math

    def program(x):
        return library(x).sqrt(x)

    assert Context().jit(program)(4.0) == 2.0
    with pytest.raises(NotCompilable, match=r"cannot return Module[\s\S]*run it interpreted"):
        Context().jit(library)(4.0)


def test_a_method_that_returns_an_iterator_is_told_what_to_return():
    iterators = MethodTable("iterators")

    @iterators.overlay(zip)
    def reverse(a: np.ndarray, b: np.ndarray):
        return call_next(b, a)

    def program(a):
        s = 0.0
        for x, y in zip(a, a):  # noqa: B905
            s += x * y
        return s

    with pytest.raises(
        NotCompilable, match="zip in table 'iterators' returns an iterator"
    ) as caught:
        Context(iterators).jit(program)(np.ones(2))
    assert caught.value.where.endswith(f":{line_of(reverse)}")


class Held:
    listed: ClassVar = []
    named: ClassVar = {}
    texts: ClassVar = set()
    tuples = ()


@pytest.mark.parametrize("name", ["listed", "named", "texts"])
def test_an_empty_container_of_a_class_is_refused_by_its_name(name):
    space = {"Held": Held}
    exec(f"def f(x):\n    return len(Held.{name}) + x\n", space)
    with pytest.raises(NotCompilable, match=f"Held.{name}, a {type(getattr(Held, name)).__name__}"):
        Context().jit(space["f"])(1.0)
    assert Context().jit(lambda x: len(Held.tuples) + x)(1.0) == 1.0


def test_what_numba_stumbles_over_otherwise_is_its_own_limit():
    additions = MethodTable("additions")
    additions.overlay(operator.add)(lambda x, y: x - -y)

    def program(a):
        s = 0.0
        for i in numba.prange(len(a)):
            s += a[i]
        return s

    with pytest.raises(NotCompilable, match="reduction"):
        Context(additions).jit(program, parallel=True)(np.ones(2))


def test_what_a_generated_method_raises_comes_out_as_it_is():
    generated = MethodTable("generated")

    @generated.generated(math.sin)
    def make(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        Context(generated).jit(helper)(1.0)


def test_what_of_a_context_needs_the_running_program_is_refused():
    def tables():
        return current_context().tables

    def replaced(x):
        return current_context().replace(state=x)(helper, x)

    for program, args in ((tables, ()), (replaced, (1.0,))):
        error = error_of(program, *args, kind=NotCompilable)
        assert "metadata" in error.asked + error.help


def test_a_state_that_numba_cannot_share_is_refused():
    def program():
        return current_context().state

    for state in ({}, [1.0], object()):
        with pytest.raises(NotCompilable, match="cannot hold the state"):
            Context(table, state=state).jit(program)()


def test_parameters_by_name_after_the_rest_are_refused():
    def rest(x, *more, scale=2):
        return x * scale

    def program(x):
        return rest(x, 1, scale=3)

    error = error_of(program, 1.0, kind=NotCompilable)
    assert "*more" in error.asked


@pytest.mark.parametrize("options", [{"target": "rocm"}, {"forceobj": True}, {"nopython": False}])
def test_options_without_a_meaning_are_refused(options):
    with pytest.raises(NotCompilable, match=next(iter(options))):
        Context(table).jit(helper, **options)


@pytest.mark.parametrize("thing", [5, "helper", MethodTable("bound").overlay])
def test_what_cannot_be_compiled_is_refused_at_once(thing):
    with typeguard.suppress_type_checks(), pytest.raises(NotCompilable, match="cannot compile"):
        Context(table).jit(thing)


def test_an_error_of_a_first_guess_of_the_types_is_no_error_of_the_program():
    guesses = MethodTable("guesses")

    def number(x):
        return x

    @guesses.overlay(number)
    def of_int(x: int):
        return open("x")

    def program(n):
        x = 0.5
        for _ in range(n):
            x = number(x) + 1
        return x

    assert Context(guesses).jit(program)(2) == 2.5


def test_an_error_leaves_the_context_usable():
    context = Context(table)

    def program(x):
        return math.sin(x), math.log(2.0)

    with pytest.raises(NotCompilable):
        context.jit(program)(1.0)
    assert context.jit(program)(1) == (math.sin(1), math.log(2.0))


def test_a_plain_njit_caller_is_told_in_numbas_way():
    hot = Context(table).jit(helper)
    with pytest.raises(Exception, match=r"the method of math\.sin in table 'faulty'"):
        njit(lambda x: hot(x))(1.0)


@pytest.mark.parametrize(
    ("options", "note"),
    [
        ({"fastmth": True}, "closest: fastmath"),
        ({"nogil": True, "hot_afer": 3}, "closest: hot_after"),
        ({"target": "cuda", "fastmth": True}, "closest: fastmath"),
        ({"colour": 1}, "known: boundscheck, cache, "),
    ],
)
def test_an_option_that_is_not_known_is_refused_at_once(options, note):
    with pytest.raises(NotCompilable, match="there is no such option") as caught:
        Context(table).jit(helper, **options)
    assert list(options)[-1] in caught.value.asked
    assert note in str(caught.value)
    assert "test_errors.py" in str(caught.value.where)
