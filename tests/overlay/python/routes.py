"""Ways by which the interpreter, C code and libraries come to call a function.

``ROUTES`` has them by name. Each has a *target*, the function that is overlaid, and ``built``,
which gives a program that comes to call it. Most targets are Python functions that count their
own calls with ``ran``; of a target in C it is said how often the program calls it.

``python -m tests.overlay.python.routes`` writes the table of ``docs/routes.md`` anew.
"""

# ruff: noqa: B009, C416, PT027, RET504, SIM115, UP030, UP031, UP032
# (odd ways of writing things are what it has)

from __future__ import annotations

import abc
import argparse
import array
import ast
import asyncio
import bdb
import bisect
import builtins
import bz2
import cmd
import code
import codecs
import collections
import concurrent.futures
import configparser
import contextlib
import contextvars
import copy
import copyreg
import csv
import ctypes
import dataclasses
import datetime
import decimal
import difflib
import doctest
import email
import email.policy
import enum
import fractions
import functools
import gc
import gettext
import graphlib
import gzip
import hashlib
import heapq
import html.parser
import http.server
import importlib
import importlib.util
import inspect
import io
import itertools
import json
import logging
import lzma
import math
import multiprocessing.pool
import operator
import optparse
import os
import pickle
import pprint
import queue
import random
import re
import reprlib
import runpy
import sched
import select
import shutil
import signal
import socketserver
import sqlite3
import statistics
import string
import struct
import sys
import tarfile
import tempfile
import textwrap
import threading
import time
import timeit
import tokenize
import traceback
import types
import typing
import unittest
import unittest.mock
import urllib.request
import warnings
import weakref
import xml.etree.ElementTree
import xml.parsers.expat
import xml.sax
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["KNOWN_LOST", "LOST_ONLY_ON", "ROUTES", "own", "ran", "seen", "table"]


class Counter:
    """A number that threads, callbacks of the collector and signal handlers may add to."""

    def __init__(self) -> None:
        self.value = 0
        self._lock = threading.RLock()

    def add(self) -> None:
        with self._lock:
            self.value += 1

    def take(self) -> int:
        """Give the number, and begin anew."""
        with self._lock:
            value, self.value = self.value, 0
        return value


own, seen = Counter(), Counter()
"""Calls of the targets' own code, and of the methods in their place."""


def ran(value: Any = None) -> Any:
    """Count a call of a target's own code; the value."""
    own.add()
    return value


@dataclasses.dataclass(frozen=True)
class Route:
    """One way to a target."""

    name: str
    group: str
    by: str  # what calls the target
    target: Any
    built: Callable[[Any], Callable[[], Any]]  # from the target to the program
    needs: str | None = None  # a module that has to be installed
    since: tuple[int, int] = (3, 12)
    calls: int | None = None  # how often the program calls a target that cannot count
    times: int = 20  # how often the program runs before, so that its instructions are specialised


ROUTES: dict[str, Route] = {}
KNOWN_LOST: dict[str, str] = {
    "ThreadPoolExecutor(initializer=)": "a worker serves all contexts: it starts outside",
    "a finder on sys.meta_path": "an import runs outside, whatever context it is written in",
    "a loader that an import uses": "an import runs outside, whatever context it is written in",
}
"""Why a route is not reached, or what is seen is another number of calls or another outcome."""
LOST_ONLY_ON: dict[str, tuple[int, int]] = {}
"""The only version of Python on which a route is not reached."""

_current = [""]


def group(name: str) -> None:
    """What follows belongs to a group."""
    _current[0] = name


def built(
    name: str,
    by: str,
    target: Any,
    build: Callable[[Any], Callable[[], Any]],
    **more: Any,
) -> None:
    """A route of which the program is built before it is run."""
    assert name not in ROUTES, name
    ROUTES[name] = Route(name, _current[0], by, target, build, **more)


def to(name: str, by: str, target: Any, program: Callable[[Any], Any], **more: Any) -> None:
    """A route of which the program is given the target."""
    built(name, by, target, lambda f: lambda: program(f), **more)


def method(
    name: str,
    by: str,
    attribute: str,
    target: Any,
    program: Callable[[Any], Any],
    base: Any = object,
    args: tuple[Any, ...] = (),
    **more: Any,
) -> None:
    """A route to a method of a class; the program is given an object of it."""

    def build(f: Any) -> Callable[[], Any]:
        made = type("A", (base,), {attribute: f})
        return lambda: program(made(*args))

    built(name, by, target, build, **more)


def attribute(
    name: str, by: str, names: dict[str, Any], target: Any, program: Any, **more: Any
) -> None:
    """A route to a function that something in a class's namespace is made of."""

    def build(f: Any) -> Callable[[], Any]:
        made = type("A", (), {key: make(f) for key, make in names.items()})
        return lambda: program(made())

    built(name, by, target, build, **more)


def statements(source: str) -> Any:
    """The function ``program`` that a source defines."""
    namespace: dict[str, Any] = {"ran": ran}
    exec(compile(source, "<routes>", "exec", dont_inherit=True), namespace)
    return namespace["program"]


def quiet(program: Callable[..., Any], *args: Any) -> Any:
    """A program's result; what it warns of is ignored."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return program(*args)


def folder(program: Callable[[Path], Any]) -> Any:
    """A program's result in a new folder with two files."""
    with tempfile.TemporaryDirectory() as path:
        (Path(path) / "a").mkdir()
        (Path(path) / "a" / "one.txt").write_text("1,2\n3,4\n")
        (Path(path) / "a" / "two.txt").write_text("two")
        return program(Path(path))


@contextlib.contextmanager
def changed(owner: Any, name: str, value: Any) -> Any:
    """An attribute has another value for a while."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


# ---- calls that Python code writes ------------------------------------------------------------

group("Calls in Python code")
to("f(x)", "`CALL`", lambda x: ran(x), lambda f: [f(i) for i in range(40)])
to("f(x, key=y)", "`CALL_KW`", lambda x, y=0: ran((x, y)), lambda f: [f(i, y=i) for i in range(9)])
to(
    "f(*args, **kwargs)",
    "`CALL_FUNCTION_EX`",
    lambda x, y: ran((x, y)),
    lambda f: f(*[1], **{"y": 2}),
)
to("f() with a default", "`CALL`", lambda x=3: ran(x), lambda f: [f() for _ in range(40)])
to("a keyword-only argument", "`CALL_KW`", lambda *, x: ran(x), lambda f: f(x=1))
to("a recursion", "the function itself", lambda n, f: ran(n) and f(n - 1, f), lambda f: f(9, f))
method(
    "a.method()",
    "`LOAD_ATTR` and `CALL`",
    "m",
    lambda self, x: ran(x),
    lambda a: [a.m(i) for i in range(40)],
)
method(
    "a bound method", "`CALL`", "m", lambda self, x: ran(x), lambda a: [m(1) for m in [a.m] * 40]
)
attribute(
    "a static method",
    "`CALL`",
    {"m": staticmethod},
    lambda x: ran(x),
    lambda a: [a.m(i) for i in range(40)],
)
attribute(
    "a class method",
    "`CALL`",
    {"m": classmethod},
    lambda cls, x: ran(x),
    lambda a: [a.m(i) for i in range(40)],
)
attribute(
    "A.method(a)",
    "`CALL`",
    {"m": lambda f: f},
    lambda self, x: ran(x),
    lambda a: [type(a).m(a, i) for i in range(40)],
)


def _by_super(f: Any) -> Callable[[], Any]:
    base = type("Base", (), {"m": f})

    class A(base):
        def m(self, x: Any) -> Any:
            return super().m(x)

    return lambda: [A().m(i) for i in range(40)]


built("super().method()", "`LOAD_SUPER_ATTR` and `CALL`", lambda self, x: ran(x), _by_super)
to(
    "a decorator",
    "`CALL`",
    lambda g: ran(g),
    statements("def program(f):\n  @f\n  def g(): return 1\n  return g()"),
)
to(
    "a class decorator",
    "`CALL`",
    lambda c: ran(c),
    statements("def program(f):\n  @f\n  class A: x = 1\n  return A.x"),
)
to(
    "a default argument",
    "`CALL`",
    lambda: ran(2),
    statements("def program(f):\n  def g(x=f()): return x\n  return g()"),
)
to(
    "a comprehension",
    "`CALL`",
    lambda x: ran(x),
    lambda f: ([f(i) for i in "ab"], {f(i) for i in "a"}, {i: f(i) for i in "ab"}),
)
to("an f-string", "`CALL`", lambda: ran(2), lambda f: f"{f()}")
to("a lambda in a closure", "`CALL`", lambda x: ran(x), lambda f: (lambda: f(1))())
to("await f()", "`CALL`", lambda: ran(sleep()), lambda f: asyncio.run(awaiting(f)))
to("exec", "code of `exec`", lambda x: ran(x), lambda f: exec("f(1)", {"f": f}))
to("eval", "code of `eval`", lambda x: ran(x), lambda f: eval("f(1)", {"f": f}))
to(
    "types.FunctionType",
    "a function made of code",
    lambda x: ran(x),
    lambda f: types.FunctionType(compile("f(1)", "made", "eval"), {"f": f})(),
)
to(
    "the value of a `type` alias",
    "`__value__`, in C",
    lambda: ran(int),
    lambda f: statements("def program(f):\n  type A = f()\n  return A.__value__")(f),
)
to(
    "the bound of a type parameter",
    "`__bound__`, in C",
    lambda: ran(int),
    lambda f: statements(
        "def program(f):\n  def g[T: f()](): pass\n  return g.__type_params__[0].__bound__"
    )(f),
)
to(
    "an annotation",
    "`__annotations__`, in C from 3.14 on",
    lambda: ran(int),
    lambda f: statements("def program(f):\n  def g(x: f()): pass\n  return g.__annotations__")(f),
)
to(
    "raise of a class",
    "`RAISE_VARARGS`, in C",
    lambda self, *rest: ran(None),
    lambda f: raised(type("E", (Exception,), {"__init__": f})),
)
to(
    "a match statement",
    "`MATCH_CLASS`, in C",
    lambda self: ran(1),
    lambda f: matched(type("A", (), {"__match_args__": ("x",), "x": property(f)})()),
)
to(
    "a lazy generator expression",
    "`FOR_ITER`",
    lambda x: ran(x),
    lambda f: [*(f(i) for i in range(5))],
)


async def sleep() -> int:
    await asyncio.sleep(0)
    return 1


async def awaiting(f: Callable[[], Any]) -> Any:
    return await f()


def raised(kind: Any) -> Any:
    try:
        raise kind
    except kind as error:
        return type(error).__name__


def matched(a: Any) -> Any:
    kind: Any = type(a)
    match a:
        case kind(1):
            return "matched"
    return None


# ---- builtins ---------------------------------------------------------------------------------

group("Built-in functions")
to("sorted(key=)", "`list.sort`, in C", lambda x: ran(-x), lambda f: sorted([3, 1, 2], key=f))
to(
    "list.sort(key=)",
    "`list.sort`, in C",
    lambda x: ran(-x),
    lambda f: (xs := [3, 1, 2]).sort(key=f) or xs,
)
to("min(key=)", "`min`, in C", lambda x: ran(-x), lambda f: min([3, 1, 2], key=f))
to("max(key=)", "`max`, in C", lambda x: ran(-x), lambda f: max([3, 1, 2], key=f))
to("map", "`map`, in C", lambda x: ran(-x), lambda f: list(map(f, range(5))))
to("map of two", "`map`, in C", lambda x, y: ran(x - y), lambda f: list(map(f, range(5), range(5))))
to("filter", "`filter`, in C", lambda x: ran(x % 2), lambda f: list(filter(f, range(5))))
to(
    "iter(callable, sentinel)",
    "the iterator, in C",
    lambda left=itertools.cycle([3, 2, 1, 0]): ran(next(left)),
    lambda f: list(iter(f, 0)),
)
to("any", "a generator in `any`", lambda x: ran(x > 2), lambda f: any(f(x) for x in range(5)))
to("all", "a generator in `all`", lambda x: ran(x < 2), lambda f: all(f(x) for x in range(5)))
to("enumerate", "`map`, in C", lambda x: ran(-x), lambda f: list(enumerate(map(f, range(5)))))
to(
    "zip",
    "`map`, in C",
    lambda x: ran(-x),
    lambda f: list(zip(map(f, range(3)), "abc", strict=True)),
)
to("str.join", "a generator, in C", lambda x: ran(x), lambda f: "".join(f(x) for x in "abc"))
to(
    "open(opener=)",
    "`open`, in C",
    lambda path, flags: ran(os.open(path, flags)),
    lambda f: folder(lambda p: opened(p / "a/two.txt", f)),
)
to(
    "__import__ of the builtins given to exec",
    "`IMPORT_NAME`, in C",
    lambda *a: ran(math),
    lambda f: exec("import math", {"__builtins__": {"__import__": f}}),
)
to(
    "a metaclass that is a function",
    "`__build_class__`, in C",
    lambda *a, **k: ran(int),
    lambda f: statements("def program(f):\n  class A(metaclass=f): pass\n  return A")(f),
)
method(
    "print(file=)",
    "`print`, in C",
    "write",
    lambda self, text: ran(len(text)),
    lambda a: print(1, 2, file=a),
)
method("input", "`input`, in C", "readline", lambda self: ran("text\n"), lambda a: answered(a))
method(
    "sum", "`sum`, in C", "__add__", lambda self, other: ran(self), lambda a: len([sum([a] * 4, a)])
)
method(
    "reversed",
    "`reversed`, in C",
    "__reversed__",
    lambda self: ran(iter("ab")),
    lambda a: list(reversed(a)),
)
method(
    "divmod", "`divmod`, in C", "__divmod__", lambda self, o: ran((1, o)), lambda a: divmod(a, 3)
)
method(
    "divmod, reflected",
    "`divmod`, in C",
    "__rdivmod__",
    lambda self, o: ran((1, o)),
    lambda a: divmod(3, a),
)
method(
    "pow",
    "`pow`, in C",
    "__pow__",
    lambda self, o, m=None: ran((o, m)),
    lambda a: (pow(a, 2), pow(a, 2, 3)),
)
method("abs", "`abs`, in C", "__abs__", lambda self: ran(1), lambda a: abs(a))
method(
    "round",
    "`round`, in C",
    "__round__",
    lambda self, n=None: ran(n),
    lambda a: (round(a), round(a, 2)),
)
method(
    "format",
    "`format`, in C",
    "__format__",
    lambda self, spec: ran(f"<{spec}>"),
    lambda a: (format(a, "x"), f"{a:y}", "{:z}".format(a)),
)
method(
    "repr",
    "`repr`, in C",
    "__repr__",
    lambda self: ran("A!"),
    lambda a: (repr(a), f"{a!r}", str([a]), "%r" % a, ascii(a)),
)
method(
    "str", "`str`, in C", "__str__", lambda self: ran("A!"), lambda a: (str(a), f"{a}", "%s" % a)
)
method("bytes", "`bytes`, in C", "__bytes__", lambda self: ran(b"A"), lambda a: bytes(a))
method(
    "bool",
    "`bool`, in C",
    "__bool__",
    lambda self: ran(False),
    lambda a: (bool(a), not a, a and 1, 1 if a else 2),
)
method("bool by length", "`bool`, in C", "__len__", lambda self: ran(0), lambda a: (bool(a), not a))
method("int", "`int`, in C", "__int__", lambda self: ran(3), lambda a: (int(a), "%d" % a))
method(
    "float",
    "`float`, in C",
    "__float__",
    lambda self: ran(3.5),
    lambda a: (float(a), "%f" % a, math.sqrt(a)),
)
method("complex", "`complex`, in C", "__complex__", lambda self: ran(3j), lambda a: complex(a))
method("len", "`len`, in C", "__len__", lambda self: ran(3), lambda a: [len(a) for _ in range(40)])
method(
    "operator.length_hint",
    "`list`, in C",
    "__length_hint__",
    lambda self: ran(3),
    lambda a: operator.length_hint(a),
)
method(
    "hash",
    "`hash`, in C",
    "__hash__",
    lambda self: ran(3),
    lambda a: (hash(a), len({a, a}), {a: 1}[a]),
)
method("dir", "`dir`, in C", "__dir__", lambda self: ran(["b", "a"]), lambda a: dir(a))
attribute(
    "vars", "`vars`, in C", {"__dict__": property}, lambda self: ran({"x": 1}), lambda a: vars(a)
)
method(
    "next", "`next`, in C", "__next__", lambda self: ran(3), lambda a: [next(a) for _ in range(5)]
)
method(
    "iter",
    "`iter`, in C",
    "__iter__",
    lambda self: ran(iter([1, 2])),
    lambda a: (list(a), tuple(a), {*a}, [x for x in a], max(a)),
)
method(
    "aiter",
    "`aiter`, in C",
    "__aiter__",
    lambda self: ran(numbers_later()),
    lambda a: type(aiter(a)).__name__,
)
method(
    "getattr with __getattr__",
    "`getattr`, in C",
    "__getattr__",
    lambda self, name: ran(name),
    lambda a: (a.x, getattr(a, "y"), hasattr(a, "z")),
)
method(
    "getattr with __getattribute__",
    "`getattr`, in C",
    "__getattribute__",
    lambda self, name: ran(name),
    lambda a: ([a.x for _ in range(40)], getattr(a, "y")),
)
method(
    "setattr",
    "`setattr`, in C",
    "__setattr__",
    lambda self, name, value: ran(None),
    lambda a: (setattr(a, "x", 1), statements("def program(a): a.x = 1")(a)),
)
method(
    "delattr",
    "`delattr`, in C",
    "__delattr__",
    lambda self, name: ran(None),
    lambda a: (delattr(a, "x"), statements("def program(a): del a.x")(a)),
)
method(
    "memoryview",
    "the buffer protocol, in C",
    "__buffer__",
    lambda self, flags: ran(memoryview(b"abc")),
    lambda a: (bytes(memoryview(a)), b"".join([a, a])),
)
method(
    "range",
    "`range`, in C",
    "__index__",
    lambda self: ran(3),
    lambda a: (list(range(a)), "abcd"[a], [0] * a, hex(a), chr(a), bytes(a)),
)
method(
    "a call of an object",
    "`CALL`, in C",
    "__call__",
    lambda self, x: ran(x),
    lambda a: ([a(i) for i in range(40)], list(map(a, "ab"))),
)


def opened(path: Path, opener: Any) -> str:
    with open(path, opener=opener) as file:
        return file.read()


def answered(stdin: Any) -> str:
    with changed(sys, "stdin", stdin), changed(sys, "stdout", io.StringIO()):
        return input()


async def numbers_later() -> Any:
    yield 1


# ---- operators --------------------------------------------------------------------------------

group("Operators")
BINARY = {
    **{"add": "+", "sub": "-", "mul": "*", "matmul": "@", "truediv": "/", "floordiv": "//"},
    **{"mod": "%", "pow": "**", "lshift": "<<", "rshift": ">>", "and": "&", "or": "|", "xor": "^"},
}
for _name, _sign in BINARY.items():
    method(
        f"a {_sign} x",
        "`BINARY_OP`, in C",
        f"__{_name}__",
        lambda self, o: ran((1, o)),
        statements(f"def program(a): return [a {_sign} 3 for _ in range(20)]"),
        times=3,
    )
    method(
        f"x {_sign} a",
        "`BINARY_OP`, in C",
        f"__r{_name}__",
        lambda self, o: ran((2, o)),
        statements(f"def program(a): return [3 {_sign} a for _ in range(20)]"),
        times=3,
    )
    method(
        f"a {_sign}= x",
        "`BINARY_OP`, in C",
        f"__i{_name}__",
        lambda self, o: ran((3, o)),
        statements(f"def program(a):\n  a {_sign}= 3\n  return a"),
    )
for _name, _sign in {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}.items():
    method(
        f"a {_sign} x",
        "`COMPARE_OP`, in C",
        f"__{_name}__",
        lambda self, o: ran(True),
        statements(
            f"def program(a): return [a {_sign} 3 for _ in range(20)], 1 if a {_sign} 4 else 2"
        ),
        times=3,
    )
for _name, _sign in {"neg": "-", "pos": "+", "invert": "~"}.items():
    method(
        f"{_sign}a",
        "a unary instruction, in C",
        f"__{_name}__",
        lambda self: ran(1),
        statements(f"def program(a): return {_sign}a"),
    )
method(
    "a[x]",
    "`BINARY_SUBSCR`",
    "__getitem__",
    lambda self, key: ran(key),
    lambda a: ([a[i] for i in range(40)], a[1:2], a[...]),
)
method(
    "a[x] = y",
    "`STORE_SUBSCR`, in C",
    "__setitem__",
    lambda self, key, value: ran(None),
    statements("def program(a): a[1] = 2; a[1:2] = 3"),
)
method(
    "del a[x]",
    "`DELETE_SUBSCR`, in C",
    "__delitem__",
    lambda self, key: ran(None),
    statements("def program(a): del a[1], a[1:2]"),
)
method(
    "x in a",
    "`CONTAINS_OP`, in C",
    "__contains__",
    lambda self, x: ran(x == 1),
    lambda a: (1 in a, 2 in a, 3 not in a),
)
method(
    "x in a, by iteration",
    "`CONTAINS_OP`, in C",
    "__iter__",
    lambda self: ran(iter([1])),
    lambda a: (1 in a, 2 in a),
)
method(
    "x in a, by items",
    "`CONTAINS_OP`, in C",
    "__getitem__",
    lambda self, i: (ran(), [1, 2, 3][i])[1],
    lambda a: (2 in a, list(a)),
)
method(
    "a slice's bounds",
    "`BINARY_SLICE`, in C",
    "__index__",
    lambda self: ran(1),
    lambda a: ("abcd"[a:], [1, 2, 3][:a], "abcd"[::a]),
)
method(
    "unpacking",
    "`UNPACK_SEQUENCE`, in C",
    "__iter__",
    lambda self: ran(iter([1, 2])),
    statements(
        "def program(a):\n  x, y = a\n  z, *rest = a\n  return x, y, z, rest, [*a], max(*a)"
    ),
)
method(
    "unpacking of a mapping",
    "`DICT_UPDATE`, in C",
    "keys",
    lambda self: ran(["x"]),
    lambda a: ({**a}, dict(a), dict(**a)),
    base=type("Base", (), {"__getitem__": lambda self, key: key}),
)
method(
    "values of a mapping",
    "`DICT_MERGE`, in C",
    "__getitem__",
    lambda self, key: ran(key),
    lambda a: ({**a}, dict(a), dict(**a)),
    base=type("Base", (), {"keys": lambda self: ["x", "y"]}),
)
method(
    "a chain of comparisons",
    "`COMPARE_OP`, in C",
    "__lt__",
    lambda self, o: ran(True),
    lambda a: a < 1 or 1 < a < 3,
)
method(
    "the reflected comparison",
    "`COMPARE_OP`, in C",
    "__gt__",
    lambda self, o: ran(True),
    lambda a: a > 1,
)
method(
    "operator.add",
    "`operator`, in C",
    "__add__",
    lambda self, o: ran(o),
    lambda a: operator.add(a, 2),
)
method(
    "operator.iadd",
    "`operator`, in C",
    "__iadd__",
    lambda self, o: ran(o),
    lambda a: operator.iadd(a, 2),
)
method(
    "operator.getitem",
    "`operator`, in C",
    "__getitem__",
    lambda self, o: ran(o),
    lambda a: (operator.getitem(a, 2), operator.itemgetter(1, 2)(a)),
)
method(
    "operator.methodcaller",
    "`methodcaller`, in C",
    "m",
    lambda self, o: ran(o),
    lambda a: (operator.methodcaller("m", 1)(a), operator.methodcaller("m", o=1)(a)),
)
attribute(
    "operator.attrgetter",
    "`attrgetter`, in C",
    {"x": property},
    lambda self: ran(1),
    lambda a: operator.attrgetter("x", "x.real")(a),
)
to("operator.call", "`operator.call`, in C", lambda x: ran(x), lambda f: operator.call(f, 1))
method(
    "operator.index",
    "`operator.index`, in C",
    "__index__",
    lambda self: ran(1),
    lambda a: operator.index(a),
)

# ---- the data model ---------------------------------------------------------------------------

group("Attributes, classes and descriptors")
attribute(
    "a property",
    "`LOAD_ATTR`",
    {"x": property},
    lambda self: ran(1),
    lambda a: [a.x for _ in range(40)],
)
attribute(
    "a property's setter",
    "`STORE_ATTR`, in C",
    {"x": lambda f: property(None, f)},
    lambda self, value: ran(None),
    statements("def program(a): a.x = 1"),
)
attribute(
    "a property's deleter",
    "`DELETE_ATTR`, in C",
    {"x": lambda f: property(None, None, f)},
    lambda self: ran(None),
    statements("def program(a): del a.x"),
)
attribute(
    "types.DynamicClassAttribute",
    "`LOAD_ATTR`, in Python",
    {"x": types.DynamicClassAttribute},
    lambda self: ran(1),
    lambda a: a.x,
)
for _name, _program in {"get": "return a.x", "set": "a.x = 1", "delete": "del a.x"}.items():
    attribute(
        f"a descriptor's __{_name}__",
        "the access of an attribute, in C",
        {"x": functools.partial(lambda name, f: type("D", (), {name: f})(), f"__{_name}__")},
        lambda self, *rest: ran(len(rest)),
        statements(f"def program(a): {_program}"),
    )
to(
    "__set_name__",
    "`type.__new__`, in C",
    lambda self, owner, name: ran(None),
    lambda f: type("A", (), {"x": type("D", (), {"__set_name__": f})()}).__name__,
)
to(
    "__init_subclass__",
    "`type.__new__`, in C",
    lambda cls, **kwargs: ran(None),
    lambda f: statements("def program(B):\n  class A(B, x=1): pass\n  return A.__name__")(
        type("B", (), {"__init_subclass__": classmethod(f)})
    ),
)
to(
    "__class_getitem__",
    "`BINARY_SUBSCR`, in C",
    lambda cls, x: ran(x),
    lambda f: type("B", (), {"__class_getitem__": classmethod(f)})[int],
)
to(
    "__mro_entries__",
    "`__build_class__`, in C",
    lambda self, bases: ran((int,)),
    lambda f: statements("def program(b):\n  class A(b): pass\n  return A.__mro__[1]")(
        type("B", (), {"__mro_entries__": f})()
    ),
)
to(
    "__prepare__",
    "`__build_class__`, in C",
    lambda name, bases, **k: ran({}),
    lambda f: statements("def program(m):\n  class A(metaclass=m): x = 1\n  return A.x")(
        type("M", (type,), {"__prepare__": staticmethod(f)})
    ),
)
to(
    "__new__ of a metaclass",
    "`__build_class__`, in C",
    lambda cls, *a: ran(type.__new__(cls, *a)),
    lambda f: statements("def program(m):\n  class A(metaclass=m): x = 1\n  return A.x")(
        type("M", (type,), {"__new__": f})
    ),
)
to(
    "__init__ of a metaclass",
    "`__build_class__`, in C",
    lambda cls, *a: ran(None),
    lambda f: statements("def program(m):\n  class A(metaclass=m): x = 1\n  return A.x")(
        type("M", (type,), {"__init__": f})
    ),
)
to(
    "mro of a metaclass",
    "`type.__new__`, in C",
    lambda cls: ran([cls, object]),
    lambda f: len(type("M", (type,), {"mro": f})("A", (), {}).__mro__),
)


def _of_metaclass(f: Any, name: str, program: Any) -> Callable[[], Any]:
    meta: Any = type("M", (type,), {name: f})
    made = meta("A", (), {})
    return lambda: program(made)


def metaclass(name: str, by: str, attribute: str, target: Any, program: Any) -> None:
    """A route to a method of a metaclass; the program is given a class."""
    built(name, by, target, lambda f: _of_metaclass(f, attribute, program))


metaclass(
    "__call__ of a metaclass",
    "`CALL`, in C",
    "__call__",
    lambda cls, *a: ran(a),
    lambda made: [made(i) for i in range(40)],
)
metaclass(
    "__instancecheck__",
    "`isinstance`, in C",
    "__instancecheck__",
    lambda cls, x: ran(x == 1),
    lambda made: (
        [isinstance(1, made) for _ in range(40)],
        isinstance(2, (int, made)),
        isinstance("2", (int, made)),
    ),
)
metaclass(
    "__subclasscheck__",
    "`issubclass`, in C",
    "__subclasscheck__",
    lambda cls, x: ran(x is int),
    lambda made: (issubclass(int, made), issubclass(str, made)),
)
metaclass(
    "__getattr__ of a metaclass",
    "`LOAD_ATTR`, in C",
    "__getattr__",
    lambda cls, x: ran(x),
    lambda made: (made.x, getattr(made, "y", 1)),
)
metaclass("len of a class", "`len`, in C", "__len__", lambda cls: ran(4), lambda made: len(made))
metaclass(
    "iteration over a class",
    "`GET_ITER`, in C",
    "__iter__",
    lambda cls: ran(iter("ab")),
    lambda made: [*made],
)
metaclass(
    "A | B of classes",
    "`BINARY_OP`, in C",
    "__or__",
    lambda cls, o: ran("either"),
    lambda made: made | int,
)
method(
    "__init__",
    "`CALL`, in C",
    "__init__",
    lambda self, *a: ran(None),
    lambda a: [type(type(a)(i)).__name__ for i in range(40)],
)
method(
    "__new__",
    "`CALL`, in C",
    "__new__",
    lambda cls, *a: ran(object.__new__(cls)),
    lambda a: [type(type(a)()).__name__ for i in range(40)],
)
method(
    "__init__ that a class inherits",
    "`CALL`, in C",
    "__init__",
    lambda self, *a: ran(None),
    lambda a: [type(type("B", (type(a),), {})(i)).__name__ for i in range(40)],
)
method(
    "__init__ through map",
    "`map`, in C",
    "__init__",
    lambda self, *a: ran(None),
    lambda a: len(list(map(type(a), range(5)))),
)
method("__del__", "the end of an object, in C", "__del__", lambda self: ran(None), lambda a: None)
method(
    "__sizeof__",
    "`sys.getsizeof`, in C",
    "__sizeof__",
    lambda self: ran(100),
    lambda a: sys.getsizeof(a) >= 100,
)
method(
    "__missing__",
    "`dict`, in C",
    "__missing__",
    lambda self, key: ran(key),
    lambda a: (a["x"], "{y}".format_map(a), "%(z)s" % a),
    base=dict,
)
method(
    "__missing__ of a Counter",
    "`dict`, in C",
    "__missing__",
    lambda self, key: ran(5),
    lambda a: a["x"],
    base=collections.Counter,
)
method(
    "__eq__ in a dict",
    "`dict`, in C",
    "__eq__",
    lambda self, o: ran(True),
    lambda a: ({hashed(a): 1}[type(a)()], a in {type(a)(): 2}),
)
method(
    "__eq__ in a list",
    "`list`, in C",
    "__eq__",
    lambda self, o: ran(o == 3),
    lambda a: ([a].index(3), 4 in [a], [a, 3].count(3), [a] == [3], (a,) != (3,)),
)
method(
    "__eq__ in a deque",
    "`deque`, in C",
    "__eq__",
    lambda self, o: ran(o == 3),
    lambda a: (collections.deque([a]).index(3), 4 in collections.deque([a])),
)
method(
    "__fspath__",
    "`os.fspath`, in C",
    "__fspath__",
    lambda self: ran("/"),
    lambda a: (os.fspath(a), os.path.isdir(a), os.path.join(a, "x"), str(Path(a))),
)
attribute(
    "__class__ as a property",
    "`isinstance`, in C",
    {"__class__": property},
    lambda self: ran(int),
    lambda a: (isinstance(a, int), isinstance(a, str)),
)
to(
    "__getattr__ of a module",
    "`LOAD_ATTR`, in C",
    lambda name: ran(name),
    lambda f: [module_with(__getattr__=f).x for _ in range(5)],
)
to("__dir__ of a module", "`dir`, in C", lambda: ran(["x"]), lambda f: dir(module_with(__dir__=f)))
to(
    "__subclasshook__",
    "`isinstance`, in C",
    lambda cls, c: ran(c is int),
    lambda f: [
        isinstance(x, abc.ABCMeta("A", (), {"__subclasshook__": classmethod(f)})) for x in (1, "")
    ],
)
to(
    "an abstract method",
    "`CALL`",
    lambda self: ran(1),
    lambda f: type(
        "B", (abc.ABCMeta("A", (), {"m": abc.abstractmethod(lambda self: 0)}),), {"m": f}
    )().m(),
)
method("__copy__", "`copy.copy`", "__copy__", lambda self: ran(1), lambda a: copy.copy(a))
method(
    "__deepcopy__",
    "`copy.deepcopy`",
    "__deepcopy__",
    lambda self, memo: ran(1),
    lambda a: copy.deepcopy([a]),
)
method(
    "__replace__",
    "`copy.replace`",
    "__replace__",
    lambda self, **k: ran(k),
    lambda a: copy.replace(a, x=1),
    since=(3, 13),
)
to(
    "a method of a class with slots",
    "`CALL`",
    lambda self: ran(1),
    lambda f: type("A", (), {"__slots__": ("x",), "m": f})().m(),
)


def hashed(a: Any) -> Any:
    """The object, of a class with a hash."""
    type(a).__hash__ = lambda self: 1
    return a


def module_with(**names: Any) -> Any:
    module: Any = types.ModuleType("made")
    vars(module).update(names)
    return module


# ---- iteration, generators, with --------------------------------------------------------------

group("Iteration, generators and with")


def _generator(n: int) -> Any:
    for i in range(n):
        try:
            got = yield ran(i)
        except ValueError:
            got = ran("thrown")
        if got is not None:
            yield ran(got)


method(
    "for x in a",
    "`GET_ITER` and `FOR_ITER`, in C",
    "__iter__",
    lambda self: ran(iter([1, 2])),
    statements("def program(a):\n  for x in a: pass\n  return x"),
)
method(
    "the steps of a loop",
    "`FOR_ITER`, in C",
    "__next__",
    lambda self: stepping(self, 5),
    lambda a: [x for x in a],
    base=type("Base", (), {"__iter__": lambda self: self}),
)
method(
    "list of an iterator",
    "`list`, in C",
    "__next__",
    lambda self: stepping(self, 5),
    lambda a: list(a),
    base=type("Base", (), {"__iter__": lambda self: self}),
)
method(
    "__enter__",
    "`with`, in C",
    "__enter__",
    lambda self: ran(1),
    statements("def program(a):\n  with a as x: return x"),
    base=type("Base", (), {"__exit__": lambda *a: None}),
)
method(
    "__exit__",
    "`with`, in C",
    "__exit__",
    lambda self, *a: ran(True),
    statements("def program(a):\n  with a: pass\n  with a: raise ValueError\n  return 3"),
    base=type("Base", (), {"__enter__": lambda self: self}),
)
to(
    "a generator's body",
    "`list`, `sum`, `yield from`",
    lambda n: ran(n),
    lambda f: (sum(f(i) for i in range(4)), list(delegated(f))),
)
to("send", "`generator.send`, in C", lambda x: ran(x), lambda f: sent(f, "send"))
to("throw", "`generator.throw`, in C", lambda x: ran(x), lambda f: sent(f, "throw"))
to("close", "`generator.close`, in C", lambda x: ran(x), lambda f: sent(f, "close"))
to("the end of a generator", "the collector, in C", lambda x: ran(x), lambda f: sent(f, "drop"))
method(
    "yield from a",
    "`GET_YIELD_FROM_ITER`, in C",
    "__iter__",
    lambda self: ran(iter([1, 2])),
    statements("def program(a):\n  def g(): yield from a\n  return list(g())"),
)
method(
    "send to what is delegated to",
    "`SEND`, in C",
    "send",
    lambda self, x: ran(x),
    statements(
        "def program(a):\n  def g(): yield from a\n  made = g()\n  return next(made), made.send(3)"
    ),
    base=type("Base", (), {"__iter__": lambda self: self, "__next__": lambda self: 1}),
)
method(
    "throw into what is delegated to",
    "`generator.throw`, in C",
    "throw",
    lambda self, *x: ran(7),
    statements(
        "def program(a):\n  def g(): yield from a\n  made = g()\n"
        "  return next(made), made.throw(ValueError())"
    ),
    base=type("Base", (), {"__iter__": lambda self: self, "__next__": lambda self: 1}),
)
to(
    "contextlib.contextmanager",
    "`next`, in `__enter__`",
    lambda x: (yield ran(x)),
    lambda f: entered(contextlib.contextmanager(f)(3)),
)
to(
    "ExitStack.callback",
    "`ExitStack.__exit__`",
    lambda x: ran(None),
    lambda f: stacked("callback", f, 1),
)
to("ExitStack.push", "`ExitStack.__exit__`", lambda *a: ran(None), lambda f: stacked("push", f))
to(
    "AsyncExitStack",
    "`AsyncExitStack.__aexit__`",
    lambda: ran(sleep()),
    lambda f: asyncio.run(stacked_later(f)),
)
method(
    "ExitStack.enter_context",
    "`enter_context`",
    "__enter__",
    lambda self: ran(1),
    lambda a: stacked("enter_context", a),
    base=type("Base", (), {"__exit__": lambda *a: None}),
)
method(
    "contextlib.closing",
    "`__exit__`",
    "close",
    lambda self: ran(1),
    lambda a: entered(contextlib.closing(a)) is a,
)
method(
    "contextlib.redirect_stdout",
    "`print`, in C",
    "write",
    lambda self, x: ran(len(x)),
    lambda a: redirected(a),
)
method(
    "ContextDecorator",
    "a wrapper",
    "__enter__",
    lambda self: ran(1),
    lambda a: a(len)("abc"),
    base=type("Base", (contextlib.ContextDecorator,), {"__exit__": lambda *a: None}),
)


def counted(a: Any, end: int) -> int:
    a.i = getattr(a, "i", 0) + 1
    if a.i > end:
        raise StopIteration
    return a.i


def stepping(a: Any, end: int) -> int:
    ran()
    return counted(a, end)


def delegated(f: Callable[[int], Any]) -> Any:
    yield f(1)
    yield from (f(i) for i in range(3))
    return f(2)


def sent(f: Callable[[Any], Any], how: str) -> Any:
    def steps() -> Any:
        try:
            got = yield f(1)
            yield f(got)
        except ValueError:
            yield f("thrown")
        finally:
            f("end")

    made = steps()
    found = [next(made)]
    if how == "send":
        found.append(made.send(3))
        made.close()
    elif how == "throw":
        found.append(made.throw(ValueError()))
        made.close()
    elif how == "close":
        made.close()
    del made
    return found


def entered(manager: Any) -> Any:
    with manager as value:
        return value


def stacked(how: str, *args: Any) -> Any:
    with contextlib.ExitStack() as stack:
        return getattr(stack, how)(*args) and how


async def stacked_later(f: Any) -> int:
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(f)
    return 1


def redirected(file: Any) -> None:
    with contextlib.redirect_stdout(file):
        print(1)


# ---- functools, itertools, collections --------------------------------------------------------

group("functools, itertools and collections")
to(
    "functools.partial",
    "`partial`, in C",
    lambda x, y: ran((x, y)),
    lambda f: [functools.partial(f, 1)(i) for i in range(40)],
)
attribute(
    "functools.partialmethod",
    "`partial`, in C",
    {"m": lambda f: functools.partialmethod(f, 1)},
    lambda self, x: ran(x),
    lambda a: a.m(),
)
to(
    "functools.reduce",
    "`reduce`, in C",
    lambda x, y: ran(x + y),
    lambda f: functools.reduce(f, range(6)),
)
to(
    "functools.cmp_to_key",
    "`list.sort`, in C",
    lambda x, y: ran(y - x),
    lambda f: sorted([2, 3, 1], key=functools.cmp_to_key(f)),
)
to(
    "functools.singledispatch",
    "its wrapper",
    lambda x: ran(x),
    lambda f: [functools.singledispatch(f)(i) for i in (1, "a")],
)
to("singledispatch.register", "its wrapper", lambda x: ran(x), lambda f: registered(f))
attribute(
    "functools.singledispatchmethod",
    "its wrapper",
    {"m": functools.singledispatchmethod},
    lambda self, x: ran(x),
    lambda a: a.m(1),
)
to("functools.cached_property", "`LOAD_ATTR`, in Python", lambda self: ran(1), lambda f: cached(f))
to(
    "functools.lru_cache",
    "`lru_cache`, in C",
    lambda x: ran(x),
    lambda f: [functools.lru_cache(f)(i) for i in (1, 1, 2)],
)
to("functools.cache", "`lru_cache`, in C", lambda x: ran(x), lambda f: functools.cache(f)(1))
to(
    "functools.wraps",
    "a wrapper",
    lambda x: ran(x),
    lambda f: functools.wraps(f)(lambda x: f(x))(1),
)
method(
    "functools.total_ordering",
    "a comparison, in Python",
    "__lt__",
    lambda self, o: ran(True),
    lambda a: functools.total_ordering(type(a))() >= a,
)
for _name, _call in {
    "groupby": lambda f: [(k, list(g)) for k, g in itertools.groupby([1, 1, 2], f)],
    "takewhile": lambda f: list(itertools.takewhile(f, [1, 2, 3])),
    "dropwhile": lambda f: list(itertools.dropwhile(f, [1, 2, 3])),
    "filterfalse": lambda f: list(itertools.filterfalse(f, [1, 2, 3])),
}.items():
    to(f"itertools.{_name}", f"`{_name}`, in C", lambda x: ran(x < 2), _call)
to(
    "itertools.accumulate",
    "`accumulate`, in C",
    lambda x, y: ran(x * y),
    lambda f: list(itertools.accumulate([1, 2, 3], f)),
)
to(
    "itertools.starmap",
    "`starmap`, in C",
    lambda x, y: ran(x * y),
    lambda f: list(itertools.starmap(f, [(1, 2), (3, 4)])),
)
method(
    "itertools.chain",
    "`chain`, in C",
    "__iter__",
    lambda self: ran(iter([1])),
    lambda a: (
        list(itertools.chain(a, a)),
        list(itertools.chain.from_iterable([a])),
        list(itertools.islice(a, 1)),
        list(itertools.product(a, a)),
    ),
)
method(
    "itertools.accumulate with __add__",
    "`accumulate`, in C",
    "__add__",
    lambda self, o: ran(self),
    lambda a: len(list(itertools.accumulate([a, a, a]))),
)
method(
    "itertools.count",
    "`count`, in C",
    "__radd__",
    lambda self, o: ran(1.5),
    lambda a: [x for x, _ in zip(itertools.count(0, a), "abc", strict=False)],
    base=type("Base", (), {"__float__": lambda self: 1.0}),
)
to(
    "collections.defaultdict",
    "`defaultdict`, in C",
    lambda: ran(1),
    lambda f: [collections.defaultdict(f)[k] for k in "ab"],
)
method(
    "collections.UserDict",
    "`__getitem__`",
    "__missing__",
    lambda self, key: ran(key),
    lambda a: a["x"],
    base=collections.UserDict,
)
method(
    "collections.ChainMap",
    "`__getitem__`",
    "__missing__",
    lambda self, key: ran(key),
    lambda a: a["x"],
    base=collections.ChainMap,
)
method(
    "dict.update",
    "`dict`, in C",
    "keys",
    lambda self: ran(["x"]),
    lambda a: (d := {}).update(a) or d,
    base=type("Base", (), {"__getitem__": lambda self, key: key}),
)
method(
    "a subclass of list",
    "`CALL`",
    "append",
    lambda self, x: ran(list.append(self, x)),
    lambda a: (a.append(1), len(a)),
    base=list,
)
method(
    "heapq", "`heapq`, in C", "__lt__", lambda self, o: ran(self.x < o.x), lambda a: heaped(type(a))
)
to(
    "heapq.nsmallest(key=)",
    "`heapq`",
    lambda x: ran(-x),
    lambda f: (heapq.nsmallest(2, [1, 3, 2], key=f), list(heapq.merge([3, 2], [1], key=f))),
)
to("bisect(key=)", "`bisect`, in C", lambda x: ran(x), lambda f: bisect.bisect([1, 2, 4], 3, key=f))
method(
    "bisect with __lt__",
    "`bisect`, in C",
    "__lt__",
    lambda self, o: ran(True),
    lambda a: bisect.bisect([1, 2, 4], a),
)
method(
    "list.sort with __lt__",
    "`list.sort`, in C",
    "__lt__",
    lambda self, o: ran(self.x < o.x),
    lambda a: [b.x for b in sorted(several(type(a)))],
)
method(
    "min with __lt__",
    "`min`, in C",
    "__lt__",
    lambda self, o: ran(self.x < o.x),
    lambda a: min(several(type(a))).x,
)
method(
    "max with __gt__",
    "`max`, in C",
    "__gt__",
    lambda self, o: ran(self.x > o.x),
    lambda a: max(several(type(a))).x,
)
method(
    "queue.PriorityQueue",
    "`heapq`, in C",
    "__lt__",
    lambda self, o: ran(self.x < o.x),
    lambda a: queued(type(a)),
)


def registered(f: Any) -> Any:
    single = functools.singledispatch(len)
    single.register(int, f)
    return single(1), single("abc")


def cached(f: Any) -> Any:
    held = functools.cached_property(f)
    a = type("A", (), {"x": held})()
    return a.x, a.x


def several(kind: Any) -> list[Any]:
    made = [kind() for _ in range(6)]
    for i, a in enumerate(made):
        a.x = (i * 5) % 7
    return made


def heaped(kind: Any) -> list[Any]:
    made = several(kind)
    heapq.heapify(made)
    return [heapq.heappop(made).x for _ in range(6)]


def queued(kind: Any) -> list[Any]:
    waiting: Any = queue.PriorityQueue()
    for a in several(kind):
        waiting.put(a)
    return [waiting.get().x for _ in range(6)]


# ---- text and data ----------------------------------------------------------------------------

group("Text and data")
to(
    "re.sub",
    "`re`, in C",
    lambda m: ran(m[0] * 2),
    lambda f: (re.sub("[ab]", f, "abc"), re.compile("c").subn(f, "abc")),
)
to(
    "re.Scanner",
    "its loop",
    lambda scanner, text: ran(text),
    lambda f: re.Scanner([("a", f), ("b", None)]).scan("aba"),
)
for _name, _text in {
    **{"object_hook": '[{"a": {}}]', "object_pairs_hook": '{"a": {}}', "parse_float": "[1.5, 2.5]"},
    **{"parse_int": "[1, 2]", "parse_constant": "[NaN, Infinity]"},
}.items():
    to(
        f"json.loads({_name}=)",
        "the decoder, in C",
        lambda x: ran(str(x)),
        functools.partial(lambda name, text, f: json.loads(text, **{name: f}), _name, _text),
    )
to(
    "json.dumps(default=)",
    "the encoder, in C",
    lambda x: ran(str(x)),
    lambda f: json.dumps([1j, {"a": 2j}], default=f),
)
method(
    "JSONEncoder.default",
    "the encoder, in C",
    "default",
    lambda self, x: ran(str(x)),
    lambda a: a.encode([1j]),
    base=json.JSONEncoder,
)
method(
    "json.dump to a file",
    "`json.dump`",
    "write",
    lambda self, text: ran(None),
    lambda a: json.dump([1, "a"], a),
)
method(
    "csv.writer",
    "`writerow`, in C",
    "write",
    lambda self, text: ran(len(text)),
    lambda a: csv.writer(a).writerow([1, 2]),
)
method(
    "csv.reader",
    "`reader`, in C",
    "__next__",
    lambda self: f"{stepping(self, 3)},x",
    lambda a: list(csv.reader(a)),
    base=type("Base", (), {"__iter__": lambda self: self}),
)
to(
    "string.Template",
    "`re.sub`, in C",
    lambda self, key: ran(key),
    lambda f: string.Template("$a $b").substitute(type("M", (dict,), {"__getitem__": f})()),
)
method(
    "string.Formatter.get_value",
    "`vformat`",
    "get_value",
    lambda self, key, args, kwargs: ran(key),
    lambda a: a.format("{0}{x}"),
    base=string.Formatter,
)
method(
    "string.Formatter.format_field",
    "`vformat`",
    "format_field",
    lambda self, value, spec: ran(f"<{value}>"),
    lambda a: a.format("{0}", 1),
    base=string.Formatter,
)
method(
    "str.format with attributes",
    "`str.format`, in C",
    "__getitem__",
    lambda self, key: ran(key),
    lambda a: "{0[x]}".format(a),
)
method(
    "str.translate",
    "`str.translate`, in C",
    "__getitem__",
    lambda self, key: ran("x"),
    lambda a: "ab".translate(a),
)
to(
    "codecs.register_error",
    "a codec, in C",
    lambda error: ran(("?", error.end)),
    lambda f: (
        codecs.register_error("routes", f)
        or ("aéb".encode("ascii", "routes"), b"a\xff".decode("utf-8", "routes"))
    ),
)
to(
    "codecs.register",
    "`codecs.lookup`, in C",
    lambda name: ran(codecs.lookup("ascii") if name == "routes_codec" else None),
    lambda f: searched(f),
)
to(
    "a codec's encode",
    "`str.encode`, in C",
    lambda text, errors="strict": ran((text.encode(), len(text))),
    lambda f: searched(
        lambda name: codecs.CodecInfo(f, codecs.utf_8_decode) if name == "routes_codec" else None
    ),
)
to(
    "difflib isjunk",
    "`SequenceMatcher`",
    lambda x: ran(x == " "),
    lambda f: difflib.SequenceMatcher(f, "a b", "a c").ratio(),
)
to("textwrap.indent", "`indent`", lambda line: ran(True), lambda f: textwrap.indent("a\nb", "-", f))
to(
    "tokenize",
    "`generate_tokens`, in C from 3.12 on",
    lambda lines: ran(next(lines, "")),
    lambda f: len(list(tokenize.generate_tokens(functools.partial(f, iter(["a = 1\n", "b\n"]))))),
)
method(
    "html.parser",
    "`feed`",
    "handle_starttag",
    lambda self, tag, attrs: ran(None),
    lambda a: a.feed("<a href=x><b>"),
    base=html.parser.HTMLParser,
)
method("pprint", "`pformat`", "__repr__", lambda self: ran("A!"), lambda a: pprint.pformat([a, a]))
method(
    "reprlib",
    "`Repr`",
    "repr_int",
    lambda self, x, level: ran("int"),
    lambda a: a.repr([1, 2]),
    base=reprlib.Repr,
)
method(
    "traceback",
    "`format_exception`",
    "__str__",
    lambda self: ran("text"),
    lambda a: traceback.format_exception_only(a),
    base=Exception,
)
method(
    "gettext",
    "`gettext`",
    "gettext",
    lambda self, text: ran(text.upper()),
    lambda a: falling_back(a),
    base=gettext.NullTranslations,
)
to(
    "email policy",
    "`message_from_string`",
    lambda *a, **k: ran(email.message.Message(*a, **k)),
    lambda f: email.message_from_string("A: b\n\nc", _class=f)["A"],
)
to(
    "configparser converters",
    "`ConfigParser`",
    lambda text: ran(text.upper()),
    lambda f: configured(f),
)
to("argparse type=", "`parse_args`", lambda text: ran(int(text)), lambda f: parsed(type=f))
to(
    "argparse action=",
    "`parse_args`",
    lambda self, parser, namespace, value, option=None: ran(setattr(namespace, "x", value)),
    lambda f: parsed(action=type("Action", (argparse.Action,), {"__call__": f})),
)
to("optparse callback", "`parse_args`", lambda *a: ran(None), lambda f: opted(f))
method(
    "ast.NodeVisitor",
    "`visit`",
    "visit_Name",
    lambda self, node: ran(None),
    lambda a: a.visit(ast.parse("a + b")),
    base=ast.NodeVisitor,
)
method(
    "ast.NodeTransformer",
    "`generic_visit`",
    "visit_Name",
    lambda self, node: ran(ast.Constant(1)),
    lambda a: ast.unparse(a.visit(ast.parse("a + b"))),
    base=ast.NodeTransformer,
)
method(
    "graphlib",
    "`dict`, in C",
    "__hash__",
    lambda self: ran(3),
    lambda a: len(list(graphlib.TopologicalSorter({a: [1]}).static_order())),
)


def searched(search: Any) -> Any:
    codecs.register(search)
    try:
        return "abc".encode("routes_codec")
    finally:
        codecs.unregister(search)


def falling_back(translations: Any) -> str:
    outer = gettext.NullTranslations()
    outer.add_fallback(translations)
    return outer.gettext("a")


def configured(f: Any) -> Any:
    parser: Any = configparser.ConfigParser(converters={"upper": f})
    parser.read_string("[a]\nx = y")
    return parser.getupper("a", "x"), parser["a"].getupper("x")


def parsed(**how: Any) -> Any:
    parser = argparse.ArgumentParser(prog="routes")
    parser.add_argument("--x", **how)
    return parser.parse_args(["--x", "3"]).x


def opted(f: Any) -> Any:
    parser = optparse.OptionParser(prog="routes")
    parser.add_option("-x", action="callback", callback=f)
    return parser.parse_args(["-x"])[1]


group("XML")


def _expat(handler: str, text: str, f: Any) -> None:
    parser = xml.parsers.expat.ParserCreate()
    setattr(parser, handler, f)
    parser.Parse(text, True)


for _name in ("StartElementHandler", "EndElementHandler", "CharacterDataHandler", "CommentHandler"):
    to(
        f"expat {_name}",
        "`Parse`, in C",
        lambda *a: ran(None),
        functools.partial(_expat, _name, "<a>x<!--c--><b/></a>"),
    )
to(
    "xml.sax",
    "expat, in C",
    lambda self, *a: ran(None),
    lambda f: xml.sax.parseString(
        b"<a><b/></a>", type("H", (xml.sax.ContentHandler,), {"startElement": f})()
    ),
)
for _name in ("start", "end", "data"):
    to(
        f"ElementTree's target, {_name}",
        "`XMLParser`, in C",
        lambda self, *a: ran(None),
        functools.partial(
            lambda name, f: fed(type("T", (), {name: f, "close": lambda self: 7})()), _name
        ),
    )
to(
    "TreeBuilder(element_factory=)",
    "`TreeBuilder`, in C",
    lambda tag, attributes: ran(xml.etree.ElementTree.Element(tag, attributes)),
    lambda f: xml.etree.ElementTree.tostring(fed(xml.etree.ElementTree.TreeBuilder(f))),
)


def fed(target: Any) -> Any:
    parser = xml.etree.ElementTree.XMLParser(target=target)
    parser.feed("<a>x<b/></a>")
    return parser.close()


group("Numbers and dates")
method(
    "statistics.mean",
    "`sum` of fractions",
    "as_integer_ratio",
    lambda self: ran((3, 2)),
    lambda a: statistics.mean([a, a]),
    base=float,
)
to(
    "statistics.median",
    "`map`, in C",
    lambda x: ran(x),
    lambda f: statistics.median(map(f, [3, 1, 2])),
)
method(
    "Fraction + a",
    "`BINARY_OP`, in C",
    "__radd__",
    lambda self, o: ran(o),
    lambda a: fractions.Fraction(1, 2) + a,
)
method(
    "Decimal + a",
    "`BINARY_OP`, in C",
    "__radd__",
    lambda self, o: ran(o),
    lambda a: decimal.Decimal(1) + a,
)
method(
    "Fraction of a number",
    "`Fraction`",
    "as_integer_ratio",
    lambda self: ran((3, 2)),
    lambda a: fractions.Fraction(a),
    base=float,
)
method("math.floor", "`math`, in C", "__floor__", lambda self: ran(1), lambda a: math.floor(a))
method("math.ceil", "`math`, in C", "__ceil__", lambda self: ran(1), lambda a: math.ceil(a))
method("math.trunc", "`math`, in C", "__trunc__", lambda self: ran(1), lambda a: math.trunc(a))
method(
    "math.fsum",
    "`math`, in C",
    "__float__",
    lambda self: ran(1.5),
    lambda a: (math.fsum([a, a]), math.hypot(a, 2), math.dist([a], [1])),
)
method(
    "math.gcd",
    "`math`, in C",
    "__index__",
    lambda self: ran(4),
    lambda a: (math.gcd(a, 6), math.factorial(a), math.comb(a, 2)),
)
method(
    "math.prod",
    "`math`, in C",
    "__mul__",
    lambda self, o: ran(self),
    lambda a: math.prod([a, 2, 3], start=a) is a,
)
method(
    "struct.pack", "`struct`, in C", "__index__", lambda self: ran(4), lambda a: struct.pack("i", a)
)
method(
    "array.array",
    "`array`, in C",
    "__index__",
    lambda self: ran(4),
    lambda a: array.array("i", [a, a]),
)
method(
    "random.Random.random",
    "`Random`, in Python and C",
    "random",
    lambda self: ran(0.5),
    lambda a: (a.uniform(1, 3), a.gauss(0, 1) * 0, a.choice("abc")),
    base=random.Random,
)
method(
    "random.Random.getrandbits",
    "`shuffle`",
    "getrandbits",
    lambda self, k: ran(0),
    lambda a: (xs := [1, 2, 3], a.shuffle(xs)),
    base=random.Random,
)
method(
    "tzinfo.utcoffset",
    "`datetime`, in C",
    "utcoffset",
    lambda self, when: ran(datetime.timedelta(hours=1)),
    lambda a: (
        datetime.datetime(2000, 1, 1, tzinfo=a).utcoffset(),
        str(datetime.datetime(2000, 1, 1, tzinfo=a)),
    ),
    base=datetime.tzinfo,
)
method(
    "tzinfo.tzname",
    "`datetime`, in C",
    "tzname",
    lambda self, when: ran("T"),
    lambda a: (datetime.time(1, tzinfo=a).tzname(), datetime.datetime(1, 1, 1, tzinfo=a).tzname()),
    base=datetime.tzinfo,
)
method(
    "timedelta * a",
    "`BINARY_OP`, in C",
    "__rmul__",
    lambda self, o: ran(o),
    lambda a: datetime.timedelta(1) * a,
)

# ---- pickle, sqlite3, ctypes ------------------------------------------------------------------

group("pickle and copyreg")


class Reduced:
    def __reduce__(self) -> Any:
        return ran((list, ()))


class ReducedWith:
    def __reduce_ex__(self, protocol: Any) -> Any:
        return ran((list, ()))


class Stated:
    def __getstate__(self) -> Any:
        return ran({"x": 1})


class Restated:
    def __init__(self) -> None:
        self.x = 1

    def __setstate__(self, state: Any) -> None:
        ran(vars(self).update(state))


class Argued(tuple):
    __slots__ = ()

    def __getnewargs__(self) -> Any:
        return ran((tuple(self),))


class Extended(list):
    def extend(self, items: Any) -> None:
        ran(super().extend(items))


def _pickled(a: Any) -> str:
    return type(pickle.loads(pickle.dumps(a))).__name__


to("__reduce__", "`Pickler`, in C", Reduced.__reduce__, lambda f: _pickled(Reduced()))
to("__reduce_ex__", "`Pickler`, in C", ReducedWith.__reduce_ex__, lambda f: _pickled(ReducedWith()))
to(
    "__getstate__",
    "`object.__reduce_ex__`, in C",
    Stated.__getstate__,
    lambda f: (_pickled(Stated()), copy.copy(Stated()).x),
)
to(
    "__setstate__",
    "`Unpickler`, in C",
    Restated.__setstate__,
    lambda f: (_pickled(Restated()), copy.deepcopy(Restated()).x),
)
to(
    "__getnewargs__",
    "`object.__reduce_ex__`, in C",
    Argued.__getnewargs__,
    lambda f: _pickled(Argued("ab")),
)
to(
    "extend of a subclass of list",
    "`Unpickler`, in C",
    Extended.extend,
    lambda f: _pickled(Extended("ab")),
)
method(
    "Pickler.persistent_id",
    "`Pickler`, in C",
    "persistent_id",
    lambda self, x: ran(None),
    lambda a: a.dump([1, [2]]),
    base=type(
        "Base",
        (pickle.Pickler,),
        {"__init__": lambda self: pickle.Pickler.__init__(self, io.BytesIO())},
    ),
)
method(
    "Pickler.reducer_override",
    "`Pickler`, in C",
    "reducer_override",
    lambda self, x: ran(NotImplemented),
    lambda a: a.dump([1j, {1j}]),
    base=type(
        "Base",
        (pickle.Pickler,),
        {"__init__": lambda self: pickle.Pickler.__init__(self, io.BytesIO())},
    ),
)
method(
    "Unpickler.find_class",
    "`Unpickler`, in C",
    "find_class",
    lambda self, module, name: ran(list),
    lambda a: a.load(),
    base=type(
        "Base",
        (pickle.Unpickler,),
        {
            "__init__": lambda self: pickle.Unpickler.__init__(
                self, io.BytesIO(pickle.dumps(Reduced))
            )
        },
    ),
)
to("Pickler.dispatch_table", "`Pickler`, in C", lambda x: ran((list, ())), lambda f: tabled(f))
to("copyreg.pickle", "`copy.copy`", lambda x: ran((list, ())), lambda f: reduced(f))
method(
    "pickle.dump to a file",
    "`Pickler`, in C",
    "write",
    lambda self, data: ran(len(data)),
    lambda a: pickle.dump([1], a),
)
to("the pickler in Python", "`Pickler.save`", Stated.__getstate__, lambda f: saved(Stated()))


def tabled(f: Any) -> Any:
    file = io.BytesIO()
    pickler = pickle.Pickler(file)
    pickler.dispatch_table = {complex: f}
    pickler.dump([1j])
    return pickle.loads(file.getvalue())


def reduced(f: Any) -> Any:
    kind = type("A", (), {})
    copyreg.pickle(kind, f)
    try:
        return copy.copy(kind())
    finally:
        del copyreg.dispatch_table[kind]


def saved(a: Any) -> int:
    file = io.BytesIO()
    vars(pickle)["_Pickler"](file).dump(a)
    return len(file.getvalue())


group("sqlite3")


def _queried(query: str, prepare: Callable[[Any], Any]) -> Any:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("create table t (x)")
        connection.executemany("insert into t values (?)", [(1,), (3,), (2,)])
        prepare(connection)
        return connection.execute(query).fetchall()


def _aggregate(step: Any, end: Any) -> Any:
    return type("G", (), {"step": step, "finalize": end})


to(
    "create_function",
    "sqlite, in C",
    lambda x: ran(x + 1),
    lambda f: _queried("select f(x) from t", lambda c: c.create_function("f", 1, f)),
)
to(
    "create_aggregate, step",
    "sqlite, in C",
    lambda self, x: ran(None),
    lambda f: _queried(
        "select f(x) from t", lambda c: c.create_aggregate("f", 1, _aggregate(f, lambda self: 7))
    ),
)
to(
    "create_aggregate, finalize",
    "sqlite, in C",
    lambda self: ran(7),
    lambda f: _queried(
        "select f(x) from t",
        lambda c: c.create_aggregate("f", 1, _aggregate(lambda self, x: None, f)),
    ),
)
to(
    "create_collation",
    "sqlite, in C",
    lambda x, y: ran((x > y) - (x < y)),
    lambda f: _queried(
        "select cast(x as text) as y from t order by y collate f",
        lambda c: c.create_collation("f", f),
    ),
)
to(
    "set_authorizer",
    "sqlite, in C",
    lambda *a: ran(sqlite3.SQLITE_OK),
    lambda f: _queried("select x from t", lambda c: c.set_authorizer(f)),
)
to(
    "set_trace_callback",
    "sqlite, in C",
    lambda text: ran(None),
    lambda f: _queried("select x from t", lambda c: c.set_trace_callback(f)),
)
to(
    "set_progress_handler",
    "sqlite, in C",
    lambda: ran(0),
    lambda f: _queried("select x from t", lambda c: c.set_progress_handler(f, 1)),
)
to(
    "row_factory",
    "`fetchall`, in C",
    lambda cursor, row: ran(row[0]),
    lambda f: _queried("select x from t", lambda c: setattr(c, "row_factory", f)),
)
to(
    "text_factory",
    "`fetchall`, in C",
    lambda data: ran(data.decode()),
    lambda f: _queried("select 'a' from t", lambda c: setattr(c, "text_factory", f)),
)
method(
    "__conform__",
    "`execute`, in C",
    "__conform__",
    lambda self, protocol: ran(5),
    lambda a: _queried(
        "select count(*) from t", lambda c: c.execute("insert into t values (?)", [a])
    ),
)
method(
    "executemany",
    "`executemany`, in C",
    "__next__",
    lambda self: (stepping(self, 3),),
    lambda a: _queried("select x from t", lambda c: c.executemany("insert into t values (?)", a)),
    base=type("Base", (), {"__iter__": lambda self: self}),
)

group("ctypes")
_Compare = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int)
)
to(
    "CFUNCTYPE",
    "ctypes, in C",
    lambda x: ran(x + 1),
    lambda f: ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(f)(3),
)
to("qsort", "the C library", lambda x, y: ran(x[0] - y[0]), lambda f: quicksorted(f))
to("errcheck", "ctypes, in C", lambda result, function, args: ran(result + 1), lambda f: checked(f))
to("from_param", "ctypes, in C", lambda cls, x: ran(ctypes.c_int(x)), lambda f: converted(f))
attribute(
    "_as_parameter_",
    "ctypes, in C",
    {"_as_parameter_": property},
    lambda self: ran(-4),
    lambda a: (
        ctypes.pythonapi.abs(a) if hasattr(ctypes.pythonapi, "abs") else ctypes.CDLL(None).abs(a)
    ),
)
to(
    "PYFUNCTYPE",
    "ctypes, in C",
    lambda x: ran(x),
    lambda f: ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(f)("a"),
)


def quicksorted(f: Any) -> list[int]:
    numbers = (ctypes.c_int * 5)(3, 1, 5, 2, 4)
    ctypes.CDLL(None).qsort(numbers, 5, 4, _Compare(f))
    return list(numbers)


def checked(f: Any) -> Any:
    function = ctypes.CDLL(None).abs
    function.errcheck = f
    return function(-3)


def converted(f: Any) -> Any:
    function = ctypes.CDLL(None).abs
    function.argtypes = [type("P", (), {"from_param": classmethod(f)})]
    return function(-3)


# ---- files and the system ---------------------------------------------------------------------

group("Files and the system")
method(
    "BufferedReader",
    "`readinto`, in C",
    "readinto",
    lambda self, b: ran(filled(self, b)),
    lambda a: io.BufferedReader(a).read(),
    base=type("Base", (io.RawIOBase,), {"readable": lambda self: True}),
)
method(
    "RawIOBase.read",
    "`read`, in C",
    "readinto",
    lambda self, b: ran(filled(self, b)),
    lambda a: (a.read(2), a.readall()),
    base=type("Base", (io.RawIOBase,), {"readable": lambda self: True}),
)
method(
    "BufferedWriter",
    "`flush`, in C",
    "write",
    lambda self, data: ran(len(data)),
    lambda a: written(a),
    base=type("Base", (io.RawIOBase,), {"writable": lambda self: True}),
)
method(
    "TextIOWrapper",
    "`read`, in C",
    "readinto",
    lambda self, b: ran(filled(self, b)),
    lambda a: io.TextIOWrapper(io.BufferedReader(a)).read(),
    base=type("Base", (io.RawIOBase,), {"readable": lambda self: True}),
)
method(
    "iteration over a file",
    "`IOBase.__next__`, in C",
    "readline",
    lambda self, size=-1: [b"a\n", b""][stepping(self, 2) - 1],
    lambda a: next(a),
    base=io.IOBase,
)
method(
    "gzip",
    "`GzipFile`",
    "read",
    lambda self, *a: ran(io.BytesIO.read(self, *a)),
    lambda a: gzip.GzipFile(fileobj=a).read(),
    base=io.BytesIO,
    args=(gzip.compress(b"abc", mtime=0),),
)
method(
    "bz2",
    "`BZ2File`",
    "read",
    lambda self, *a: ran(io.BytesIO.read(self, *a)),
    lambda a: bz2.BZ2File(a).read(),
    base=io.BytesIO,
    args=(bz2.compress(b"abc"),),
)
method(
    "lzma",
    "`LZMAFile`",
    "read",
    lambda self, *a: ran(io.BytesIO.read(self, *a)),
    lambda a: lzma.LZMAFile(a).read(),
    base=io.BytesIO,
    args=(lzma.compress(b"abc"),),
)
method(
    "zipfile",
    "`ZipFile`",
    "write",
    lambda self, data: ran(io.BytesIO.write(self, data)),
    lambda a: zipped(a),
    base=io.BytesIO,
)
to("tarfile filter", "`add`", lambda member: ran(None), lambda f: folder(lambda p: tarred(p, f)))
method(
    "hashlib.file_digest",
    "`file_digest`",
    "readinto",
    lambda self, b: ran(filled(self, b)),
    lambda a: hashlib.file_digest(a, "sha256").hexdigest(),
    base=type("Base", (io.RawIOBase,), {"readable": lambda self: True}),
)
to(
    "shutil.copytree(ignore=)",
    "`copytree`",
    lambda path, names: ran([]),
    lambda f: folder(lambda p: os.path.basename(shutil.copytree(p / "a", p / "b", ignore=f))),
)
to(
    "shutil.copytree(copy_function=)",
    "`copytree`",
    lambda old, new: ran(None),
    lambda f: folder(
        lambda p: os.path.basename(shutil.copytree(p / "a", p / "b", copy_function=f))
    ),
)
to(
    "shutil.rmtree(onexc=)",
    "`rmtree`",
    lambda function, path, error: ran(None),
    lambda f: folder(lambda p: shutil.rmtree(p / "none", onexc=f)),
)
to(
    "os.walk(onerror=)",
    "`walk`",
    lambda error: ran(None),
    lambda f: folder(lambda p: list(os.walk(p / "none", onerror=f))),
)
method("select.select", "`select`, in C", "fileno", lambda self: ran(self.end), lambda a: piped(a))
method(
    "PathLike in os.stat",
    "`os.stat`, in C",
    "__fspath__",
    lambda self: ran("/"),
    lambda a: (os.stat(a).st_mode > 0, len(os.listdir(a)) > 0),
)
to(
    "signal.signal",
    "the interpreter, between instructions",
    lambda number, frame: ran(None),
    lambda f: signalled(f),
)
to(
    "a signal that a timer sends",
    "the interpreter, between instructions",
    lambda number, frame: ran(None),
    lambda f: alarmed(f),
    times=2,
)


def filled(raw: Any, buffer: Any) -> int:
    data = getattr(raw, "data", b"abcdef")[: len(buffer)]
    raw.data = getattr(raw, "data", b"abcdef")[len(buffer) :]
    buffer[: len(data)] = data
    return len(data)


def written(raw: Any) -> None:
    with io.BufferedWriter(raw) as file:
        file.write(b"abc")


def zipped(file: Any) -> int:
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo("a"), "abc")
    return len(file.getvalue())


def tarred(path: Path, f: Any) -> list[str]:
    with tarfile.open(fileobj=io.BytesIO(), mode="w") as archive:
        archive.add(path / "a", filter=f)
        return archive.getnames()


def piped(a: Any) -> Any:
    a.end, writing = os.pipe()
    try:
        os.write(writing, b"x")
        return len(select.select([a], [], [], 5)[0])
    finally:
        os.close(a.end)
        os.close(writing)


def signalled(f: Any) -> None:
    before = signal.signal(signal.SIGUSR1, f)
    try:
        signal.raise_signal(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)


def alarmed(f: Any) -> None:
    before = signal.signal(signal.SIGALRM, f)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        signal.pause() if own.value == 0 else None
        time.sleep(0.01)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# ---- asyncio and threads ----------------------------------------------------------------------

group("asyncio")


def later(name: str, by: str, target: Any, program: Any, **more: Any) -> None:
    """A route in a coroutine, which is given the target."""
    to(name, by, target, lambda f: asyncio.run(program(f)), times=3, **more)


async def _called(f: Any, call: Any) -> Any:
    loop = asyncio.get_running_loop()
    done = loop.create_future()

    def end(*args: Any) -> None:
        if not done.done():
            done.set_result(None)

    call(loop, f, end)
    await done
    await asyncio.sleep(0)
    return "done"


async def _task(f: Any) -> Any:
    async def work() -> Any:
        await asyncio.sleep(0)
        return f(1)

    return await asyncio.gather(work(), asyncio.create_task(work()))


async def _group(f: Any) -> Any:
    async def work() -> Any:
        return f(1)

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(work())
    return task.result()


async def _done(f: Any) -> Any:
    task = asyncio.create_task(asyncio.sleep(0))
    task.add_done_callback(f)
    await task
    await asyncio.sleep(0)


async def _each(f: Any) -> Any:
    async def steps() -> Any:
        for i in range(3):
            yield f(i)

    return [x async for x in steps()]


async def _closed(f: Any) -> Any:
    async def steps() -> Any:
        try:
            yield 1
        finally:
            f(0)

    made = steps()
    await made.__anext__()
    await made.aclose()


async def _reported(f: Any) -> Any:
    asyncio.get_running_loop().set_exception_handler(f)
    asyncio.get_running_loop().call_soon(operator.truediv, 1, 0)
    await asyncio.sleep(0)
    await asyncio.sleep(0)


async def _protocol(f: Any) -> Any:
    reading, writing = os.pipe()
    done = asyncio.get_running_loop().create_future()
    kind = type(
        "P",
        (asyncio.Protocol,),
        {"data_received": f, "connection_lost": lambda self, e: done.set_result(1)},
    )
    with os.fdopen(reading, "rb") as file:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(kind, file)
        os.write(writing, b"abc")
        os.close(writing)
        await done
        transport.close()


later(
    "call_soon",
    "the event loop",
    lambda x: ran(None),
    lambda f: _called(f, lambda loop, f, end: (loop.call_soon(f, 1), loop.call_soon(end))),
)
later(
    "call_later",
    "the event loop",
    lambda x: ran(None),
    lambda f: _called(
        f, lambda loop, f, end: (loop.call_later(0.001, f, 1), loop.call_later(0.02, end))
    ),
)
later(
    "call_soon_threadsafe",
    "the event loop",
    lambda x: ran(None),
    lambda f: _called(
        f,
        lambda loop, f, end: threading.Thread(
            target=lambda: (loop.call_soon_threadsafe(f, 1), loop.call_soon_threadsafe(end))
        ).start(),
    ),
)
later("asyncio.to_thread", "a worker thread", lambda x: ran(x), lambda f: asyncio.to_thread(f, 1))
later(
    "run_in_executor",
    "a worker thread",
    lambda x: ran(None),
    lambda f: _called(
        f, lambda loop, f, end: loop.run_in_executor(None, f, 1).add_done_callback(end)
    ),
)
later("tasks", "the event loop, in C", lambda x: ran(x), _task)
later("TaskGroup", "the event loop, in C", lambda x: ran(x), _group)
later("Task.add_done_callback", "the event loop", lambda task: ran(None), _done)
later("async for", "an asynchronous generator", lambda x: ran(x), _each)
later("aclose", "an asynchronous generator, in C", lambda x: ran(x), _closed)
later("set_exception_handler", "the event loop", lambda loop, what: ran(None), _reported)
later("Protocol.data_received", "the event loop", lambda self, data: ran(None), _protocol)
method(
    "__await__",
    "`GET_AWAITABLE`, in C",
    "__await__",
    lambda self: ran(iter(())),
    lambda a: asyncio.run(awaited(a)),
    times=3,
)
method(
    "__anext__",
    "`GET_ANEXT`, in C",
    "__anext__",
    lambda self: ran(stepped(self)),
    lambda a: asyncio.run(steps_of(a)),
    base=type("Base", (), {"__aiter__": lambda self: self}),
    times=3,
)
method(
    "__aenter__",
    "`async with`, in C",
    "__aenter__",
    lambda self: ran(sleep()),
    lambda a: asyncio.run(inside_of(a)),
    base=type("Base", (), {"__aexit__": lambda self, *a: sleep()}),
    times=3,
)
method(
    "__aexit__",
    "`async with`, in C",
    "__aexit__",
    lambda self, *a: ran(sleep()),
    lambda a: asyncio.run(inside_of(a)),
    base=type("Base", (), {"__aenter__": lambda self: sleep()}),
    times=3,
)
later(
    "contextlib.asynccontextmanager",
    "`__aenter__`",
    lambda: (yield ran(1)),
    lambda f: inside_of(contextlib.asynccontextmanager(yielding(f))()),
)


def yielding(f: Any) -> Any:
    async def steps() -> Any:
        for x in f():
            yield x

    return steps


async def awaited(a: Any) -> Any:
    return await a


async def stepped(a: Any) -> Any:
    try:
        return counted(a, 3)
    except StopIteration:
        raise StopAsyncIteration from None


async def steps_of(a: Any) -> Any:
    return [x async for x in a]


async def inside_of(a: Any) -> Any:
    async with a as x:
        return x


group("Threads")


def _joined(thread: threading.Thread) -> None:
    thread.start()
    thread.join()


to(
    "threading.Thread(target=)",
    "the new thread",
    lambda x: ran(None),
    lambda f: _joined(threading.Thread(target=f, args=(1,))),
)
to(
    "Thread.run",
    "the new thread",
    lambda self: ran(None),
    lambda f: _joined(type("T", (threading.Thread,), {"run": f})()),
)
to(
    "threading.Timer",
    "the new thread",
    lambda: ran(None),
    lambda f: _joined(threading.Timer(0, f)),
    times=3,
)
to(
    "a thread that a thread starts",
    "the new thread",
    lambda x: ran(None),
    lambda f: _joined(
        threading.Thread(target=lambda: _joined(threading.Thread(target=f, args=(1,))))
    ),
)
to(
    "_thread.start_new_thread",
    "the new thread",
    lambda lock: ran(lock.release()),
    lambda f: low_level(f),
)
to(
    "threading.local",
    "the new thread, in C",
    lambda self: ran(None),
    lambda f: _joined(
        threading.Thread(target=vars, args=(type("L", (threading.local,), {"__init__": f})(),))
    ),
)
to(
    "ThreadPoolExecutor.submit",
    "a worker thread",
    lambda x: ran(x),
    lambda f: pooled(lambda pool: pool.submit(f, 1).result()),
)
to(
    "ThreadPoolExecutor.map",
    "a worker thread",
    lambda x: ran(x),
    lambda f: pooled(lambda pool: list(pool.map(f, range(5)))),
)
to(
    "ThreadPoolExecutor(initializer=)",
    "a worker thread",
    lambda: ran(None),
    lambda f: initialised(f),
)
to(
    "Future.add_done_callback",
    "a worker thread",
    lambda future: ran(None),
    lambda f: pooled(lambda pool: pool.submit(len, "a").add_done_callback(f)),
)
to(
    "ThreadPool.map",
    "a worker thread",
    lambda x: ran(x),
    lambda f: thread_pool(lambda pool: pool.map(f, range(5))),
    times=2,
)
to(
    "ThreadPool.apply_async",
    "a worker thread",
    lambda x: ran(x),
    lambda f: thread_pool(lambda pool: pool.apply_async(f, (1,)).get()),
    times=2,
)
to(
    "ThreadPool.imap",
    "a worker thread",
    lambda x: ran(x),
    lambda f: thread_pool(lambda pool: list(pool.imap(f, range(3)))),
    times=2,
)
to(
    "ThreadPool's callback=",
    "the thread of results",
    lambda x: ran(None),
    lambda f: called_back(f),
    times=2,
)
to(
    "threading.excepthook",
    "the new thread, in C",
    lambda args: ran(None),
    lambda f: hooked(
        threading,
        "excepthook",
        f,
        lambda: _joined(threading.Thread(target=operator.truediv, args=(1, 0))),
    ),
)
to("a Condition's predicate", "`wait_for`", lambda: ran(True), lambda f: waited(f))
to(
    "Barrier(action=)",
    "`Barrier.wait`",
    lambda: ran(None),
    lambda f: threading.Barrier(1, action=f).wait(),
)
to("sched.scheduler", "`run`", lambda x: ran(None), lambda f: scheduled(f))
to(
    "contextvars.Context.run",
    "`Context.run`, in C",
    lambda x: ran(x),
    lambda f: contextvars.copy_context().run(f, 1),
)
to(
    "socketserver",
    "the server's thread",
    lambda self: ran(self.wfile.write(b"abc")),
    lambda f: served(type("H", (socketserver.StreamRequestHandler,), {"handle": f})),
    times=2,
)
to(
    "http.server",
    "the server's thread",
    lambda self: ran(replied(self)),
    lambda f: fetched(
        type(
            "H",
            (http.server.BaseHTTPRequestHandler,),
            {"do_GET": f, "log_message": lambda *a: None},
        )
    ),
    times=2,
)
to(
    "urllib.request's handler",
    "`OpenerDirector`",
    lambda self, request: ran(io.BytesIO(b"abc")),
    lambda f: (
        urllib.request.build_opener(type("R", (urllib.request.BaseHandler,), {"routes_open": f}))
        .open("routes://x")
        .read()
    ),
)


def low_level(f: Any) -> None:
    lock = threading.Lock()
    lock.acquire()
    sys.modules["_thread"].start_new_thread(f, (lock,))
    with lock:
        pass


def pooled(program: Any) -> Any:
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return program(pool)


def initialised(f: Any) -> Any:
    with concurrent.futures.ThreadPoolExecutor(1, initializer=f) as pool:
        return pool.submit(len, "a").result()


def thread_pool(program: Any) -> Any:
    with multiprocessing.pool.ThreadPool(2) as pool:
        found = program(pool)
        pool.close()
        pool.join()
    return found


def called_back(f: Any) -> Any:
    return thread_pool(lambda pool: pool.apply_async(len, ("a",), callback=f).get())


def hooked(owner: Any, name: str, hook: Any, program: Any) -> Any:
    with changed(owner, name, hook):
        return program()


def waited(f: Any) -> Any:
    condition = threading.Condition()
    with condition:
        return condition.wait_for(f)


def scheduled(f: Any) -> None:
    scheduler = sched.scheduler()
    scheduler.enter(0, 1, f, (1,))
    scheduler.run()


def served(handler: Any, ask: Any = None, kind: Any = socketserver.TCPServer) -> Any:
    with kind(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            return (ask or asked)(server.server_address[1])
        finally:
            server.shutdown()
            thread.join()


def asked(port: int) -> bytes:
    with sys.modules["socket"].create_connection(("127.0.0.1", port)) as connection:
        return connection.makefile("rb").read()


def replied(handler: Any) -> None:
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(b"abc")


def fetched(handler: Any) -> Any:
    def ask(port: int) -> bytes:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"http://127.0.0.1:{port}/") as answer:
            return answer.read()

    return served(handler, ask, http.server.HTTPServer)


# ---- the interpreter's hooks ------------------------------------------------------------------

group("Hooks of the interpreter")
to("sys.settrace", "the interpreter", lambda frame, event, arg: ran(None), lambda f: traced(f))
to("sys.setprofile", "the interpreter", lambda frame, event, arg: ran(None), lambda f: profiled(f))
to(
    "threading.settrace",
    "the new thread",
    lambda frame, event, arg: ran(None),
    lambda f: traced_thread(f),
)
to("sys.monitoring", "the interpreter", lambda code, offset: ran(None), lambda f: monitored(f))
to(
    "bdb",
    "`trace_dispatch`",
    lambda self, frame: ran(None),
    lambda f: type("B", (bdb.Bdb,), {"user_line": f})().runcall(callee),
)
to(
    "sys.displayhook",
    "code compiled as `single`",
    lambda x: ran(None),
    lambda f: hooked(sys, "displayhook", f, lambda: exec(compile("1; 2", "made", "single"))),
)
to(
    "sys.breakpointhook",
    "`breakpoint`, in C",
    lambda: ran(3),
    lambda f: hooked(sys, "breakpointhook", f, lambda: breakpoint()),
)
to(
    "sys.unraisablehook",
    "the end of an object, in C",
    lambda what: ran(None),
    lambda f: hooked(
        sys, "unraisablehook", f, lambda: type("D", (), {"__del__": lambda self: 1 / 0})() and None
    ),
)
to(
    "weakref.ref",
    "the end of an object, in C",
    lambda ref: ran(None),
    lambda f: dropped(lambda a: weakref.ref(a, f)),
)
to(
    "weakref.proxy",
    "the end of an object, in C",
    lambda ref: ran(None),
    lambda f: dropped(lambda a: weakref.proxy(a, f)),
)
to(
    "weakref.finalize",
    "the end of an object, in C",
    lambda x: ran(None),
    lambda f: dropped(lambda a: weakref.finalize(a, f, 1)),
)
to(
    "a finalizer of a cycle",
    "the collector, in C",
    lambda self: ran(None),
    lambda f: collected(type("A", (), {"__del__": f})),
)
to("gc.callbacks", "the collector, in C", lambda phase, info: ran(None), lambda f: watched(f))
to("warnings.showwarning", "`warnings.warn`, in C", lambda *a, **k: ran(None), lambda f: warned(f))
to(
    "a warning's class",
    "`warnings.warn`, in C",
    lambda self, *a: ran(None),
    lambda f: quiet(warnings.warn, "x", type("W", (UserWarning,), {"__init__": f})),
)
to(
    "inspect.signature",
    "`inspect.signature`",
    lambda self: ran(inspect.Signature()),
    lambda f: str(
        inspect.signature(type("A", (), {"__signature__": property(f), "__call__": len})())
    ),
)
to(
    "importlib's create_module",
    "`module_from_spec`",
    lambda self, spec: ran(None),
    lambda f: loaded("create_module", f),
)
to(
    "importlib's exec_module",
    "`exec_module`",
    lambda self, module: ran(None),
    lambda f: loaded("exec_module", f),
)
to(
    "a finder on sys.meta_path",
    "`import`",
    lambda self, name, path=None, target=None: ran(None),
    lambda f: imported("find_spec", f),
)
to(
    "a loader that an import uses",
    "`import`",
    lambda self, module: ran(None),
    lambda f: imported("exec_module", f),
)
to(
    "importlib.util.find_spec",
    "`find_spec`",
    lambda self, name, path=None, target=None: ran(None),
    lambda f: found(f),
)
to("runpy.run_path", "a module's code", lambda x: ran(x), lambda f: ran_path(f))
to("timeit", "its loop", lambda: ran(None), lambda f: timeit.timeit(f, number=5) > 0)
to(
    "code.InteractiveInterpreter",
    "`runsource`",
    lambda x: ran(None),
    lambda f: code.InteractiveInterpreter({"f": f}).runsource("f(1)"),
)
method(
    "cmd.Cmd",
    "`onecmd`",
    "do_x",
    lambda self, text: ran(text),
    lambda a: a.onecmd("x 1"),
    base=cmd.Cmd,
)


def callee() -> int:
    x = 1
    return x


def traced(f: Any) -> int:
    before = sys.gettrace()
    sys.settrace(f)
    try:
        return callee()
    finally:
        sys.settrace(before)


def profiled(f: Any) -> int:
    before = sys.getprofile()
    sys.setprofile(f)
    try:
        return callee()
    finally:
        sys.setprofile(before)


def traced_thread(f: Any) -> None:
    before = threading.gettrace()
    threading.settrace(lambda frame, *a: f(frame, *a) if frame.f_code is callee.__code__ else None)
    try:
        _joined(threading.Thread(target=callee))
    finally:
        threading.settrace(before)  # pyright: ignore[reportArgumentType]


def monitored(f: Any) -> None:
    events = sys.monitoring.events
    tool = next(i for i in (3, 4) if sys.monitoring.get_tool(i) is None)
    sys.monitoring.use_tool_id(tool, "routes")
    try:
        sys.monitoring.register_callback(tool, events.PY_START, f)
        sys.monitoring.set_local_events(tool, callee.__code__, events.PY_START)
        callee()
    finally:
        sys.monitoring.set_local_events(tool, callee.__code__, 0)
        sys.monitoring.register_callback(tool, events.PY_START, None)
        sys.monitoring.free_tool_id(tool)


def dropped(hold: Any) -> None:
    a = type("A", (), {})()
    held = hold(a)
    del a
    assert held is not None


def collected(kind: Any) -> None:
    a = kind()
    a.itself = a
    del a
    gc.collect()


def watched(f: Any) -> None:
    gc.disable()
    gc.callbacks.append(f)
    try:
        gc.collect(0)
    finally:
        gc.callbacks.remove(f)
        gc.enable()


def warned(f: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with changed(warnings, "showwarning", f):
            warnings.warn("text", stacklevel=1)


def _loader(name: str, f: Any) -> Any:
    names = {"create_module": lambda self, spec: None, "exec_module": lambda self, module: None}
    return type("L", (), names | {name: f})()


def loaded(name: str, f: Any) -> str:
    spec: Any = importlib.util.spec_from_loader("routes_made", _loader(name, f))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.__name__


def imported(name: str, f: Any) -> str:
    spec = importlib.util.spec_from_loader("routes_made", _loader(name, f))
    find: Any = (
        f if name == "find_spec" else lambda self, n, *a: spec if n == "routes_made" else None
    )
    finder = type("F", (), {"find_spec": find})()
    sys.meta_path.insert(0, finder)
    try:
        importlib.import_module("routes_made")
        return "imported"
    except ImportError as error:
        return type(error).__name__
    finally:
        sys.meta_path.remove(finder)
        sys.modules.pop("routes_made", None)


def found(f: Any) -> Any:
    finder = type("F", (), {"find_spec": f})()
    sys.meta_path.insert(0, finder)
    try:
        return importlib.util.find_spec("routes_none")
    finally:
        sys.meta_path.remove(finder)


def ran_path(f: Any) -> Any:
    def program(path: Path) -> Any:
        (path / "made.py").write_text("x = f(3)")
        return runpy.run_path(str(path / "made.py"), {"f": f})["x"]

    return folder(program)


# ---- classes that the library makes, tests, logging -------------------------------------------

group("dataclasses, enum, logging, tests")
to(
    "__post_init__",
    "the class's `__init__`",
    lambda self: ran(None),
    lambda f: str(dataclasses.make_dataclass("A", ["x"], namespace={"__post_init__": f})(1)),
)
to(
    "default_factory",
    "the class's `__init__`",
    lambda: ran(3),
    lambda f: (
        dataclasses.make_dataclass("A", [("x", int, dataclasses.field(default_factory=f))])().x
    ),
)
to(
    "a dataclass's items",
    "`==` of tuples, in C",
    lambda self, o: ran(True),
    lambda f: operator.eq(*map(dataclasses.make_dataclass("A", ["x"]), [equal(f), equal(f)])),
)
to(
    "_missing_ of an enum",
    "`EnumType.__call__`",
    lambda cls, value: ran(cls.X),
    lambda f: enumerated({"_missing_": classmethod(f)})(7).name,
)
to(
    "_generate_next_value_",
    "`auto`",
    lambda name, start, count, last: ran(count + 5),
    lambda f: enumerated({"_generate_next_value_": staticmethod(f)}).X.value,
)
to(
    "__init__ of an enum",
    "`EnumType`",
    lambda self, *a: ran(None),
    lambda f: enumerated({"__init__": f}).X.value,
)
to(
    "a method of a NamedTuple",
    "`CALL`",
    lambda self: ran(self.x),
    lambda f: typing.cast("Any", type("N", (collections.namedtuple("N", "x"),), {"m": f}))(3).m(),
)
to(
    "typing.get_type_hints",
    "`eval`, in C",
    lambda: ran(int),
    lambda f: typing.get_type_hints(type("A", (), {"__annotations__": {"x": "f()"}}), {}, {"f": f}),
)
method(
    "Handler.emit",
    "`Logger`",
    "emit",
    lambda self, record: ran(None),
    lambda a: logged(lambda logger: logger.addHandler(a)),
    base=logging.Handler,
)
to(
    "Logger.addFilter",
    "`Logger`",
    lambda record: ran(False),
    lambda f: logged(lambda logger: logger.addFilter(f)),
)
method(
    "Formatter.format",
    "`Handler`",
    "format",
    lambda self, record: ran("text"),
    lambda a: logged(lambda logger: logger.addHandler(formatting(a))),
    base=logging.Formatter,
)
for _name in ("setUp", "runTest", "tearDown"):
    to(
        f"unittest's {_name}",
        "`TestCase.run`",
        lambda self: ran(None),
        functools.partial(
            lambda name, f: tested(
                type("T", (unittest.TestCase,), {"runTest": lambda self: None, name: f})()
            ),
            _name,
        ),
    )
to(
    "addCleanup",
    "`doCleanups`",
    lambda x: ran(None),
    lambda f: tested(
        type("T", (unittest.TestCase,), {"runTest": lambda self: self.addCleanup(f, 1)})()
    ),
)
to(
    "assertRaises",
    "`assertRaises`",
    lambda: ran(1) / 0,
    lambda f: unittest.TestCase().assertRaises(ZeroDivisionError, f),
)
to("doctest", "`DocTestRunner`", lambda x: ran(x), lambda f: documented(f))
to(
    "mock's side_effect",
    "`Mock.__call__`",
    lambda x: ran(x),
    lambda f: unittest.mock.Mock(side_effect=f)(3),
)
to("mock's wraps", "`Mock.__call__`", lambda x: ran(x), lambda f: unittest.mock.Mock(wraps=f)(3))
to("mock.patch", "`CALL`", lambda x: ran(x), lambda f: patched(f))


class Coloured:
    pass


def equal(f: Any) -> Any:
    """An object with a function as its ``__eq__``."""
    return type("I", (), {"__eq__": f})()


def enumerated(names: dict[str, Any]) -> Any:
    def fill(namespace: Any) -> None:
        for name, value in names.items():
            namespace[name] = value
        namespace["X"] = enum.auto()
        namespace["Y"] = enum.auto()

    return types.new_class("E", (enum.Enum,), {}, fill)


def logged(prepare: Any) -> None:
    logger = logging.Logger("routes")
    logger.addHandler(logging.NullHandler())
    prepare(logger)
    logger.warning("text")


def formatting(formatter: Any) -> Any:
    handler = logging.StreamHandler(io.StringIO())
    handler.setFormatter(formatter)
    return handler


def tested(case: Any) -> str:
    result = unittest.TestResult()
    case.run(result)
    return f"{result.testsRun} run, {len(result.errors)} errors"


def documented(f: Any) -> Any:
    test = doctest.DocTestParser().get_doctest(">>> f(3)\n3\n", {"f": f}, "made", None, 0)
    return doctest.DocTestRunner(verbose=False).run(test)


def patched(f: Any) -> Any:
    with unittest.mock.patch.object(Coloured, "colour", f, create=True):
        return vars(Coloured)["colour"](1)


# ---- targets that are no Python functions -----------------------------------------------------

group("Targets in C, and classes")


class Made:
    def __init__(self, x: Any = 0) -> None:
        self.x = ran(x)


for _name, (_by, _count, _program) in {
    "a call": ("`CALL`", 40, lambda f: [f(4.0) for _ in range(40)]),
    "map": ("`map`, in C", 3, lambda f: list(map(f, [1, 4, 9]))),
    "sorted": ("`list.sort`, in C", 3, lambda f: sorted([4, 1, 9], key=f)),
    "partial": ("`partial`, in C", 1, lambda f: functools.partial(f, 4)()),
    "starmap": ("`starmap`, in C", 2, lambda f: list(itertools.starmap(f, [(4,), (9,)]))),
    "json": ("the decoder, in C", 1, lambda f: json.loads("4", parse_int=lambda t: f(int(t)))),
    "a thread": ("a worker thread", 3, lambda f: pooled(lambda p: list(p.map(f, [1, 4, 9])))),
    "a keyword call": ("`CALL_FUNCTION_EX`", 1, lambda f: f(*[4.0], **{})),
}.items():
    to(f"math.sqrt: {_name}", _by, math.sqrt, _program, calls=_count)
to(
    "os.getcwd",
    "`os.path.abspath`",
    os.getcwd,
    lambda f: os.path.abspath("x") == os.path.join(os.getcwd(), "x"),
    calls=2,
)
to("time.monotonic", "`sched`, `threading`", time.monotonic, lambda f: f() > 0, calls=1)
to(
    "str.upper",
    "`CALL`, `map`, in C",
    str.upper,
    lambda f: (
        [x.upper() for x in "ab" * 20],
        list(map(f, "ab")),
        operator.methodcaller("upper")("a"),
    ),
    calls=43,
)
to(
    "list.append",
    "`CALL_LIST_APPEND`",
    list.append,
    lambda f: statements(
        "def program():\n  xs = []\n  for i in range(40): xs.append(i)\n  return xs"
    )(),
    calls=40,
)
to(
    "len itself",
    "`CALL_LEN`, `map`, in C",
    len,
    lambda f: ([len(x) for x in ["a"] * 40], list(map(len, ["ab", ""]))),
    calls=42,
)
to(
    "isinstance itself",
    "`CALL_ISINSTANCE`",
    isinstance,
    lambda f: [isinstance(x, int) for x in [1, ""] * 20],
    calls=40,
)
to("a class: a call", "`CALL`, in C", Made, lambda f: [Made(i).x for i in range(40)])
to("a class: map", "`map`, in C", Made, lambda f: [a.x for a in map(Made, range(5))])
to(
    "a class: defaultdict",
    "`defaultdict`, in C",
    Made,
    lambda f: collections.defaultdict(Made)["x"].x,
)
to("a class: partial", "`partial`, in C", Made, lambda f: functools.partial(Made, 3)().x)
to(
    "a class: raise",
    "`RAISE_VARARGS`, in C",
    type("E", (Exception,), {"__init__": lambda self: ran(None)}),
    lambda f: raised(f),
)
to(
    "a class: default_factory",
    "the class's `__init__`",
    Made,
    lambda f: (
        dataclasses.make_dataclass(
            "A", [("x", Made, dataclasses.field(default_factory=Made))]
        )().x.x
    ),
)

# ---- libraries --------------------------------------------------------------------------------


def library(module: str, name: str, by: str, target: Any, program: str, **more: Any) -> None:
    """A route in a library that need not be installed; the program is an expression of ``f``."""
    code = compile(program, f"<{name}>", "eval")

    def call(f: Any) -> Any:
        return quiet(eval, code, {"f": f, "L": importlib.import_module(module), **_for_libraries()})

    to(name, by, target, call, needs=module, **({"times": 3} | more))


def _for_libraries() -> dict[str, Any]:
    names = vars(builtins) | {
        n: globals()[n] for n in ("io", "type", "functools") if n in globals()
    }
    if importlib.util.find_spec("numpy"):
        names["np"] = importlib.import_module("numpy")
    return names


group("numpy")
for _name, _by, _target, _text in [
    ("np.vectorize", "`frompyfunc`, in C", lambda x: ran(x + 1), "np.vectorize(f)([1, 2, 3])"),
    (
        "np.frompyfunc",
        "a ufunc's loop, in C",
        lambda x: ran(x + 1),
        "np.frompyfunc(f, 1, 1)([1, 2, 3])",
    ),
    (
        "ufunc.reduce of frompyfunc",
        "a ufunc's loop, in C",
        lambda x, y: ran(x + y),
        "np.frompyfunc(f, 2, 1).reduce([1, 2, 3])",
    ),
    (
        "np.apply_along_axis",
        "its loop",
        lambda row: ran(row.sum()),
        "np.apply_along_axis(f, 1, np.ones((3, 2)))",
    ),
    (
        "np.apply_over_axes",
        "its loop",
        lambda a, axis: ran(a.sum(axis)),
        "np.apply_over_axes(f, np.ones((3, 2)), [0])",
    ),
    ("np.fromiter", "`fromiter`, in C", lambda x: ran(x * 2), "np.fromiter(map(f, range(4)), int)"),
    ("np.fromfunction", "`fromfunction`", lambda i, j: ran(i + j), "np.fromfunction(f, (2, 2))"),
    (
        "np.piecewise",
        "`piecewise`",
        lambda x: ran(-x),
        "np.piecewise(np.arange(4.0), [np.arange(4) < 2], [f, 1.0])",
    ),
    (
        "np.loadtxt converters=",
        "`loadtxt`, in C",
        lambda t: ran(float(t)),
        "np.loadtxt(io.StringIO('1,2\\n3,4'), delimiter=',', converters={0: f})",
    ),
    (
        "np.genfromtxt converters=",
        "`genfromtxt`",
        lambda t: ran(float(t)),
        "np.genfromtxt(io.StringIO('1,2\\n3,4'), delimiter=',', converters={0: f})",
    ),
    (
        "printoptions formatter=",
        "`array2string`",
        lambda x: ran("z"),
        "np.array2string(np.arange(2.0), formatter={'float_kind': f})",
    ),
    (
        "__array__",
        "`asarray`, in C",
        lambda self, dtype=None, copy=None: ran(sys.modules["numpy"].ones(2)),
        "np.asarray(type('A', (), {'__array__': f})()) + 1",
    ),
    (
        "__array_ufunc__",
        "a ufunc, in C",
        lambda self, *a, **k: ran(7),
        "np.add(1, type('A', (), {'__array_ufunc__': f})())",
    ),
    (
        "__array_function__",
        "numpy's dispatcher, in C",
        lambda self, *a: ran(7),
        "np.concatenate([type('A', (), {'__array_function__': f})()])",
    ),
    (
        "__array_wrap__",
        "a ufunc, in C",
        lambda self, *a: ran(7),
        "np.sin(type('A', (), {'__array_wrap__': f, '__array__': lambda *a, **k: np.ones(2)})())",
    ),
    (
        "__array_finalize__",
        "a view, in C",
        lambda self, o: ran(None),
        "np.ones(2).view(type('A', (np.ndarray,), {'__array_finalize__': f}))[1:].shape",
    ),
    (
        "__array_interface__",
        "`asarray`, in C",
        lambda self: ran(sys.modules["numpy"].ones(2).__array_interface__ | {"data": None}),
        "type('A', (), {'__array_interface__': property(f)})().__array_interface__['shape']",
    ),
    (
        "an object array's operator",
        "a ufunc's loop, in C",
        lambda self, o: ran(o),
        "np.array([type('A', (), {'__add__': f})()] * 3, dtype=object) + 1",
    ),
    (
        "an object array's sum",
        "a ufunc's loop, in C",
        lambda self, o: ran(self),
        "len([np.array([type('A', (), {'__add__': f})()] * 3, dtype=object).sum()])",
    ),
    (
        "an object array's sort",
        "`sort`, in C",
        lambda self, o: ran(False),
        "np.sort(np.array([type('A', (), {'__lt__': f})()] * 3, dtype=object)).shape",
    ),
    (
        "np.sin of objects",
        "a ufunc's loop, in C",
        lambda self: ran(0.5),
        "np.sin(np.array([type('A', (), {'sin': f})()], dtype=object))",
    ),
    (
        "np.array of a sequence",
        "`array`, in C",
        lambda self, i: (ran(), [1.0, 2.0][i])[1],
        "np.array(type('S', (), {'__len__': lambda self: 2, '__getitem__': f})())",
    ),
    (
        "float in an array",
        "`__setitem__`, in C",
        lambda self: ran(1.5),
        "np.array([type('A', (), {'__float__': f})()], dtype=float)",
    ),
    (
        "an index of an array",
        "`__getitem__`, in C",
        lambda self: ran(1),
        "np.arange(4)[type('I', (), {'__index__': f})()]",
    ),
    (
        "np.errstate(call=)",
        "a ufunc, in C",
        lambda kind, flag: ran(None),
        "(lambda e: (e.__enter__(), np.float64(1) / np.zeros(2), e.__exit__(None, None, None))[1])"
        "(np.errstate(all='call', call=f))",
    ),
    (
        "np.testing.assert_raises",
        "`assertRaises`",
        lambda: ran(1) / 0,
        "np.testing.assert_raises(ZeroDivisionError, f)",
    ),
]:
    library("numpy", _name, _by, _target, _text)

group("scipy")
for _name, _by, _target, _module, _text in [
    (
        "minimize",
        "`minimize`",
        lambda x: ran(float((x**2).sum())),
        "optimize",
        "L.minimize(f, [1.0, 2.0], method='BFGS').x",
    ),
    (
        "minimize, L-BFGS-B",
        "`minimize`",
        lambda x: ran(float((x**2).sum())),
        "optimize",
        "L.minimize(f, [1.0, 2.0], method='L-BFGS-B').x",
    ),
    (
        "minimize, Nelder-Mead's callback",
        "`minimize`",
        lambda x: ran(None),
        "optimize",
        "L.minimize(lambda x: float((x**2).sum()), [1.0, 2.0], method='Nelder-Mead', callback=f).x",
    ),
    (
        "minimize, jac=",
        "`minimize`",
        lambda x: ran(2 * x),
        "optimize",
        "L.minimize(lambda x: float((x**2).sum()), [1.0, 2.0], jac=f, method='CG').x",
    ),
    (
        "minimize_scalar",
        "`minimize_scalar`",
        lambda x: ran((x - 1) ** 2),
        "optimize",
        "L.minimize_scalar(f).x",
    ),
    ("brentq", "`brentq`, in C", lambda x: ran(x * x - 2), "optimize", "L.brentq(f, 0, 2)"),
    ("newton", "`newton`", lambda x: ran(x * x - 2), "optimize", "L.newton(f, 1.0)"),
    ("fsolve", "MINPACK", lambda x: ran(x * x - 2), "optimize", "L.fsolve(f, 1.0)"),
    (
        "least_squares",
        "`least_squares`",
        lambda x: ran(x - 1),
        "optimize",
        "L.least_squares(f, [0.0, 2.0]).x",
    ),
    (
        "curve_fit",
        "MINPACK",
        lambda x, a: ran(a * x),
        "optimize",
        "L.curve_fit(f, np.arange(4.0), 2 * np.arange(4.0))[0]",
    ),
    (
        "differential_evolution",
        "its loop",
        lambda x: ran(float((x**2).sum())),
        "optimize",
        "L.differential_evolution(f, [(-1, 1)], maxiter=2, rng=1).x",
    ),
    ("quad", "QUADPACK", lambda x: ran(x * x), "integrate", "L.quad(f, 0, 1)"),
    ("dblquad", "QUADPACK", lambda y, x: ran(x * y), "integrate", "L.dblquad(f, 0, 1, 0, 1)"),
    (
        "solve_ivp",
        "`solve_ivp`",
        lambda t, y: ran(-y),
        "integrate",
        "L.solve_ivp(f, (0, 1), [1.0]).y[0][-1]",
    ),
    (
        "solve_ivp, LSODA",
        "ODEPACK",
        lambda t, y: ran(-y),
        "integrate",
        "L.solve_ivp(f, (0, 1), [1.0], method='LSODA').y[0][-1]",
    ),
    (
        "solve_ivp, events=",
        "`solve_ivp`",
        lambda t, y: ran(y[0] - 0.5),
        "integrate",
        "L.solve_ivp(lambda t, y: -y, (0, 1), [1.0], events=f).t_events",
    ),
    ("odeint", "ODEPACK", lambda y, t: ran(-y), "integrate", "L.odeint(f, 1.0, [0, 1])"),
    (
        "generic_filter",
        "`generic_filter`, in C",
        lambda b: ran(b.sum()),
        "ndimage",
        "L.generic_filter(np.arange(9.0).reshape(3, 3), f, size=2).sum()",
    ),
    (
        "geometric_transform",
        "`geometric_transform`, in C",
        lambda c: ran(c),
        "ndimage",
        "L.geometric_transform(np.arange(9.0).reshape(3, 3), f).sum()",
    ),
    (
        "labeled_comprehension",
        "its loop",
        lambda a: ran(a.sum()),
        "ndimage",
        "L.labeled_comprehension(np.arange(4.0), [0, 0, 1, 1], [0, 1], f, float, 0)",
    ),
    (
        "LinearOperator in cg",
        "`cg`",
        lambda v: ran(2 * v),
        "sparse.linalg",
        "L.cg(L.LinearOperator((3, 3), matvec=f, dtype=float), np.ones(3))[0]",
    ),
    (
        "LinearOperator in gmres",
        "`gmres`",
        lambda v: ran(2 * v),
        "sparse.linalg",
        "L.gmres(L.LinearOperator((3, 3), matvec=f, dtype=float), np.ones(3))[0]",
    ),
    (
        "pdist metric",
        "`pdist`",
        lambda x, y: ran(abs(x - y).sum()),
        "spatial.distance",
        "L.pdist(np.eye(3), f)",
    ),
    (
        "cdist metric",
        "`cdist`",
        lambda x, y: ran(abs(x - y).sum()),
        "spatial.distance",
        "L.cdist(np.eye(2), np.eye(2), f)",
    ),
    (
        "bootstrap",
        "`bootstrap`",
        lambda s, axis=-1: ran(s.mean(axis=axis)),
        "stats",
        "L.bootstrap((np.arange(5.0),), f, n_resamples=5, rng=1).standard_error",
    ),
    (
        "permutation_test",
        "`permutation_test`",
        lambda x, y, axis=-1: ran(x.mean(axis=axis) - y.mean(axis=axis)),
        "stats",
        "L.permutation_test((np.arange(3.0), np.arange(3.0)), f, n_resamples=5, rng=1).pvalue",
    ),
    (
        "rv_continuous._pdf",
        "`quad`, in QUADPACK",
        lambda self, x: ran(3 * x**2),
        "stats",
        "type('R', (L.rv_continuous,), {'_pdf': f})(a=0, b=1).cdf(0.5)",
    ),
    (
        "approx_fprime",
        "`approx_fprime`",
        lambda x: ran(x),
        "optimize",
        "L.approx_fprime(np.ones(2), lambda x: f(x[0]), 1e-6)",
    ),
]:
    library(f"scipy.{_module}", f"scipy: {_name}", _by, _target, _text)

group("scikit-learn, joblib and wrapt")
for _name, _by, _target, _module, _text in [
    (
        "FunctionTransformer",
        "`transform`",
        lambda x: ran(x + 1),
        "sklearn.preprocessing",
        "L.FunctionTransformer(f).fit_transform(np.eye(2))",
    ),
    (
        "SVC(kernel=)",
        "`fit` and `predict`",
        lambda x, y: ran(x @ y.T),
        "sklearn.svm",
        "L.SVC(kernel=f).fit(np.eye(4), [0, 1, 0, 1]).predict(np.eye(4))",
    ),
    (
        "KNeighborsClassifier(metric=)",
        "the tree, in Cython",
        lambda x, y: ran(abs(x - y).sum()),
        "sklearn.neighbors",
        "L.KNeighborsClassifier(1, metric=f, algorithm='ball_tree')"
        ".fit(np.eye(4), [0, 1, 0, 1]).predict(np.eye(4))",
    ),
    (
        "KNeighborsClassifier(weights=)",
        "`predict`",
        lambda d: ran(d + 1),
        "sklearn.neighbors",
        "L.KNeighborsClassifier(2, weights=f).fit(np.eye(4), [0, 1, 0, 1]).predict(np.eye(4))",
    ),
    (
        "make_scorer",
        "the scorer",
        lambda y, p: ran(1.0),
        "sklearn.metrics",
        "L.make_scorer(f)(__import__('sklearn.dummy').dummy.DummyRegressor().fit([[1]], [1]), "
        "np.ones((2, 1)), np.ones(2))",
    ),
    (
        "pairwise_distances(metric=)",
        "a loop",
        lambda x, y: ran(abs(x - y).sum()),
        "sklearn.metrics",
        "L.pairwise_distances(np.eye(3), metric=f)",
    ),
    (
        "DBSCAN(metric=)",
        "the tree",
        lambda x, y: ran(abs(x - y).sum()),
        "sklearn.cluster",
        "L.DBSCAN(eps=1, metric=f, min_samples=1).fit(np.eye(3)).labels_",
    ),
    (
        "CountVectorizer(tokenizer=)",
        "`fit_transform`",
        lambda t: ran(t.split()),
        "sklearn.feature_extraction.text",
        "L.CountVectorizer(tokenizer=f, token_pattern=None).fit_transform(['a b', 'b']).toarray()",
    ),
    (
        "cross_val_score(scoring=)",
        "a worker of joblib",
        lambda e, x, y: ran(1.0),
        "sklearn.model_selection",
        "L.cross_val_score(__import__('sklearn.dummy').dummy.DummyClassifier(), np.eye(4), "
        "[0, 1, 0, 1], scoring=f, cv=2)",
    ),
]:
    library(_module, f"sklearn: {_name}", _by, _target, _text)
library(
    "joblib",
    "joblib: threading",
    "a worker thread",
    lambda x: ran(x),
    "L.Parallel(2, backend='threading')(L.delayed(f)(i) for i in range(4))",
)
library(
    "joblib",
    "joblib: sequential",
    "`Parallel`",
    lambda x: ran(x),
    "L.Parallel(1)(L.delayed(f)(i) for i in range(4))",
)
library(
    "wrapt",
    "wrapt: what is wrapped",
    "wrapt's wrapper, in C",
    lambda x: ran(x),
    "L.decorator(lambda w, i, a, k: w(*a, **k))(f)(1)",
)
library(
    "wrapt",
    "wrapt: the wrapper",
    "wrapt's wrapper, in C",
    lambda w, i, a, k: ran(w(*a, **k)),
    "L.decorator(f)(len)('abc')",
)
library(
    "wrapt",
    "wrapt: CallableObjectProxy",
    "the proxy, in C",
    lambda x: ran(x),
    "L.CallableObjectProxy(f)(1)",
)

group("pandas")
for _name, _by, _target, _text in [
    ("Series.map", "`map`, in Cython", lambda x: ran(x + 1), "L.Series([1, 2]).map(f).tolist()"),
    (
        "Series.apply",
        "`apply`, in Cython",
        lambda x: ran(x + 1),
        "L.Series([1, 2]).apply(f).tolist()",
    ),
    (
        "DataFrame.apply",
        "`apply`",
        lambda x: ran(x.sum()),
        "L.DataFrame({'a': [1, 2]}).apply(f).tolist()",
    ),
    ("DataFrame.pipe", "`pipe`", lambda x: ran(x), "L.DataFrame({'a': [1, 2]}).pipe(f).a.tolist()"),
    (
        "groupby.agg",
        "`agg`",
        lambda x: ran(x.sum()),
        "L.Series([1, 2, 3]).groupby([0, 0, 1]).agg(f).tolist()",
    ),
    (
        "groupby.apply",
        "`apply`",
        lambda x: ran(x.sum()),
        "L.Series([1, 2, 3]).groupby([0, 0, 1]).apply(f).tolist()",
    ),
    (
        "groupby.transform",
        "`transform`",
        lambda x: ran(x - 1),
        "L.Series([1, 2, 3]).groupby([0, 0, 1]).transform(f).tolist()",
    ),
    (
        "rolling.apply",
        "`roll_apply`, in Cython",
        lambda x: ran(x.sum()),
        "L.Series([1.0, 2, 3]).rolling(2).apply(f, raw=True).tolist()",
    ),
    (
        "sort_values(key=)",
        "`sort_values`",
        lambda x: ran(-x),
        "L.Series([1, 3, 2]).sort_values(key=f).tolist()",
    ),
    (
        "read_csv(converters=)",
        "the parser, in Cython",
        lambda x: ran(int(x)),
        "L.read_csv(io.StringIO('a\\n1\\n2'), converters={'a': f}).a.tolist()",
    ),
]:
    library("pandas", f"pandas: {_name}", _by, _target, _text)


# ---- the page ---------------------------------------------------------------------------------

PAGE = Path(__file__).parents[3] / "docs" / "routes.md"
BEGIN, END = "<!-- routes: begin -->\n", "<!-- routes: end -->\n"


def table() -> str:
    """The routes as the page has them."""
    lines = []
    for name, routes in itertools.groupby(ROUTES.values(), operator.attrgetter("group")):
        lines += [f"### {name}", "", "| Target | Caller |", "| --- | --- |"]
        for route in routes:
            lost = " (see below)" if route.name in KNOWN_LOST else ""
            cell = f"{route.name}{lost}".replace("|", "\\|").replace("*", "\\*").replace("_", "\\_")
            lines.append(f"| {cell} | {route.by} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}")
