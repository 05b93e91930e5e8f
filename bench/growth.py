"""Scaling of each cost with its size, from small to large, with the fitted exponent.

The sizes of a series differ by factors; all sizes of a series, and of its peer, run alternately in
one process. The exponent is the slope of a straight line through the largest sizes on logarithmic
axes: 0 is a cost that does not grow, 1 one that is proportional to its size.
"""

import math
import time
from statistics import median

import numpy as np
from common.growing import Series
from common.memory import REDEFINITIONS, kilobytes_kept_for_each_redefinition
from common.options import parser_for
from common.page import part, section, written
from common.rows import duration
from common.series import SERIES
from common.timing import machine, seconds, summary, table

FITTED = 3  # number of the largest sizes, for the fit
MEMORY = "memory"  # beside the series: what redefinitions leave
LIMIT = 6.0  # seconds after which no round of a series starts, except for the first two


def measured(series: Series, rounds: int, smallest: bool) -> dict[str, object]:
    """Seconds of each size, ours and by the peer, and the exponents."""
    sizes = series.sizes[: FITTED if smallest else None]
    kinds = {"ours": series.ours, **({"peer": series.peer} if series.peer else {})}
    jobs = {(kind, size): make for kind, make in kinds.items() for size in sizes}
    kept = {} if series.fresh else {job: make(job[1]) for job, make in jobs.items()}
    taken: dict[tuple[str, int], list[float]] = {job: [] for job in jobs}
    for run in kept.values() or [make(sizes[0]) for make in kinds.values()]:
        run()  # one-time costs of a process or program are no costs of a size
    end = time.perf_counter() + LIMIT
    for done in range(rounds):
        if done >= 2 and time.perf_counter() > end:
            break
        for job, make in jobs.items():
            run = kept[job] if job in kept else make(job[1])
            taken[job].append(seconds(run, series.clock) / series.calls)
    found = {kind: {str(size): summary(taken[kind, size]) for size in sizes} for kind in kinds}
    exponents = {kind: exponent(sizes, each) for kind, each in found.items()}
    return {"grows": series.grows, "what": series.what, "exponents": exponents, **found}


def exponent(sizes, found) -> float:
    """Exponent of the growth of the medians with the size."""
    last = sizes[-FITTED:]
    times = [found[str(size)]["median"] for size in last]
    slope, _ = np.polyfit(np.log(last), np.log(times), 1)
    return float(slope)


# ---- the page ----------------------------------------------------------------------------


def cells(row):
    ours = row["ours"]
    least, most = min(ours, key=int), max(ours, key=int)
    peer = "-"
    if "peer" in row:
        ratios = [ours[size]["median"] / row["peer"][size]["median"] for size in (least, most)]
        peer = f"{ratios[0]:.2f} to {ratios[1]:.2f}"
    return (
        row["what"],
        f"{int(least):,} to {int(most):,}",
        f"{row['exponents']['ours']:.2f}",
        f"{row['exponents']['peer']:.2f}" if "peer" in row else "-",
        peer,
        duration(ours[least]["median"]),
        duration(ours[most]["median"]),
        f"{median(each['spread'] for each in ours.values()):.0%}",
    )


HEAD = ("cost", "sizes", "exponent", "of the peer", "to the peer", "least", "largest", "spread")


def kept_memory(smallest: bool) -> dict[str, float | None]:
    """Kilobytes that remain of each redefinition, by its kind. Past worlds are kept at first."""
    warm, times = (3, 3) if smallest else (350, 100)
    return {name: kilobytes_kept_for_each_redefinition(name, warm, times) for name in REDEFINITIONS}


def page(rows, kept):
    """The part of docs/report.md."""
    text = (
        "Each cost at sizes that differ by factors. The exponent is the slope through the largest "
        f"{FITTED} sizes on logarithmic axes: 0 is a constant cost, and 1 a cost proportional to "
        "the size. *Peer*: the program natively, or by `njit`. *To the peer*: the ratio at the "
        "least and at the largest size. Medians."
    )
    grows = list(dict.fromkeys(row["grows"] for row in rows))
    sections = [
        section(f"With {what}", "", [HEAD, *(cells(row) for row in rows if row["grows"] == what)])
        for what in grows
    ]
    if kept:
        shown = [(name, "-" if n is None else f"{n:.0f} kB") for name, n in kept.items()]
        text_of_memory = "Resident memory that remains of each, including machine code."
        head = ("redefinition", "kept of each")
        sections.append(section("Memory", text_of_memory, [head, *shown]))
    return part("How costs grow", text, sections)


def options():
    parser = parser_for(__doc__)
    names = [*dict.fromkeys(series.grows for series in SERIES), MEMORY]
    parser.add_argument("--only", nargs="+", metavar="WHAT", choices=names, default=names)
    return parser.parse_args()


def main():
    chosen = options()
    print(f"{machine()}; processor time, of threads the clock on the wall")
    rows = []
    for series in (each for each in SERIES if each.grows in chosen.only):
        rows.append(measured(series, chosen.rounds, chosen.smallest))
        name = f"{series.grows}: {series.what}"
        shown = "  ".join(
            f"{size}: {duration(each['median'])}" for size, each in rows[-1]["ours"].items()
        )
        print(f"{name}: {shown}; exponent {rows[-1]['exponents']['ours']:.2f}", flush=True)
    print(table([HEAD, *map(cells, rows)]))
    if not all(math.isfinite(row["exponents"]["ours"]) for row in rows):
        raise SystemExit("a cost of nothing was measured")
    kept = kept_memory(chosen.smallest) if MEMORY in chosen.only else {}
    for name, kilobytes in kept.items():
        print(f"{name}: {'-' if kilobytes is None else round(kilobytes)} kB kept of each")
    found = {"machine": machine(), "rows": rows, "kilobytes_kept": kept, "page": page(rows, kept)}
    written(found, chosen.json)


if __name__ == "__main__":
    main()
