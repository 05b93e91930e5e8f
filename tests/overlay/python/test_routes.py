"""Each way to a target: inside a context every call is seen, and the outcome is as natively."""

import gc
import importlib.util
import re
import sys

import numpy as np  # noqa: F401 (loaded, arguments are asked whether they are arrays)
import pytest

from overlay import Context, MethodTable, call_next
from overlay._native import intercept
from tests.overlay.python.routes import (
    BEGIN,
    END,
    KNOWN_LOST,
    LOST_ONLY_ON,
    PAGE,
    ROUTES,
    own,
    seen,
    table,
)

pytestmark = pytest.mark.skipif(intercept is None, reason="the part in C is not built here")
AT_LEAST = 535
"""How many routes there are; none is ever taken out."""


def context_of(target):
    methods = MethodTable("routes")

    @methods.overlay(target)
    def counted(*args, **kwargs):
        seen.add()
        return call_next(*args, **kwargs)

    return Context(methods)


def tried(program):
    """The outcome of a program, how often the target's own code ran, and how often the method."""
    own.take(), seen.take()
    hook, unraisable = sys.unraisablehook, []
    sys.unraisablehook = lambda what: unraisable.append(type(what.exc_value).__name__)
    try:
        outcome = "gives", re.sub("0x[0-9a-f]+", "0x", repr(program()))
    except Exception as error:
        outcome = "raises", f"{type(error).__name__}: {error}"
    finally:
        gc.collect(0)
        sys.unraisablehook = hook
    return (*outcome, *unraisable), own.take(), seen.take()


def with_statement(context, program):
    with context:
        return program()


def in_contexts(route, program, expected):
    """Try a program in a context in four ways, and outside while the context lives."""
    context = context_of(route.target)
    assert tried(lambda: context(program)) == expected
    assert tried(lambda: with_statement(context, program)) == expected
    assert tried(lambda: context(lambda: route.built(route.target)())) == expected
    assert tried(program) == (*expected[:2], 0)
    later = route.built(route.target)  # its classes are made while the target is intercepted
    for _ in range(route.times):
        assert tried(later) == (*expected[:2], 0)
    assert tried(lambda: context(later)) == expected


def routes():
    for name, route in ROUTES.items():
        here = name in KNOWN_LOST and LOST_ONLY_ON.get(name) in (None, sys.version_info[:2])
        lost = [pytest.mark.xfail(reason=KNOWN_LOST[name], strict=True)] if here else []
        yield pytest.param(route, id=name, marks=lost)


@pytest.mark.parametrize("route", list(routes()))
def test_each_call_of_a_target_is_seen_and_the_outcome_is_as_natively(route):
    if route.needs is not None:
        pytest.importorskip(route.needs, exc_type=ImportError)
    if sys.version_info < route.since:
        pytest.skip("this Python has no such thing")
    program = route.built(route.target)
    for _ in range(route.times):  # the instructions are specialised
        tried(program)
    outcome, calls, none = tried(program)
    assert none == 0
    expected = (outcome, calls, calls if route.calls is None else route.calls)
    assert outcome[0] == "gives"
    assert len(outcome) == 2
    assert expected[2] > 0

    in_contexts(route, program, expected)
    assert tried(program) == (outcome, calls, 0)


def test_no_route_is_left_out():
    assert len(ROUTES) >= AT_LEAST
    assert set(LOST_ONLY_ON) <= set(KNOWN_LOST) <= set(ROUTES)


def test_the_page_has_each_route():
    listed = PAGE.read_text().partition(BEGIN)[2].partition(END)[0]
    assert listed == f"\n{table()}\n"
    assert len(re.findall(r"^\| (?!Target \| Caller|---)", listed, re.MULTILINE)) == len(ROUTES)


def test_libraries_that_are_not_installed_are_told_of():
    missing = {r.needs for r in ROUTES.values() if r.needs and not found(r.needs)}
    assert {name.partition(".")[0] for name in missing} <= {"pandas", "sklearn", "wrapt", "joblib"}


def found(module):
    return importlib.util.find_spec(module.partition(".")[0]) is not None
