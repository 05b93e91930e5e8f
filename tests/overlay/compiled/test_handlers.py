"""Handlers in compiled code: what is caught, and what is raised after, is what the interpreter
catches and raises."""

import math
import traceback

import pytest
from numba import njit

from overlay import Context, MethodTable

table = MethodTable("handlers")
table.overlay(math.sin)(lambda x: x)


def bad(x):
    if x > 5.0:
        raise ValueError("too large")
    return x


def caught(x):
    try:
        y = bad(x)
    except Exception:
        y = 0.5
    return y


def returned(x):
    try:
        return bad(x)
    except Exception:
        return 0.5


def after(x):
    try:
        y = bad(x)
    except Exception:
        y = 0.5
    return bad(x + 1) + y


def in_loop(x):
    s = 0.0
    for i in range(4):
        try:
            s += bad(x + i)
        except Exception:
            s += 100.0
    return s + bad(s / 1000)


def around_loop(x):
    try:
        for i in range(4):
            y = bad(x + i)
        y = bad(y)
    except Exception:
        y = 7.0
    return bad(y)


def nested(x):
    try:
        try:
            y = bad(x)
        except Exception:
            y = 3.0
        y += bad(x)
    except Exception:
        y = 4.0
    return y + bad(1.0)


def in_branch(x):
    try:
        if x > 3:
            y = bad(x)
        else:
            y = bad(x + 5)
            y += 1.0
    except Exception:
        y = bad(2.0)
    return y


def with_else(x):
    try:
        y = bad(x)
    except Exception:
        y = 1.0
    else:
        y += bad(x + 3)
    return y


def left_early(x):
    n = 0
    while n < 3:
        try:
            y = bad(x + n)
            if y > 4:
                break
        except Exception:
            n += 10
            continue
        n += 1
    return bad(n * 1.0)


def raised_twice(x):
    try:
        if x > 6:
            raise ValueError("a")
        y = bad(x)
    except Exception:
        y = 2.0
    if y == 2.0:
        y = bad(x)
    return y


def by_index(x):
    try:
        y = [1.0, 2.0][int(x)]
    except Exception:
        y = 9.0
    return [1.0, 2.0][int(y)]


def in_closure(x):
    def f(z):
        try:
            return bad(z)
        except Exception:
            return 0.25

    return f(x) + bad(x)


def several(x):
    try:
        c = bad(x) + bad(x + 1)
        return c if c > 3 else bad(c)
    except Exception:
        return -1.0


def comprehension(x):
    try:
        y = sum([bad(x + i) for i in range(3)])
    except Exception:
        y = -2.0
    z = 0.0
    for i in range(3):
        z += bad(i * 1.0)
    return y + z


@njit(inline="always")
def inlined(x):
    if x > 4.0:
        return bad(x) + bad(x - 1.0)
    return bad(x + 1.0)


def of_inlined(x):
    try:
        y = inlined(x)
    except Exception:
        y = 1.0
    return y + inlined(x / 2) + bad(x)


def items(x):
    for i in range(4):
        yield bad(x + i)


def of_generator(x):
    s = 0.0
    try:
        for v in items(x):
            s += v
    except Exception:
        s -= 100.0
    for v in items(x / 2):
        s += v
    return s


def of_generator_that_nothing_uses(x):
    try:
        for _ in items(x):
            pass
    except Exception:
        return -1.0
    return 1.0


def of_generator_in_a_loop(x):
    s = 0.0
    for i in range(3):
        try:
            for v in items(x + i):
                s += v
        except Exception:
            s -= 100.0
        else:
            s += 10.0
    return s


def of_enumerated_and_zipped(x):
    s = 0.0
    try:
        for i, v in enumerate(items(x)):
            s += i * v
        for i, v in zip(range(3), items(x)):  # noqa: B905 numba knows no strict=
            s += i * v
    except Exception:
        s -= 100.0
    return s


def of_next(x):
    each = items(x)
    try:
        y = next(each) + next(each)
    except Exception:
        y = -1.0
    return y


def inner_in_a_loop(x):
    s = 0.0
    try:
        for i in range(4):
            s += bad(x)
            try:
                s += bad(x + i)
            except Exception:
                s -= 7.0
            s += bad(x + i - 1)
    except Exception:
        s -= 1000.0
    return s


def after_an_inner_loop(x):
    s = 0.0
    try:
        for i in range(2):
            try:
                s += bad(x + i)
            except Exception:
                s -= 7.0
        for v in items(x):
            s += v
    except Exception:
        s -= 1000.0
    return s


PROGRAMS = [
    of_inlined,
    of_generator,
    of_generator_that_nothing_uses,
    of_generator_in_a_loop,
    of_enumerated_and_zipped,
    of_next,
    inner_in_a_loop,
    after_an_inner_loop,
    caught,
    returned,
    after,
    in_loop,
    around_loop,
    nested,
    in_branch,
    with_else,
    left_early,
    raised_twice,
    by_index,
    in_closure,
    several,
    comprehension,
]


def outcome(call):
    """The result, or the type of the exception with names and lines of the frames here."""
    try:
        return call()
    except (ValueError, IndexError) as error:
        found = traceback.extract_tb(error.__traceback__)
        return type(error), [(f.name, f.lineno) for f in found if f.filename == __file__][2:]


@pytest.mark.parametrize("program", PROGRAMS)
def test_handlers_catch_what_the_interpreter_catches(program):
    context = Context(table)
    hot = context.jit(program)
    for x in (0.0, 1.0, 2.0, 4.0, 4.5, 5.0, 5.5, 6.5, 8.0):
        assert outcome(lambda x=x: hot(x)) == outcome(lambda x=x: context(program, x)), x
