"""How many random programs each level of inversion answers: tables, relations, the whole program.

    python -m tests.laws.try_levels --count 400 --keep docs/report/kept/levels.json

An answer counts where the program, run by Python, gives the value back, within a minute of the
processor's time.
"""

import argparse
import json
import platform
import random
import signal
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from inversion import minimal, minimal_relations
from overlay import OverlayError
from tests.laws.straight_line import function, value_of
from tests.laws.try_random_programs import LIMIT, TooSlow, too_slow
from tests.laws.trying import close, made, tried

KINDS = (
    "straight line",
    "straight line, variables used again",
    "branches and loops",
    "helpers and tuples",
)
LEVELS = {"overlays alone": minimal, "with the relations": minimal_relations}
TRIES = 20  # of θ, for the levels that have no recover


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=400, help="programs of each kind")
    parser.add_argument("--keep", type=Path, help="a file for the shares")
    asked, kinds = parser.parse_args(), {}
    signal.signal(signal.SIGVTALRM, too_slow)
    for kind in KINDS:
        answered = Counter()
        for seed in range(asked.count):
            trial = made(kind, seed)
            if trial.value is not None:
                answered["programs"] += 1
                for name, level in LEVELS.items():
                    answered[name] += by_overlays(level, trial, seed)
                answered["whole"] += by_the_whole(kind, seed, trial)
        print(kind, *(f"    {what}: {number}" for what, number in answered.items()), sep="\n")
        tried_of_kind = answered.pop("programs")
        shares = {what: number / tried_of_kind for what, number in answered.items()}
        kinds[kind] = {"programs": tried_of_kind, **shares}
    if asked.keep:
        date = datetime.now(UTC).strftime("%Y-%m-%d")
        header = {"date": date, "python": platform.python_version()}
        asked.keep.write_text(json.dumps({**header, "kinds": kinds}, indent=1) + "\n")


def by_the_whole(kind, seed, trial):
    """Return whether the inverse of the whole program answers, for some θ or for the one that it
    recovers.
    """
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
    try:
        outcome = tried(kind, seed, trial)
    except TooSlow:
        return False
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return outcome.recovered == "back" or outcome.thetas["answered"] > 0


def by_overlays(level, trial, seed):
    """Return whether a level answers for one of some random θ."""
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
