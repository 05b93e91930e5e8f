"""What compiled code has read of the program: each kind is edited, and seen at the next call."""

import math
import os
import subprocess
import sys
import types
from textwrap import dedent

import pytest
from plum import Dispatcher

from overlay import Context, MethodTable, generic
from overlay.code.record import Reading


def of_class():
    class Constants:
        rate = 1.0

    def program(x):
        return x * Constants.rate

    return program, lambda: setattr(Constants, "rate", 9.0)


def inherited():
    class Base:
        rate = 1.0

    class Constants(Base):
        pass

    def program(x):
        return x * Constants.rate

    return program, lambda: setattr(Base, "rate", 9.0)


def hidden_from_now_on():
    class Base:
        rate = 1.0

    class Constants(Base):
        pass

    def program(x):
        return x * Constants.rate

    return program, lambda: setattr(Constants, "rate", 9.0)


def deleted_from_the_nearer_class():
    class Base:
        rate = 9.0

    class Constants(Base):
        rate = 1.0

    def program(x):
        return x * Constants.rate

    return program, lambda: delattr(Constants, "rate")


def static_method():
    class Tools:
        @staticmethod
        def grow(x):
            return x * 1.0

    def program(x):
        return Tools.grow(x)

    return program, lambda: setattr(Tools, "grow", staticmethod(lambda x: x * 9.0))


def of_class_in_module():
    module = types.ModuleType("settings")
    module.Constants = type("Constants", (), {"rate": 1.0})

    def program(x):
        return x * module.Constants.rate

    return program, lambda: setattr(module.Constants, "rate", 9.0)


def of_module():
    module = types.ModuleType("settings")
    module.rate = 1.0

    def program(x):
        return x * module.rate

    return program, lambda: setattr(module, "rate", 9.0)


def closure():
    rate = 1.0

    def program(x):
        return x * rate

    def edit():
        nonlocal rate
        rate = 9.0

    return program, edit


def default():
    def scaled(x, rate=1.0):
        return x * rate

    def program(x):
        return scaled(x)

    return program, lambda: setattr(scaled, "__defaults__", (9.0,))


def method_of_generic():
    @generic
    def scaled(x): ...

    @scaled.dispatch
    def _(x: object):
        return x * 1.0

    def program(x):
        return scaled(x)

    def edit():
        @scaled.dispatch
        def _(x: float):
            return x * 9.0

    return program, edit


def method_of_generic_in_place_of_another():
    @generic
    def scaled(x): ...

    @scaled.dispatch
    def _(x: float):
        return x * 1.0

    def program(x):
        return scaled(x)

    def edit():
        @scaled.dispatch
        def _(x: float):
            return x * 9.0

    return program, edit


def method_of_plum_function():
    dispatch = Dispatcher()

    @dispatch
    def scaled(x: object):
        return x * 1.0

    def program(x):
        return scaled(x)

    def edit():
        @dispatch
        def scaled(x: float):
            return x * 9.0

    return program, edit


EDITS = (
    *(of_class, inherited, hidden_from_now_on, deleted_from_the_nearer_class, static_method),
    *(of_class_in_module, of_module, closure, default),
    *(method_of_generic, method_of_generic_in_place_of_another, method_of_plum_function),
)


CALLERS = {
    "in an empty context": lambda f: Context().jit(f),
    "below another function": lambda f: Context().jit(lambda x: f(x)),
    "in a method of a table": lambda f: in_a_method(f).jit(lambda x: math.sin(x)),
    "in a table that is not reached": lambda f: not_reached().jit(f),
}


def in_a_method(program):
    table = MethodTable("calls it")

    @table.overlay(math.sin)
    def _(x: float):
        return program(x)

    return Context(table)


def not_reached():
    table = MethodTable("not reached")

    @table.overlay(math.cos)
    def _(x: float):
        return 0.0

    return Context(table)


@pytest.mark.parametrize("caller", CALLERS.values(), ids=CALLERS)
@pytest.mark.parametrize("kind", EDITS, ids=lambda kind: kind.__name__)
def test_an_edit_is_seen_at_the_next_call(kind, caller):
    program, edit = kind()
    fast = caller(program)
    assert fast(2.0) == program(2.0) == 2.0
    edit()
    assert program(2.0) == 18.0
    assert fast(2.0) == 18.0
    assert caller(program)(2.0) == 18.0


@pytest.mark.parametrize("kind", EDITS, ids=lambda kind: kind.__name__)
def test_what_has_not_changed_is_not_said_to_have(kind):
    program, _ = kind()
    reading = Reading(program)
    assert not reading.changed()
    assert not reading.changed()


@pytest.mark.parametrize("inherits", [False, True])
def test_kept_code_is_not_used_for_another_constant(tmp_path, inherits):
    text = dedent("""
        from overlay import Context

        class Base:
            rate = {rate}

        class Constants{bases}:
            {body}

        def program(x):
            return x * Constants.rate

        print(Context().jit(program, cache=True)(2.0))
    """)

    def run(rate):
        body = ("(Base)", "pass") if inherits else ("", f"rate = {rate}")
        path = tmp_path / "program.py"
        path.write_text(text.format(rate=rate, bases=body[0], body=body[1]))
        done = subprocess.run(
            [sys.executable, str(path)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        )
        return float(done.stdout)

    assert [run(1.0), run(1.0), run(9.0), run(1.0)] == [2.0, 2.0, 18.0, 2.0]
