"""Incremental steps of single-site Metropolis-Hastings, against steps that run the whole program,
and against the log joint density by hand.

An incremental step runs only the parts that depend on the change. Both samplers take the same steps
by the same random numbers, and their chains are compared bit for bit. All run interleaved in one
process, by processor time.

Compiled steps are measured inside their loop, against the log joint density by hand, compiled too,
inside a loop. Each site is a normal density, of a mean that takes some sines to compute.
"""

import math
from time import process_time

import numpy as np
from common.options import options
from common.page import part, section, times, written
from common.rows import duration
from common.timing import interleaved, machine, median_ratio, ratio_spread, table

from overlay import Context
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


def costly(n, sines):
    """Each choice has its own observation, whose mean takes some sines to compute."""
    for i in range(n):
        x = mean = sample(f"x{i}", Normal(0.0, 1.0))
        for _ in range(sines):
            mean = math.sin(mean) + x
        observe(f"y{i}", Normal(mean, 0.5), 0.3)


def costly_by_hand(values, sines, times):
    """The log joint density of ``costly``, some times, in plain arithmetic."""
    total = 0.0
    for _ in range(times):
        values[0] += 1e-9  # so that it is computed each time
        for x in values:
            mean = x
            for _ in range(sines):
                mean = math.sin(mean) + x
            z = (0.3 - mean) / 0.5
            total += -0.5 * x * x - 0.9189385332046727
            total += -0.5 * z * z - math.log(0.5) - 0.9189385332046727
    return total


COMPILED_STEPS, COMPILED_FULL = 20_000, 50
SINES = 0, 8, 32  # for each observation

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


def compiled_row(sines, sites, rounds):
    """Seconds of a compiled step, inside its loop, and of the compiled density."""
    n = sites // 2
    ours = MetropolisHastings(costly, n, sines, rng=1, compiled=True)
    ours.run(4000 + 20 * n)  # all choices are known to the compiled code then
    if ours.structures.interpreted:
        raise SystemExit(f"steps with {sines} sines are not compiled")
    machine_code = ours.structure.machine
    density = Context().jit(costly_by_hand)
    values = np.array(list(ours.trace.values.values()))
    expected = costly_by_hand(values.copy(), sines, 1)
    if not math.isclose(ours.trace.log_joint, expected, rel_tol=1e-6):
        raise SystemExit("the density by hand differs")
    density(values, sines, 1)

    def steps():
        state = np.array([COMPILED_STEPS, 0, -1])
        error = machine_code.make_steps(state)
        if error is not None or state[0] != COMPILED_STEPS:
            raise SystemExit(f"a compiled step failed: {error}")

    jobs = {"step": steps, "full": lambda: density(values, sines, COMPILED_FULL)}
    taken = interleaved(jobs, rounds, LIMIT, process_time)
    step, full = min(taken["step"]) / COMPILED_STEPS, min(taken["full"]) / COMPILED_FULL
    return {
        "sines": sines,
        "sites": sites,
        "step": step,
        "full": full,
        "ratio": step / full,
        "spread": ratio_spread(taken, "step", "full"),
    }


COMPILED_HEAD = ("sines for each observation", "sites", "ratio", "spread", "a step", "all of it")


def compiled_cells(row):
    return (
        str(row["sines"]),
        str(row["sites"]),
        f"{row['ratio']:.4f}",
        f"{row['spread']:.0%}",
        duration(row["step"]),
        duration(row["full"]),
    )


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
        "Steps of single-site Metropolis-Hastings: ours recompute only what depends on the "
        "changed choice, the peer runs the whole program. Both chains are equal, bit for "
        "bit. The last but one column is one hand-written log joint density of a random "
        "walk; the last counts the generated programs."
    )
    rows = [HEAD, *map(cells, figures["rows"])]
    compiled = [COMPILED_HEAD, *map(compiled_cells, figures["compiled"])]
    about = (
        "A step of compiled Metropolis-Hastings, inside its loop, relative to one "
        "hand-written and compiled log joint density of the program, inside a loop."
    )
    sections = [section("A step", "", rows), section("A compiled step", about, compiled)]
    return part("Probabilistic programs", text, sections)


def main():
    chosen = options(__doc__)
    sizes = (20,) if chosen.smallest else (10, 100, 1000, 4000)
    print(f"{machine()}; processor time")
    found = []
    for case, model in MODELS.items():
        for sites in sizes if model in (independent, hierarchy) else sizes[-2:-1] or sizes:
            found.append(compared(case, model, sites, chosen.rounds))
    print(table([HEAD, *map(cells, found)]))
    sites = 20 if chosen.smallest else 1000
    compiled = [compiled_row(sines, sites, chosen.rounds) for sines in SINES]
    print(table([COMPILED_HEAD, *map(compiled_cells, compiled)]))
    figures = {"machine": machine(), "rows": found, "compiled": compiled}
    written({**figures, "page": page(figures)}, chosen.json)


if __name__ == "__main__":
    main()
