"""What compiled code has read of the program: each kind is edited, and seen at the next call."""

import math
import os
import subprocess
import sys
from textwrap import dedent

import pytest

from overlay import Context, MethodTable, NotCompilable
from overlay.code.record import FunctionReads
from tests.laws.edits import EDITS, LISTS, OBJECTS

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
    if kind.__name__ in LISTS | OBJECTS:
        with pytest.raises(NotCompilable):
            fast(2.0)
        return
    assert fast(2.0) == program(2.0) == 2.0
    edit()
    assert program(2.0) == 18.0
    assert fast(2.0) == 18.0
    assert caller(program)(2.0) == 18.0


@pytest.mark.parametrize("kind", EDITS, ids=lambda kind: kind.__name__)
def test_what_has_not_changed_is_not_said_to_have(kind):
    program, _ = kind()
    reading = FunctionReads(program)
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
