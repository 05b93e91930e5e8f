"""Fuzzes the project: random cases of each kind, and a file for each that fails.

    python -m tests.fuzz.fuzz                              a short campaign of all kinds
    python -m tests.fuzz.fuzz --seconds 600 --kind edits   as many as there is time for
    python -m tests.fuzz.fuzz --kind edits --first 41 --count 1 --show
    python -m tests.fuzz.fuzz --replay build/fuzz/edits-41.json

A kind and a seed make a case again. A case that has failed, once it is mended, belongs to
tests/fuzz/corpus, where the tests replay it. The exit code is 1 where a case has failed.
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 60
"""Seconds for one case; one that needs more is counted as too slow."""
FAILED = ROOT / "build" / "fuzz"


class TooSlow(BaseException):
    """No Exception, so that nothing on the way takes it for one of a program's."""


def main():
    asked = parsed()
    from tests.fuzz.kinds import KINDS

    if asked.replay:
        held = json.loads(asked.replay.read_text())
        print(dict(KINDS[held["kind"]].check(held["case"])))
        return 0
    if asked.worker:
        work(KINDS[asked.worker], asked.first, asked.count, asked.seconds)
        return 0
    begin, found = time.monotonic(), {}
    for name in asked.kind or KINDS:
        if asked.show:
            for seed in range(asked.first, asked.first + (asked.count or 1)):
                print(f"# {name}, seed {seed}\n{json.dumps(KINDS[name].draw(seed), indent=1)}")
        count = asked.count or (10**9 if asked.seconds else KINDS[name].count)
        found[name] = campaign(name, asked.first, count, asked.seconds or 10**9)
        said = ", ".join(f"{key} {n}" for key, n in found[name]["reached"].items())
        print(f"{name}: seeds {asked.first} to {found[name]['last']}, {len(found[name]['failed'])}"
              f" failed ({time.monotonic() - begin:.0f} s)\n    {said}", flush=True)  # fmt: skip
    if asked.json:
        asked.json.parent.mkdir(parents=True, exist_ok=True)
        version = ".".join(map(str, sys.version_info[:3]))
        header = {"date": datetime.now(UTC).strftime("%Y-%m-%d"), "python": version}
        asked.json.write_text(json.dumps({**header, "kinds": found}, indent=1) + "\n")
    return int(any(figures["failed"] for figures in found.values()))


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kind", action="append", help="by default all")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, help="cases of each kind")
    parser.add_argument("--seconds", type=int, help="for each kind, in place of a count")
    parser.add_argument("--show", action="store_true", help="print the cases, too")
    parser.add_argument("--replay", type=Path, help="check one case that a file holds")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args()


# ---- in processes of their own ------------------------------------------------------------


def campaign(name, first, count, seconds):
    """The figures of one kind. What dies with a case is started again behind it."""
    figures = {"first": first, "last": first - 1, "cases": 0, "failed": [], "reached": Counter()}
    end, stop = time.monotonic() + seconds, first + count
    while figures["last"] + 1 < stop and time.monotonic() < end:
        begun = figures["last"] + 1
        arguments = ["--first", begun, "--count", stop - begun]
        arguments += ["--seconds", max(1, int(end - time.monotonic()))]
        command = [sys.executable, "-m", "tests.fuzz.fuzz", "--worker", name, *map(str, arguments)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                begun = heard(name, json.loads(line), figures, begun)
        if process.returncode:
            failed(name, begun, f"the process ended with {process.returncode}", figures)
    figures["reached"] = dict(figures["reached"].most_common())
    return figures


def heard(name, said, figures, begun):
    """Take down what a worker says; the seed that it is at."""
    if "begin" in said:
        return said["begin"]
    if "failed" in said:
        failed(name, begun, said["failed"], figures)
    else:
        figures["reached"].update(said["reached"])
    figures["last"], figures["cases"] = begun, figures["cases"] + 1
    return begun


def failed(name, seed, why, figures):
    """Store a case that has failed."""
    from tests.fuzz.kinds import KINDS

    figures["failed"].append({"seed": seed, "why": why})
    figures["last"] = seed
    FAILED.mkdir(parents=True, exist_ok=True)
    path = FAILED / f"{name.replace(' ', '-')}-{seed}.json"
    held = {"kind": name, "why": why, "case": KINDS[name].draw(seed)}
    path.write_text(json.dumps(held, indent=1) + "\n")
    print(f"{name}, seed {seed}: {why}\n    {path.relative_to(ROOT)}", flush=True)


def work(kind, first, count, seconds):
    """Check the cases one after the other, and report the outcome of each."""
    signal.signal(signal.SIGALRM, too_slow)
    end, seed = time.monotonic() + seconds, first
    with os.fdopen(os.dup(sys.stdout.fileno()), "w") as out:
        while seed < first + count and time.monotonic() < end:
            say(out, begin=seed)
            signal.alarm(LIMIT)
            try:
                case = json.loads(json.dumps(kind.draw(seed)))
                with contextlib.redirect_stdout(sys.stderr):
                    found = {"reached": kind.check(case)}
            except TooSlow:
                found = {"reached": {"too slow": 1}}
            except BaseException as error:
                found = {"failed": described(error)}
            finally:
                signal.alarm(0)
            say(out, **found)
            seed += 1


def described(error):
    """An error, and where it was raised."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    at = f"{Path(place.filename).name}:{place.lineno}"
    return f"{type(error).__name__}: {str(error)[:500]} [{at}]"


def say(out, **words):
    print(json.dumps(words), file=out, flush=True)


def too_slow(_number, _frame):
    raise TooSlow


if __name__ == "__main__":
    sys.exit(main())
