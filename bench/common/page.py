"""Parts of ``docs/report.md`` that benchmarks write beside their figures."""

import datetime
import importlib.metadata
import json
import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

__all__ = ["part", "section", "times", "written"]

# Packages whose versions affect figures.
VERSIONS = (
    *(
        "numba",
        "llvmlite",
        "numpy",
        "scipy",
        "plum-dispatch",
        "jax",
        "oryx",
        "autograd",
        "sympy",
        "ovld",
    ),
    *("multipledispatch", "multimethod", "effectful", "pyperformance"),
)


def section(
    title: str,
    text: str,
    rows: Iterable[Sequence[str]] = (),
    lines: Iterable[str] = (),
) -> dict[str, Any]:
    """A section: a heading, a text on the measurement, a table whose first row is the head, and
    remarks."""
    return {
        "title": title,
        "text": text,
        "rows": [list(row) for row in rows],
        "lines": list(lines),
    }


def part(title: str, text: str, sections: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The part of one benchmark, with the machine that it ran on."""
    return {"title": title, "text": text, "run": run(), "sections": list(sections)}


def times(value: float) -> str:
    """A ratio as text."""
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def written(figures: dict[str, Any], path: Path | None) -> None:
    """Write figures as JSON, if a path is given: all of them or none."""
    if path is not None:
        unfinished = path.with_suffix(".part")
        unfinished.write_text(json.dumps(figures, indent=2) + "\n")
        unfinished.replace(path)


def run() -> dict[str, Any]:
    """The machine, without its owner's name; the versions; the date."""
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": system(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "versions": {name: version(name) for name in VERSIONS},
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def processor() -> str:
    """The processor's model, where the system reports it."""
    known = Path("/proc/cpuinfo")
    lines = known.read_text().splitlines() if known.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def system() -> str:
    """The name and version of the system, without the name of the machine."""
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return f"{platform.system()} {platform.release()}"


def version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "-"
