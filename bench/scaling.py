"""Work in contexts, and batches of inverses, on one and on two worker processes of dask and joblib.

All variants run alternately in one run. Wall-clock figures say little on a busy machine; the CPU
time of all processes together says more there.
"""

import importlib.util
import math
import statistics
import time

import numpy as np
from common.numba_compiling import machine_and_numba
from common.options import options
from common.page import part, section, times, written
from common.rows import duration
from common.timing import interleaved, ratio, ratio_spread, table

from inversion import invert
from overlay import Context, MethodTable, call_next

LIMIT = 10.0  # seconds for the rounds of one case
HAS_ALL = all(map(importlib.util.find_spec, ("distributed", "joblib")))

coarse = MethodTable("coarse")


@coarse.overlay(math.exp)
def exp(x: float) -> float:
    return call_next(x) if abs(x) > 1 else 1 + x + x * x / 2


def densities(mean):
    bell = statistics.NormalDist(mean, 1)
    return sum([bell.pdf(i * 1e-4) for i in range(40_000)])


def softplus(x: float):
    return math.log1p(math.exp(x))


def drifting(x: float):
    return x + 0.5 * math.sin(x) + math.exp(x / 4)


class Calls:
    """Calls of a program of the standard library in a context, interpreted."""

    def __init__(self, smallest):
        self.work = Context(coarse).wrap(densities)
        self.values = [i / 10 for i in range(4 if smallest else 16)]

    def alone(self):
        return [self.work(value) for value in self.values]

    def dask(self, client, workers):
        return client.gather(client.map(self.work, self.values, workers=workers, pure=False))

    def joblib(self, count):
        import joblib

        return joblib.Parallel(count)(joblib.delayed(self.work)(value) for value in self.values)


class Batch:
    """Rows solved by an inverse; each chunk makes its known values itself, and returns the sum of
    its answers."""

    def __init__(self, function, rows, smallest):
        self.inverse, self.rows = invert(function), 8000 if smallest else rows
        self.chunks, self.runs = 8, 0
        space = self.inverse.parameters
        self.theta = space.default() if len(space) else None

    def values(self, start, stop):
        return np.linspace(1.0, 9.0, self.rows)[start:stop]

    def piece(self, start, stop):
        (found,) = self.inverse.batch(self.values(start, stop), theta=self.theta)
        return found.sum()

    def pieces(self):
        size = self.rows // self.chunks
        return [(start, start + size) for start in range(0, self.rows, size)]

    def alone(self):
        return [self.piece(*piece) for piece in self.pieces()]

    def dask(self, client, workers):
        import dask.array as da

        self.runs += 1  # so that no earlier result is reused
        values = da.linspace(
            1.0, 9.0 + self.runs * 1e-12, self.rows, chunks=self.rows // self.chunks
        )
        (found,) = self.inverse.batch(values, theta=self.theta)
        return client.compute(found.sum(), workers=workers).result()

    def joblib(self, count):
        import joblib

        return joblib.Parallel(count)(joblib.delayed(self.piece)(*p) for p in self.pieces())


def cases(smallest):
    return {
        "calls in a context, interpreted": Calls(smallest),
        "a batch with searched rows": Batch(drifting, 400_000, smallest),
        "a batch in closed form": Batch(softplus, 8_000_000, smallest),
    }


def compared(case, job, client, rounds):
    """One case: seconds alone, and on one and two workers."""
    workers = sorted(client.scheduler_info()["workers"])
    jobs = {
        "alone": job.alone,
        "dask 1": lambda: job.dask(client, workers[:1]),
        "dask 2": lambda: job.dask(client, workers),
        "joblib 2": lambda: job.joblib(2),
    }
    for name, run in jobs.items():
        if not np.isclose(np.sum(run()), np.sum(job.alone())):
            raise SystemExit(f"{case}, {name}: another result")
    taken = interleaved(jobs, rounds, LIMIT)
    spent = interleaved(
        {name: jobs[name] for name in ("alone", "dask 2")}, rounds, LIMIT, lambda: cpu_time(client)
    )
    return {
        "case": case,
        "alone": min(taken["alone"]),
        **{name: ratio(taken, name, "alone") for name in jobs if name != "alone"},
        "gain": ratio(taken, "dask 1", "dask 2"),
        "work": ratio(spent, "dask 2", "alone"),
        "spreads": {
            "gain": ratio_spread(taken, "dask 1", "dask 2"),
            "work": ratio_spread(spent, "dask 2", "alone"),
        },
    }


def cpu_time(client):
    """CPU time of this process, with its threads, and of all workers."""
    return time.process_time() + sum(client.run(time.process_time).values())


HEAD = (
    *("case", "2 workers to 1", "spread", "CPU time of 2 to alone", "spread"),
    *("dask, 1 worker", "dask, 2 workers", "joblib, 2", "alone"),
)


def cells(row):
    shares = (times(row[name]) for name in ("dask 1", "dask 2", "joblib 2"))
    gain = f"{row['gain']:.2f} times as fast"
    gained, worked = (f"{row['spreads'][name]:.0%}" for name in ("gain", "work"))
    compared_with_alone = (*shares, duration(row["alone"]))
    return (row["case"], gain, gained, times(row["work"]), worked, *compared_with_alone)


def page(figures):
    """The part of docs/report.md."""
    text = (
        "Equal work in one process (which uses all cores for batches in closed form), in one "
        "and two worker processes of dask, and in two of joblib. Workers have started and "
        "compiled before. Ratios are to one process, of wall-clock time, and of the total "
        "CPU time of all processes."
    )
    return part("Scaling", text, [section("Work", "", [HEAD, *map(cells, figures["rows"])])])


def measured(chosen):
    import distributed

    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as workers,
        distributed.Client(workers) as client,
    ):
        asked = cases(chosen.smallest).items()
        return [compared(case, job, client, chosen.rounds) for case, job in asked]


def main():
    chosen = options(__doc__)
    print(machine_and_numba())
    if not HAS_ALL:
        print("left out: dask's distributed and joblib are not installed")
        return
    found = measured(chosen)
    print(table([HEAD, *map(cells, found)]))
    figures = {"machine": machine_and_numba(), "rows": found}
    written({**figures, "page": page(figures)}, chosen.json)


if __name__ == "__main__":
    main()
