"""Numeric programs that numba compiles, each written once and made again for each variant."""

import math
import operator
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["NUMERIC", "Numeric", "as_it_is", "cubic"]

NUMERIC: dict[str, "Numeric"] = {}


def as_it_is(function: Any) -> Any:
    """Takes the place of ``njit`` where a context compiles."""
    return function


@dataclass(frozen=True)
class Numeric:
    """A program that calls a target.

    make: given a decorator that compiles helpers, and the callable for the target, returns a
    function of one size.
    target: the callee in the program; a table has a method of it, or it is replaced by hand.
    method: the replacement of the target.
    size: for a run of some milliseconds; least: for the shortest run.
    """

    name: str
    make: Callable[[Any, Any], Callable[[int], Any]]
    target: Any
    method: Callable[..., Any]
    size: int
    least: int

    def ours(self) -> Callable[[int], Any]:
        """The program as plain Python, for a context to compile."""
        return self.make(as_it_is, self.target)

    def plain(self, njit: Any) -> Callable[[int], Any]:
        """The program with all its callees compiled by numba itself."""
        own = self.target.__module__ == __name__
        return njit(self.make(njit, njit(self.target) if own else self.target))

    def by_hand(self, njit: Any) -> Callable[[int], Any]:
        """The program with the method written in place of the target, compiled by numba."""
        return njit(self.make(njit, njit(self.method)))


def numeric(target, method, size, least):
    """Register the function that makes a program."""

    def register(make):
        NUMERIC[make.__name__] = Numeric(make.__name__, make, target, method, size, least)
        return make

    return register


# ---- methods that the tables have of the targets ---------------------------------------


def cubic(x: float):
    return x - x * x * x / 6


def half_root(x: float):
    return 0.5 + 0.5 * x


def halved(x: np.ndarray):
    return x * 0.5


def squares(x: float, y: float):
    return x * x + y * y


def halved_sum(x: float, y: float):
    return (x + y) / 2


def square_of(z: complex):
    return z.real * z.real + z.imag * z.imag


def square(x: float):
    return x * x


def leaf(x):
    return x + 1


def other_leaf(x: int):
    return x ^ 3


def element(i, j):
    return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)


def other_element(i: int, j: int):
    return 1.0 / (i + j + 1)


def flip(permutation, k):
    i = 0
    while i < k:
        permutation[i], permutation[k] = permutation[k], permutation[i]
        i += 1
        k -= 1


def flip_down(permutation: np.ndarray, k: int):
    for i in range((k + 1) // 2):
        permutation[k - i], permutation[i] = permutation[i], permutation[k - i]


# ---- loops, calls, arrays -------------------------------------------------------------


@numeric(math.sin, cubic, 200_000, 100)
def hot_loop(helper, sin):
    """A loop around a helper around two C functions."""

    @helper
    def wave(x):
        return sin(x) * math.exp(-x * x) + x

    def run(n):
        total = 0.0
        for i in range(n):
            total += wave(i * 1e-6) / (1.0 + total * total)
        return total

    return run


@numeric(operator.mul, halved_sum, 1_000_000, 100)
def operators(helper, mul):
    """A loop in which the overlaid function is an operator on floats."""

    def run(n):
        total, x = 0.0, 0.5
        for _ in range(n):
            x = mul(x, 0.75) / 1.5 + 0.25
            total += x
        return total

    return run


@numeric(leaf, other_leaf, 29, 5)
def calls(helper, leaf):
    """Recursion, with nested helpers below it."""

    @helper
    def inner(x):
        return leaf(x) * 2

    @helper
    def outer(x):
        return inner(x) - leaf(x + 1)

    @helper
    def fib(n):
        return outer(n) & 7 if n < 2 else fib(n - 1) + fib(n - 2)

    def run(n):
        return fib(n)

    return run


@numeric(np.sqrt, halved, 100_000, 10)
def array_expressions(helper, sqrt):
    """Expressions on whole arrays."""

    @helper
    def lengths(a, b):
        return sqrt(a * a + b * b)

    def run(n):
        a, b = np.arange(n) * 0.5, np.arange(n) * 0.25
        return (lengths(a, b) + lengths(b, a + 1.0)).sum()

    return run


@numeric(math.sqrt, half_root, 1_000, 4)
def array_loops(helper, sqrt):
    """A stencil, written as loops over the items of two arrays."""

    def run(n):
        now, then = np.zeros((n, n)), np.zeros((n, n))
        now[0, :] = 1.0
        for _ in range(4):
            for i in range(1, n - 1):
                for j in range(1, n - 1):
                    around = now[i - 1, j] + now[i + 1, j] + now[i, j - 1] + now[i, j + 1]
                    then[i, j] = sqrt(around) / 4
            now, then = then, now
        return now[1, :].sum()

    return run


# ---- the numeric kernels of pyperformance, in the usual form for numba ----------------


@numeric(math.sqrt, half_root, 20_000, 5)
def nbody(helper, sqrt):
    """Five bodies that attract each other."""

    @helper
    def advance(place, speed, mass, dt):
        for i in range(len(mass)):
            for j in range(i + 1, len(mass)):
                dx = place[i, 0] - place[j, 0]
                dy = place[i, 1] - place[j, 1]
                dz = place[i, 2] - place[j, 2]
                square = dx * dx + dy * dy + dz * dz
                pull = dt / (square * sqrt(square))
                for k, d in enumerate((dx, dy, dz)):
                    speed[i, k] -= d * mass[j] * pull
                    speed[j, k] += d * mass[i] * pull
        place += dt * speed

    def run(n):
        place = (np.arange(15) * 7.0 % 5.0).reshape(5, 3) + np.arange(5).reshape(5, 1)
        speed = (np.arange(15) * 3.0 % 4.0 - 1.5).reshape(5, 3)
        mass = np.arange(1.0, 6.0) * 1e-3
        for _ in range(n):
            advance(place, speed, mass, 1e-3)
        return place.sum()

    return run


@numeric(element, other_element, 300, 5)
def spectral_norm(helper, element):
    """The largest singular value of an infinite matrix, given by a function of its indices."""

    @helper
    def times(u, transposed):
        result = np.zeros(len(u))
        for i in range(len(u)):
            for j in range(len(u)):
                result[i] += u[j] * (element(j, i) if transposed else element(i, j))
        return result

    def run(n):
        u, v = np.ones(n), np.ones(n)
        for _ in range(5):
            v = times(times(u, False), True)
            u = times(times(v, False), True)
        return math.sqrt((u * v).sum() / (v * v).sum())

    return run


@numeric(flip, flip_down, 8, 4)
def fannkuch(helper, flip):
    """Prefixes of all permutations, reversed until 0 comes first."""

    @helper
    def flips(given):
        permutation, count = given.copy(), 0
        while permutation[0]:
            flip(permutation, permutation[0])
            count += 1
        return count

    def run(n):
        permutation, counts, most, r = np.arange(n), np.zeros(n, np.int64), 0, n
        while True:
            while r != 1:
                counts[r - 1] = r
                r -= 1
            most = max(most, flips(permutation))
            while True:
                if r == n:
                    return most
                first = permutation[0]
                for i in range(r):
                    permutation[i] = permutation[i + 1]
                permutation[r] = first
                counts[r] -= 1
                if counts[r] > 0:
                    break
                r += 1

    return run


@numeric(abs, square_of, 120, 4)
def mandelbrot(helper, size):
    """Complex arithmetic until a number leaves a circle."""

    @helper
    def turns(c):
        z = 0j
        for i in range(80):
            z = z * z + c
            if size(z) > 4.0:
                return i
        return 80

    def run(n):
        total = 0
        for i in range(n):
            for j in range(n):
                total += turns(complex(3.0 * i / n - 2.0, 2.0 * j / n - 1.0))
        return total

    return run


@numeric(math.hypot, squares, 200_000, 100)
def monte_carlo(helper, hypot):
    """Random points, and the share of them in a quarter of a circle."""

    def run(n):
        random.seed(1)
        inside = 0
        for _ in range(n):
            if hypot(random.random(), random.random()) <= 1.0:
                inside += 1
        return 4.0 * inside / n

    return run


@numeric(math.cos, half_root, 100_000, 10)
def floats(helper, cos):
    """Points in space, normalized to unit vectors, and the largest of their coordinates."""

    @helper
    def point(i):
        x = math.sin(i)
        return x, cos(i) * 3.0, x * x / 2.0

    @helper
    def unit(x, y, z):
        norm = math.sqrt(x * x + y * y + z * z)
        return x / norm, y / norm, z / norm

    def run(n):
        most = np.zeros(3)
        for i in range(n):
            for k, value in enumerate(unit(*point(i * 1.0))):
                most[k] = max(most[k], value)
        return most.sum()

    return run


# ---- and of SciMark -------------------------------------------------------------------


def mixed(old, around):
    return around * (1.25 / 4.0) - old * 0.25


def mean(old: float, around: float):
    return (old + around) / 5.0


@numeric(mixed, mean, 200, 4)
def relaxation(helper, mixed):
    """Successive over-relaxation of a grid, in place."""

    def run(n):
        grid = np.zeros((n, n))
        grid[0, :] = 1.0
        for _ in range(10):
            for i in range(1, n - 1):
                for j in range(1, n - 1):
                    around = grid[i - 1, j] + grid[i + 1, j] + grid[i, j - 1] + grid[i, j + 1]
                    grid[i, j] = mixed(grid[i, j], around)
        return grid[1, :].sum()

    return run


@numeric(abs, square, 120, 4)
def elimination(helper, size):
    """A matrix as the product of two triangular ones, with the largest pivots."""

    @helper
    def pivot(a, j):
        best = j
        for i in range(j + 1, len(a)):
            if size(a[i, j]) > size(a[best, j]):
                best = i
        return best

    @helper
    def exchange(a, i, j):
        for k in range(len(a)):
            a[i, k], a[j, k] = a[j, k], a[i, k]

    def run(n):
        a = np.cos(np.arange(n * n) * 1.7).reshape(n, n) + np.eye(n)
        for j in range(n):
            exchange(a, pivot(a, j), j)
            for i in range(j + 1, n):
                a[i, j] /= a[j, j]
                for k in range(j + 1, n):
                    a[i, k] -= a[i, j] * a[j, k]
        return a.sum()

    return run


@numeric(math.sin, cubic, 12, 3)
def fourier(helper, sin):
    """A fast Fourier transform of 2 ** n complex numbers, in place."""

    @helper
    def reorder(z):
        j = 0
        for i in range(1, len(z)):
            bit = len(z) >> 1
            while j & bit:
                j ^= bit
                bit >>= 1
            j |= bit
            if i < j:
                z[i], z[j] = z[j], z[i]

    def run(n):
        z = np.arange(2**n) * (1.0 + 0.5j)
        reorder(z)
        half = 1
        while half < len(z):
            for start in range(0, len(z), 2 * half):
                for k in range(half):
                    angle = -math.pi * k / half
                    turn = complex(math.cos(angle), sin(angle)) * z[start + k + half]
                    z[start + k + half] = z[start + k] - turn
                    z[start + k] += turn
            half *= 2
        return np.abs(z).sum()

    return run


@numeric(operator.mul, halved_sum, 20_000, 10)
def sparse(helper, mul):
    """A sparse matrix, given by its rows, times a vector."""

    @helper
    def times(values, columns, first, x):
        result = np.zeros(len(first) - 1)
        for i in range(len(result)):
            for k in range(first[i], first[i + 1]):
                result[i] += mul(values[k], x[columns[k]])
        return result

    def run(n):
        first = np.arange(n + 1) * 5
        columns = (np.arange(n * 5) * 7919) % n
        values = np.sin(np.arange(n * 5) * 0.1)
        x = np.ones(n)
        for _ in range(5):
            x = times(values, columns, first, x) / 4.0
        return x.sum()

    return run
