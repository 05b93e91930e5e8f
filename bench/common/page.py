"""What a benchmark gives besides its figures: its part of ``docs/report.md``."""

import datetime
import importlib.metadata
import json
import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

__all__ = ["part", "section", "times", "written"]

# What decides figures besides our own code.
VERSIONS = (
    *("numba", "llvmlite", "numpy", "plum-dispatch", "jax", "oryx", "autograd", "sympy", "ovld"),
    *("multipledispatch", "multimethod", "effectful", "pyperformance"),
)


def section(
    title: str,
    text: str,
    rows: Iterable[Sequence[str]] = (),
    lines: Iterable[str] = (),
) -> dict[str, Any]:
    """A heading, what is measured, a table of which the first row is the head, and remarks."""
    return {
        "title": title,
        "text": text,
        "rows": [list(row) for row in rows],
        "lines": list(lines),
    }


def part(title: str, text: str, sections: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """All that one benchmark has to say, and what it ran on."""
    return {"title": title, "text": text, "run": run(), "sections": list(sections)}


def times(value: float) -> str:
    """A ratio."""
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def written(figures: dict[str, Any], path: Path | None) -> None:
    """Write figures as JSON, where that is asked for: all of them or none."""
    if path is not None:
        unfinished = path.with_suffix(".part")
        unfinished.write_text(json.dumps(figures, indent=2) + "\n")
        unfinished.replace(path)


def run() -> dict[str, Any]:
    """The machine, in words that say nothing of whose it is; the versions; the day."""
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": system(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "versions": {name: version(name) for name in VERSIONS},
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def processor() -> str:
    """Its model, where the system tells it."""
    known = Path("/proc/cpuinfo")
    lines = known.read_text().splitlines() if known.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def system() -> str:
    """Its name and version, without the name of the machine."""
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return f"{platform.system()} {platform.release()}"


def version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "-"
