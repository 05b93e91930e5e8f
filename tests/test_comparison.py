"""What docs/comparison.md says of other ways: each cell that is not cited is run here."""

import math
import operator
import queue
import threading
import types
import warnings

import plum
import pytest

from overlay import Context, MethodTable, call_next

pytest.importorskip("effectful", reason="effectful is not installed")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its own dependencies warn when they are imported
    from effectful.ops.semantics import fwd, handler
    from effectful.ops.syntax import defop

LIBRARY = """
import math
from math import exp

def on_the_module(x):
    return math.exp(x)

def under_its_own_name(x):
    return exp(x)

def by_an_operator(x):
    return x + 1.0

def by_a_method(text):
    return text.upper()

def fails(x):
    return math.exp(x) / 0
"""
NEVER = -1.0


@pytest.fixture
def library():
    """Somebody else's module."""
    module = types.ModuleType("library")
    exec(LIBRARY, module.__dict__)
    return module


table = MethodTable("table")
table.overlay(math.exp)(lambda x: NEVER)


@table.overlay(operator.add)
def added(x: float, y: float):
    return NEVER  # for floats alone: threading adds texts, and a thread needs its name


table.overlay(str.upper)(lambda text: NEVER)
ctx = Context(table)


def test_what_a_patch_of_a_module_reaches(library, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(math, "exp", lambda x: NEVER)
        assert library.on_the_module(1.0) == NEVER
        assert library.under_its_own_name(1.0) == math.e
        with pytest.raises(TypeError):
            patched.setattr(str, "upper", lambda text: NEVER)
        with pytest.raises(TypeError):
            patched.setattr(float, "__add__", lambda x, y: NEVER)


@pytest.mark.parametrize(
    ("name", "given"),
    [("on_the_module", 1.0), ("under_its_own_name", 1.0), ("by_an_operator", 1.0),
     ("by_a_method", "text")],
)  # fmt: skip
def test_what_a_context_reaches(library, name, given):
    native = getattr(library, name)(given)
    assert ctx(getattr(library, name), given) == NEVER != native
    assert getattr(library, name)(given) == native


def in_a_thread(function, *args):
    found = []
    thread = threading.Thread(target=lambda: found.append(function(*args)))
    thread.start()
    thread.join()
    return found[0]


def test_other_threads_notice_a_patch_and_no_context(library, monkeypatch):
    def found():
        return library.on_the_module(1.0), in_a_thread(library.on_the_module, 1.0)

    given, done = queue.Queue(), queue.Queue()
    thread = threading.Thread(target=lambda: [done.put(f()) for f in iter(given.get, None)])
    thread.start()

    def elsewhere():
        given.put(lambda: library.on_the_module(1.0))
        return done.get()

    # the threads that a program starts are inside, and no others
    assert ctx(lambda: (*found(), elsewhere())) == (NEVER, NEVER, math.e)
    with monkeypatch.context() as patched:
        patched.setattr(math, "exp", lambda x: NEVER)
        assert (*found(), elsewhere()) == (NEVER, NEVER, NEVER)
    given.put(None)
    thread.join()


def test_an_exception_leaves_a_patch_behind_and_no_context(library):
    with pytest.raises(ZeroDivisionError):
        ctx(library.fails, 1.0)
    assert library.on_the_module(1.0) == math.e
    true, math.exp = math.exp, lambda x: NEVER
    try:
        with pytest.raises(ZeroDivisionError):
            library.fails(1.0)
        assert library.on_the_module(1.0) == NEVER
    finally:
        math.exp = true


def test_plum_redirects_what_is_declared_with_it(library):
    dispatch = plum.Dispatcher()

    @dispatch
    def exp(x: float):
        return NEVER

    @dispatch
    def exp(x: int):
        return x

    assert (exp(1.0), exp(1)) == (NEVER, 1)  # by the types of the arguments
    assert library.on_the_module(1.0) == library.under_its_own_name(1.0) == math.e

    @dispatch
    def exp(x: float):
        return 0.0

    assert exp(1.0) == 0.0


def test_effectful_redirects_what_is_declared_with_it(library):
    @defop
    def operation(x: float) -> float:
        return x

    with handler({operation: lambda x: NEVER}):
        assert operation(1.0) == operation("not even a number") == NEVER  # types do not decide
        assert in_a_thread(operation, 1.0) == NEVER
        assert library.on_the_module(1.0) == math.e
        with handler({operation: lambda x: [fwd()]}):
            assert operation(1.0) == [NEVER]
    with pytest.raises(ZeroDivisionError), handler({operation: lambda x: 1 / 0}):
        operation(1.0)
    assert operation(1.0) == 1.0


def test_contexts_stack_and_go_on_below(library):
    outer, inner = MethodTable("outer"), MethodTable("inner")
    outer.overlay(math.exp)(lambda x: [call_next(x)])
    inner.overlay(math.exp)(lambda x: (call_next(x),))
    assert (Context(outer) | Context(inner))(library.on_the_module, 1.0) == ([math.e],)
    assert (Context(inner) | Context(outer))(library.on_the_module, 1.0) == [(math.e,)]
