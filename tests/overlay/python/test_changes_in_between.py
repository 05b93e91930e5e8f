"""What another thread changes just between two steps of the engines is seen by the next call."""

import pytest

from overlay import Context, MethodTable, Plugin, views
from overlay.python import dispatcher as dispatchers
from overlay.python.callees import Callees
from overlay.python.engine import PythonEngine


def target(x, y=None):
    return "base"


def in_between(monkeypatch, owner, name, change):
    """Have ``change`` come as soon as a function has given its first result for ``target``."""
    function, pending = getattr(owner, name), [change]

    def changing(*args):
        found = function(*args)
        if any(arg is target or getattr(arg, "target", None) is target for arg in args) and pending:
            pending.pop()()
        return found

    monkeypatch.setattr(owner, name, changing)
    return pending


def test_a_method_that_comes_while_a_callee_is_looked_up_is_called_next_time(monkeypatch):
    def program():
        return target(1)

    table = MethodTable("t")
    ctx = Context(table, plugins=(Plugin(),))

    def change():
        table.overlay(target)(lambda x: "method")

    pending = in_between(monkeypatch, Callees, "find", change)
    assert ctx(program) == "base"
    assert not pending
    assert ctx(program) == "method"


@pytest.mark.parametrize(
    ("owner", "name", "plugins"),
    [(views.View, "method", ()), (PythonEngine, "implementation", (Plugin(),))],
    ids=["intercepted", "rewritten"],
)
@pytest.mark.parametrize("call", [lambda f: target(1), lambda f: f(1), lambda f: f(1, 2)])
def test_a_method_that_comes_while_another_is_made_ready_is_called_next_time(
    call, owner, name, plugins, monkeypatch
):
    table = MethodTable("t")
    ctx = Context(table, plugins=plugins)
    table.overlay(target)(lambda x, y=None: "first")

    def change():  # and another call, after which it is known again by what calls are kept
        table.overlay(target)(lambda x, y=None: "second")
        others.append(ctx(call, target))

    others = []
    pending = in_between(monkeypatch, owner, name, change)
    assert ctx(call, target) == "first"
    assert (others, pending) == (["second"], [])
    assert ctx(call, target) == "second"


@pytest.mark.parametrize("of", [views, dispatchers], ids=["intercepted", "rewritten"])
def test_tables_are_seen_as_they_were_at_one_time(of, monkeypatch):
    outer, inner = MethodTable("outer"), MethodTable("inner")
    outer.overlay(target)(lambda x: "outer")
    ctx = Context(outer, inner, plugins=(Plugin(),) if of is dispatchers else ())

    def change():  # one of the two tables has a method at each time
        inner.overlay(target)(lambda x: "inner")
        outer.remove(target)

    find, pending = MethodTable.find, [change]

    def finding(self, wanted):
        found = find(self, wanted)
        if self is inner and wanted is target and resolving and pending:
            pending.pop()()
        return found

    resolving, resolve = [], of.resolve

    def resolved(*args):
        resolving.append(args)
        try:
            return resolve(*args)
        finally:
            resolving.pop()

    monkeypatch.setattr(MethodTable, "find", finding)
    monkeypatch.setattr(of, "resolve", resolved)
    assert ctx(lambda: target(1)) == "inner"
    assert not pending
