"""Inverts many random programs, and counts what is answered, what is refused and what is wrong.

    python -m tests.laws.try_random_programs --count 1000 --processes 2 --json figures.json
    python -m tests.laws.try_random_programs --kind integers --first 41 --count 1 --show --compiled

Each answer is checked by running the program itself, in plain Python. A program's kind and seed
make it again. The exit code is 1 where an inverse was wrong, or raised what it should not.
"""

import argparse
import json
import re
import signal
import statistics
import sys
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from tests.laws.trying import KINDS, Outcome, made, tried

CHUNK = 250
LIMIT = 60
"""Seconds for one program; one that needs more is counted as too slow."""


class TooSlow(BaseException):
    """A trial took too long. It is no Exception, so that no handler takes it for one of the
    program's.
    """


def main():
    asked = parsed()
    chunks = [
        (kind, first, min(CHUNK, asked.first + asked.count - first), asked.compiled)
        for first in range(asked.first, asked.first + asked.count, CHUNK)
        for kind in asked.kind or KINDS
    ]
    if asked.show:
        for kind, first, count, _ in chunks:
            for seed in range(first, first + count):
                trial = made(kind, seed)
                print(f"# {kind}, seed {seed}, at {trial.args}\n{trial.source}")
    outcomes = {kind: [] for kind in asked.kind or KINDS}
    for kind, found in in_processes(chunks, asked.processes):
        outcomes[kind] += found
        for outcome in found:
            for defect in outcome.defects:
                print(f"{kind}, seed {outcome.seed}: {defect}", flush=True)
        print(f"{sum(map(len, outcomes.values()))} tried", end="\r", file=sys.stderr, flush=True)
    figures = {kind: figures_of(found) for kind, found in outcomes.items() if found}
    for kind, figure in figures.items():
        print(f"\n{kind}\n" + "\n".join(f"    {key}: {value}" for key, value in figure.items()))
    if asked.json:
        asked.json.write_text(json.dumps(figures, indent=1))
    return int(any(figure["defects"] for figure in figures.values()))


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kind", action="append", choices=KINDS, help="by default all")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=200, help="programs of each kind")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--json", type=Path, help="a file for the figures")
    parser.add_argument("--compiled", action="store_true", help="also inverses that are compiled")
    parser.add_argument("--show", action="store_true", help="print the programs, too")
    return parser.parse_args()


def in_processes(chunks, processes):
    """The kind and outcomes of each chunk, in order."""
    with ThreadPoolExecutor(processes) as threads:
        yield from zip((kind for kind, *_ in chunks), threads.map(in_process, chunks), strict=True)


def in_process(chunk):
    """The outcomes of a chunk, from its own process; the death of that process is a defect."""
    spawn = get_context("spawn")
    here, there = spawn.Pipe(duplex=False)
    process = spawn.Process(target=chunk_sent, args=(there, *chunk))
    process.start()
    there.close()
    try:
        return here.recv()
    except EOFError:
        kind, first, count, _ = chunk
        died = f"the process died in one of the seeds {first} to {first + count - 1}"
        return [Outcome(kind, first, end="crashed", defects=[died])]
    finally:
        process.join()


def chunk_sent(there, *chunk):
    there.send(chunk_tried(*chunk))


def chunk_tried(kind, first, count, compiled):
    """The outcomes of some programs of one kind."""
    signal.signal(signal.SIGALRM, too_slow)
    warnings.simplefilter("ignore")
    found = []
    for seed in range(first, first + count):
        signal.alarm(LIMIT)
        outcome = Outcome(kind, seed, end="endless program")
        try:
            trial = made(kind, seed)
            outcome.end = "too slow"
            outcome = tried(kind, seed, trial, compiled=compiled)
        except TooSlow:
            pass
        finally:
            signal.alarm(0)
        found.append(outcome)
    return found


def too_slow(_number, _frame):
    raise TooSlow


def figures_of(outcomes):
    """The reported figures of one kind."""
    ends = Counter(outcome.end for outcome in outcomes)
    inverted = [outcome for outcome in outcomes if outcome.end == "inverted"]
    thetas = sum((outcome.thetas for outcome in inverted), Counter())
    with_value = len(outcomes) - ends["no value"] - ends["endless program"]
    answered = sum(o.thetas["answered"] > 0 or o.recovered == "back" for o in inverted)
    times = sorted(1e3 * outcome.seconds for outcome in inverted)
    defects = [defect for outcome in outcomes for defect in outcome.defects]
    return {
        "programs": len(outcomes),
        "with a value": with_value,
        "wrong answers": sum(defect.startswith("WRONG") for defect in defects),
        "defects": len(defects),
        "ends": dict(ends),
        "answered": f"{answered / max(1, with_value):.4f}",
        "recovered": dict(Counter(o.recovered for o in inverted)),
        "θ tried": thetas["tried"],
        "θ answered": thetas["answered"],
        "θ answered by compiled code": thetas["answered compiled"],
        "not compiled": thetas["not compiled"],
        "ms to invert: median, 99 %, longest": spread(times),
        "refusals": most_common(o.reason for o in outcomes if o.end == "refused"),
        "not recovered": most_common(o.reason for o in inverted if o.recovered != "back"),
        "too slow": [outcome.seed for outcome in outcomes if outcome.end == "too slow"],
    }


def spread(times):
    if not times:
        return []
    last = times[min(len(times) - 1, int(0.99 * len(times)))]
    return [round(time, 1) for time in (statistics.median(times), last, times[-1])]


def most_common(reasons):
    """The most common reasons, without names and numbers."""
    plain = (re.sub(r"`[^`]*`|'[^']*'|\{[^}]*\}|\([^)]*\)", "…", reason) for reason in reasons)
    plain = (re.sub(r"-?\b\d[\d.e+-]*|\b[xtvahp]\d*\b", "_", reason) for reason in plain)
    return dict(Counter(reason[:120] for reason in plain).most_common(12))


if __name__ == "__main__":
    sys.exit(main())
