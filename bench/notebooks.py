"""The demo and the notebooks, run top to bottom, by wall-clock time."""

import runpy
import subprocess
import sys
from pathlib import Path
from time import perf_counter

from common.options import options
from common.page import part, section, written
from common.rows import duration
from common.timing import machine, seconds, table

ROOT = Path(__file__).parents[1]
DEMO = "demo"


def rows(found):
    yield ("", "time")
    yield from ((name, duration(taken)) for name, taken in found.items())


def page(found):
    """The part of docs/report.md."""
    text = (
        "`make demo`, after set-up, and the notebooks, each run top to bottom in a separate "
        "kernel; wall-clock time."
    )
    return part("Demo and notebooks", text, [section("Each", "", rows(found))])


def demo():
    command = [sys.executable, "demo.py"]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def main():
    chosen = options(__doc__)
    executed = runpy.run_path(str(ROOT / "scripts" / "run_notebooks.py"))["executed"]
    paths = sorted((ROOT / "notebooks").glob("*.ipynb"))
    print(f"{machine()}; the clock on the wall")
    found = {DEMO: seconds(demo, perf_counter)}
    for path in paths[:1] if chosen.smallest else paths:
        found[path.stem] = seconds(lambda path=path: executed(path), perf_counter)
    print(table(list(rows(found))))
    written({"machine": machine(), "seconds": found, "page": page(found)}, chosen.json)


if __name__ == "__main__":
    main()
