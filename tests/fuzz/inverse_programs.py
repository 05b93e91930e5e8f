"""Random programs and their inverses: sound, complete, and the same θ each time."""

from collections import Counter

import numpy as np

from inversion import invert
from tests.laws import trying
from tests.laws.straight_line import function, value_of

COMPILED = 5
"""Of so many programs one is compiled, too."""


def draw(seed):
    """A program of one of the kinds, and arguments."""
    kind = list(trying.KINDS)[seed % len(trying.KINDS)]
    trial = trying.made(kind, seed)
    return {
        "kind": kind,
        "seed": seed,
        "source": trial.source,
        "args": [_plain(arg) for arg in trial.args],
        "compiled": seed % COMPILED == 0,
    }


def check(case):
    """Raises AssertionError for a wrong answer, or an error that is not one of ours."""
    args = tuple(map(_argument, case["args"]))
    types = tuple(map(_type, args))
    value = value_of(function(case["source"]), args)
    trial = trying.Trial(case["source"], types, args, value)
    outcome = trying.tried(case["kind"], case["seed"], trial, compiled=case["compiled"])
    assert outcome.defects == [], outcome.defects
    if outcome.end == "inverted":
        layouts = [invert(function(case["source"]), *types).parameters.names for _ in range(2)]
        assert layouts[0] == layouts[1]
    return Counter({outcome.end: 1, **outcome.thetas})


def _plain(arg):
    return {"array": arg.tolist()} if isinstance(arg, np.ndarray) else arg


def _argument(plain):
    if isinstance(plain, dict):
        return np.array(plain["array"])
    return tuple(plain) if isinstance(plain, list) else plain


def _type(arg):
    if isinstance(arg, np.ndarray):
        return np.zeros_like(arg)
    return tuple[tuple(map(type, arg))] if isinstance(arg, tuple) else type(arg)
