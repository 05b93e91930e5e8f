"""Programs that call functions out of containers: each container, each form of access and each kind
of callee, and which of them compiled code refuses."""

import functools
import math
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit, prange

from overlay import Context, MethodTable, generic, nonoverlay, recurse
from tests.overlay.chosen_programs import down, halved, tripled, up

__all__ = ["ACCESSES", "CELLS", "CONTAINERS", "KINDS", "REFUSED", "Cell", "overlaid", "table"]


@dataclass
class Held:
    """A dataclass with two functions."""

    first: Any
    second: Any


@dataclass(frozen=True)
class FrozenHeld:
    """A dataclass with two functions that stays as it is."""

    first: Any
    second: Any


Two = namedtuple("Two", "first second")


class Adder:
    """A class whose instances, and their methods, are called."""

    def __init__(self, n: float) -> None:
        self.n = n

    def __call__(self, x: float) -> float:
        return x + self.n

    def add(self, x: float) -> float:
        return x + self.n


@njit
def doubled(x):
    return 2.0 * x


@generic
def scaled(x): ...


@scaled.dispatch
def _(x: float):
    return 4.0 * x


def scaled_by(n, x):
    return n * x


def adding(n):
    def add(x):
        return math.sin(x) + n

    return add


OTHER = MethodTable("other")
OTHER.overlay(up)(halved)
# the kinds of callees: two of each are held
KINDS: dict[str, tuple[Any, Any]] = {
    "Python functions": (up, down),
    "builtins": (math.sin, math.cos),
    "both": (up, math.sin),
    "`@njit` functions": (doubled, up),
    "lambdas": (lambda x: up(x) * 2.0, lambda x: math.sin(x)),
    "closures": (adding(1.0), adding(2.0)),
    "`functools.partial`": (functools.partial(scaled_by, 2.0), functools.partial(scaled_by, 3.0)),
    "`context.wrap(f)`": (Context(OTHER).wrap(up), up),
    "generic functions": (scaled, up),
    "bound methods": (Adder(1.0).add, up),
    "callable objects": (Adder(2.0), up),
}

# how two functions are held; what is two deep has rows
CONTAINERS: dict[str, Callable[[Any, Any], Any]] = {
    "tuple": lambda f, g: (f, g),
    "list": lambda f, g: [f, g],
    "dict": lambda f, g: {0: f, 1: g},
    "named tuple": Two,
    "dataclass": Held,
    "frozen dataclass": FrozenHeld,
    "tuple of tuples": lambda f, g: ((f, g), (g, f)),
    "list of lists": lambda f, g: [[f, g], [g, f]],
    "list of tuples": lambda f, g: [(f, g), (g, f)],
    "tuple of lists": lambda f, g: ([f, g], [g, f]),
    "dict of lists": lambda f, g: {0: [f, g], 1: [g, f]},
    "dict of tuples": lambda f, g: {0: (f, g), 1: (g, f)},
    "list of dicts": lambda f, g: [{0: f, 1: g}, {0: g, 1: f}],
    "dict of dicts": lambda f, g: {0: {0: f, 1: g}, 1: {0: g, 1: f}},
    "list of dataclasses": lambda f, g: [Held(f, g), Held(g, f)],
}
FLAT = ("tuple", "list", "dict", "named tuple", "dataclass", "frozen dataclass")
SEQUENCES = ("tuple", "list", "named tuple")
FIELDS = ("named tuple", "dataclass", "frozen dataclass")
DEEP = tuple(name for name in CONTAINERS if name not in FLAT)
OF_SEQUENCES = tuple(n for n in DEEP if n.endswith(("tuples", "lists")))
OF_DICTS = ("list of dicts", "dict of dicts")
INDEXED = (*OF_SEQUENCES, *OF_DICTS)
ROWS_IN_ORDER = ("tuple of tuples", "list of lists", "list of tuples", "tuple of lists")


class Access(NamedTuple):
    """A form of access: the containers that have it in Python, and the body of a program."""

    containers: tuple[str, ...]
    body: str


ACCESSES = {
    "`c[k]`": Access((*SEQUENCES, "dict"), "return c[k](x)"),
    "`c[0]`": Access((*SEQUENCES, "dict"), "return c[0](x)"),
    "`c[1:]`": Access(("tuple", "list"), "t = 0.0\nfor f in c[1:]: t += f(x)\nreturn t"),
    "`c.first`": Access(FIELDS, "return c.first(x)"),
    "`for f in c`": Access(SEQUENCES, "t = 0.0\nfor f in c: t = t * 2.0 + f(x)\nreturn t"),
    "`[f(x) for f in c]`": Access(SEQUENCES, "return sum([f(x) for f in c])"),
    "`enumerate(c)`": Access(
        SEQUENCES, "t = 0.0\nfor i, f in enumerate(c): t += f(x) * i\nreturn t"
    ),
    "`zip(c, xs)`": Access(SEQUENCES, "t = 0.0\nfor f, y in zip(c, xs): t += f(y)\nreturn t"),
    "`f, g = c`": Access(SEQUENCES, "f, g = c\nreturn f(x) - g(x)"),
    "`f in c`": Access(
        (*SEQUENCES, "dict"),
        "return (1.0 if other[k] in HELD else 2.0) + (4.0 if tripled in HELD else 8.0)",
    ),
    "`f is g`": Access((*SEQUENCES, "dict"), "return 1.0 if c[k] is c[0] else c[k](x)"),
    "`f == g`": Access((*SEQUENCES, "dict"), "return 1.0 if c[k] == c[0] else c[1 - k](x)"),
    "`len(c)`": Access((*SEQUENCES, "dict"), "return len(c) * c[k](x)"),
    "given to a function": Access((*SEQUENCES, "dict"), "return at(c, k)(x)"),
    "`prange`": Access(
        ("list", "dict"),
        "found = np.zeros(4)\nfor i in prange(4): found[i] = c[i % 2](x + i)\nreturn found.sum()",
    ),
    "`c.get(k)`": Access(("dict",), "return c.get(k)(x)"),
    "`c.get(k) is None`": Access(
        ("dict",), "f = c.get(2 * k)\nif f is None: return -1.0\nreturn f(x)"
    ),
    "`c.get(k, f)`": Access(("dict",), "return c.get(2 * k, tripled)(x)"),
    "`c.values()`": Access(("dict",), "t = 0.0\nfor f in c.values(): t = t * 2.0 + f(x)\nreturn t"),
    "`c.items()`": Access(("dict",), "t = 0.0\nfor n, f in c.items(): t += f(x) * n\nreturn t"),
    "`for k in c`": Access(("dict",), "t = 0.0\nfor n in c: t += c[n](x) * n\nreturn t"),
    "`k in c`": Access(("dict",), "return c[k](x) if k in c and 7 not in c else 0.0"),
    "`c[i][j]`": Access(INDEXED, "return c[k][1 - k](x) + c[k][k](x) * 2.0"),
    "`c[i][0]`": Access(INDEXED, "return c[k][0](x) + c[0][k](x) * 2.0"),
    "`c[i].first`": Access(("list of dataclasses",), "return c[k].first(x)"),
    "`row = c[i]`": Access(INDEXED, "row = c[k]\nreturn row[1](x) + len(row)"),
    "`for row in c`": Access(
        ROWS_IN_ORDER, "t = 0.0\nfor row in c:\n  for f in row: t = t * 2.0 + f(x)\nreturn t"
    ),
    "`for f, g in c`": Access(
        ROWS_IN_ORDER, "t = 0.0\nfor f, g in c: t = t * 2.0 + f(x) - g(x)\nreturn t"
    ),
    "`c[i].get(j)`": Access(OF_DICTS, "return c[k].get(1 - k)(x) + c[k].get(5, tripled)(x)"),
    "`c[i].values()`": Access(
        OF_DICTS, "t = 0.0\nfor f in c[k].values(): t = t * 2.0 + f(x)\nreturn t"
    ),
    "`c[i].items()`": Access(
        OF_DICTS, "t = 0.0\nfor n, f in c[k].items(): t += f(x) * n\nreturn t"
    ),
    "`j in c[i]`": Access(OF_DICTS, "return c[k][k](x) if k in c[1 - k] else 0.0"),
    "`nonoverlay(f)`": Access((*SEQUENCES, "dict"), "return nonoverlay(c[k])(x)"),
    "`context(f, x)`": Access((*SEQUENCES, "dict"), "return inner(c[k], x)"),
    "`context.wrap(f)`": Access((*SEQUENCES, "dict"), "return inner.wrap(c[k])(x)"),
    "`recurse(context, f, x)`": Access((*SEQUENCES, "dict"), "return recurse(inner, c[k], x)"),
}
# what compiled code says in place of a result, and what is written in its place
REFUSED = {
    "bound methods": "cannot call the bound method Adder.add",
    "callable objects": "cannot call an instance of Adder",
}
# what is refused is not called there
NOT_CALLED = ("`f in c`", "`c[1:]`")


def at(functions, k):
    return functions[k]


class Cell(NamedTuple):
    """A place of the matrix."""

    container: str
    access: str
    kind: str

    @property
    def refused(self) -> str | None:
        """The message with which compiled code refuses the program."""
        return None if self.access in NOT_CALLED else REFUSED.get(self.kind)

    def program(self) -> tuple[Any, Any]:
        """The program, of a number and a float, and the container that it reads."""
        f, g = KINDS[self.kind]
        container = CONTAINERS[self.container](f, g)
        body = "\n".join(f"    {line}" for line in ACCESSES[self.access].body.splitlines())
        held = "c.values()" if self.container == "dict" else "c"
        source = f"def program(k, x):\n{body}\n".replace("HELD", held)
        namespace = {**_NAMES, "c": container, "other": (f, tripled)}
        exec(compile(source, f"<{self.container}, {self.access}>", "exec"), namespace)
        return namespace["program"], container


INNER = MethodTable("inner")
INNER.overlay(up)(tripled)
INNER.overlay(math.sin)(halved)


# the names that the programs use
_NAMES = {
    "at": at,
    "inner": Context(INNER),
    "nonoverlay": nonoverlay,
    "np": np,
    "prange": prange,
    "recurse": recurse,
    "tripled": tripled,
    "xs": (0.25, 0.75),
    "__name__": __name__,
}
CELLS = [
    Cell(container, access, kind)
    for access, form in ACCESSES.items()
    for container in form.containers
    for kind in KINDS
]


def overlaid() -> Context:
    """A context with methods of one function in Python and one of numba's."""
    table = MethodTable("overlaid")
    table.overlay(math.sin)(tripled)
    table.overlay(up)(halved)
    return Context(table)


def table() -> list[str]:
    """The lines of the documents' table: what can be done with which container."""
    held: dict[tuple[str, ...], list[str]] = {}
    for access, form in ACCESSES.items():
        held.setdefault(form.containers, []).append(access)
    rows = [f"| {', '.join(names)} | {', '.join(forms)} |" for names, forms in held.items()]
    return ["| Functions in | Reads in compiled code |", "| --- | --- |", *rows]
