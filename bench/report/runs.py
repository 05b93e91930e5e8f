"""Runs the benchmarks, one after the other, and stores their figures; a benchmark that fails loses
only its own."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

__all__ = ["BENCHMARKS", "in_order", "run_all"]

BENCHMARKS = Path(__file__).parents[1]
ORDER = (  # the most important come first, in time as on the page
    *("python_engine", "operators", "dispatch", "compiled_engine", "barrier", "choosing"),
    *("inverses", "systems", "derivatives", "growth", "parallel", "probabilistic"),
)
QUICK = ("--smallest", "--rounds", "2")
ROUNDS = {
    "inverses": 9,
    "compiled_engine": 7,
    "growth": 7,
    "small_costs": 5,
}  # rounds of slow benchmarks
OTHERS = 9
ENOUGH = 2300.0  # seconds after which no benchmark is started
PLACE = re.compile(r"(?<![\w.])/[\w./-]*/")  # paths, which are removed from the page
EACH = 1200.0  # limit in seconds on one benchmark


def run_all(names: Iterable[str], folder: Path, quick: bool) -> dict[str, str]:
    """Run these benchmarks, with a line printed on each; return the reasons of those that fail."""
    folder.mkdir(parents=True, exist_ok=True)
    start, failed = time.monotonic(), dict[str, str]()
    for name in names:
        (folder / f"{name}.json").unlink(missing_ok=True)
        begun = time.monotonic()
        left = min(EACH, ENOUGH - (begun - start))
        print(f"{clock(begun - start)}  {name} ...", end=" ", flush=True)
        reason = run(name, folder, quick, left) if left > 0 else "no time was left"
        if reason:
            failed[name] = reason
        taken = time.monotonic() - begun
        print(f"{taken:.0f} s" + (f", FAILED: {reason}" if reason else ""), flush=True)
    return failed


def in_order(names: Iterable[str]) -> list[str]:
    """The names in ORDER first, then the others sorted."""
    places = {name: place for place, name in enumerate(ORDER)}
    return sorted(names, key=lambda name: (places.get(name, len(ORDER)), name))


def run(name: str, folder: Path, quick: bool, limit: float) -> str:
    """Run one benchmark; return an empty text, or the reason of its failure. Its output is stored
    beside its figures.
    """
    options = QUICK if quick else ("--rounds", str(ROUNDS.get(name, OTHERS)))
    figures = (folder / f"{name}.json").resolve()
    command = [sys.executable, str(BENCHMARKS / f"{name}.py"), *options, "--json", str(figures)]
    printed = folder / f"{name}.log"
    with printed.open("w") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            so_far = ", what it had measured by then stands" if figures.exists() else ""
            return f"took longer than {limit:.0f} s{so_far}"
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    if code:
        figures.unlink(missing_ok=True)
        return last_line(printed) or f"exit status {code}"
    return "" if figures.exists() else last_line(printed) or "wrote no figures"


def last_line(printed: Path) -> str:
    """The last line that a benchmark printed, without paths of this machine."""
    lines = printed.read_text().strip().splitlines()
    return PLACE.sub("", lines[-1])[:200] if lines else ""


def clock(seconds: float) -> str:
    return f"{int(seconds) // 60:3}:{int(seconds) % 60:02}"
