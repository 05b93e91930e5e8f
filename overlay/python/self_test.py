"""A test of interception on this Python: each kind of target, with each instruction that calls
it, after warm-up.

The project's tests run it. Elsewhere it runs once, in a separate process, on each Python release
that it has not run on: see ``engines``.
"""

# pyright: basic
from __future__ import annotations

import enum
import functools
import gc
import json
import math
import operator
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from overlay.contexts.context import Context
from overlay.core.dispatch import may_keep
from overlay.core.in_force import key_in_force, stack_in_force
from overlay.core.own_builtins import __builtins__
from overlay.core.table import MethodTable
from overlay.plugins.plugin import Plugin
from overlay.python import engines, interception  # imported for its set-up of the resolver
from overlay.python.entered_functions import called_functions

__all__ = [
    "CALLS",
    "NotingResolver",
    "TestStack",
    "check",
    "check_instructions",
    "count_of",
    "installed",
    "main",
    "seen",
    "site",
]

_intercept: Any = interception.intercept
HOT = 300  # enough for each instruction to be specialised


class Point:
    def __init__(self, x=1, y=2):
        self.x, self.y = x, y

    @property
    def size(self):
        return abs(self.x)

    def moved(self, by=1):
        return self.x + by

    @staticmethod
    def origin(x=0):
        return "origin"

    @classmethod
    def of(cls, x=0):
        return "of"

    def __add__(self, other):
        return "sum"

    def __getitem__(self, index):
        return "item"

    def __call__(self, *args):
        return "called"

    def __eq__(self, other):
        return "equal"

    def __hash__(self):
        return 1

    def __len__(self):
        return 3

    def __bool__(self):
        return True

    def __iter__(self):
        return iter([1])

    def __contains__(self, item):
        return True

    def __enter__(self):
        return "entered"

    def __exit__(self, *error):
        return None


class ReadingClass:
    def __getattribute__(self, name):
        return "read"


class Slots:
    __slots__ = ("x",)


class BrokenClass(ValueError):
    pass


def plain(x=1, *, y=2):
    return x


def closing(z):
    def closure(x=1):
        return x + z

    return closure


class Exact:
    def __init__(self, x):
        self.x = x

    @property
    def size(self):
        return self.x


class Below(Exact):
    pass


exact = Exact(1)


class CallableOnce:
    def __call__(self, x=1):
        return x


class Colour(enum.Enum):
    RED = 1


@functools.lru_cache
def cached(x=1):
    return x


caller = CallableOnce()
kept: list[int] = []
append, from_keys, add_one = kept.append, dict.fromkeys, (1).__add__
compiled = re.compile("a")
search, told = compiled.search, re.Pattern.search
closure = closing(5)
partial = functools.partial(plain, 3)
p = Point()
reading = ReadingClass()
numbers = np.arange(3.0)
loads = json.loads

# each row: the number of calls of a target that the code makes, the target, and the code
CALLS: dict[str, tuple[int, Any, str]] = {
    "function": (5, plain, "plain(1); plain(x=1); plain(*(1,)); plain(**{'y': 1}); plain()"),
    "function, from C": (4, plain, "list(map(plain, [1, 2])); sorted([2, 1], key=plain)"),
    "function, from C extensions": (1, plain, "np.apply_along_axis(plain, 0, numbers)"),
    "function, from a hook": (1, plain, "loads('1.5', parse_float=plain)"),
    "closure": (4, closure, "closure(1); closure(x=2); [closure(i) for i in range(2)]"),
    "method": (
        5,
        Point.moved,
        "p.moved(); p.moved(2); p.moved(by=3); Point.moved(p); (m := p.moved)()",
    ),
    "static method": (2, Point.origin, "p.origin(); Point.origin(1)"),
    "class method": (2, Point.__dict__["of"].__func__, "p.of(); Point.of(1)"),
    "__bool__": (3, Point.__bool__, "bool(p); not p\nif p: pass"),
    "__hash__": (2, Point.__hash__, "hash(p); {p: 1}"),
    "__add__": (2, Point.__add__, "p + 1; p.__add__(2)"),
    "__getitem__": (2, Point.__getitem__, "p[0]; p['x']"),
    "__call__": (2, Point.__call__, "p(); p(1, 2)"),
    "__eq__": (3, Point.__eq__, "p == 1; p == p; [p].count(3)"),
    "__iter__": (4, Point.__iter__, "[*p]; list(p); tuple(p)\nfor _ in p: pass"),
    "__len__": (1, Point.__len__, "len(p)"),
    "__contains__": (2, Point.__contains__, "1 in p; 2 not in p"),
    "__enter__": (1, Point.__enter__, "with p: pass"),
    "__exit__": (1, Point.__exit__, "with p: pass"),
    "__getattribute__": (
        2,
        ReadingClass.__getattribute__,
        "reading.anything; getattr(reading, 'x')",
    ),
    "C function of one argument": (
        3,
        math.lgamma,
        "math.lgamma(1.0); math.lgamma(*(1.0,)); [*map(math.lgamma, [1.0])]",
    ),
    "C function of several": (2, math.hypot, "math.hypot(3.0, 4.0); math.hypot(1.0)"),
    "C function of a tuple": (2, math.log, "math.log(2.0); math.log(8.0, 2.0)"),
    "C function with keywords": (2, sorted, "sorted([2, 1]); sorted([1], reverse=True)"),
    "C function of no argument": (2, gc.isenabled, "gc.isenabled(); gc.isenabled(*())"),
    "len": (3, len, "len([]); len('abc'); len({})"),
    "isinstance": (2, isinstance, "isinstance(1, int); isinstance(p, Point)"),
    "C method of no argument": (3, str.upper, "'a'.upper(); str.upper('b'); (u := 'c'.upper)()"),
    "list.append": (3, list.append, "xs = []; xs.append(1); xs.append(2); list.append(xs, 3)"),
    "C method of several": (3, dict.get, "{}.get(1); {}.get(1, 2); dict.get({}, 3)"),
    "C method with keywords": (3, str.split, "'a b'.split(); 'a b'.split(sep='a'); str.split('a')"),
    "class": (5, Point, "Point(); Point(1); Point(1, y=2); Point(*(1,)); [*map(Point, [1])]"),
    "class without __init__": (2, Slots, "Slots(); Slots(*())"),
    "exception": (2, BrokenClass, "BrokenClass(); BrokenClass('x')"),
    "int": (4, int, "int(); int('1'); int(2.0); int('11', base=2)"),
    "float": (2, float, "float(1); float('2')"),
    "dict": (3, dict, "dict(); dict(a=1); dict([(1, 2)])"),
    "range": (2, range, "range(3); range(1, 2)"),
    "ufunc": (2, np.sin, "np.sin(1.0); np.sin(numbers); np.sin(x=1.0) if 0 else 0"),
    "dispatcher of numpy": (2, np.mean, "np.mean(numbers); np.mean(numbers, axis=0)"),
    "partial": (2, partial, "partial(); partial(y=3); [*map(partial, [])]"),
    "property": (2, Point.size.fget, "p.size; getattr(p, 'size')"),
    "getter": (2, Exact.size.fget, "exact.size; exact.size"),
    "__init__": (
        4,
        Exact.__init__,
        "Exact(1); Exact(x=1); [*map(Exact, [1])]; Exact.__init__(exact, 2)",
    ),
    "inherited __init__": (3, Exact.__init__, "Below(1); Below(2); type('Later', (Below,), {})(3)"),
    "class with __init__": (2, Exact, "Exact(1); Exact(2)"),
    "C class method": (
        3,
        dict.__dict__["fromkeys"],
        "dict.fromkeys('ab'); {}.fromkeys('a', 1); from_keys('c')",
    ),
    "bound C method made before": (3, list.append, "append(1); append(*(2,)); [*map(append, [3])]"),
    "method told its class": (
        3,
        told,
        "compiled.search('a'); search('a'); re.Pattern.search(compiled, 'b')",
    ),
    "slot wrapper": (3, int.__add__, "int.__add__(1, 2); (1).__add__(2); add_one(3)"),
    "function of import statements": (
        3,
        __import__,
        "import math; from math import sin as other; __import__('math')",
    ),
    "function of class statements": (2, __build_class__, "class A: pass\nclass B(A): y = 1"),
    "callable object": (4, caller, "caller(); caller(1); [*map(caller, [1])]; caller.__call__(2)"),
    "class of a metaclass": (3, Colour, "Colour(1); [*map(Colour, [1])]; Colour(value=1)"),
    "function that keeps results": (
        4,
        cached,
        "cached(1); cached(x=1); [*map(cached, [1])]; cached.__call__(1)",
    ),
}


seen: list[Any] = []


class TestStack:
    """Stub of a stack that is in force while calls are counted."""

    is_intercepted, tables, records, of_modules, calls = True, (), (), None, None

    def settle(self) -> None:
        pass

    @property
    def python(self) -> TestStack:
        return self

    own = python

    def of(self, callee: Any) -> Any:
        return callee


class NotingResolver:
    """Resolver that records each call and gives the native implementation."""

    def __init__(self, target: Any) -> None:
        self.interception: Any = _intercept.Interception(target, self)
        self.signature, self.generic = None, self
        self.native = None  # so that its result is called like any implementation
        self.more: dict[Any, Any] = {}

    def view(self, _: Any) -> NotingResolver:
        return self

    def found(self, args: Any) -> Any:
        seen.append(args)
        return self.interception

    def may_keep(self, value: Any) -> bool:
        return may_keep(value)

    def is_own(self, found: Any) -> bool:
        return found is self.native

    def select(self, args: Any, kwargs: Any) -> Any:
        seen.append((args, kwargs))
        return self.interception


def site(text: str) -> Callable[[], None]:
    """Compile the calls as a function of its own, which keeps its specialised instructions."""
    lines = "\n".join(f"    {line}" for part in text.split("\n") for line in part.split("; "))
    space = dict(globals())
    exec(f"def calls():\n{lines}\n    return None", space)
    return space["calls"]


def count_of(calls: Callable[[], object]) -> int:
    """The number of calls of installed targets that are intercepted while ``calls`` runs in a
    stack."""
    seen.clear()
    stack: Any = TestStack()
    tokens = stack_in_force.set(stack), key_in_force.set(object())
    try:
        calls()
    finally:
        stack_in_force.reset(tokens[0])
        key_in_force.reset(tokens[1])
    return len(seen)


@contextmanager
def installed(target: Any, kind: type[NotingResolver] = NotingResolver) -> Iterator[NotingResolver]:
    """Intercept a target for the block, also where it is entered with no call."""
    record = kind(target)
    try:
        record.interception.install()
        called_functions.add((target,))
        yield record
    finally:
        record.interception.remove()
        called_functions.remove(target)


def check(name: str) -> None:
    """Raise AssertionError where calls of a kind of target are missed, or intercepted
    needlessly."""
    wanted, target, text = CALLS[name]
    cold, hot = site(text), site(text)
    _warm(hot)
    with installed(target, NotingResolver):
        _expect(wanted, cold, "code that runs for the first time")
        _expect(wanted, hot, "code that had run natively")
        _warm(hot)  # specialised again, while it is intercepted
        if len(seen) != wanted:
            raise AssertionError("calls outside are dispatched")
        _expect(wanted, hot, "code that had run outside")
    _expect(0, hot, "code that runs after release")
    _expect(0, cold, "code that runs after release")
    _warm(hot)
    _expect(0, hot, "code that is specialised after release")


def _warm(calls: Callable[[], None]) -> None:
    for _ in range(HOT):
        calls()


def _expect(wanted: int, calls: Callable[[], None], which: str) -> None:
    found = count_of(calls)
    if found != wanted:
        raise AssertionError(f"{which}: {found} calls are seen of {wanted}")


def check_instructions() -> None:
    """Raise AssertionError where an instruction that applies a target is missed, or a call in a
    context with a plugin, or where a plugin's function leaves a frame."""
    frames: list[Any] = []
    table = MethodTable("operators")
    table.overlay(operator.add)(lambda a, b: ("sum", a, b))
    table.overlay(operator.getitem)(lambda a, b: ("item", a, b))

    class CountingPlugin(Plugin):
        calls = 0

        def around(self, callee: Any, run: Callable[..., Any]) -> Callable[..., Any]:
            def counted(*args: Any, **kwargs: Any) -> Any:
                self.calls += 1
                return run(*args, **kwargs)

            return counted

    def expect(found: Any, wanted: Any, which: str) -> None:
        if found != wanted:
            raise AssertionError(f"{which}: {found!r} is seen, and not {wanted!r}")

    space: dict[str, Any] = {"frames": frames, "sys": sys}
    exec(_PROGRAM, space)
    program = space["program"]
    natively = program([1, 2])
    for _ in range(HOT):
        program([1, 2])
    plugin = CountingPlugin()
    with _no_collections():  # whose callbacks are calls, too
        for _ in range(HOT):
            found = Context(table, plugins=(plugin,))(program, [1, 2])
            expect(found, (("sum", ("item", [1, 2], 0), 1), 2), "operators")
    expect(plugin.calls, 9 * HOT, "calls with a plugin")
    expect(set(frames), {program.__code__}, "frames of callers")
    expect(program([1, 2]), natively, "code that runs after release")


@contextmanager
def _no_collections() -> Iterator[None]:
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


_PROGRAM = """
def below(*args, **kwargs):
    frames.append(sys._getframe(1).f_code)

def program(xs):
    below(1)
    below(x=1)
    below(*xs)
    xs.count(1)
    return xs[0] + 1, len(xs)
"""


def main() -> None:
    """Run all checks; the last line printed before the process ends names the failure."""
    engines.self_test_fault = lambda: None  # it is the function under test
    for name in CALLS:
        print(name, flush=True)
        try:
            check(name)
        except AssertionError as error:
            sys.exit(str(error))
    print("instructions", flush=True)
    try:
        check_instructions()
    except AssertionError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
