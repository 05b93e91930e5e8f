"""A plugin around each call against calls wrapped by hand, interleaved, by processor time.

Each program makes one kind of call many times. By hand each callee is a function that calls it; in
a context a plugin puts the same function around each call.
"""

import math
from dataclasses import asdict, dataclass
from time import process_time

from common.options import parser_for
from common.page import part, section, written
from common.timing import interleaved_apart, machine, ratio, ratio_spread, table

from overlay import Context, Plugin

CALLS = 20_000
LIMIT = 60.0  # seconds that a variant may take


def function(x):
    return x


class Made:
    def __init__(self, x):
        self.x = x

    def method(self, x):
        return x


def wrapped(callee):
    """The callee, wrapped by hand."""

    def goes_on(*args, **kwargs):
        return callee(*args, **kwargs)

    return goes_on


class Around(Plugin):
    """Wraps each call like ``wrapped``."""

    def around(self, callee, run):
        def goes_on(*args, **kwargs):
            return run(*args, **kwargs)

        return goes_on


class Enters(Plugin):
    """Is asked at each call, with the types of its arguments, and stays active."""

    def enter(self, callee, types):
        return self


def of_functions(around):
    called = around(function)

    def run():
        for i in range(CALLS):
            called(i)

    return run


def with_keywords(around):
    called = around(function)

    def run():
        for i in range(CALLS):
            called(x=i)

    return run


def of_functions_in_c(around):
    called = around(math.sin)

    def run():
        for _ in range(CALLS):
            called(0.5)

    return run


def of_methods(around):
    class Other(Made):
        method = around(Made.method)

    made = Other(1)

    def run():
        for i in range(CALLS):
            made.method(i)

    return run


def of_classes(around):
    class Other(Made):
        __init__ = around(Made.__init__)

    called = around(Other)

    def run():
        for i in range(CALLS):
            called(i)

    return run


def of_nothing(around):
    def run():
        total = 0
        for i in range(CALLS):
            total = total + i * 2
        return total

    return run


PROGRAMS = {
    "Python functions": of_functions,
    "with a keyword": with_keywords,
    "functions in C": of_functions_in_c,
    "methods": of_methods,
    "classes": of_classes,
    "no calls": of_nothing,
}
VARIANTS = ("by hand", "around", "enter")


def as_it_is(callee):
    return callee


def in_context(program, plugin):
    context, run = Context(plugins=(plugin,)), program(as_it_is)
    context(run)
    return lambda: context(run)


@dataclass(frozen=True)
class Row:
    """The figures of one program: a native run in seconds, and ratios to it by variant."""

    program: str
    native: float
    ratios: dict[str, float]
    spreads: dict[str, float]


def measured(name, rounds):
    """The program's row; each variant has a process of its own."""
    program = PROGRAMS[name]
    times = interleaved_apart(
        {
            "native": lambda: program(as_it_is),
            "by hand": lambda: program(wrapped),
            "around": lambda: in_context(program, Around()),
            "enter": lambda: in_context(program, Enters()),
        },
        rounds,
        LIMIT,
        process_time,
    )
    return Row(
        name,
        min(times["native"]),
        {each: ratio(times, each, "native") for each in VARIANTS},
        {each: ratio_spread(times, each, "native") for each in VARIANTS},
    )


def shown(rows):
    return [
        ("calls", "native ns", *VARIANTS),
        *(
            (r.program, f"{r.native / CALLS * 1e9:.0f}", *(f"{v:.1f}" for v in r.ratios.values()))
            for r in rows
        ),
    ]


def page(rows):
    text = (
        "Programs that make one kind of call, relative to native. *By hand*: each callee is "
        "wrapped in a function. *Around*: a plugin wraps each call. *Enter*: a plugin is called "
        "at each call."
    )
    return part("Plugins around calls", text, [section("Calls", "", shown(rows), ())])


def main():
    parser = parser_for(__doc__)
    chosen = parser.parse_args()
    rounds = 1 if chosen.smallest else chosen.rounds
    print(f"{machine()}; processor time")
    rows = [measured(name, rounds) for name in PROGRAMS]
    print(table(shown(rows)))
    figures = {"machine": machine(), "programs": [asdict(row) for row in rows]}
    written({**figures, "page": page(rows)}, chosen.json)


if __name__ == "__main__":
    main()
