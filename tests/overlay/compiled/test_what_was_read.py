"""What compiled code has read of the program: each kind is edited, and seen at the next call."""

import math
import os
import subprocess
import sys
from collections import namedtuple
from textwrap import dedent

import numpy as np
import pytest

from overlay import Context, MethodTable, NotCompilable
from overlay.code.record import FunctionReads
from overlay.interpretations.autodiff import autodiff
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


# ---- arrays below the values that are read, and the order of what is read -----------------


Pair = namedtuple("Pair", ["scale", "weights"])


def of_tuple(array):
    held = 1.0, array
    return lambda x: x * held[1][0]


def of_nested_tuple(array):
    held = (1.0, (2.0, array))
    return lambda x: x * held[1][1][0]


def of_named_tuple(array):
    held = Pair(1.0, array)
    return lambda x: x * held.weights[0]


def of_default(array):
    return eval("lambda x, w=array: x * w[0]", {"array": array})


def of_keyword_default(array):
    return eval("lambda x, *, w=array: x * w[0]", {"array": array})


def of_derivative(array):
    held = 1.0, array

    def energy(y):
        return 0.5 * y * y * held[1][0]

    return lambda x: autodiff(energy, x)


@pytest.mark.parametrize(
    "made",
    [
        *(of_tuple, of_nested_tuple, of_named_tuple, of_default, of_keyword_default),
        of_derivative,
    ],
)
def test_the_elements_of_a_small_array_below_a_value_are_seen(made):
    array = np.array([2.0, 3.0])
    program = made(array)
    hot = Context().jit(program)
    assert hot(2.0) == Context()(program, 2.0) == 4.0
    array[0] = 9.0
    assert hot(2.0) == Context()(program, 2.0) == 18.0


def raised(x):
    return x + 1


def scaled(x):
    return x * 100


def test_the_order_of_a_dict_of_functions_is_seen():
    functions = {"a": raised, "b": scaled}

    def program(x):
        for name in functions:
            x = functions[name](x)
        return x

    hot = Context().jit(program)
    assert hot(2.0) == 300.0
    functions["a"] = functions.pop("a")
    assert hot(2.0) == program(2.0) == 201.0


def test_a_key_that_equals_the_former_one_is_another():
    functions = {0.0: raised}

    def program(x):
        found = 0.0
        for key in functions:
            found = math.copysign(1.0, key) * x
        return found

    hot = Context().jit(program)
    assert hot(2.0) == 2.0
    functions.clear()
    functions[-0.0] = raised
    assert hot(2.0) == program(2.0) == -2.0
