"""Kernels with their expected results: run on a GPU, in numba's simulator, and as code for a GPU
that the CPU runs.

In each a thread computes one element of the last argument.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import cuda, types

from inversion import invert
from overlay import Context, MethodTable, call_next, current_context, nonoverlay
from overlay.interpretations.autodiff import add_shared_gradient, autodiff
from overlay.kernels import atomic_add, attempted

THREADS = 32
STEPS = 40
STEP = 0.05
SOFT = 0.01


NOTHING = Context()


@dataclass(frozen=True)
class Program:
    """A kernel that takes an array and writes one.

    function: element i of the result, from the array and i, on the CPU. context: in which both run.
    count: the number of elements for a number of threads. together: whether threads wait for one
    another, or write to the same place.
    """

    name: str
    kernel: Callable[..., None]
    function: Callable[[Any, int], float]
    context: Context = NOTHING
    count: Callable[[int], int] = lambda threads: threads
    together: bool = False

    def given(self, threads: int) -> Any:
        """The array for a number of threads."""
        return np.linspace(0.1, 2.0, threads)

    def expected(self, x: Any, *, compiled: bool) -> Any:
        """The expected result of the kernel, from the CPU: compiled, or interpreted."""
        function = self.context.jit(self.function) if compiled else self.context.wrap(self.function)
        return np.array([function(x, i) for i in range(self.count(len(x)))])


def each(function: Callable[[Any, int], float], **options: Any) -> Program:
    """A program in which each thread calls a function."""

    def kernel(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = function(x, i)

    return Program(function.__name__, kernel, function, **options)


# ---- tables, in a kernel and in its derivatives -------------------------------------------

short, unreached = MethodTable("short waves"), MethodTable("unreached")


IN_SHORT = Context(short)


def wave(x):
    return math.sin(x)


@short.overlay(wave)
def short_wave(x):
    return x - x * x * x / 6.0


@unreached.overlay(math.gamma)
def gamma(x: float) -> float:
    return 0.0


def response(x):
    return x * wave(x) + math.exp(-x * x)


def slope(x):
    return autodiff(response, x)


def values(x, i):
    return response(x[i])


def slopes(x, i):
    return slope(x[i])


def curvature(x):
    return autodiff(slope, x)


def curvatures(x, i):
    return curvature(x[i])


def third_derivatives(x, i):
    return autodiff(curvature, x[i])


def slopes_by_hand(x, i):
    y = x[i]
    return math.sin(y) + y * math.cos(y) - 2.0 * y * math.exp(-y * y)


# ---- language features of kernels --------------------------------------------------------

nearly = MethodTable("nearly")


@nearly.overlay(math.sin)
def nearly_sin(x: float) -> float:
    return call_next(x) * 0.99


def around(x, i):
    """In a context, outside all contexts, and with the context's metadata."""
    inside = IN_SHORT(wave, x[i])
    return inside + nonoverlay(math.sin)(x[i]) + math.sin(x[i]) * current_context().metadata


def power(x, n):
    return 1.0 if n == 0 else x * power(x, n - 1)


def scaled(x, factor=3.0, *, plus):
    return x * factor + plus


def calls(x, i):
    """Recursion, keywords and defaults, branches, and loops."""
    total = 0.0
    for k in range(i % 5):
        total += power(x[i], k) if k % 2 else scaled(x[i], plus=float(k))
    return total


def root(x):
    if x < 1.0:
        raise ValueError("too small")
    return math.sqrt(x), x


def attempts(x, i):
    """An exception after which the kernel continues."""
    ended, found = attempted(root, x[i])
    if ended:
        return found[0] + found[1]
    return -1.0


# ---- cooperating threads ------------------------------------------------------------------


def neighbours(x, out):
    """The sum of each value and that of the next thread in its block, through shared memory."""
    shared = cuda.shared.array(THREADS, types.float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    shared[t] = wave(x[i]) if i < out.size else 0.0
    cuda.syncthreads()
    if i < out.size:
        out[i] = shared[t] + shared[(t + 1) % THREADS]


def neighbour(x, i):
    first = i // THREADS * THREADS
    return wave(x[i]) + wave(x[first + (i - first + 1) % THREADS])


def totals(x, out):
    """The total of values that each thread holds in local memory, by atomics."""
    i = cuda.grid(1)
    local = cuda.local.array(2, types.float64)
    if i < x.size:
        local[0], local[1] = wave(x[i]), x[i]
        cuda.atomic.add(out, 0, local[0] * local[1])


def total(x, i):
    found = 0.0
    for k in range(x.size):
        found += wave(x[k]) * x[k]
    return found


def misfit(w, x):
    """The squared distance of a curve with two parameters from another, at a place."""
    return (w[0] * wave(w[1] * x) - x) ** 2


def shared_slopes(x, out):
    """The gradient of the misfit at all places, to which each thread adds; its sum comes last."""
    i = cuda.grid(1)
    if i < x.size:
        add_shared_gradient(misfit, (x[:2], out[:2]), x[i])
        atomic_add(out, 2, misfit(x, x[i]))


def all_slopes(x, i):
    found = np.zeros(3)
    for k in range(x.size):
        add_shared_gradient(misfit, (x[:2], found[:2]), x[k])
        atomic_add(found, 2, misfit(x, x[k]))
    return found[i]


# ---- applications -------------------------------------------------------------------------


def energy(x, y, z):
    """Energy of two bodies at this distance."""
    return -1.0 / math.sqrt(x * x + y * y + z * z + SOFT)


def forces(x, i):
    """One component of the force on a body: the gradient of the energy over all others."""
    body, axis = i // 3 * 3, i % 3
    found = 0.0
    for other in range(0, x.size // 3 * 3, 3):
        if other != body:
            gradient = autodiff(
                energy, x[body] - x[other], x[body + 1] - x[other + 1], x[body + 2] - x[other + 2]
            )
            found -= gradient[axis]
    return found


def growth(x, rate):
    return rate * x * (1.0 - x)


def grown(x, rate):
    """Solution of a logistic equation from x, after 40 steps of the Runge-Kutta method."""
    for _ in range(STEPS):
        k1 = growth(x, rate)
        k2 = growth(x + STEP / 2 * k1, rate)
        k3 = growth(x + STEP / 2 * k2, rate)
        k4 = growth(x + STEP * k3, rate)
        x += STEP / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x


def sensitivities(x, i):
    """Derivatives of the solution by its start and by the rate."""
    by_start, by_rate = autodiff(grown, 0.1, x[i])
    return by_start + 2.0 * by_rate


def product(x: float):
    return x * math.exp(x)


lambert = invert(product)


def solved(y):
    """Lambert's function, near 1/2."""
    return lambert(y, (0.5,))[0]


def inverses(x, i):
    """The value of Lambert's function plus ten times its slope."""
    return solved(x[i]) + 10.0 * autodiff(solved, x[i])


PROGRAMS = (
    each(values),
    each(values, context=IN_SHORT),
    each(slopes),
    each(slopes_by_hand),
    each(curvatures, context=IN_SHORT),
    each(third_derivatives),
    each(third_derivatives, context=IN_SHORT),
    each(around, context=Context(nearly, metadata=2.0)),
    each(calls),
    each(attempts),
    each(forces, count=lambda threads: threads // 3 * 3),
    each(sensitivities),
    each(inverses),
    Program("neighbours", neighbours, neighbour, IN_SHORT, together=True),
    Program("totals", totals, total, IN_SHORT, lambda threads: 1, together=True),
    Program("shared slopes", shared_slopes, all_slopes, NOTHING, lambda threads: 3, together=True),
)
