"""Programs of every kind, compiled with ``cache=True``: ``main`` prints, for each, what
it gives, and whether it was found on disk. Run by ``test_cache``."""

import collections
import enum
import math
import traceback

import numpy as np
import plum
from numba import cfunc, guvectorize, njit, prange, types, vectorize
from numba.extending import intrinsic, overload
from numba.typed import List as TypedList

from overlay import (
    Context,
    MethodTable,
    call_next,
    current_context,
    generic,
    nonoverlay,
    recurse,
)
from overlay.interpretations.autodiff import autodiff

table = MethodTable("table")
other = MethodTable("other")
FACTOR = 2.0
NUMBERS = np.arange(4.0)


@table.overlay(math.sin)
def sin(x: float) -> float:
    return x * FACTOR


@table.overlay(math.cos)
def cos(x: float) -> float:
    return call_next(x) * 2


@table.generated(math.exp)
def exp(x):
    return (lambda v: v + 1000) if x is float else (lambda v: v + 2000)


def helper(x):
    return math.sin(x) + 1


@other.overlay(helper)
def other_helper(x: float):
    return call_next(x) + 0.5


inner = Context(other, metadata=3)
wrapped = inner.wrap(helper)


class Color(enum.IntEnum):
    RED = 1
    BLUE = 2


Point = collections.namedtuple("Point", "x y")


class MyError(Exception):
    pass


class Holder:
    @staticmethod
    def static(x):
        return math.sin(x) + 77


@vectorize
def kernel(x):
    return math.sin(x) + 1


@guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
def each(given, out):
    for i in range(len(given)):
        out[i] = math.sin(given[i])


@cfunc("float64(float64)")
def callback(x):
    return math.sin(x)


@njit(inline="always")
def inlined(x):
    return math.sin(x) * 100


@njit(fastmath=True)
def fast(x):
    return math.sin(x) * 50


@generic
def area(shape): ...


@area.dispatch
def area_of_float(shape: float):
    return math.sin(shape)


dispatch = plum.Dispatcher()


@dispatch
def volume(x: float):
    return math.sin(x) + 7


@dispatch
def volume(x: int):
    return x + 8


def library(x):
    return x


@overload(library)
def overload_library(x):
    if isinstance(x, types.Float):
        return lambda x: math.sin(x) + 0.25
    return None


@intrinsic
def twice(typing, x):
    def generate(context, builder, sig, args):
        return builder.fadd(args[0], args[0])

    return x(x), generate


def plain(x):
    return helper(x) * 3


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def arrays(a):
    return (a.sum() + np.interp(0.5, a, a), NUMBERS * a + 1, np.zeros(3, dtype=np.int16))


def ordered(a):
    return np.argsort(-a), np.unique(a)


def raising(x):
    if x > 0:
        raise MyError("bad", 3)
    return math.sin(x)


def chain(x):
    return raising(math.sin(x)) + 1


def divides(x):
    return helper(1 / math.sin(x))


def objects(x):
    print("printed", x)
    return "a" + str(x), x + Color.BLUE, Point(x, None), (1, "b"), x in (1, 2)


def generated_items(n):
    for i in range(n):
        yield math.sin(float(i))


def consuming(n):
    total = 0.0
    for item in generated_items(n):
        total += item
    return total


def applying(function, x):
    return function(x)


def given(x):
    return applying(helper, x)


def chosen(x):
    function = helper if x > 1 else plain
    return function(x)


def make(k):
    return lambda x: math.sin(x) * k


def parallel(a):
    total = 0.0
    for i in prange(len(a)):
        total += math.sin(a[i])
    return total


def kernels(a):
    out = np.zeros_like(a)
    each(a, out)
    return kernel(a) + out + callback(1.0)


def dispatchers(x):
    return inlined(x) + fast(x) + Holder.static(x) + library(x) + twice(x)


def multiple(x):
    return area(x) + volume(x) + volume(2) + math.exp(x) + math.exp(1)


def with_metadata(x):
    return x * current_context().metadata


def contexts(x):
    nested = inner(plain, x) + wrapped(x) + nonoverlay(math.sin)(x) + math.cos(x)
    return nested + recurse(inner.replace(metadata=5), with_metadata, x) + with_metadata(x)


def containers(n):
    items = TypedList()
    items.append(1.0)
    named = {1: 2.0}
    for i in range(n):
        items.append(math.sin(float(i)))
        named[i] = items[i]
    return items[n], named[1], [math.sin(float(i)) for i in range(n)]


def keywords(a, b=2.0, *, c=3.0):
    return math.sin(a) + b * c


def with_keywords(x):
    return keywords(x, c=4.0)


def starred(*args):
    return math.sin(args[0]) + len(args)


def squares(a):
    return np.sum(a**2) * helper(a[0])


def gradient(a):
    return autodiff(squares, a)


namespace = {"math": math}
exec("def without_module(x): return math.sin(x) * 9", namespace)

CASES = [
    (plain, 2.0),
    (factorial, 5),
    (even, 6),
    (arrays, np.arange(4.0)),
    (ordered, np.eye(3).ravel()),
    (chain, 2.0),
    (divides, 0.0),
    (objects, 3),
    (consuming, 4),
    (given, 1.0),
    (chosen, 1.0),
    (make(3.0), 1.0),
    (kernels, np.arange(4.0)),
    (dispatchers, 1.0),
    (multiple, 1.0),
    (contexts, 1.0),
    (containers, 3),
    (with_keywords, 1.0),
    (starred, 1.0, 2, 3),
    (applying, njit(helper), 1.0),
    (namespace["without_module"], 1.0),
    (math.sin, 2.0),
    (math.exp, 2.0),
    (parallel, np.arange(4.0)),
    (gradient, np.arange(4.0)),
]


def result(hot, args):
    """What a call gives, or the exception that it raises with the lines that it went through."""
    try:
        return str(hot(*args))
    except (ArithmeticError, MyError) as error:
        frames = traceback.extract_tb(error.__traceback__)[1:]
        return f"{error!r} {[(f.name, f.lineno, f.filename) for f in frames]}"


def main():
    context = Context(table, metadata=4)
    for function, *args in CASES:
        options = {"parallel": True} if function is parallel else {}
        hot = context.jit(function, cache=True, **options)
        found = result(hot, args)
        counts = [sum(c.values()) for c in (hot.stats.cache_hits, hot.stats.cache_misses)]
        print((function.__name__, found, *counts))
