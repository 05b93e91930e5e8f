"""Random call sites: callables of every kind, in every holder and form of call."""

import random
from collections import Counter

from tests.overlay.python import program_runs as runs
from tests.overlay.python.callable_programs import (
    CALLEES,
    FORMS,
    HOLDERS,
    MODES,
    SURROUNDINGS,
    TARGETS,
    crashes_python,
    same_as_natively,
)


def draw(seed):
    """Sites, the callees of each in order, the number of calls of each, and the table."""
    rng = random.Random(seed)
    tables = (HOLDERS, FORMS, SURROUNDINGS)
    sites = [[rng.choice(list(table)) for table in tables] for _ in range(rng.randint(1, 6))]
    rows = [_row(rng) for _ in sites]
    mode = rng.choice(MODES)
    targets = [name for name in TARGETS if rng.random() < 0.5] if mode != "never reached" else []
    turns = rng.choice((1, 2, 5, 20, 70))
    return {"sites": sites, "rows": rows, "turns": turns, "mode": mode, "targets": targets}


def _row(rng):
    """A few callees that recur, or many."""
    some = rng.sample(list(CALLEES), rng.choice((1, 2, 3, len(CALLEES))))
    return [rng.choice(some) for _ in range(rng.randint(1, 12))]


def check(case):
    """Raises AssertionError if a call returns another result than natively, or than with the target
    replaced by its method.
    """
    sites = [tuple(site) for site in case["sites"]]
    rows = [
        [callee for callee in row if not crashes_python(form, callee)]
        for (_, form, _), row in zip(sites, case["rows"], strict=True)
    ]
    with runs.deep_stack():
        calls = same_as_natively(sites, rows, case["turns"], case["mode"], case["targets"], times=2)
    return Counter({case["mode"]: 1, "calls": calls})
