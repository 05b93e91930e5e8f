"""Leak checks: the memory that remains of contexts, tables and functions that the program has
dropped, or has redefined."""

import ctypes
import functools
import gc
import math
import sys
import tracemalloc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from inversion import invert
from overlay import Context, MethodTable
from overlay.interpretations.autodiff import autodiff

__all__ = [
    "MOST_BYTES",
    "REDEFINITIONS",
    "bytes_kept_for_each_context",
    "kilobytes_kept_for_each_redefinition",
    "objects_kept",
    "what_is_gone",
]

MOST_BYTES = 64  # per dropped context: growth allowed to the interpreter's tables
CONTEXTS = 100

SOURCE = """
def twice(x):
    return helper(x) * 2

def helper(x):
    more = lambda y: math.sin(y) + x
    return more(x)

class Thing:
    def __init__(self, x):
        self.x = helper(x)

    def value(self):
        return self.x

def program(x):
    return sorted([twice(x), Thing(x).value()], key=lambda y: -y)
"""


def collect():
    """Collect garbage; objects that a finalizer releases in one collection are left to the next."""
    for _ in range(3):
        gc.collect()


def program():
    """A fresh copy of a small program, as a namespace."""
    namespace = {"math": math, "__name__": "dropped"}
    exec(SOURCE, namespace)
    return namespace


def half_sine():
    """A fresh method."""

    def method(x: float):
        return x / 2

    return method


def a_context():
    """Make a context over a fresh table, and run a fresh program in it."""
    table, method, code = MethodTable("table"), half_sine(), program()
    table.overlay(math.sin)(method)
    context = Context(table)
    assert context(code["program"], 1.0)[0] == 3.0
    return {"context": context, "table": table, "method": method, "function": code["twice"]}


def nested():
    """One context entered in another, and one joined with another."""
    outer, inner = a_context()["context"], a_context()["context"]
    outer(inner, math.sin, 1.0)
    (outer | inner)(program()["program"], 1.0)
    return {"outer context": outer, "inner context": inner}


def raised():
    """A context that an exception has left."""
    context = a_context()["context"]
    try:
        context(program()["program"], "not a number")
    except TypeError:
        return {"context after an exception": context}
    raise AssertionError("the program takes numbers only")


def suspended():
    """A generator that was started in a context."""
    context = a_context()["context"]

    def numbers():
        yield math.sin(1.0)
        yield math.sin(2.0)

    generator = context(numbers)
    next(generator)
    return {"context of a suspended generator": context, "suspended generator": generator}


def in_a_living(context):
    """Objects that a program makes and drops while the context lives on."""
    code = program()
    context(code["program"], 1.0)
    thing = context(code["Thing"], 1.0)
    partial = functools.partial(code["helper"])
    context(partial, 1.0)
    method = half_sine()
    table = context.tables[0]
    table.overlay(math.cos)(method)
    context(math.cos, 1.0)
    table.remove(math.cos, float)
    return {
        "function run by a living context": code["twice"],
        "class called by a living context": code["Thing"],
        "instance made by a living context": thing,
        "partial called by a living context": partial,
        "method removed from a living table": method,
    }


def what_is_gone():
    """Pairs of a name and whether the object is gone after it was dropped, for each kind of
    object."""
    living = a_context()["context"]
    for make in (a_context, nested, raised, suspended, functools.partial(in_a_living, living)):
        dropped = {name: weakref.ref(thing) for name, thing in make().items()}
        collect()
        yield from ((name, reference() is None) for name, reference in dropped.items())


def ours():
    """The number of objects of the package's own classes."""
    collect()
    modules = (type(thing).__module__ for thing in gc.get_objects())
    return sum(type(name) is str and name.split(".")[0] == "overlay" for name in modules)


def objects_kept():
    """The number of objects of the package's own classes that dropped contexts leave."""
    a_context()
    before = ours()
    for _ in range(CONTEXTS):
        a_context()
    return ours() - before


def bytes_kept_for_each_context():
    """The growth of allocated memory for each dropped context."""

    def grow():
        for _ in range(CONTEXTS):
            a_context()
        collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        grow()
        return (grow() - grow()) / -CONTEXTS
    finally:
        tracemalloc.stop()


# ---- redefinitions ------------------------------------------------------------------------

CELL = """
def f(x: float) -> float:
    return math.exp(x) * 2.0 + {0}.0
"""


def cell(value: int) -> Any:
    """The function of a notebook's cell that is run again."""
    namespace = {"math": math}
    exec(CELL.format(value), namespace)
    return namespace["f"]


def constant(value: float) -> Any:
    def method(x: float) -> float:
        return value

    return method


def compiled_again() -> Callable[[int], object]:
    """A cell that defines a function and compiles it in one context."""
    table = MethodTable("table")
    table.overlay(math.exp)(constant(1.0))
    context = Context(table)
    return lambda i: context.jit(cell(i))(1.0)


def inverted_again() -> Callable[[int], object]:
    return lambda i: invert(cell(i), float).compile()(50.0 + i)


def differentiated_again() -> Callable[[int], object]:
    context = Context()

    def step(i: int) -> object:
        f = cell(i)
        return context.jit(lambda x: autodiff(f, x))(1.0)

    return step


def method_replaced() -> Callable[[int], object]:
    """A method replaced in a table, and a call of a compiled function that enters it."""
    table = MethodTable("table")
    table.overlay(math.exp)(constant(0.0))
    compiled = Context(table).jit(cell(0))

    def step(i: int) -> object:
        table.overlay(math.exp)(constant(float(i)))
        assert compiled(1.0) == 2.0 * i
        return compiled

    return step


REDEFINITIONS = {
    "a function compiled in a context": compiled_again,
    "a function inverted and compiled": inverted_again,
    "a function differentiated in compiled code": differentiated_again,
    "a method replaced": method_replaced,
}


def resident_kilobytes() -> float | None:
    """The process's resident memory, less what malloc has free; None where it is not known."""
    status = Path("/proc/self/status")
    if sys.platform != "linux" or not status.exists():
        return None
    collect()
    ctypes.CDLL(None).malloc_trim(0)
    lines = status.read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def kilobytes_kept_for_each_redefinition(name: str, warm: int, times: int) -> float | None:
    """The growth of the process for each redefinition of a kind, after some to begin with."""
    step = REDEFINITIONS[name]()
    for i in range(warm):
        step(i)
    before = resident_kilobytes()
    for i in range(warm, warm + times):
        step(i)
    after = resident_kilobytes()
    return None if before is None or after is None else (after - before) / times
