"""A user can see what the Python engine intercepts, instruments and drops: in logs."""

import logging
import math
import operator
import threading

import pytest

from overlay import Context, MethodTable, Plugin


@pytest.fixture
def records(caplog):
    """Calls a function, and returns the messages of the logger ``overlay.python`` meanwhile."""

    def of(call, level=logging.INFO):
        caplog.clear()
        with caplog.at_level(level, "overlay.python"):
            call()
        return [r.getMessage() for r in caplog.records if r.name == "overlay.python"]

    return of


def constant(value):
    def method(x: float) -> float:
        return value

    return method


def sine_of_ten():
    table = MethodTable("logged")
    table.overlay(math.sin)(constant(10.0))
    return table


def program(x):
    return math.sin(x)


def test_the_first_run_of_a_context_says_what_it_intercepts(records):
    ctx = Context(sine_of_ten())
    assert records(lambda: ctx(program, 1.0)) == ["first run with 'logged': intercepts math.sin"]
    assert records(lambda: ctx(program, 1.0)) == []
    assert records(lambda: Context(sine_of_ten())(program, 1.0), logging.WARNING) == []


def test_of_many_targets_some_are_named_and_the_others_counted(records):
    table = MethodTable("many")
    for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "sinh", "cosh", "tanh", "erf"):
        table.overlay(getattr(math, name))(constant(0.0))
    (message,) = records(lambda: Context(table)(program, 1.0))
    assert message.startswith("first run with 'many': intercepts ")
    assert message.endswith(" and 2 others")
    assert message.count("math.") == 8


def test_nested_contexts_are_logged_with_all_their_tables(records):
    inner = MethodTable("inner")
    inner.overlay(math.cos)(constant(0.0))
    outer, within = Context(sine_of_ten()), Context(inner)
    messages = records(lambda: outer(within, program, 1.0))
    assert messages == [
        "first run with 'logged': intercepts math.sin",
        "first run with 'inner', 'logged': intercepts math.cos, math.sin",
    ]


CHANGES = {
    "added": (
        lambda t: t.overlay(math.sin)(lambda x: 1.0),
        "cached resolutions of its calls are dropped",
    ),
    "new": (lambda t: t.overlay(math.cos)(constant(1.0)), "it is intercepted now"),
    "later": (lambda t: t.add_later(math.cos, lambda: None), "it is intercepted now"),
    "removed": (lambda t: t.remove(math.sin), "it is no longer intercepted"),
    "cleared": (lambda t: t.clear(), "it is no longer intercepted"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_edit_of_a_table_says_what_becomes_of_its_target(records, name):
    change, becomes = CHANGES[name]
    table = sine_of_ten()
    assert records(lambda: change(sine_of_ten())) == []  # no context has run with it
    ctx = Context(table)
    ctx(program, 1.0)
    target = "math.cos" if name in ("new", "later") else "math.sin"
    assert records(lambda: change(table)) == [
        f"methods of {target} changed, with 'logged': {becomes}"
    ]


def adds(a, b):
    return a + b


def test_code_whose_instructions_are_instrumented_is_named_once_with_its_place(records):
    table = MethodTable("sums")

    @table.overlay(operator.add)
    def add(a: int, b: int) -> int:
        return 12  # without an operator, which another stack may want

    ctx = Context(table)
    ctx(program, 1.0)
    place = f"{__file__}:{adds.__code__.co_firstlineno}"
    assert records(lambda: ctx(adds, 3, 4), logging.DEBUG) == [
        f"instrumented adds, {place}; instructions: 1"
    ]
    assert records(lambda: ctx(adds, 3, 4), logging.DEBUG) == []


def test_plugins_that_are_asked_about_calls_are_counted(records):
    class Seeing(Plugin):
        def around(self, callee, call_next):
            return call_next

    ctx = Context(sine_of_ten(), plugins=[Seeing()])
    (message,) = records(lambda: ctx(program, 1.0))
    assert message.endswith("intercepts math.sin; plugins asked about calls: 1")


def test_a_handler_runs_in_no_context_and_without_the_lock_of_the_tables():
    table, seen = sine_of_ten(), []
    log, ctx = logging.getLogger("overlay.python"), Context(table)
    handler = logging.Handler()

    def elsewhere():
        other = sine_of_ten()
        other.overlay(math.cos)(constant(0.0))

    def emit(record):
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join(30)
        seen.append((thread.is_alive(), math.sin(0.0)))

    handler.emit = emit
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        ctx(program, 1.0)
        table.overlay(math.sin)(lambda x: 2.0)
        ctx(lambda: table.overlay(math.cos)(lambda x: 2.0))
    finally:
        log.removeHandler(handler)
        log.setLevel(logging.NOTSET)
    assert len(seen) >= 3
    assert set(seen) == {(False, 0.0)}
