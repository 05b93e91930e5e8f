"""Calls in contexts known only at run time, against plain calls in compiled code.

A barrier finds the function for a value that it has seen before; a plain call goes to one function
that takes the value as an argument and is not inlined. Both run interleaved in one process, by
processor time. `asked` is the limit on the cost of a call through a barrier.
"""

from time import perf_counter, process_time

from common.numba_compiling import machine_and_numba
from common.options import options
from common.page import part, section, times, written
from common.rows import compared, duration, shown
from common.timing import interleaved, ratio, seconds

from overlay import Context, MethodTable, Plugin, current_context, recurse

LIMIT = 4.0  # seconds for the rounds of one case
ASKED = 2.0


class Apart(Plugin):
    """Keeps calls from being inlined, as those through a barrier are."""

    cache_token = "apart"

    def inline(self, call):
        return False


def plain(x, value):
    return x + value


def behind(x):
    return x + current_context().metadata


def behind_pair(x):
    first, second = current_context().metadata
    return x + first + second


def plain_pair(x, first, second):
    return x + first + second


def behind_text(x):
    return x + (1.0 if current_context().metadata == "one" else 2.0)


def plain_text(x, text):
    return x + (1.0 if text == "one" else 2.0)


def polynomial(x, value):
    total = 0.0
    for i in range(20):
        total = total * x + value * i
    return total


def behind_polynomial(x):
    return polynomial(x, current_context().metadata)


# ---- programs: a plain one of each, and one that changes metadata for each call ------------


def ints(n):
    total = 0.0
    for i in range(n):
        total = plain(total, i & 7)
    return total


def ints_behind(n):
    total = 0.0
    for i in range(n):
        total = recurse(current_context().replace(metadata=i & 7), behind, total)
    return total


def floats(n):
    total = 0.0
    for i in range(n):
        total = plain(total, (i & 7) * 0.5)
    return total


def floats_behind(n):
    total = 0.0
    for i in range(n):
        total = recurse(current_context().replace(metadata=(i & 7) * 0.5), behind, total)
    return total


def pairs(n):
    total = 0.0
    for i in range(n):
        total = plain_pair(total, i & 7, (i & 3) * 0.5)
    return total


def pairs_behind(n):
    total = 0.0
    for i in range(n):
        pair = i & 7, (i & 3) * 0.5
        total = recurse(current_context().replace(metadata=pair), behind_pair, total)
    return total


def texts(n):
    total, names = 0.0, ("one", "two")
    for i in range(n):
        total = plain_text(total, names[i & 1])
    return total


def texts_behind(n):
    total, names = 0.0, ("one", "two")
    for i in range(n):
        total = recurse(current_context().replace(metadata=names[i & 1]), behind_text, total)
    return total


def bodies(n):
    total = 0.0
    for i in range(n):
        total += polynomial(0.5, (i & 7) * 0.5)
    return total


def bodies_behind(n):
    total = 0.0
    for i in range(n):
        other = current_context().replace(metadata=(i & 7) * 0.5)
        total += recurse(other, behind_polynomial, 0.5)
    return total


CASES = {
    "8 ints": (ints, ints_behind),
    "8 floats": (floats, floats_behind),
    "32 pairs": (pairs, pairs_behind),
    "2 texts": (texts, texts_behind),
    "8 floats, 20 multiplications each": (bodies, bodies_behind),
}


def seen(case, programs, calls, rounds):
    """A call with a value that was seen before."""
    native, ours = programs
    apart = Context(plugins=(Apart(),))
    variants = {
        "plain": apart.jit(native),
        "again": Context(MethodTable("again"), plugins=(Apart(),)).jit(native),
        "ours": Context(metadata=0).jit(ours, hot_after=0),
    }
    found = {name: function(calls) for name, function in variants.items()}
    if found["plain"] != found["ours"]:
        raise SystemExit(f"{case}: {found['ours']!r} behind a barrier, {found['plain']!r} plain")
    misses = sum(info.misses for info in variants["ours"].barriers())
    jobs = {name: lambda f=f: f(calls) for name, f in variants.items()}
    taken = interleaved(jobs, rounds, LIMIT, process_time)
    if sum(info.misses for info in variants["ours"].barriers()) != misses:
        raise SystemExit(f"{case}: a value was not found again")
    noise = abs(ratio(taken, "again", "plain") - 1)
    name = f"a call with one of {case}"
    return compared(name, taken, "plain", each=calls, asked=ASKED, noise=noise)


def from_python(calls, rounds):
    """A call from Python in one of a few contexts, made for the call, against one made before."""
    base = Context(MethodTable("from python"))
    hot = [base.replace(metadata=i).jit(behind) for i in range(4)]
    for function in hot:
        function(1.0)

    def made_before():
        for i in range(calls):
            hot[i & 3](1.0)

    def changing():
        for i in range(calls):
            base.replace(metadata=i & 3).jit(behind)(1.0)

    jobs = {"made before": made_before, "changing": changing}
    taken = interleaved(jobs, rounds, LIMIT, process_time)
    return {name: min(each) / calls for name, each in taken.items()}


def unseen():
    """The first calls with a new value: interpreted, and compiled."""
    hot = Context(MethodTable("unseen"), metadata=0).jit(once, hot_after=2)
    hot(0)  # first use of the program itself
    figures = {"interpreted, first": seconds(lambda: hot(1001), perf_counter)}
    figures["interpreted, second"] = seconds(lambda: hot(1001), perf_counter)
    figures["compiled, third"] = seconds(lambda: hot(1001), perf_counter)
    figures["found, fourth"] = seconds(lambda: hot(1001), perf_counter)
    return figures


def once(value):
    return recurse(current_context().replace(metadata=value), behind, 1.0)


def page(figures):
    """The part of docs/report.md."""
    rows = [("case", "ratio", "median", "spread", "asked")]
    rows += [
        (
            *(row["case"], times(row["ratio"]), times(row["median"])),
            *(f"{row['spread']:.1%}", row["verdict"]),
        )
        for row in figures["seen"]
    ]
    python, first = figures["from Python"], figures["unseen"]
    found = first["found, fourth"]
    lines = [
        f"{name}: {taken / found:.0f} times one that is found" for name, taken in first.items()
    ]
    changing = times(python["changing"] / python["made before"])
    sections = [
        section("A value that was seen before", "Found by compiled code.", rows),
        section("The first calls with a value", "From Python, one each.", lines=lines[:-1]),
        section(
            "Contexts made for a call",
            "A call from Python in a context made for the call, relative to an existing context.",
            lines=[f"ratio: {changing}"],
        ),
    ]
    text = (
        "Calls in contexts with metadata that only the running program knows. The peer is a "
        "call of a function that takes the value as an argument and is not inlined."
    )
    return part("Barriers", text, sections)


def main():
    chosen = options(__doc__)
    calls, few = (1000, 10) if chosen.smallest else (2_000_000, 2000)
    print(f"{machine_and_numba()}; processor time")
    rows = [seen(case, programs, calls, chosen.rounds) for case, programs in CASES.items()]
    figures = {"machine": machine_and_numba(), "seen": shown(rows)}
    figures["from Python"] = from_python(few, chosen.rounds)
    figures["unseen"] = unseen()
    print()
    for name, taken in (*figures["from Python"].items(), *figures["unseen"].items()):
        print(f"a call from Python, {name}: {duration(taken)}")
    written({**figures, "page": page(figures)}, chosen.json)


if __name__ == "__main__":
    main()
