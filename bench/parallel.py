"""Loops with parallel calls, against the sequential loops.

All run interleaved in one process, by wall-clock time: on a busy machine the figures are lower.
"""

import hashlib
import math
import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from time import perf_counter

import numba
import numpy as np
from common.numba_compiling import machine_and_numba
from common.options import options
from common.page import part, section, times, written
from common.rows import duration
from common.timing import interleaved, median_ratio, ratio, ratio_spread, table

from overlay.interpretations.parallel import parallel

LIMIT = 8.0  # seconds for the rounds of one case


def series(x, terms=20_000):
    total = 0.0
    for i in range(1, terms):
        total += math.sin(x * i) / i
    return total


def comprehension(n):
    return [series(x * 0.1) for x in range(n)]


def accumulated(n):
    total = 0.0
    for x in range(n):
        total += series(x * 0.1)
    return total


def smoothed(values, width):
    out = np.zeros(values.size)
    for i in range(values.size):
        out[i] = sum(values[max(0, i - width) : i + width])
    return out


def arrays(n):
    values = np.linspace(0.0, 1.0, 1500)
    return sum([smoothed(values, width).sum() for width in range(n)])


@numba.njit(nogil=True)
def kernel(values, k):
    total = 0.0
    for i in range(values.size):
        total += math.sin(values[i] * k)
    return total


def kernels(n):
    values = np.linspace(0.0, 1.0, 200_000)
    return [kernel(values, k) for k in range(n)]


def digest(text, times):
    for _ in range(times):
        text = hashlib.sha256(text).digest()
    return text


def chained(n):
    """A chain of calls, each of which needs the result of the one before."""
    x = b""
    for _ in range(n):
        x = digest(x, 1000)
    return x


def short(n):
    return [abs_of(x) for x in range(100 * n)]


def abs_of(x):
    return abs(x)


def by_hand(n, pool):
    return list(pool.map(series, [x * 0.1 for x in range(n)], chunksize=4))


def arrays_by_hand(n, pool):
    values = np.linspace(0.0, 1.0, 1500)
    return sum([found.sum() for found in pool.map(smoothed, [values] * n, range(n))])


def kernels_by_hand(n, pool):
    values = np.linspace(0.0, 1.0, 200_000)
    return list(pool.map(kernel, [values] * n, range(n)))


# for each case the program, and its version with a pool of two workers, by hand
CASES = {
    "a comprehension, Python code": (comprehension, by_hand, "processes"),
    "a loop that sums, Python code": (accumulated, by_hand, "processes"),
    "arrays as arguments, Python code": (arrays, arrays_by_hand, "processes"),
    "compiled without the GIL": (kernels, kernels_by_hand, "threads"),
    "each call needs the one before": (chained, None, None),
    "very short calls": (short, None, None),
}


def compared(case, programs, n, rounds, pools):
    """One case: the ratio of ours to the sequential loop, and to a pool by hand."""
    function, hand, kind = programs
    ours = parallel(function, workers=2).prepare()
    if repr(ours(n)) != repr(function(n)):
        raise SystemExit(f"{case}: another result")
    jobs = {"alone": lambda: function(n), "ours": lambda: ours(n)}
    if hand is not None:
        jobs["pool"] = lambda: hand(n, pools[kind])
    taken = interleaved(jobs, rounds, LIMIT, perf_counter)
    ahead = sum(each.ahead for each in ours.report())
    made = ahead + sum(each.one_by_one for each in ours.report())
    return {
        "case": case,
        "alone": min(taken["alone"]),
        "ours": min(taken["ours"]),
        "ratio": ratio(taken, "ours", "alone"),
        "median": median_ratio(taken, "ours", "alone"),
        "spread": ratio_spread(taken, "ours", "alone"),
        "to_pool": ratio(taken, "ours", "pool") if hand is not None else None,
        "ahead": ahead / made if made else 0.0,
    }


HEAD = (
    *("case", "ratio", "median", "spread", "to a pool by hand", "calls ahead"),
    *("one by one", "ours"),
)


def cells(row):
    return (
        row["case"],
        times(row["ratio"]),
        times(row["median"]),
        f"{row['spread']:.0%}",
        "-" if row["to_pool"] is None else times(row["to_pool"]),
        f"{row['ahead']:.0%}",
        duration(row["alone"]),
        duration(row["ours"]),
    )


def page(figures):
    """The part of docs/report.md."""
    text = (
        "Loops with parallel calls, in two processes or threads, relative to the sequential "
        "loops, and to a hand-written pool of concurrent.futures; wall-clock time."
    )
    rows = [HEAD, *map(cells, figures["rows"])]
    return part("Parallel loops", text, [section("A loop", "", rows)])


def main():
    chosen = options(__doc__)
    n = 8 if chosen.smallest else 100
    print(f"{machine_and_numba()}; the clock on the wall")
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, spawned) as processes, ThreadPoolExecutor(2) as threads:
        pools = {"processes": processes, "threads": threads}
        found = [compared(case, each, n, chosen.rounds, pools) for case, each in CASES.items()]
    print(table([HEAD, *map(cells, found)]))
    figures = {"machine": machine_and_numba(), "rows": found}
    written({**figures, "page": page(figures)}, chosen.json)


if __name__ == "__main__":
    main()
