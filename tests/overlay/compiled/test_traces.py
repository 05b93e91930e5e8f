"""An exception that compiled code raises names where it was raised, and the chain of calls."""

import math
import threading
import traceback

import numpy as np
import pytest
from numba import njit

from overlay import Context, MethodTable

table = MethodTable("raising")


@table.overlay(math.sin)
def fails(x: float):
    if x > 5.0:
        raise ValueError("too large")
    if x > 4.0:
        return np.zeros(int(x) - 4).max()
    if x > 3.0:
        return x % (x - x)
    if x > 2.0:
        return float(int(x) // int(x - x))
    return 1.0 / (x - x)


def deep(n, x):
    if n == 0:
        return math.sin(x)
    return deep(n - 1, x) + 1.0


def helper(x):
    y = x + 1.0
    return deep(2, x) + y


def program(x):
    return helper(x)


hot = Context(table).jit(program)
CHAIN = [(program, 1), (helper, 2), (deep, 2)]


def line(function, after):
    return function.__name__, function.__code__.co_firstlineno + after


def chain_of(function, *args, kind=Exception):
    """Names and lines of the frames below the test's own."""
    with pytest.raises(kind) as caught:
        function(*args)
    frames = traceback.extract_tb(caught.value.__traceback__)
    return [(f.name, f.lineno) for f in frames if f.filename == __file__][1:]


@pytest.mark.parametrize(
    ("x", "kind", "after"),
    [
        (6.0, ValueError, 3),
        (3.5, ZeroDivisionError, 7),
        (2.5, ZeroDivisionError, 9),
        (1.0, ZeroDivisionError, 10),
    ],
)
def test_an_exception_shows_every_call_down_to_the_line_that_raised(x, kind, after):
    expected = [line(*place) for place in [*CHAIN, (fails, after)]]
    assert chain_of(hot, x, kind=kind) == expected


def test_an_exception_of_a_library_names_the_method_that_called_it():
    expected = [line(*place) for place in [*CHAIN, (fails, 0)]]
    assert chain_of(hot, 4.5, kind=ValueError) == expected


def test_an_exception_that_is_caught_leaves_nothing_behind():
    def caught(x):
        try:
            helper(x)
        except Exception:
            return 1.0
        return 2.0

    def raises(x):
        first = caught(x)
        if first > 0.0:
            raise KeyError("second")
        return first

    hot = Context(table).jit(raises)
    assert chain_of(hot, 6.0, kind=KeyError) == [line(raises, 3)]


def test_each_exception_has_its_own_chain():
    def other(x):
        return math.sin(x)

    again = Context(table).jit(other)
    for _ in range(2):
        assert chain_of(again, 6.0) == [line(other, 1), line(fails, 3)]
        assert chain_of(hot, 6.0)[:-1] == [line(*place) for place in CHAIN]


def test_a_plain_njit_caller_shows_the_chain_too():
    @njit
    def caller(x):
        return hot(x) + 1.0

    chain = [line(*place) for place in [*CHAIN, (fails, 3)]]
    with pytest.raises(ValueError, match="too large"):
        caller(6.0)  # the call that compiles it is numba's alone
    assert chain_of(caller, 6.0)[-4:] == chain


def test_threads_have_chains_of_their_own():
    def single(x):
        return math.sin(x)

    other = Context(table).jit(single, nogil=True)
    chains = []

    def run():
        for _ in range(20):
            chains.append(chain_of(other, 6.0))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(chains) == 80
    assert {tuple(chain) for chain in chains} == {(line(single, 1), line(fails, 3))}


def test_a_division_in_code_that_reaches_no_method_says_where_it_is():
    def divide(x):
        y = 1
        return y // x

    assert chain_of(Context(table).jit(divide), 0) == [line(divide, 2)]


def test_calls_that_cannot_raise_are_left_as_numba_makes_them():
    sizes = MethodTable("sizes")
    sizes.overlay(abs)(lambda z: z.real * z.real + z.imag * z.imag)

    def turns(c):
        z = 0j
        for i in range(80):
            z = z * z + c
            if abs(z) > 4.0:
                return i * 1.0
        return 80.0

    def perhaps(c):
        z = 0j
        for i in range(80):
            z = z * z + c
            if abs(z) > 4.0:
                return i / (c.real - 0.1)
        return 80.0

    def notes_in(function):
        def program(n):
            total = 0.0
            for i in range(n):
                total += function(complex(0.1 * i, 0.1))
            return total

        hot = Context(sizes).jit(program)
        hot(1)
        (text,) = hot.inspect_asm().values()
        return "overlay_note_call" in text

    assert not notes_in(turns)
    assert notes_in(perhaps)
