"""Callables as values in compiled code: identity, equality, truth and the object that is returned
are those of the interpreter, or the program is refused by name."""

import contextlib
import functools
import math
import operator
from dataclasses import dataclass

import numpy as np
import pytest
from numba import njit, vectorize
from numba.extending import register_jitable

from overlay import Context, MethodTable, NotCompilable, OverlayError, generic, nonoverlay, recurse


def up(x):
    return x + 1.0


def scaled_by(factor, x):
    return factor * x


@njit
def doubled(x):
    return 2.0 * x


@vectorize
def halved(x):
    return 0.5 * x


@register_jitable
def tripled(x):
    return 3.0 * x


@generic
def measured(x: float):
    return x


@dataclass
class Adder:
    """Equal to others of the same number."""

    number: float

    def __call__(self, x):
        return x + self.number

    def add(self, x):
        return x + self.number


class Plain:
    """Equal to itself alone."""

    def __call__(self, x):
        return x


class Empty(Plain):
    """False."""

    def __len__(self):
        return 0


class Never(Plain):
    def __bool__(self):
        return False


adder, halving = Adder(1.0), functools.partial(scaled_by, 0.5)
KINDS = {
    "functions": (up, up, lambda x: x),
    "builtins": (math.sin, math.sin, math.cos),
    "ufuncs": (np.sin, np.sin, np.cos),
    "@njit": (doubled, doubled, up),
    "@vectorize": (halved, halved, up),
    "@register_jitable": (tripled, tripled, up),
    "generic functions": (measured, measured, up),
    "functools.partial": (halving, halving, functools.partial(scaled_by, 0.5)),
    "bound methods": (adder.add, adder.add, Adder(1.0).add),
    "methods in C": ((1.5).__add__, (1.5).__add__, (2.5).__add__),
    "unbound methods": (float.hex, float.hex, float.is_integer),
    "objects": (Plain(), Plain(), up),
    "equal objects": (Adder(1.0), Adder(1.0), Adder(2.0)),
    "empty objects": (Empty(), Never(), Plain()),
    "context.wrap": (Context().wrap(up), Context().wrap(up), up),
    "nonoverlay": (nonoverlay(up), nonoverlay(up), up),
    "classes": (float, float, int),
}


def programs(c):
    def is_first(k):
        return c[k] is c[0]

    def is_not_first(k):
        return c[k] is not c[0]

    def equals_first(k):
        return c[k] == c[0]

    def differs(k):
        return c[k] != c[0]

    def is_found(k):
        return c[k] in c

    def is_true(k):
        return 1 if c[k] else 0

    def is_false(k):
        return not c[k]

    def itself(k):
        return c[k]

    return (is_first, is_not_first, equals_first, differs, is_found, is_true, is_false, itself)


NAMES = [f.__name__ for f in programs(())]


def unreached(target):
    class Unused: ...

    def unused(x: Unused):
        raise AssertionError("no argument is one")

    table = MethodTable("unreached")
    table.overlay(target)(unused)
    return Context(table)


def contexts(kind):
    """A context without tables, and one with a method of the first callable, where it can be."""
    yield Context()
    with contextlib.suppress(OverlayError):
        yield unreached(KINDS[kind][0])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_callables_are_compared_as_by_the_interpreter_or_refused(kind, name):
    program = programs(KINDS[kind])[NAMES.index(name)]
    for context in contexts(kind):
        with contextlib.suppress(NotCompilable):
            found = [context.jit(program)(k) for k in range(3)]
            wanted = [program(k) for k in range(3)]
            assert all(map(operator.is_ if name == "itself" else operator.eq, found, wanted)), kind


# what is compiled, so that the matrix does not hold where all is refused
COMPILED = [
    *((kind, name) for kind in ("functions", "functools.partial", "objects") for name in NAMES),
    ("bound methods", "equals_first"),
    ("bound methods", "is_first"),
    ("@register_jitable", "is_found"),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("kind", "name"), COMPILED)
def test_these_are_compiled(kind, name):
    program = programs(KINDS[kind])[NAMES.index(name)]
    assert [Context().jit(program)(k) for k in range(3)] == [program(k) for k in range(3)]


# ---- functions that bring a context, given another ----------------------------------------

other_table, own_table = MethodTable("other"), MethodTable("own")


def raised(x):
    return x + 1.0


@other_table.overlay(raised)
def halved_instead(x: float):
    return x / 2


@own_table.overlay(raised)
def hundredfold(x: float):
    return x * 100


other, inner = Context(other_table), Context(MethodTable("inner"))
wrapped, base = other.wrap(raised), nonoverlay(raised)
BROUGHT = {
    "itself": lambda: raised,
    "wrapped": lambda: wrapped,
    "base": lambda: base,
    "wrapped in the code": lambda: other.wrap(raised),
    "base in the code": lambda: nonoverlay(raised),
    "one of two": lambda: (wrapped, raised)[0],
}
GIVEN = {
    "nonoverlay": lambda f, x: nonoverlay(f)(x),
    "wrap": lambda f, x: inner.wrap(f)(x),
    "wrap in a context with methods": lambda f, x: other.wrap(f)(x),
    "call": lambda f, x: inner(f, x),
    "call in a context with methods": lambda f, x: other(f, x),
    "recurse": lambda f, x: recurse(inner, f, x),
    "recurse in a context with methods": lambda f, x: recurse(other, f, x),
}


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("brought", BROUGHT)
def test_a_function_that_brings_a_context_keeps_it(brought, given):
    get, call = BROUGHT[brought], GIVEN[given]

    def program(x):
        return call(get(), x)

    for context in (Context(own_table), Context()):
        assert context.jit(program)(0.7) == pytest.approx(context(program, 0.7))
