"""The cost of importing each package, in CPU time above Python's own start, and the packages
imported with it."""

import resource
import subprocess
import sys

from common.options import options
from common.page import part, section, times, written
from common.rows import duration
from common.timing import machine, spread_of, table

ROOTS = (
    "overlay",
    "overlay.interpretations.autodiff",
    "overlay.interpretations.intervals",
    "primitives",
    "inversion",
    "inversion.inverting",  # all that inverts functions
    "numba",
    "plum",
    "numpy",
)
PACKAGES = ("numba", "numpy", "scipy", "plum", "typeguard")
LOOK = "import sys, {0}; print(*sys.modules)"


def spent(module):
    """Seconds of CPU time of a Python that imports a module and ends; ``sys`` gives a bare
    start."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def imported(module):
    """The other packages that are imported with a module, and the total number of modules."""
    command = [sys.executable, "-c", LOOK.format(module)]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return {"modules": len(found), "packages": [name for name in PACKAGES if name in found]}


def compared(modules, rounds):
    """The least time of each module above the least of a bare start, in alternation."""
    taken = {module: [] for module in ("sys", *modules)}
    for _ in range(rounds):
        for module, each in taken.items():
            each.append(spent(module))
    start = min(taken.pop("sys"))
    rows = [
        {
            "module": module,
            "seconds": min(each) - start,
            "spread": spread_of([taken - start for taken in each]),
            **imported(module),
        }
        for module, each in taken.items()
    ]
    return start, rows


HEAD = ("import", "to Python's start", "CPU time", "spread", "modules", "of these")


def cells(row, start):
    return (
        row["module"],
        times(row["seconds"] / start),
        duration(row["seconds"]),
        f"{row['spread']:.0%}",
        str(row["modules"]),
        ", ".join(row["packages"]) or "none",
    )


def page(figures):
    """The part of docs/report.md."""
    text = (
        "The CPU time of a new Python process that imports a module, in addition to one that "
        "imports nothing; the minimum of alternating runs. Files are in the system's memory, "
        "bytecode on disk."
    )
    start = figures["start"]
    rows = [HEAD, *(cells(row, start) for row in figures["rows"])]
    lines = [f"Python's own start: {duration(start)}"]
    return part("Imports", text, [section("Packages", "", rows, lines)])


def main():
    chosen = options(__doc__)
    print(machine())
    start, rows = compared(ROOTS[:1] if chosen.smallest else ROOTS, chosen.rounds)
    print(table([HEAD, *(cells(row, start) for row in rows)]))
    figures = {"machine": machine(), "start": start, "overlay": rows[0]["seconds"], "rows": rows}
    written({**figures, "page": page(figures)}, chosen.json)


if __name__ == "__main__":
    main()
