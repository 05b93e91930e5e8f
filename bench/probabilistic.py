"""Incremental steps of single-site Metropolis-Hastings, against steps that run the whole program,
and against the log joint density by hand.

An incremental step runs only the parts that depend on the change. Both samplers take the same steps
by the same random numbers, and their chains are compared bit for bit. All run interleaved in one
process, by processor time.
"""

import math
from time import process_time

import numpy as np
from common.options import options
from common.page import part, section, times, written
from common.rows import duration
from common.timing import interleaved, machine, median_ratio, ratio_spread, table

from overlay.interpretations.probabilistic import (
    Bernoulli,
    Categorical,
    MetropolisHastings,
    Normal,
    observe,
    sample,
)

LIMIT = 6.0  # seconds for the rounds of one case
STEPS = 2000  # incremental ones in a round, to FULL of the whole program
FULL = 4


def independent(n):
    """Each choice has its own observation."""
    for i in range(n):
        x = sample(f"x{i}", Normal(0.0, 1.0))
        observe(f"y{i}", Normal(x, 0.5), 0.3)


def walk(n):
    """Each choice depends on the one before."""
    x = 0.0
    for i in range(n):
        x = sample(f"x{i}", Normal(x, 1.0))
        observe(f"y{i}", Normal(x, 0.5), math.sin(i))


def mixture(n):
    """Each choice selects the mean of an observation."""
    means = [-2.0, 0.0, 2.0]
    for i in range(n):
        kind = sample(f"kind{i}", Categorical((0.3, 0.4, 0.3)))
        observe(f"y{i}", Normal(means[kind], 1.0), math.sin(i))


def with_branches(n):
    """Each choice decides a branch: half of the steps lead to another structure."""
    for i in range(n):
        flag = sample(f"flag{i}", Bernoulli(0.5))
        observe(f"y{i}", Normal(1.0 if flag else -1.0, 1.0), math.sin(i))


def hierarchy(n):
    """All choices depend on one of them."""
    centre = sample("centre", Normal(0.0, 1.0))
    for i in range(n):
        x = sample(f"x{i}", Normal(centre, 1.0))
        observe(f"y{i}", Normal(x, 0.5), 0.3)


def walk_by_hand(values):
    """The log joint density of ``walk``, in plain arithmetic."""
    total, before = 0.0, 0.0
    for i, x in enumerate(values):
        z = x - before
        total += -0.5 * z * z - 0.9189385332046727
        z = (math.sin(i) - x) / 0.5
        total += -0.5 * z * z - math.log(0.5) - 0.9189385332046727
        before = x
    return total


MODELS = {
    "an observation for each choice": independent,
    "a random walk": walk,
    "a mixture": mixture,
    "all depend on one choice": hierarchy,
    "a branch for each choice": with_branches,
}


def compared(case, model, sites, rounds):
    """One case: seconds of a step of each kind, and the parts that ran."""
    n = sites // 2
    ours = MetropolisHastings(model, n, rng=1)
    full = MetropolisHastings(model, n, rng=1, incremental=False)
    for _ in range(10):
        if ours.step() != full.step():
            raise SystemExit(f"{case}: the chains differ")
    if ours.trace.sites != full.trace.sites:
        raise SystemExit(f"{case}: the chains differ")
    steps = 20 if model is with_branches else STEPS
    ours.run(5 * steps)  # most slices exist then
    jobs = {"ours": lambda: ours.run(steps), "full": lambda: full.run(FULL)}
    values = np.zeros(n).tolist()
    jobs["hand"] = lambda: walk_by_hand(values)
    taken = interleaved(jobs, rounds, LIMIT, process_time)
    seconds = {"ours": min(taken["ours"]) / steps, "full": min(taken["full"]) / FULL}
    return {
        "case": case,
        "sites": sites,
        **seconds,
        "hand": min(taken["hand"]),
        "ratio": seconds["full"] / seconds["ours"],
        "median": median_ratio(taken, "full", "ours") * steps / FULL,
        "spread": ratio_spread(taken, "full", "ours"),
        "graphs": len(ours.structures.programs),
        "structures": ours.structures.recorded,
    }


HEAD = (
    *("case", "sites", "ratio", "median", "spread", "a step", "all of it", "by hand", "programs"),
)


def cells(figure):
    return (
        figure["case"],
        str(figure["sites"]),
        times(figure["ratio"]),
        times(figure["median"]),
        f"{figure['spread']:.0%}",
        duration(figure["ours"]),
        duration(figure["full"]),
        duration(figure["hand"]),
        str(figure["graphs"]),
    )


def page(figures):
    """The part of docs/report.md."""
    text = (
        "Steps of single-site Metropolis-Hastings: ours run again what depends on the choice that "
        "changes, the peer runs all of the program. Both chains are the same, bit for bit. The "
        "last but one column is one log joint density of a random walk, written by hand; the last "
        "counts the programs that were generated."
    )
    rows = [HEAD, *map(cells, figures["rows"])]
    return part("Probabilistic programs", text, [section("A step", "", rows)])


def main():
    chosen = options(__doc__)
    sizes = (20,) if chosen.smallest else (10, 100, 1000, 4000)
    print(f"{machine()}; processor time")
    found = []
    for case, model in MODELS.items():
        for sites in sizes if model in (independent, hierarchy) else sizes[-2:-1] or sizes:
            found.append(compared(case, model, sites, chosen.rounds))
    print(table([HEAD, *map(cells, found)]))
    figures = {"machine": machine(), "rows": found}
    written({**figures, "page": page(figures)}, chosen.json)


if __name__ == "__main__":
    main()
