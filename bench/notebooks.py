"""The notebooks, run top to bottom, each in a kernel of its own, by the clock on the wall."""

import runpy
from pathlib import Path
from time import perf_counter

from common.options import options
from common.page import part, section, written
from common.rows import duration
from common.timing import machine, seconds, table

ROOT = Path(__file__).parents[1]
ASKED = 60.0  # seconds


def rows(found):
    yield ("notebook", "time")
    yield from ((name, duration(taken)) for name, taken in found.items())


def page(found):
    """The part of docs/report.md."""
    text = (
        f"The notebooks, run top to bottom, each in a kernel of its own, by the clock on the wall; "
        f"each is to take under {ASKED:.0f} seconds."
    )
    return part("Notebooks", text, [section("Each", "", rows(found))])


def main():
    chosen = options(__doc__)
    executed = runpy.run_path(str(ROOT / "scripts" / "run_notebooks.py"))["executed"]
    paths = sorted((ROOT / "notebooks").glob("*.ipynb"))
    print(f"{machine()}; the clock on the wall")
    found = {}
    for path in paths[:1] if chosen.smallest else paths:
        found[path.stem] = seconds(lambda path=path: executed(path), perf_counter)
    print(table(list(rows(found))))
    written({"machine": machine(), "notebooks": found, "page": page(found)}, chosen.json)


if __name__ == "__main__":
    main()
