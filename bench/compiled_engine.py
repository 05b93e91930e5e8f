"""The compiled engine against plain numba, in one run."""

import math
import statistics
import time

from common.timing import interleaved, machine, ratio, spread, table
from numba import njit

from overlay import Context, MethodTable, nonoverlay

LOOPS = 500_000
CALLS = 100_000
COMPILATIONS = 7


class Unused:
    """No value of the programs is one."""


def cubic(x):
    return x - x * x * x / 6


never = MethodTable("never")
approx = MethodTable("approx")
through = MethodTable("through")


@never.overlay(math.sin)
@never.overlay(math.exp)
def unreached(x: Unused):
    return 0.0


@approx.overlay(math.sin)
def cubic_sine(x: float):
    return cubic(x)


@through.overlay(math.sin)
def same_sine(x: float):
    return nonoverlay(math.sin)(x)


SOURCE = """
def wave(x):
    return {sin}(x) * math.exp(-x * x) + x

def total(n):
    s = 0.0
    for i in range(n):
        s += wave(i * 1e-6) / (1.0 + s * s)
    return s

def identity(x):
    return x
"""


def program(sin="math.sin", decorate=lambda function: function):
    """A fresh copy of the program: a loop that calls a helper that calls sin and exp."""
    namespace = {"math": math, "cubic": decorate(cubic)}
    exec(SOURCE.format(sin=sin), namespace)
    namespace["wave"] = decorate(namespace["wave"])
    return namespace


def hot_loops():
    plain = njit(program(decorate=njit)["total"])
    by_hand = njit(program("cubic", njit)["total"])
    for name, context, native in (
        ("table never reached", Context(never), plain),
        ("sin overlaid, against sin replaced by hand", Context(approx), by_hand),
        ("sin overlaid by nonoverlay(sin)", Context(through), plain),
    ):
        overlaid = context.jit(program()["total"])
        assert overlaid(1000) == native(1000)
        times = interleaved(
            {"njit": lambda native=native: native(LOOPS), "jit": lambda f=overlaid: f(LOOPS)}, 15
        )
        yield (
            name,
            f"{min(times['njit']) * 1e3:.2f} ms",
            f"{min(times['jit']) * 1e3:.2f} ms",
            f"{ratio(times, 'jit', 'njit'):.3f}",
            f"{max(map(spread, times.values())):.0%}",
        )


def entry():
    plain, overlaid = njit(program()["identity"]), Context(never).jit(program()["identity"])

    def calls(function):
        for _ in range(CALLS):
            function(1.0)

    times = interleaved({"njit": lambda: calls(plain), "jit": lambda: calls(overlaid)}, 15)
    yield (
        "one call from Python",
        f"{min(times['njit']) / CALLS * 1e9:.0f} ns",
        f"{min(times['jit']) / CALLS * 1e9:.0f} ns",
        f"{ratio(times, 'jit', 'njit'):.3f}",
        f"{max(map(spread, times.values())):.0%}",
    )


def compiling():
    def first_call(make):
        function = make()
        start = time.perf_counter()
        function(10)
        return time.perf_counter() - start

    for name, context in (
        ("compile, table never reached", Context(never)),
        ("compile, sin overlaid", Context(approx)),
    ):
        makers = {
            "njit": lambda: njit(program(decorate=njit)["total"]),
            "jit": lambda context=context: context.jit(program()["total"]),
        }
        seconds = {key: [] for key in makers}
        for _ in range(COMPILATIONS):
            for key, make in makers.items():
                seconds[key].append(first_call(make))
        yield (
            name,
            *(f"{statistics.median(seconds[key]) * 1e3:.0f} ms" for key in makers),
            f"{statistics.median(seconds['jit']) / statistics.median(seconds['njit']):.3f}",
            f"{max(map(spread, seconds.values())):.0%}",
        )


def making_contexts(count=1000):
    start = time.perf_counter()
    contexts = [Context(never) for _ in range(count)]
    for context in contexts:
        context.jit(cubic)
    each = (time.perf_counter() - start) / count
    return ("a new context, ready to compile", "-", f"{each * 1e6:.0f} us", "-", "-")


def main():
    print(machine())
    head = ("", "njit", "ctx.jit", "ratio", "spread")
    print(table([head, *hot_loops(), *entry(), *compiling(), making_contexts()]))


if __name__ == "__main__":
    main()
