"""``implicit=True`` against native Python: small loops of the calls that it adds, and nothing else.

All run in one process, interleaved, by processor time.
"""

import math
from time import process_time

from common.options import options
from common.page import part, section, times, written
from common.timing import interleaved, machine, median_ratio, ratio, ratio_spread, table

from overlay import Context, MethodTable

LIMIT = 2.0  # seconds for the rounds of one loop
TURNS = 10_000


class Thing:
    def __init__(self, value):
        self.value = value

    def method(self):
        return self.value

    @property
    def seen(self):
        return self.value

    def __add__(self, other):
        return self

    def __getitem__(self, index):
        return index


class Counting:
    """An iterator in Python."""

    def __init__(self, n):
        self.left = n

    def __iter__(self):
        return self

    def __next__(self):
        if not self.left:
            raise StopIteration
        self.left -= 1
        return self.left


def arithmetic(n):
    total = 0
    for i in range(n):
        total = total + i * 3 - 1
    return total


def items(n):
    values, total = [1, 2, 3, 4], 0
    for i in range(n):
        total = values[i & 3]
    return total


def recursion(n):
    return sum([fib(10) for _ in range(n // 150)])


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def attributes(n):
    thing, total = Thing(1), 0
    for _ in range(n):
        total = thing.value
    return total


def methods(n):
    thing, total = Thing(1), 0
    for _ in range(n):
        total = thing.method()
    return total


def properties(n):
    thing, total = Thing(1), 0
    for _ in range(n):
        total = thing.seen
    return total


def additions(n):
    thing = Thing(1)
    for _ in range(n):
        thing = thing + 1
    return thing.value


def subscripts(n):
    thing, total = Thing(1), 0
    for i in range(n):
        total = thing[i]
    return total


def iterations(n):
    total = 0
    for i in Counting(n):
        total = i
    return total


LOOPS = {
    "arithmetic of ints": arithmetic,
    "items of a list": items,
    "a function that calls itself": recursion,
    "an attribute of an object": attributes,
    "a method call": methods,
    "a property": properties,
    "`a + b` in Python": additions,
    "`a[i]` in Python": subscripts,
    "an iterator in Python": iterations,
}


def compared(case, loop, turns, rounds):
    """One loop, in two kinds of context, to native."""
    unreached = MethodTable("unreached")
    unreached.overlay(math.gamma)(lambda x: x)
    jobs = {"native": lambda: loop(turns)}
    for name, context in (
        ("explicit", Context(unreached)),
        ("implicit", Context(unreached, implicit=True)),
    ):
        jobs[name] = lambda context=context: context(loop, turns)
    if len({repr(run()) for run in jobs.values()}) > 1:
        raise SystemExit(f"{case}: another result in a context")
    taken = interleaved(jobs, rounds, LIMIT, process_time)
    return {
        "case": case,
        "explicit": ratio(taken, "explicit", "native"),
        "implicit": ratio(taken, "implicit", "native"),
        "median": median_ratio(taken, "implicit", "native"),
        "spread": ratio_spread(taken, "implicit", "native"),
    }


HEAD = ("loop", "explicit only", "implicit", "median", "spread")


def cells(row):
    ratios = (times(row[name]) for name in ("explicit", "implicit", "median"))
    return row["case"], *ratios, f"{row['spread']:.0%}"


def page(rows):
    """The part of docs/report.md."""
    text = (
        "Small loops that do nothing else, in a context with and without `implicit=True`, under a "
        "table that they never reach. The peer is the same loop natively, by processor time."
    )
    return part("Implicit calls", text, [section("Loops", "", [HEAD, *map(cells, rows)])])


def main():
    chosen = options(__doc__)
    turns, rounds = (150, 1) if chosen.smallest else (TURNS, chosen.rounds)
    print(f"{machine()}; processor time")
    rows = [compared(case, loop, turns, rounds) for case, loop in LOOPS.items()]
    print(table([HEAD, *map(cells, rows)]))
    written({"machine": machine(), "rows": rows, "page": page(rows)}, chosen.json)


if __name__ == "__main__":
    main()
