"""Kernels that each stress one way of defining and calling functions."""

import contextlib
import functools
import math
from collections.abc import Callable

from common.kernel import Kernel

__all__ = ["FUNCTIONS", "SINES", "sines_by_hand"]

SINES = 250_000  # iterations of the loop in the kernel that calls math.sin

FUNCTIONS: dict[str, Callable[[], Kernel]] = {}


def kernel(size, probe, arity):
    """Register a function of one size as a kernel."""

    def register(function):
        name = function.__name__
        FUNCTIONS[name] = lambda: Kernel(name, lambda: function(size), probe, arity)
        return function

    return register


def step(x):
    """The callee of many kernels."""
    return x + 1


def add(x, y):
    return x + y


# ---- helpers and recursion ------------------------------------------------------------


def cubic(x: float):
    return x - x * x * x / 6


def sines(n):
    """A C function in a loop, as an attribute of its module."""
    total = 0.0
    for _ in range(n):
        total = total + math.sin(0.5)
    return total


def sines_by_hand(n):
    """``sines`` with the call replaced by hand: the floor for an overlaid call."""
    total = 0.0
    for _ in range(n):
        total = total + cubic(0.5)
    return total


FUNCTIONS["sines"] = lambda: Kernel("sines", lambda: sines(SINES), math.sin, 1, cubic)


@kernel(180_000, step, 1)
def helper(n):
    """A helper in a loop."""
    total = 0
    for i in range(n):
        total = total + step(i)
    return total


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@kernel(25, fib, 1)
def recursion(n):
    """A function that calls itself by its global name."""
    return fib(n)


def even(n):
    return n == 0 or odd(n - 1)


def odd(n):
    return n != 0 and even(n - 1)


@kernel(500, even, 1)
def mutual_recursion(n):
    """Two functions that call each other."""
    return [even(200) for _ in range(n)]


# ---- closures -------------------------------------------------------------------------


@kernel(60_000, step, 1)
def closures_called_at_once(n):
    """A function made, called once and dropped in each iteration."""
    total = 0
    for i in range(n):
        total = total + (lambda x: step(x) + i)(1)
    return total


def adder(amount):
    def plus(x):
        return step(x) + amount

    return plus


@kernel(120_000, step, 1)
def closures_from_a_factory(n):
    """Functions that a factory returns, each called many times."""
    total, adders = 0, [adder(i) for i in range(10)]
    for _ in range(n // 10):
        for plus in adders:
            total = plus(total) & 0xFFFF
    return total


@kernel(1_200, step, 1)
def closures_that_recurse(n):
    """A nested helper that calls itself."""

    def paths(wide, high):
        if not wide or not high:
            return step(0)
        return paths(wide - 1, high) + paths(wide, high - 1)

    return [paths(4, 4) for _ in range(n)]


@kernel(60_000, step, 1)
def closures_with_state(n):
    """Several functions that share variables, made together."""

    def counter():
        count = 0

        def increase():
            nonlocal count
            count = step(count)

        def value():
            return count

        return increase, value

    total = 0
    for _ in range(n // 4):
        increase, value = counter()
        for _ in range(4):
            increase()
        total += value()
    return total


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


def scaled(factor):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(x):
            return factor * function(x)

        return wrapper

    return decorate


@logged
@scaled(2)
def decorated(x):
    return step(x)


@kernel(60_000, step, 1)
def decorators(n):
    """A function in two wrappers that decorators made."""
    total = 0
    for i in range(n):
        total = total + decorated(i)
    return total


# ---- arguments ------------------------------------------------------------------------


def forward_1(*args, **kwargs):
    return add(*args, **kwargs)


def forward_2(*args, **kwargs):
    return forward_1(*args, **kwargs)


def forward_3(*args, **kwargs):
    return forward_2(*args, **kwargs)


def forward_4(*args, **kwargs):
    return forward_3(*args, **kwargs)


def forward_5(*args, **kwargs):
    return forward_4(*args, **kwargs)


def forward_6(*args, **kwargs):
    return forward_5(*args, **kwargs)


def forward_7(*args, **kwargs):
    return forward_6(*args, **kwargs)


def forward_8(*args, **kwargs):
    return forward_7(*args, **kwargs)


@kernel(70_000, add, 2)
def forwarding_1(n):
    """``*args, **kwargs`` through one layer."""
    total = 0
    for i in range(n):
        total = forward_1(total, i)
    return total


@kernel(35_000, add, 2)
def forwarding_3(n):
    """``*args, **kwargs`` through three layers."""
    total = 0
    for i in range(n):
        total = forward_3(total, i)
    return total


@kernel(15_000, add, 2)
def forwarding_8(n):
    """``*args, **kwargs`` through eight layers."""
    total = 0
    for i in range(n):
        total = forward_8(total, i)
    return total


def volume(width, height=1, *, depth=1):
    return step(width) * height * depth


@kernel(40_000, step, 1)
def keywords(n):
    """Arguments by keyword, and defaults."""
    total = 0
    for i in range(n):
        total += volume(i, depth=2) + volume(width=i, height=3)
    return total


# ---- callees that are known at run time only --------------------------------------------


OPERATIONS = {"+": add, "-": lambda x, y: x - y, "*": lambda x, y: (x * y) & 0xFFFF, "max": max}


@kernel(30_000, add, 2)
def callables_in_a_dict(n):
    """A small interpreter: four operations by name."""
    total, program = 1, ["+", "*", "-", "max"]
    for i in range(n):
        for name in program:
            total = OPERATIONS[name](total, i)
    return total


def fold(function, values, total):
    for value in values:
        total = function(total, value)
    return total


@kernel(90_000, add, 2)
def function_arguments(n):
    """Functions passed as arguments, one after the other."""
    values = range(n // 3)
    return [fold(f, values, 0) for f in (add, lambda x, y: x ^ y, max, min)]


@kernel(40_000, step, 1)
def sorting(n):
    """``sorted(key=)``, ``min(key=)`` and ``map`` with Python functions."""
    values = [(i * 7919) % n for i in range(n)]
    ordered = sorted(values, key=lambda x: -step(x))
    return ordered[:5], min(values, key=step), sum(map(step, values))


# ---- other kinds of code ----------------------------------------------------------------


@kernel(30_000, abs, 1)
def comprehensions(n):
    """Comprehensions of each kind with a call in each."""
    values = [abs(x) for x in range(-n, n)]
    return sum(abs(x) for x in values), len({abs(x): x for x in values}), {abs(3) for _ in values}


def walk(tree):
    if tree:
        left, value, right = tree
        yield from walk(left)
        yield value
        yield from walk(right)


def planted(low, high):
    middle = (low + high) // 2
    return (planted(low, middle), middle, planted(middle + 1, high)) if low < high else None


@kernel(15_000, planted, 2)
def walks(n):
    """Recursive generators, called by name."""
    return sum(walk(planted(0, n)))


class Refused(Exception):
    """Raised in the next kernel."""


def checked(x):
    if x % 4 == 0:
        raise Refused(x)
    return x


@kernel(70_000, checked, 1)
def exceptions(n):
    """Calls in ``try``, a quarter of which raise."""
    total = 0
    for i in range(n):
        try:
            total += checked(i)
        except Refused as refused:
            total -= len(refused.args)
        finally:
            total += 1
    return total


class Held:
    """A context manager that is a class."""

    def __init__(self, depths):
        self.depths = depths

    def __enter__(self):
        self.depths.append(len(self.depths))
        return self

    def __exit__(self, *error):
        self.depths.pop()


@contextlib.contextmanager
def held(depths):
    depths.append(step(len(depths)))
    yield depths
    depths.pop()


@kernel(6_000, step, 1)
def context_managers(n):
    """``with``, of a class and of a generator."""
    total, depths = 0, []
    for _ in range(n):
        with Held(depths), held(depths) as inside:
            total += step(len(inside))
    return total
