"""How many random programs each level of inversion answers: tables, relations, the whole program.

    python tests/laws/try_levels.py --count 400

An answer counts where the program, run by Python, gives the value back.
"""

import argparse
import random
from collections import Counter

from straight_line import function, value_of
from trying import close, made, tried

from inversion import minimal, minimal_relations
from overlay import OverlayError

KINDS = (
    "straight line",
    "straight line, variables used again",
    "branches and loops",
    "helpers and tuples",
)
TRIES = 20  # of θ, for the levels that have no recover


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=400, help="programs of each kind")
    count = parser.parse_args().count
    for kind in KINDS:
        answered = Counter()
        for seed in range(count):
            trial = made(kind, seed)
            if trial.value is not None:
                answered["programs"] += 1
                answered["overlays alone"] += by_overlays(minimal, trial, seed)
                answered["with the relations"] += by_overlays(minimal_relations, trial, seed)
                outcome = tried(kind, seed, trial)
                answered["whole"] += outcome.recovered == "back" or outcome.thetas["answered"] > 0
        print(kind, *(f"    {what}: {number}" for what, number in answered.items()), sep="\n")


def by_overlays(level, trial, seed):
    """Whether a level answers at one of some random θ."""
    if not isinstance(trial.value, float) or set(trial.types) != {float}:
        return False
    rng, f = random.Random(seed), function(trial.source)
    for _ in range(TRIES):
        theta = [rng.choice((rng.uniform(-3, 3), rng.randint(-2, 2))) for _ in range(60)]
        try:
            found = level.run_backwards(f, trial.value, theta, inputs=len(trial.types))
        except OverlayError:
            continue
        again = value_of(f, found)
        if again is not None and close(again, trial.value):
            return True
    return False


if __name__ == "__main__":
    main()
