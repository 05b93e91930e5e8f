"""An exception that compiled code raises names where it was raised, and the chain of calls."""

import math
import os
import subprocess
import sys
import threading
import traceback

import numpy as np
import pytest
from numba import njit, objmode

from overlay import Context, MethodTable, Plugin, call_next
from overlay.compiled.traces import MOST
from overlay.interpretations.autodiff import autodiff

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
CHAIN = [(program, 1), (helper, 2), (deep, 3), (deep, 3), (deep, 2)]


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


def test_an_exception_of_a_library_names_the_line_that_called_it():
    expected = [line(*place) for place in [*CHAIN, (fails, 5)]]
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
    assert chain_of(caller, 6.0)[-len(chain) :] == chain


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


# ---- the frames of the interpreted program, in each way to compile it ----------------------

frames = MethodTable("frames")


@frames.overlay(math.sin)
def overlaid(x: float):
    return bad(x) + 1.0


@frames.overlay(math.cos)
def handed_on(x: float):
    return call_next(x) + bad(x)


def bad(x):
    if x > 5.0:
        raise ValueError("too large")
    return x


def message(x):
    if x > 0.0:
        raise KeyError(x)
    return x


def asserted(x):
    if x >= 5:
        raise AssertionError("not less")  # pytest rewrites assert
    return x


def divided(x):
    return 1 // int(x - x)


def remainder(x):
    y = x - x
    return 1.0 % y


def of_tuple(x):
    items = (1, 2, 3)
    return items[int(x)]


def of_list(x):
    items = [1, 2]
    return items[int(x)]


def of_dict(x):
    items = {1: 2}
    return items[int(x)]


def popped(x):
    items = [int(x)]
    items.pop()
    return items.pop()


def of_library(x):
    return np.zeros(int(x - x)).max()


def of_shapes(x):
    return (np.zeros(3) + np.zeros(int(x))).sum()


def linear_algebra(x):
    return np.linalg.inv(np.zeros((2, 2)) * x).sum()


def unpacked(x):
    one, two = np.zeros(int(x))
    return one + two


RAISING = [
    bad, message, asserted, divided, remainder, of_tuple, of_list, of_dict, popped, of_library,
    of_shapes, linear_algebra, unpacked,
]  # fmt: skip


def called(f):
    """Programs that call a function, each by other means."""

    @njit(inline="always")
    def inlined(x):
        return f(x)

    @njit(inline="always")
    def inlined_twice(x):
        return inlined(x)

    @njit
    def jitted(x):
        return f(x)

    def plain(x):
        return f(x)

    def by_closure(x):
        def inner(y):
            def innermost(z):
                return f(z) + y

            return innermost(y)

        return inner(x)

    def by_lambda(x):
        g = lambda y: f(y)  # noqa: E731
        return g(x)

    def by_inlined(x):
        z = x
        return inlined_twice(z)

    def by_jitted(x):
        return jitted(x) + plain(x)

    def loop(x):
        total = 0.0
        for i in range(3):
            total += plain(x + i)
        return total

    def comprehension(x):
        return sum([f(x + i) for i in range(3)])

    def recursive(x):
        if x < 10.0:
            return recursive(x + 1.0) + 1.0
        return f(x)

    def apply(g, x):
        return g(x)

    def by_argument(x):
        return apply(plain, x)

    def by_keyword(x):
        return 1.0 + plain(
            x=x,
        )

    def by_arguments(x):
        return plain(*(x,))

    def generated(x):
        for i in range(3):
            yield f(x + i)

    def by_generator(x):
        total = 0.0
        for each in generated(x):
            total += each
        return total

    def after_another(x):
        total = caught(x)
        return total + plain(x)

    def caught(x):
        try:
            y = plain(x)
        except Exception:
            y = 1.0
        return y

    return [
        plain, by_closure, by_lambda, by_inlined, by_jitted, loop, comprehension, recursive,
        by_argument, by_keyword, by_arguments, by_generator, after_another,
    ]  # fmt: skip


def by_overlay(x):
    return math.sin(x)


def by_next(x):
    return math.cos(x) + 1.0


def by_nested(x):
    return inner_context(by_overlay, x)


inner_context = Context(frames)


class Inlines(Plugin):
    """Has every call inlined that can be."""

    def inline(self, call):
        return True


class Stages(Plugin):
    """Has the stages of LLVM run."""

    def after_codegen(self, module):
        return module


WAYS = {
    "plain": lambda f: Context(frames).jit(f),
    "nogil": lambda f: Context(frames).jit(f, nogil=True, error_model="python"),
    "parallel": lambda f: Context(frames).jit(f, parallel=True),
    "inlined": lambda f: Context(frames, plugins=[Inlines()]).jit(f),
    "stages": lambda f: Context(frames, plugins=[Stages()]).jit(f),
    "bare": lambda f: Context().jit(f),
}


# numba inlines no generator, and no handler sees what inlined code raises.
NOT_INLINED = {"by_generator", "after_another"}


def check_frames(way, program):
    """Compare the frames of a program with those of the interpreter."""
    if way == "inlined" and program.__name__ in NOT_INLINED:
        return
    x = 8.0
    interpreted = frames_of(lambda: Context(frames)(program, x))
    assert frames_of(lambda: WAYS[way](program)(x)) == interpreted


def frames_of(call):
    """Names and lines of the frames of the program."""
    try:
        call()
    except (ValueError, ArithmeticError, LookupError, AssertionError) as error:
        found = traceback.extract_tb(error.__traceback__)
        return [(f.name, f.lineno) for f in found if f.filename == __file__][2:]
    raise AssertionError("nothing was raised")


PROGRAMS = [*RAISING, by_overlay, by_next, by_nested]


PARALLEL = pytest.mark.filterwarnings("ignore::numba.NumbaPerformanceWarning")


@PARALLEL
@pytest.mark.parametrize("way", [way for way in WAYS if way != "bare"])
def test_the_frames_are_those_of_the_interpreter(way):
    for program in (*called(bad), by_overlay, by_next, by_nested):
        check_frames(way, program)


def test_operations_of_numba_raise_where_the_interpreter_does():
    for f in RAISING:
        check_frames("plain", called(f)[0])


@PARALLEL
@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", RAISING)
def test_the_frames_are_those_of_the_interpreter_for_each_operation(way, f):
    for program in called(f):
        check_frames(way, program)


def test_an_exception_of_python_code_shows_the_compiled_frames_around_it():
    def of_python(x):
        raise RuntimeError("from Python")

    def crossing(x):
        with objmode(y="float64"):
            y = of_python(x)
        return y  # noqa: RET504

    def around(x):
        return crossing(x) + 1.0

    for options in ({}, {"nogil": True}):
        found = chain_of(Context().jit(around, **options), 8.0, kind=RuntimeError)
        assert found == [line(around, 1), line(crossing, 1), line(of_python, 1)]


def test_a_derivative_shows_the_frames_of_the_function():
    def squared(x):
        return bad(x) * x

    def slope(x):
        return autodiff(squared, x)

    assert chain_of(Context().jit(slope), 8.0) == [line(slope, 1), line(squared, 1), line(bad, 2)]


def test_a_deep_recursion_shows_its_innermost_frames_and_the_entry():
    def deeper(n):
        if n == 0:
            return bad(8.0)
        return deeper(n - 1) + 1.0

    def entry(n):
        return deeper(n)

    found = chain_of(Context().jit(entry), 2 * MOST)
    assert found[0] == line(entry, 0)
    assert found[-2:] == [line(deeper, 2), line(bad, 2)]
    assert found[1:-2] == [line(deeper, 3)] * (MOST - 1)


def test_what_is_caught_leaves_nothing_to_later_exceptions_of_any_depth():
    def deep(x):
        return plain(x) + 1.0

    def plain(x):
        return bad(x)

    def caught(x):
        try:
            y = deep(x)
        except Exception:
            y = 1.0
        return y

    def again(x):
        total = 0.0
        for _ in range(3):
            total += caught(x)
        return total + deep(x)

    hot = Context().jit(again)
    expected = [line(again, 4), line(deep, 1), line(plain, 1), line(bad, 2)]
    assert chain_of(hot, 8.0) == expected
    caught_only = Context().jit(caught)
    assert [caught_only(8.0) for _ in range(3)] == [1.0] * 3
    assert chain_of(Context().jit(plain), 8.0) == [line(plain, 1), line(bad, 2)]


def test_code_from_disk_shows_the_frames_in_another_process(tmp_path):
    (tmp_path / "program.py").write_text(FROM_DISK)
    run = "import program; print(program.frames())"
    outputs = [
        subprocess.run(
            [sys.executable, "-c", run],
            cwd=tmp_path, capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        ).stdout
        for _ in range(2)
    ]  # fmt: skip
    frames = "[('outer', 13), ('inner', 11), ('method', 7)]"
    assert outputs == [f"0 {frames}\n", f"1 {frames}\n"]


FROM_DISK = """
import math, traceback
from overlay import Context, MethodTable
table = MethodTable("table")
@table.overlay(math.sin)
def method(x: float):
    return [1.0, 2.0][int(x)]
def outer(x):
    z = 1.0
    def inner(y):
        return math.sin(y) + z

    return inner(x)
def frames():
    hot = Context(table).jit(outer, cache="cache")
    try:
        hot(8.0)
    except IndexError as error:
        found = traceback.extract_tb(error.__traceback__)
        shown = [(f.name, f.lineno) for f in found if f.filename == __file__][1:]
        return f"{sum(hot.stats.cache_hits.values())} {shown}"
"""


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


# ---- calls that go through Python, since their code may be out of date ----------------------


def too_large(x):
    if x > 5.0:
        raise ValueError("too large")
    return math.sin(x)


quiet = MethodTable("quiet")
quiet.overlay(math.sin)(lambda x: x)
held_steps = [too_large]
held_fields = {"step": (too_large, 1.0)}
held_factor = 1.0


def of_list(x):
    return held_steps[0](x)


def of_dict(x):
    step, by = held_fields["step"]
    return step(x) * by


def of_global(x):
    return too_large(x) * held_factor


@njit
def plain_step(x):
    return too_large(x) + held_steps[0](x)


def of_function(step, x):
    return step(x) * held_factor


ROUTES = {
    "list": (of_list, ()),
    "dict": (of_dict, ()),
    "global": (of_global, ()),
    "function": (of_function, (plain_step,)),
}


@pytest.mark.parametrize("route", ROUTES)
def test_calls_through_python_leave_no_frame(route, monkeypatch):
    f, given = ROUTES[route]
    wanted = [f.__name__, *(["plain_step"] if given else []), "too_large"]
    compiled = Context(quiet).jit(f)

    def frames():
        with pytest.raises(ValueError, match="too large") as caught:
            compiled(*given, 9.0)
        return [each.name for each in traceback.extract_tb(caught.value.__traceback__)][1:]

    assert frames() == frames() == wanted
    monkeypatch.setattr(sys.modules[__name__], "held_factor", 2.0)
    held_steps.append(too_large)
    held_fields["other"] = (too_large, 2.0)
    try:
        assert frames() == frames() == wanted
        compiled(*given, 4.0)
        assert frames() == wanted
    finally:
        held_steps.pop()
        del held_fields["other"]
