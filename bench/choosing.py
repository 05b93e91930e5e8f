"""One change of behaviour by each mechanism: methods, generated methods, metadata, state,
barriers and plugins.

The program is that of docs/choosing.md; the baseline is the program with the change written by
hand. All run interleaved in one process, by processor time.
"""

import math
import statistics
from time import process_time

import numba
import numpy as np
from common.options import options
from common.page import part, section, times, written
from common.rows import duration
from common.timing import interleaved, machine, median_ratio, ratio_spread, seconds, table

from overlay import Context, MethodTable, Plugin, current_context, recurse

STEPS = 200
CALLS = 400


def decay(x, steps):
    total = 0.0
    for i in range(steps):
        total += math.exp(-x * i)
    return total


def series(x, terms):
    total, term = 1.0, 1.0
    for i in range(1, terms):
        term *= x / i
        total += term
    return total


def by_hand(terms, series=series):
    def decay(x, steps):
        total = 0.0
        for i in range(steps):
            total += series(-x * i, terms)
        return total

    return decay


def table_for(terms):
    made = MethodTable("table")
    made.overlay(math.exp)(lambda x: series(x, terms))
    return made


def generated_for(terms):
    made = MethodTable("generated")
    made.generated(math.exp)(lambda x: lambda x: series(x, terms))
    return made


READING, LOOKING = MethodTable("reading"), MethodTable("looking")
READING.overlay(math.exp)(lambda x: series(x, current_context().metadata))
LOOKING.overlay(math.exp)(lambda x: series(x, current_context().state[0]))


def adaptive(x, steps, terms):
    return recurse(current_context().replace(metadata=terms), decay, x, steps)


class Series(Plugin):
    """``math.exp`` as a series, by edits of the code that calls it."""

    def __init__(self, terms):
        def shortened(x):
            return series(x, terms)

        self.terms, self.shortened = terms, shortened

    @property
    def cache_token(self):
        return self.terms

    def after_inference(self, ir):
        for call in ir.calls(math.exp):
            if call.types == (float,):
                ir.replace(call, self.shortened, *call.args)


STATE = np.array([5])
BY_STATE = Context(LOOKING, state=STATE)
BY_METADATA = Context(READING, metadata=5)


def with_state(terms):
    STATE[0] = terms
    return BY_STATE


# for a number of terms the context and, where it is not decay, the program
WAYS = {
    "method": lambda terms: (Context(table_for(terms)), decay),
    "generated method": lambda terms: (Context(generated_for(terms)), decay),
    "metadata": lambda terms: (BY_METADATA.replace(metadata=terms), decay),
    "state": lambda terms: (with_state(terms), decay),
    "plugin": lambda terms: (Context(plugins=(Series(terms),)), decay),
}
INTERPRETED = tuple(name for name in WAYS if name != "plugin")


def repeated(f, *args):
    def run():
        for _ in range(CALLS):
            f(*args)

    return run


def running(rounds):
    """Ratios to the program by hand, of compiled and of interpreted runs."""
    native = numba.njit(by_hand(5, numba.njit(series)))
    jobs = {"hand": repeated(native, 0.01, STEPS)}
    expected = native(0.01, STEPS)
    for name, way in WAYS.items():
        context, program = way(5)
        compiled = context.jit(program)
        if not math.isclose(compiled(0.01, STEPS), expected):
            raise SystemExit(f"{name}: not the same result")
        jobs[name] = repeated(compiled, 0.01, STEPS)
    barrier = BY_METADATA.jit(adaptive, hot_after=0)
    barrier(0.01, STEPS, 5)
    jobs["barrier"] = repeated(barrier, 0.01, STEPS, 5)
    compiled = interleaved(jobs, rounds, clock=process_time)
    slow = {"hand": lambda: by_hand(5)(0.01, 20 * STEPS)}
    for name in INTERPRETED:
        context, program = WAYS[name](5)
        slow[name] = lambda context=context, f=program: context(f, 0.01, 20 * STEPS)
    slow["barrier"] = lambda: BY_METADATA(adaptive, 0.01, 20 * STEPS, 5)
    interpreted = interleaved(slow, rounds, clock=process_time)
    return {
        name: {
            "compiled": median_ratio(compiled, name, "hand"),
            "spread": ratio_spread(compiled, name, "hand"),
            "interpreted": median_ratio(interpreted, name, "hand") if name in interpreted else None,
        }
        for name in (*WAYS, "barrier")
    }


def changing(rounds):
    """Seconds until the first answer for a new value, and for one seen before."""
    found = {}
    barrier = BY_METADATA.jit(adaptive)

    def answer(name, terms):
        if name == "barrier":
            return barrier(0.01, STEPS, terms)
        context, program = WAYS[name](terms)
        return context.jit(program)(0.01, STEPS)

    for name in (*WAYS, "barrier"):
        answer(name, 4)
        new = [seconds(lambda n=n, name=name: answer(name, n)) for n in range(6, 6 + rounds)]
        again = [seconds(lambda n=n, name=name: answer(name, n)) for n in range(6, 6 + rounds)]
        found[name] = {"new": statistics.median(new), "again": statistics.median(again)}
    return found


HEAD = ("tool", "compiled", "spread", "interpreted", "a new value", "one seen before")


def cells(name, figure):
    interpreted = figure["interpreted"]
    return (
        name,
        times(figure["compiled"]),
        f"{figure['spread']:.1%}",
        "-" if interpreted is None else times(interpreted),
        duration(figure["new"]),
        duration(figure["again"]),
    )


def page(figures):
    """The part of docs/report.md."""
    text = (
        "The program of [Choosing an extension mechanism](choosing.md) with each mechanism. "
        "The first columns are ratios to the program with the change written by hand. The "
        "last column is the time to the first compiled answer after the value has changed. A "
        "barrier runs interpreted at first; tables and plugins are made for each run. "
        "Medians."
    )
    rows = [HEAD, *(cells(name, figure) for name, figure in figures.items())]
    return part("Extension mechanisms", text, [section("One program, six mechanisms", "", rows)])


def main():
    chosen = options(__doc__)
    rounds = 1 if chosen.smallest else chosen.rounds
    print(f"{machine()}; processor time")
    ran, changed = running(rounds), changing(rounds)
    figures = {name: {**ran[name], **changed[name]} for name in ran}
    print(table([HEAD, *(cells(name, figure) for name, figure in figures.items())]))
    written({"machine": machine(), "ways": figures, "page": page(figures)}, chosen.json)


if __name__ == "__main__":
    main()
