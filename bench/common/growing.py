"""Programs of any size, and the costs measured as they grow."""

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from types import FunctionType
from typing import Any

import numba
import numpy as np
from common.generated import decorated, functions_of, large_table, unreached_table
from common.numeric import as_it_is
from common.timing import Clock

from inversion import choose, invert
from overlay import Context, generic

__all__ = [
    "CALLS",
    "ENTRIES",
    "WORKERS",
    "Series",
    "answer",
    "array_compiled",
    "array_inverted",
    "batch",
    "batch_by_hand",
    "branching",
    "by_njit",
    "call_in_a_table",
    "call_inside_contexts",
    "calls_by_njit",
    "calls_of",
    "compilation",
    "compiled_by",
    "entering_contexts",
    "first_use",
    "generic_call",
    "in_own_context",
    "inside",
    "loop_inverted",
    "natively",
    "planning",
    "recovered",
    "shared_by_threads",
    "straight",
    "summing",
    "table_made",
    "tables_joined",
    "turns",
]

Run = Callable[[], object]


@dataclass(frozen=True)
class Series:
    """A cost that is measured at several sizes.

    grows: the quantity counted by the sizes. ours, peer: make the timed run for a size. calls: the
    number of repetitions in a run. fresh: whether each run needs a program that was never seen.
    """

    grows: str
    what: str
    sizes: tuple[int, ...]
    ours: Callable[[int], Run]
    peer: Callable[[int], Run] | None = None
    calls: int = 1
    fresh: bool = False
    clock: Clock = process_time


# ---- programs ---------------------------------------------------------------------------


def of_lines(arguments: str, lines: list[str]) -> Any:
    """A fresh function with these lines."""
    body = "\n    ".join(lines)
    return functions_of(f"def program({arguments}):\n    {body}\n", {})["program"]


def straight(count: int) -> Any:
    """A function of this many statements, each of which uses the one before."""
    lines = [f"x = math.sin(x) * 0.5 + {i}.0" for i in range(count)]
    return of_lines("x", [*lines, "return x"])


def branching(count: int) -> Any:
    """A function of this many branches, one of which is taken."""
    lines = [
        f"{'if' if i == 0 else 'elif'} x < {i + 1}.0:\n        y = x * {i + 2}.0 + {i * 100}.0"
        for i in range(count)
    ]
    return of_lines("x", [*lines, f"else:\n        y = x * {count + 2}.0", "return y"])


def turning(decorate: Any) -> Any:
    """A function of x and n: a loop of n iterations with a call in each."""

    @decorate
    def step(x: float) -> float:
        return x * 1.0001 + 0.5

    @decorate
    def run(x: float, n: int) -> float:
        for _ in range(n):
            x = step(x)
        return x

    return run


def summing(count: int) -> Any:
    """A function whose inverse has one parameter less than it has arguments."""
    names = [f"x{i}" for i in range(count + 1)]
    return of_lines(", ".join(names), [f"return {' + '.join(names)}"])


def affine(a: Any) -> Any:
    return 3.0 * np.exp(0.5 * a) - 4.0


def affine_of_one(x: float) -> float:
    return 3.0 * math.exp(0.5 * x) - 4.0


# ---- costs --------------------------------------------------------------------------------


def first_use(make: Callable[[int], Any]) -> Callable[[int], Run]:
    """The first call of a program in a context."""

    def prepared(size: int) -> Run:
        program, context = make(size), Context(unreached_table(0))
        return lambda: context(program, 0.5)

    return prepared


def compilation(make: Callable[[int], Any]) -> Callable[[int], Run]:
    """The first call of a program that a context compiles."""

    def prepared(size: int) -> Run:
        compiled = Context(unreached_table(0)).jit(make(size))
        return lambda: compiled(0.5)

    return prepared


def by_njit(make: Callable[[int], Any]) -> Callable[[int], Run]:
    def prepared(size: int) -> Run:
        compiled = numba.njit(make(size))
        return lambda: compiled(0.5)

    return prepared


def planning(make: Callable[[int], Any]) -> Callable[[int], Run]:
    """The time from a program to its inverse."""

    def prepared(size: int) -> Run:
        program = make(size)
        types = [float] * program.__code__.co_argcount
        return lambda: invert(program, *types)

    return prepared


CALLS = 10_000
ENTRIES = 100


def repeated(function: Any, *arguments: Any, calls: int = CALLS) -> Run:
    def run() -> None:
        for _ in range(calls):
            function(*arguments)

    return run


def calls_of(size: int, decorate: Any = as_it_is) -> Any:
    """The last of this many functions, each of which calls the one before."""
    lines = ["def f0(x):\n    return x * 0.5 + 1.0\n"]
    lines += [f"def f{i}(x):\n    return f{i - 1}(x * 0.5) + {i}.0\n" for i in range(1, size)]
    return decorated(functions_of("\n".join(lines), {}), [f"f{i}" for i in range(size)], decorate)


def calls_by_njit(size: int) -> Run:
    compiled = calls_of(size, numba.njit)
    return lambda: compiled(0.5)


def cubic(x: float) -> float:
    return x - x * x * x / 6


def sine(x: float) -> float:
    return math.sin(x)


def call_in_a_table(methods: int) -> Run:
    """Calls of a target of this many methods."""
    context = Context(large_table(methods, math.sin, cubic))
    return lambda: context(repeated(sine, 0.5))


def generic_call(methods: int) -> Run:
    """Calls of a generic function of this many methods."""

    @generic
    def function(x): ...

    for i in range(methods - 1):

        def unused(x):
            return 0.0

        unused.__annotations__["x"] = type(f"Unused{i}", (), {})
        function.dispatch(unused)

    @function.dispatch
    def cubed(x: float):
        return x * x * x

    return repeated(function, 0.5)


def table_made(methods: int) -> Run:
    return lambda: Context(large_table(methods, math.sin, cubic))(sine, 0.5)


def inside(context: Context, run: Run) -> Run:
    return lambda: context(run)


def call_inside_contexts(depth: int) -> Run:
    """Calls inside this many contexts, the outermost of which overlays the target."""
    run = repeated(sine, 0.5)
    for i in range(depth - 1):
        run = inside(Context(unreached_table(i)), run)
    return inside(Context(large_table(1, math.sin, cubic)), run)


def entering_contexts(depth: int) -> Run:
    """Nested contexts around a function that does nothing."""

    def nothing() -> None:
        pass

    run: Run = nothing
    for i in range(depth):
        run = inside(Context(unreached_table(i)), run)
    return repeated(run, calls=ENTRIES)


def tables_joined(count: int) -> Run:
    """Calls in a context of this many tables, the lowest of which overlays the target."""
    tables = [unreached_table(i) for i in range(count - 1)]
    context = Context(large_table(1, math.sin, cubic), *tables)
    return lambda: context(repeated(sine, 0.5))


def turns(engine: str) -> Callable[[int], Run]:
    def prepared(count: int) -> Run:
        context = Context(unreached_table(0))
        program = {
            "native": lambda: turning(as_it_is),
            "interpreted": lambda: context.wrap(turning(as_it_is)),
            "compiled": lambda: context.jit(turning(as_it_is)),
            "njit": lambda: turning(numba.njit),
        }[engine]()
        program(0.5, 1)
        return lambda: program(0.5, count)

    return prepared


def loop_inverted(count: int) -> Run:
    """The inverse of a loop with a known number of iterations."""
    program = turning(as_it_is)
    inverse = choose(program, float, int, known=("return", "n"))
    value = program(0.5, count)
    return lambda: inverse(value, count)


def batch(size: int) -> Run:
    inverse = invert(affine_of_one, float)
    values = affine(np.linspace(0.0, 1.0, size))
    inverse.compile_batch()
    return lambda: inverse.batch(values)


def batch_by_hand(size: int) -> Run:
    @numba.vectorize
    def solved(z: float) -> float:
        return 2.0 * math.log((z + 4.0) / 3.0)

    values = affine(np.linspace(0.0, 1.0, size))
    solved(values)
    return lambda: solved(values)


def array_inverted(size: int) -> Run:
    value = affine(np.linspace(0.0, 1.0, size))
    inverse = invert(affine, np.zeros(size)).compile()
    return lambda: inverse(value)


def array_compiled(decorate: Callable[[Any], Any]) -> Callable[[int], Run]:
    def prepared(size: int) -> Run:
        values = np.linspace(0.0, 1.0, size)
        compiled = decorate(FunctionType(affine.__code__, affine.__globals__))
        compiled(values)
        return lambda: compiled(values)

    return prepared


def answer(count: int) -> Run:
    """A call of an inverse of this many coordinates."""
    inverse = invert(summing(count), *[float] * (count + 1))
    theta = inverse.parameters.default()
    return lambda: [inverse(1.0, theta) for _ in range(20)]


def recovered(count: int) -> Run:
    inverse = invert(summing(count), *[float] * (count + 1))
    arguments = [0.5] * (count + 1)
    return lambda: [inverse.recover(*arguments) for _ in range(20)]


# ---- threads ------------------------------------------------------------------------------

WORK = 64_000  # iterations, divided among the threads
WORKERS = (1, 2, 4, 8)


def shared_by_threads(work: Callable[[int, int], object]) -> Callable[[int], Run]:
    """A fixed amount of work, divided among concurrent threads, each of which gets its share and
    its number."""

    def prepared(count: int) -> Run:
        def run() -> None:
            threads = [threading.Thread(target=work, args=(WORK // count, i)) for i in range(count)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        return run

    return prepared


def in_own_context() -> Callable[[int, int], object]:
    program = turning(as_it_is)
    contexts = [Context(unreached_table(i)) for i in range(max(WORKERS))]
    return lambda part, i: contexts[i](program, 0.5, part)


def natively() -> Callable[[int, int], object]:
    program = turning(as_it_is)
    return lambda part, i: program(0.5, part)


def compiled_by(decorate: Callable[[Any], Any]) -> Callable[[int, int], object]:
    program = decorate(harmonic)
    program(1)
    return lambda part, i: program(100 * part)


def harmonic(n: int) -> float:
    total = 0.0
    for i in range(1, n):
        total += math.sin(i * 0.5) / i
    return total
