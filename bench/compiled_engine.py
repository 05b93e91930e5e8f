"""The compiled engine against plain numba, interleaved in one process, by processor time.

Each figure is a ratio to ``njit`` measured in the same run. Where the limit is the run time of
``njit``, the same program is compiled by ``njit`` twice: the difference of these two is the noise,
and a ratio within it (or within 2 %, if that is more) counts as met.
"""

import functools
import gc
import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter, process_time

from common.generated import (
    BRANCHES,
    chain,
    forwarding,
    graph,
    large_table,
    levels,
    nested,
    unreached_table,
    wide,
)
from common.numba_compiling import compiled_functions, instructions, machine_and_numba
from common.numeric import NUMERIC, as_it_is, cubic
from common.options import parser_for
from common.page import part, section, times, written
from common.rows import compared, duration, growth, shown
from common.timing import interleaved, ratio, seconds, spread
from numba import njit

from overlay import Context, MethodTable

LIMIT = 4.0  # seconds for the rounds of one case
TURNS = 5  # runs of a program in a round: each is short


@dataclass(frozen=True)
class Sizes:
    """Sizes of the cases."""

    calls: int  # from Python, and iterations of the loops in generated programs
    chain: int  # functions of a program whose compilation is measured
    contexts: int
    graph: int  # functions
    layers: tuple[int, ...]
    methods: tuple[int, ...]
    depths: tuple[int, ...]


FULL = Sizes(100_000, 10, 200, 300, (1, 3, 8), (1, 10, 100, 1000), (1, 4, 16))
SMALLEST = Sizes(100, 2, 3, 13, (1, 3), (1, 10), (1, 3))


# ---- run time -------------------------------------------------------------------------


def running(case, variants, argument, rounds, without=None, asked=1.0):
    """The row of a program compiled three times: by njit, by njit again, and by a context.

    without: compiled by a context without tables, to count its instructions. Raises SystemExit
    where the results differ.
    """
    expected, given = variants["njit"](argument), variants["ours"](argument)
    if expected != given:
        raise SystemExit(f"{case}: {given!r} in a context, {expected!r} by njit")
    jobs = {name: lambda f=f: f(argument) for name, f in variants.items()}
    times = interleaved(jobs, TURNS * rounds, LIMIT, process_time)
    additional = None
    if without is not None:
        without(argument)
        additional = len(instructions(variants["ours"])[0]) - len(instructions(without)[0])
    codes, wrappers = zip(*(instructions(variants[name]) for name in ("njit", "ours")), strict=True)
    return compared(
        case,
        times,
        "njit",
        asked=asked,
        noise=abs(ratio(times, "again", "njit") - 1),
        instructions=tuple(map(len, codes)),
        same_instructions=codes[0] == codes[1],
        additional=additional,
        wrappers=tuple(map(len, wrappers)),
    )


def never_reached(program):
    """A context whose table has a method of the program's target, for a type that never occurs."""

    class Unused:
        pass

    def unused(*args: Unused):
        raise AssertionError("no argument is one")

    never = MethodTable("never")
    never.overlay(program.target)(unused)
    return Context(never)


def reached(program):
    made = MethodTable("reached")
    made.overlay(program.target)(program.method)
    return Context(made)


def numeric(names, sizes, rounds):
    """Each program under a table that it never reaches, and with its target overlaid."""
    for name in names:
        program = NUMERIC[name]
        size = program.least if sizes is SMALLEST else program.size
        for how, native, context in (
            ("never reached", program.plain, never_reached(program)),
            ("overlaid", program.by_hand, reached(program)),
        ):
            ours = context.jit(program.ours())
            variants = {"njit": native(njit), "again": native(njit), "ours": ours}
            without = Context().jit(program.ours()) if how == "never reached" else None
            yield running(f"{name}, {how}", variants, size, rounds, without)


def identity(x):
    return x


def entry(sizes, rounds):
    """A call from Python, of an independent function and of one within a program."""

    def calls(function):
        for _ in range(sizes.calls):
            function(1.0)

    def made(decorate):
        return graph(size, decorate)[0] if size > 1 else decorate(identity)

    context = Context(unreached_table(0))
    for size in (1, sizes.chain):
        functions = {"njit": made(njit), "again": made(njit), "ours": context.jit(made(as_it_is))}
        jobs = {name: lambda f=f: calls(f) for name, f in functions.items()}
        times = interleaved(jobs, TURNS * rounds, LIMIT, process_time)
        noise = abs(ratio(times, "again", "njit") - 1)
        case = f"a call from Python, {size} functions"
        yield compared(case, times, "njit", each=sizes.calls, noise=noise)


# ---- compile time -----------------------------------------------------------------------


def compile_times(variants, rounds):
    """Seconds of the first call of each variant's function, with the variants in alternation.

    Fast variants are compiled more often. Garbage of one variant is collected before the next.
    """
    times = {name: [] for name in variants}
    for make in variants.values():
        make()(3)  # one-time set-up of a process is no cost of a function
    gc.collect()
    gc.freeze()
    end = perf_counter() + (LIMIT if rounds > 1 else 0.0)
    while perf_counter() < end or len(times["ours"]) < max(rounds, 1):
        for name, make in variants.items():
            function = make()
            gc.collect()
            times[name].append(seconds(lambda f=function: f(3), process_time))
    gc.unfreeze()
    return times


def compiled(case, variants, rounds, functions, asked=None):
    times = compile_times(variants, rounds)
    noise = max(map(spread, times.values()))
    return compared(case, times, "njit", each=functions, asked=asked, noise=noise)


def in_new_context(make_table, program):
    """A variant in a new context: with another table, so that nothing is shared with earlier
    code."""
    return lambda: Context(make_table()).jit(program())


def sine_table():
    made = MethodTable("sine")
    made.overlay(math.sin)(cubic)
    return made


def compiling(sizes, rounds):
    """Compile time of each function of a program, and of each numeric program as a whole."""
    size = sizes.chain
    plain = functools.partial(chain, size, njit)
    for how, make_table in (("never reached", lambda: unreached_table(0)), ("sin", sine_table)):
        ours = in_new_context(make_table, lambda: chain(size, as_it_is))
        case = f"compiling, for each of {size} functions, {how}"
        yield compiled(case, {"njit": plain, "ours": ours}, rounds // 2, size, 1.1)
    names = list(NUMERIC)[:1] if sizes is SMALLEST else NUMERIC
    for name in names:
        program = NUMERIC[name]
        variants = {
            "njit": lambda p=program: p.plain(njit),
            "ours": lambda p=program: never_reached(p).jit(p.ours()),
        }
        yield compiled(f"compiling {name}, never reached", variants, rounds // 2, 1, 1.1)


def new_contexts(sizes, rounds):
    """The cost of a table and context, and of the first compilation in it above that of njit."""

    def make():
        return [Context(sine_table()) for _ in range(sizes.contexts)]

    made = min(seconds(make, process_time) for _ in range(rounds)) / sizes.contexts
    variants = {
        "njit": lambda: njit(lambda x: x * 2),
        "ours": in_new_context(sine_table, lambda: lambda x: x * 2),
    }
    times = compile_times(variants, rounds)
    beyond = min(times["ours"]) - min(times["njit"])
    print(f"a new table and context: {duration(made)}")
    verdict = "reached" if made + beyond <= 0.010 else "MISSED"
    print(f"the first function compiled in it, beyond njit: {beyond * 1e3:.2f} ms")
    print(f"a context's creation: {(made + beyond) * 1e3:.2f} ms (at most 10 ms: {verdict})")
    return {"made": made, "first use beyond njit": beyond, "asked": 0.010, "verdict": verdict}


# ---- scaling of costs --------------------------------------------------------------------


def graphs(size):
    """A graph of functions, cold, and warm in later contexts.

    In the last of these contexts three functions are overlaid.
    """
    plain, _ = graph(size, njit)
    ours, names = graph(size, as_it_is)
    sines, changed = sine_table(), MethodTable("changed")
    touched = {size - 1, size - 2, size - 3}
    for i in touched:
        changed.overlay(names[f"f{i}"])(cubic)
    leading = {f"f{i}" for i in above(touched)}
    stages = {
        "cold, njit": plain,
        "cold": Context(sines).jit(ours),
        "a new context of the same table": Context(sines).jit(ours),
        "a new context of a new table": Context(unreached_table(0)).jit(ours),
        "a new context that overlays three": Context(sines, changed).jit(ours),
    }
    found = {name: first_call(function) for name, function in stages.items()}
    for name, (taken, compiled) in found.items():
        print(f"graph of {size} functions, {name}: {taken:.2f} s, {len(compiled)} compiled")
    (native, _), (cold, _) = found["cold, njit"], found["cold"]
    print(f"cold against njit: {cold / native:.3f}", flush=True)
    again = found["a new context that overlays three"][1]
    needless = sum(name not in leading for name in again)
    verdict = f"none: {'reached' if not needless else 'MISSED'}"
    print(f"compiled again though they do not lead to the three: {needless} ({verdict})")
    return {
        "stages": {name: (taken, len(compiled)) for name, (taken, compiled) in found.items()},
        "cold ratio": cold / native,
        "leading to the three": len(leading),
        "needless": needless,
        "verdict": verdict,
    }


def above(touched):
    """The numbers of the functions of a graph that reach these through calls."""
    found = set()
    for i in touched:
        while i:
            i = (i - 1) // BRANCHES
            found.add(i)
    return found


def first_call(function):
    """Seconds of the first call of a graph's root, and the functions of the graph that it
    compiles."""
    with compiled_functions() as seen:
        taken = seconds(lambda: function(0.5), process_time)
    return taken, [name for name in seen if re.fullmatch(r"f\d+", name)]


def grown(case, size, make_plain, make_ours, turns, rounds):
    """Run time, then compile time, of a program of one size."""
    made = {"njit": make_plain(), "again": make_plain(), "ours": make_ours()}
    yield replace(running(f"running {case}", made, turns, rounds), size=size)
    variants = {"njit": make_plain, "ours": make_ours}
    yield replace(compiled(f"compiling {case}", variants, rounds // 3, 1), size=size)


def series(cases, turns, rounds):
    """The rows of programs of growing size. cases: description, size, and the function that makes
    it by njit, and in a context."""
    return [row for case in cases for row in grown(*case, turns, rounds)]


def reported(what, rows):
    """Print the rows, and the growth of compile time and run time."""
    figures = shown(rows)
    growth(f"run time of {what}", rows[::2])
    growth(f"compile time of {what}", rows[1::2])
    return figures


def layers(sizes, rounds):
    """``*args`` forwarded through layers of functions."""

    def case(count):
        ours = in_new_context(sine_table, lambda: forwarding(count, as_it_is))
        return f"*args through {count} layers", count, lambda: forwarding(count, njit), ours

    rows = series(map(case, sizes.layers), sizes.calls, rounds)
    return reported("layers that forward *args", rows)


def methods(sizes, rounds):
    """One call of a target with many methods, or in a table of many targets."""
    program = NUMERIC["hot_loop"]

    def plain():
        return program.by_hand(njit)

    def of_methods(count):
        ours = in_new_context(lambda: large_table(count, math.sin, cubic), program.ours)
        return f"a target of {count} methods", count, plain, ours

    def of_targets(count):
        def ours():
            made, target = wide(count, cubic)
            return Context(made).jit(program.make(lambda f: f, target))

        return f"a table of {count} targets", count, plain, ours

    return [
        figure
        for what, case in (("methods of one target", of_methods), ("targets", of_targets))
        for figure in reported(what, series(map(case, sizes.methods), sizes.calls, rounds))
    ]


def nesting(sizes, rounds):
    """A call through nested contexts."""

    def case(depth):
        return f"contexts {depth} deep", depth, lambda: levels(depth, njit), lambda: nested(depth)

    return reported("nested contexts", series(map(case, sizes.depths), sizes.calls, rounds))


# ---- the page ----------------------------------------------------------------------------

SERIES = {
    "layers": ("layers", "`*args` forwarded through layers of functions"),
    "methods": ("methods", "a call of a target in tables of many methods"),
    "nesting": ("contexts", "a call through contexts, each entered in the one before it"),
}


def page(figures):
    """The part of docs/report.md."""
    sections = [PAGES[name](figures[name]) for name in PAGES if name in figures]
    text = (
        "The peer is the program compiled by plain `@njit`, by processor time. "
        "*Instructions* are those of the compiled function and of all that it calls."
    )
    return part("Compiled engine", text, sections)


def page_of_rows(title, text):
    """A function that makes a section from rows."""
    return lambda rows: section(title, text, [HEAD_OF_PAGE, *map(row_of_page, rows)])


HEAD_OF_PAGE = ("case", "ratio", "median", "spread", "noise", "instructions, njit / ours", "asked")


def row_of_page(row):
    counts = " / ".join(map(str, row["instructions"] or ())) or "-"
    if row["same_instructions"]:
        counts = f"{row['instructions'][0]}, the same"
    shares = (f"{row[name]:.1%}" for name in ("spread", "noise"))
    return row["case"], times(row["ratio"]), times(row["median"]), *shares, counts, row["verdict"]


def page_of_contexts(found):
    total = found["made"] + found["first use beyond njit"]
    lines = [
        f"made: {duration(found['made'])}",
        f"first function compiled in it, beyond `njit`: "
        f"{found['first use beyond njit'] * 1e3:.2f} ms",
        f"together {total * 1e3:.2f} ms, asked at most 10 ms: {found['verdict']}",
    ]
    return section("A context's creation", "A new table, and a new context of it.", lines=lines)


def page_of_series(what, title):
    """A function that makes a section from a series."""

    def made(rows):
        cells = [("case", "run time", "spread", "compile time", "spread")]
        for run, compilation in zip(rows[::2], rows[1::2], strict=True):
            ratios = [f(row) for row in (run, compilation) for f in (ratio_of, spread_shown)]
            cells.append((run["case"].removeprefix("running "), *ratios))
        lines = [
            f"{name}: each more adds {duration(ours)} to the {kind} time, "
            f"{duration(njit)} by `njit`"
            for kind, of_kind in (("run", rows[::2]), ("compile", rows[1::2]))
            for name, several in series_in(of_kind).items()
            for ours, njit in [more(several)]
        ]
        return section(
            f"How costs grow with {what}", f"{title[0].upper()}{title[1:]}.", cells, lines
        )

    return made


def series_in(rows):
    """Group rows by the quantity that grows in them."""
    found = {}
    for row in rows:
        name = re.sub(r"\d+", "n", row["case"].partition(" ")[2])
        found.setdefault(f"`{name}`", []).append(row)
    return found


def ratio_of(row):
    return times(row["ratio"])


def spread_shown(row):
    return f"{row['spread']:.1%}"


def more(rows):
    """The cost of one more in a series, ours and by njit, from the first row to the last."""
    first, last = rows[0], rows[-1]
    count = last["size"] - first["size"]
    return [(last[name] - first[name]) / count for name in ("ours", "njit")]


def page_of_graph(found):
    native, _ = found["stages"]["cold, njit"]
    rows = [("stage", "time to the first result", "functions compiled")]
    rows += [(name, times(taken / native), str(n)) for name, (taken, n) in found["stages"].items()]
    line = (
        f"compiled again though they do not lead to the three: {found['needless']}, asked "
        f"{found['verdict']} ({found['leading to the three']} lead to them)"
    )
    text = "A tree of functions, each of which calls three; the first call of its root."
    return section("A graph of functions", text, rows, [line])


PAGES = {
    "programs": page_of_rows(
        "Programs",
        "*Never reached*: under a table with a method for a type that does not occur, "
        "relative to the program itself. *Overlaid*: relative to the program with the target "
        "replaced by hand. A context optimises a program as a whole, numba each function with "
        "those that it calls, so the numbers of instructions differ. Where a call of a method "
        "may raise, additional instructions record which call an exception came from.",
    ),
    "entry": page_of_rows("Calls from Python", "One call, of a function that does nothing."),
    "contexts": page_of_contexts,
    "compiling": page_of_rows("Compile time", "In a new context of a new table each time."),
    **{name: page_of_series(*words) for name, words in SERIES.items()},
    "graph": page_of_graph,
}


# ---- the report ---------------------------------------------------------------------------

GROUPS: dict[str, Callable[..., object]] = {
    "contexts": new_contexts,
    "entry": lambda sizes, rounds: shown(list(entry(sizes, rounds))),
    "compiling": lambda sizes, rounds: shown(list(compiling(sizes, rounds))),
    "layers": layers,
    "methods": methods,
    "nesting": nesting,
    "graph": lambda sizes, rounds: graphs(sizes.graph),
}


def options():
    parser = parser_for(__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=[*NUMERIC, *GROUPS])
    return parser.parse_args()


def main():
    chosen = options()
    wanted = chosen.only or [*NUMERIC, *GROUPS]
    sizes = SMALLEST if chosen.smallest else FULL
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    print(f"{machine_and_numba()}; processor time; load of each core at the start: {load:.1f}")
    figures = {"machine": machine_and_numba(), "load": load}
    if names := [name for name in NUMERIC if name in wanted]:
        figures["programs"] = shown(list(numeric(names, sizes, chosen.rounds)))
    for name, group in GROUPS.items():
        if name in wanted:
            print()
            figures[name] = group(sizes, chosen.rounds)
        written({**figures, "page": page(figures)}, chosen.json)  # each group takes long


if __name__ == "__main__":
    main()
