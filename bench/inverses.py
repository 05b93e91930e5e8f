"""Inverses: calls, arrays and compilation, beside Oryx, sympy and inverses written by hand."""

import importlib.util
import math
import random
import statistics
import time

import numba
import numpy as np
from common.options import options
from common.page import part, section, written
from common.rows import duration
from common.timing import interleaved, machine, seconds, summary, table

from inversion import invert

SIZE = 1_000_000
LOOPS = 2_000
TURNS = 5  # factor on the rounds of fast runs
HAS_ORYX = importlib.util.find_spec("oryx") is not None
HAS_SYMPY = importlib.util.find_spec("sympy") is not None


def line(x: float):
    return 2 * x + 3


def exponential(x: float):
    return 3 * math.exp(2 * x + 1) - 4


def softplus(x: float):
    return math.log1p(math.exp(x))


def root(x: float):
    return math.sqrt(math.exp(x) + 1) / 2


def cubed(x: float):
    return math.expm1(x / 3) ** 3


def saturating(x: float):
    return math.tanh(2 * x + 1)


def ten_statements(x: float):
    a = x + 1
    b = a * 2
    c = math.exp(b)
    d = c - 0.5
    e = d / 3
    f = math.log(e)
    g = f * 0.25
    h = math.expm1(g)
    i = 4 - h
    return i * 1.5


# by hand, without a check of the answer
BY_HAND = {
    line: lambda z: (z - 3) / 2,
    exponential: lambda z: (math.log((z + 4) / 3) - 1) / 2,
    softplus: lambda z: math.log(math.expm1(z)),
    root: lambda z: math.log((2 * z) ** 2 - 1),
    cubed: lambda z: 3 * math.log1p(z ** (1 / 3)),
    saturating: lambda z: (math.atanh(z) - 1) / 2,
}
WITHOUT_RULE = {saturating}  # Oryx has no rule for tanh


def for_jax(f):
    """The program, with jax's functions for those of math."""
    import jax.numpy as jnp

    names = {**f.__globals__, "math": jnp}
    return type(f)(f.__code__, names, f.__name__)


def with_oryx(f):
    """The inverse of a program by Oryx, not compiled yet."""
    import jax
    import oryx

    jax.config.update("jax_enable_x64", True)
    return oryx.core.inverse(for_jax(f))


def hand_rows(function):
    one = numba.njit(function)

    @numba.njit
    def rows(z):
        found = np.empty_like(z)
        for i in range(z.shape[0]):
            found[i] = one(z[i])
        return found

    return rows


# ---- scalar calls ----


def called(f, args):
    for _ in range(LOOPS):
        f(*args)


def given(inverse, value):
    """The arguments of an inverse: with the default parameter where a choice is left."""
    return (value, inverse.parameters.default()) if len(inverse.parameters) else (value,)


def scalar(f, rounds):
    """Seconds of one call, by variant."""
    inverse = invert(f)
    args = given(inverse, f(0.25))
    # calls of a compiled inverse are no longer interpreted
    ways = {"interpreted": (invert(f), args), "compiled": (inverse.compile(), args)}
    if f in BY_HAND:
        ways["by hand"] = numba.njit(BY_HAND[f]), args[:1]
    if HAS_ORYX and f not in WITHOUT_RULE:
        import jax

        ways["Oryx, jitted"] = jax.jit(with_oryx(f)), args[:1]
    jobs = {name: lambda way=way: called(*way) for name, way in ways.items()}
    times = interleaved(jobs, rounds)
    return {name: summary(found, LOOPS) for name, found in times.items()}


# ---- arrays ----


def arrays(f, rounds, size):
    """Seconds for arrays of this size, by variant."""
    values = np.linspace(f(0.05), f(0.9), size)
    inverse = invert(f)
    inverse.compile_batch()
    wanted = hand_rows(BY_HAND[f])
    ways = {"ours": lambda: inverse.batch(values), "by hand": lambda: wanted(values)}
    if HAS_ORYX and f not in WITHOUT_RULE:
        import jax

        vectorised = jax.jit(jax.vmap(with_oryx(f)))
        on_device = jax.numpy.asarray(values)
        ways["Oryx, jitted"] = lambda: vectorised(on_device).block_until_ready()
    np.testing.assert_allclose(inverse.batch(values)[0], wanted(values), rtol=1e-9, atol=1e-12)
    # the first results are in memory new to the process, which takes longer than the computation
    interleaved(ways, TURNS)
    return {name: summary(found) for name, found in interleaved(ways, TURNS * rounds).items()}


# ---- from nothing to the first answer ----


def renamed(f):
    """A copy of a program that is new to all caches."""
    return type(f)(f.__code__.replace(), dict(f.__globals__), f.__name__, f.__defaults__)


def first_answer(f, way):
    new = renamed(f)
    new.__annotations__ = dict(f.__annotations__)
    value = f(0.25)

    def run():
        return way(new)(value)

    return seconds(run)


def empty(value):
    return value


def compiled_inverse(f):
    inverse = invert(f)
    fast = inverse.compile()
    return lambda value: fast(*given(inverse, value))


def first(f, rounds):
    """Seconds from a program to its first answer, by variant."""
    ways = {
        "interpreted": invert,
        "compiled": compiled_inverse,
        "numba, an empty function": lambda new: numba.njit(renamed(empty)),
    }
    if f in BY_HAND:
        ways["numba, by hand"] = lambda new: numba.njit(renamed(BY_HAND[f]))
    if HAS_ORYX and f not in WITHOUT_RULE:
        import jax

        ways["Oryx, eager"] = with_oryx
        ways["Oryx, jitted"] = lambda new: jax.jit(with_oryx(new))
    if HAS_SYMPY and f is not ten_statements:
        ways["sympy"] = with_sympy
    for way in ways.values():
        first_answer(f, way)
    found = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            found[name].append(first_answer(f, way))
    return {name: summary(times) for name, times in found.items()}


def with_sympy(f):
    """A function that solves the program as an equation of real numbers."""
    import sympy

    x = sympy.Symbol("x", real=True)
    names = {**f.__globals__, "math": SympyMath}
    program = type(f)(f.__code__, names, f.__name__)
    return lambda value: sympy.solve(program(x) - value, x)


class SympyMath:
    """The functions of math on expressions."""

    def __getattr__(self, name):
        raise AttributeError(name)

    @staticmethod
    def exp(x):
        import sympy

        return sympy.exp(x)

    @staticmethod
    def expm1(x):
        return SympyMath.exp(x) - 1

    @staticmethod
    def log1p(x):
        import sympy

        return sympy.log(1 + x)

    @staticmethod
    def sqrt(x):
        import sympy

        return sympy.sqrt(x)

    @staticmethod
    def tanh(x):
        import sympy

        return sympy.tanh(x)


# ---- planning ----

STATEMENTS = (10, 100, 300, 1000, 3000)
SHAPES = {  # the number of inputs, and of the last variables from which reused ones are drawn
    "three inputs": (lambda count: 3, None),
    "an input for ten statements": (lambda count: count // 10, None),
    "three inputs, used again soon": (lambda count: 3, 5),
}


def long_program(rng, count, inputs, window):
    """A function of this many statements, three in ten of which reuse a variable."""
    pending = [f"x{i}" for i in range(inputs)]
    names, lines = list(pending), []
    while len(pending) > 1 or len(lines) < count:
        first, second = pending.pop(rng.randrange(len(pending))), repr(rng.randint(2, 9) / 4)
        if rng.random() < 0.3:
            second = rng.choice(names[-window:] if window else names)
            pending = [name for name in pending if name != second]
        elif pending and rng.random() < 0.5:
            second = pending.pop(rng.randrange(len(pending)))
        elif not pending and rng.random() < 0.3:
            second = ""
        name = f"t{len(lines)}"
        lines.append(
            f"{name} = {first} {rng.choice('+-*/')} {second}"
            if second
            else f"{name} = math.{rng.choice(('exp', 'sin', 'atan'))}({first})"
        )
        pending.append(name)
        names.append(name)
    body = "\n    ".join([*lines, f"return {pending[0]}"])
    namespace = {"math": math}
    exec(f"def f({', '.join(names[:inputs])}):\n    {body}\n", namespace)
    return namespace["f"]


def planning(shape, rounds, statements):
    """Median seconds of invert, by the number of statements, and the exponent of their growth from
    100 statements on."""
    inputs_for, window = SHAPES[shape]
    found = {}
    for count in statements:
        inputs = max(inputs_for(count), 2)
        times = []
        for seed in range(rounds):
            f = long_program(random.Random(seed), count, inputs, window)
            times.append(seconds(lambda f=f, inputs=inputs: invert(f, *[float] * inputs)))
        found[count] = statistics.median(times)
    sizes = [count for count in statements if count >= 100]
    exponent, _ = np.polyfit(np.log(sizes), np.log([found[count] for count in sizes]), 1)
    return {**{str(count): time for count, time in found.items()}, "exponent": float(exponent)}


def planning_rows(measured, statements):
    yield ("program", *(f"{count} statements" for count in statements), "exponent")
    for shape, found in measured.items():
        times = [duration(found[str(count)]) for count in statements]
        yield (shape, *times, f"{found['exponent']:.2f}")


# ---- the report ----


def rows_of(measured, ours):
    """A table: the ratios of ours to the others, and the median of each variant."""
    names = list(dict.fromkeys(name for found in measured.values() for name in found))
    yield ("program", *(f"{ours} / {name}" for name in names if name != ours), "spread", *names)
    for program, found in measured.items():
        middle = {name: each["median"] for name, each in found.items()}
        ratios = [
            f"{middle[ours] / middle[name]:.2f}" if name in found else "-"
            for name in names
            if name != ours
        ]
        times = [duration(middle[name]) if name in found else "-" for name in names]
        yield (program, *ratios, f"{found[ours]['spread']:.0%}", *times)


def main():
    chosen = options(__doc__)
    rounds, size = (1, 1000) if chosen.smallest else (chosen.rounds, SIZE)
    statements = STATEMENTS[:3] if chosen.smallest else STATEMENTS
    start = time.perf_counter()
    print(machine())
    programs = list(BY_HAND)
    found = {
        "A million elements": (
            "`batch` checks each answer; the others do not.",
            {f.__name__: arrays(f, rounds, size) for f in programs},
            "ours",
        ),
        "A scalar call": (
            "Checked, interpreted and compiled; the others are not checked.",
            {f.__name__: scalar(f, rounds) for f in [*programs, ten_statements]},
            "compiled",
        ),
        "To the first answer": (
            "Time from a new program to its first answer. The time of numba for a function that "
            "does nothing is a lower bound for compiled inverses. A further column has numba's "
            "time for the hand-written inverse, without a check.",
            {f.__name__: first(f, rounds) for f in [*programs, ten_statements]},
            "interpreted",
        ),
    }
    sections = []
    for title, (text, measured, ours) in found.items():
        rows = list(rows_of(measured, ours))
        print(f"\n{title}\n{table(rows)}")
        sections.append(section(title, text, rows))
    plans = {shape: planning(shape, max(rounds // 3, 1), statements) for shape in SHAPES}
    rows = list(planning_rows(plans, statements))
    print(f"\nPlanning\n{table(rows)}")
    text = (
        "Time from random programs with a number of statements, a third of which use a "
        "variable again, to their inverses: the median, and the exponent of its growth from "
        "100 statements on."
    )
    sections.append(section("Planning", text, rows))
    text = (
        "Inverses of programs of one float. The peers are hand-written inverses for numba, "
        "Oryx (on JAX) and sympy, if these are installed and can invert the program. "
        "Medians; *spread* is that of ours."
    )
    figures = {title: measured for title, (_, measured, _) in found.items()}
    figures["Planning"] = plans
    written({**figures, "page": part("Inverses", text, sections)}, chosen.json)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
