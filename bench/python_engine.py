"""The Python engine against native Python, interleaved, by processor time.

For each kernel: a context whose table the program never reaches, and one that has a method of a
function that the program calls (the *probe*), which calls the function itself.
"""

import gc
import math
import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass
from time import process_time

from common import memory, outside
from common.first_use import first_uses
from common.functions import FUNCTIONS, SINES, sines_by_hand
from common.kernel import Kernel, calls_in_context, native_calls, reaching
from common.objects import OBJECTS
from common.options import parser_for
from common.page import part, section, written
from common.published import PUBLISHED
from common.timing import (
    apart,
    interleaved,
    interleaved_apart,
    machine,
    median_ratio,
    ratio,
    ratio_spread,
    seconds,
    spread_of,
    table,
)

from overlay import Context, MethodTable

KERNELS: dict[str, Callable[[], Kernel]] = {**PUBLISHED, **FUNCTIONS, **OBJECTS}
OTHERS = ("entry", "first_use", "memory", "outside")
LIMIT = 2.5  # seconds for the rounds of one kernel
ENTRIES = 20_000
ENTRANCES = ("ctx(f)", "ctx.wrap(f)()", "with ctx")

never = MethodTable("never")


@never.overlay(math.gamma)
@never.overlay(statistics.correlation)
def unreached(*args):
    raise AssertionError("no kernel calls these")


@dataclass(frozen=True)
class Row:
    """The figures of one kernel: a native run in seconds, ratios to it, the probe's calls."""

    kernel: str
    native: float
    never: float
    reached: float
    each: float  # seconds that one reached call of the probe adds to the never-reached run
    by_hand: float | None  # the kernel with its probe replaced by hand
    calls: int
    native_calls: int | None
    medians: dict[str, float]  # of the rounds' ratios to native, of never and reached
    spreads: dict[str, float]


def measured(kernel: Kernel, rounds: int) -> Row:
    """The kernel's row; its result in a context is checked first.

    Each variant has a process of its own: in the native one no context holds the probe, and in the
    never-reached one no other context does.
    """
    made = {
        "native": lambda: kernel.run,
        "never": lambda: in_context(kernel, never),
        "reached": lambda: in_context(kernel, reaching(kernel)),
    }
    if kernel.name == "sines":
        made["by hand"] = lambda: lambda: sines_by_hand(SINES)
    times = interleaved_apart(made, rounds, LIMIT, process_time)
    calls = apart(lambda: calls_in_context(kernel))
    return Row(
        kernel.name,
        min(times["native"]),
        ratio(times, "never", "native"),
        ratio(times, "reached", "native"),
        (min(times["reached"]) - min(times["never"])) / max(calls, 1),
        ratio(times, "by hand", "native") if "by hand" in times else None,
        calls,
        apart(lambda: native_calls(kernel)),
        {name: median_ratio(times, name, "native") for name in ("never", "reached")},
        {name: ratio_spread(times, name, "native") for name in ("never", "reached")},
    )


def in_context(kernel, table):
    """The kernel's run in a context with the table, checked."""
    expected = kernel.run()
    wrapped = Context(table).wrap(kernel.run)
    given = wrapped()
    if given != expected and not (table is not never and kernel.method):
        raise SystemExit(f"{kernel.name}: {given!r:.200} in a context, {expected!r:.200} natively")
    return wrapped


def kernels(names, rounds):
    """The kernels' rows, printed, and the worst of them against the targets."""
    rows = [measured(KERNELS[name](), rounds) for name in names]
    print(table([HEAD, *map(cells, rows)]))
    print("\n".join(remarks(rows)))
    return [asdict(row) for row in rows]


def remarks(rows):
    """Compare the rows with the targets."""
    mean = math.prod(row.never for row in rows) ** (1 / len(rows))
    worst = max(rows, key=lambda row: row.never)
    yield target("never reached, geometric mean", mean, 1.02)
    yield target(f"never reached, worst ({worst.kernel})", worst.never, 1.10)
    reached = math.prod(row.reached for row in rows) ** (1 / len(rows))
    yield target("reached, geometric mean", reached, 1.6)
    for row in rows:
        if row.by_hand is not None:
            floor = f"; {row.by_hand:.2f} where it is called by hand"
            yield target("math.sin overlaid, in a loop", row.reached, 2.0, note=floor)
    counted = [row for row in rows if row.native_calls is not None]
    lost = [row.kernel for row in counted if row.native_calls != row.calls]
    others = f"; not: {', '.join(lost)}" if lost else ""
    seen = f"{len(counted) - len(lost)} of {len(counted)}"
    yield f"kernels in which a context sees exactly the calls made natively: {seen}{others}"


HEAD = (
    *("kernel", "native ms", "never", "median", "spread", "reached", "median", "spread"),
    *("ns/call", "calls", "natively"),
)


def cells(row):
    return (
        row.kernel,
        f"{row.native * 1e3:.1f}",
        *ratios_of(row, "never", row.never),
        *ratios_of(row, "reached", row.reached),
        f"{row.each * 1e9:.0f}" if row.calls >= 1000 else "-",
        str(row.calls),
        "-" if row.native_calls is None else str(row.native_calls),
    )


def ratios_of(row, name, fastest):
    return f"{fastest:.2f}", f"{row.medians[name]:.2f}", f"{row.spreads[name]:.0%}"


def target(what, value, most, unit="", note=""):
    """One target, as a line of text."""
    verdict = "reached" if value <= most else "MISSED"
    return f"{what}: {value:.2f}{unit} (at most {most:.2f}{unit}: {verdict}){note}"


def nothing():
    pass


def entry(rounds):
    """The cost of entering a context."""
    context = Context(never)
    wrapped = context.wrap(nothing)

    def native():
        for _ in range(ENTRIES):
            nothing()

    def called():
        for _ in range(ENTRIES):
            context(nothing)

    def bound():
        for _ in range(ENTRIES):
            wrapped()

    def block():
        for _ in range(ENTRIES):
            with context:
                nothing()

    variants = {"call": native, "ctx(f)": called, "ctx.wrap(f)()": bound, "with ctx": block}
    times = interleaved(variants, rounds, clock=process_time)
    each = {name: min(runs) / ENTRIES * 1e9 for name, runs in times.items()}
    floor = each.pop("call")
    shown = ", ".join(f"{name} {cost - floor:.0f} ns" for name, cost in each.items())
    made = seconds(lambda: [Context(never)(nothing) for _ in range(200)], process_time) / 200
    print(f"entering: {shown} beyond a call; a new context, called once: {made * 1e6:.0f} µs")
    spread = max(spread_of(times[name]) for name in ("call", *ENTRANCES))
    return {**each, "call": floor, "new context": made * 1e9, "spread": spread}


def first_use():
    """The first use of functions of the standard library."""
    uses = first_uses(never)
    head = ("first use", "ms", "lines run", "ms/100 lines")
    print(
        table(
            [
                head,
                *(
                    (
                        use.name,
                        f"{use.seconds * 1e3:.1f}",
                        str(use.lines),
                        f"{use.seconds * 1e5 / max(use.lines, 1):.2f}",
                    )
                    for use in uses
                ),
            ]
        )
    )
    print(cost_of_first_use([asdict(use) for use in uses]))
    return [asdict(use) for use in uses]


def cost_of_first_use(uses):
    total = sum(use["seconds"] for use in uses) * 1e5 / max(sum(use["lines"] for use in uses), 1)
    return target("first use, for 100 lines", total, 5.0, " ms")


def calls_outside(rounds):
    """Calls of targets where no context is in force."""
    found = outside.measured(rounds)
    print(table(rows_of_outside(found)))
    print("\n".join(remarks_on_outside(found)))
    return [asdict(each) for each in found]


def rows_of_outside(found):
    head = ("target", "natively, ns", "held, ns more", "released, ns more")
    return [
        head,
        *((e.kind, f"{e.native:.1f}", f"{e.held:+.1f}", f"{e.released:+.1f}") for e in found),
    ]


def remarks_on_outside(found):
    for python, what, most in ((False, "C functions", 30.0), (True, "Python functions", 90.0)):
        more = max(each.held for each in found if each.python == python)
        yield target(f"a call of a target outside, {what}, the worst kind", more, most, " ns")


def remaining():
    """Memory that remains of dropped objects."""
    gone = dict(memory.what_is_gone())
    for what, is_gone in gone.items():
        print(f"  {what} gone: {'yes' if is_gone else 'NO'}")
    objects, each = memory.objects_kept(), memory.bytes_kept_for_each_context()
    print(f"  objects of ours kept after {memory.CONTEXTS} dropped contexts: {objects}")
    print(target("bytes kept for each dropped context", each, memory.MOST_BYTES))
    return {"gone": gone, "objects": objects, "bytes": each}


# ---- the page ----------------------------------------------------------------------------


def page(figures, title):
    """The part of docs/report.md."""
    sections = [made(figures[name]) for name, made in PAGES.items() if name in figures]
    text = "The peer is the program without a context, by processor time."
    return part(title, text, sections)


def page_of_kernels(found):
    rows = [Row(**row) for row in found]
    shown = [(HEAD[0], *HEAD[2:]), *((cell[0], *cell[2:]) for cell in map(cells, rows))]
    text = (
        "The column *never* is for a table that the program never reaches. The column "
        "*reached* is for a method of a function that it calls, which calls the original "
        "function. The column *ns/call* is the additional time of each of these calls. The "
        "columns *calls* and *natively* count them in the context and without it."
    )
    return section("Programs", text, shown, remarks(rows))


def page_of_entry(found):
    floor = found["call"]
    lines = [f"`{name}`: {found[name] / floor:.0f} calls" for name in ENTRANCES]
    lines.append(f"a new context, called once: {found['new context'] / 1e3:.0f} µs")
    return section("Entering a context", "In calls of an empty function.", lines=lines)


def page_of_outside(found):
    kinds = [outside.Outside(**each) for each in found]
    text = (
        "A call of a target where no context is in force: *held* while a living context has "
        "the target, *released* afterwards; in addition to a similar function that was never "
        "a target."
    )
    return section("Outside", text, rows_of_outside(kinds), remarks_on_outside(kinds))


def page_of_first_use(uses):
    text = "The cost of the first call of functions of the standard library, by lines of source."
    return section("First use", text, lines=[cost_of_first_use(uses)])


def page_of_memory(found):
    lines = [f"{what} gone: {'yes' if gone else 'NO'}" for what, gone in found["gone"].items()]
    lines.append(f"objects kept after {memory.CONTEXTS} dropped contexts: {found['objects']}")
    lines.append(target("bytes kept for each dropped context", found["bytes"], memory.MOST_BYTES))
    return section("Memory", "Memory that remains of dropped objects.", lines=lines)


PAGES = {
    "kernels": page_of_kernels,
    "entry ns": page_of_entry,
    "outside": page_of_outside,
    "first use": page_of_first_use,
    "memory": page_of_memory,
}


def options():
    parser = parser_for(__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=[*KERNELS, *OTHERS])
    parser.add_argument("--title", default="Python engine", help="of the part of the report")
    return parser.parse_args()


def main():
    chosen = options()
    rounds = 1 if chosen.smallest else chosen.rounds
    wanted = chosen.only or [*OTHERS, *KERNELS]
    print(f"{machine()}; processor time")
    figures = {"machine": machine()}
    if "first_use" in wanted:  # before these functions are used
        figures["first use"] = first_use()
    if "memory" in wanted:
        figures["memory"] = remaining()
    gc.collect()
    gc.freeze()  # excludes imported objects from the collections that are measured
    # The kernels run before the cases that leave functions behind which contexts have held.
    if names := [name for name in KERNELS if name in wanted]:
        figures["kernels"] = kernels(names, rounds)
    if "entry" in wanted:
        figures["entry ns"] = entry(rounds)
    if "outside" in wanted:
        figures["outside"] = calls_outside(rounds)
    written({**figures, "page": page(figures, chosen.title)}, chosen.json)
    unreached = [row["kernel"] for row in figures.get("kernels", ()) if not row["calls"]]
    if unreached:
        raise SystemExit(f"a context lost its way, the figures are void: {', '.join(unreached)}")


if __name__ == "__main__":
    main()
