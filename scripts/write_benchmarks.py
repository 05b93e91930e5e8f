"""Writes docs/benchmarks.md from what the benchmarks wrote as JSON.

usage: write_benchmarks.py FOLDER PAGE
"""

import json
import sys
import textwrap
from pathlib import Path
from typing import Any

WIDTH = 100
HEAD = """# Benchmarks

`make bench` measures these figures and writes this page. Each is a ratio to a peer that is measured
in the same run, in the same process, the two taking turns: 1.00 is the speed of the peer, more is
slower. The fastest runs are compared; *noise* is how far two equal programs, or the runs of one
program, lie apart. A single run on a machine that does other work says little beyond its noise.
No figure is of a GPU, since none was at hand: with one, `make gpu-check` measures kernels.
"""


def page(parts: list[dict[str, Any]]) -> str:
    """The page of these parts."""
    return "\n".join([HEAD, *(line for part in parts for line in lines_of(part))]).rstrip() + "\n"


def lines_of(part: dict[str, Any]) -> list[str]:
    lines = [f"## {part['title']}", "", filled(part["text"]), "", filled(ran_on(part["run"])), ""]
    for section in part["sections"]:
        lines += [f"### {section['title']}", ""]
        if section["text"]:
            lines += [filled(section["text"]), ""]
        if section["rows"]:
            lines += [*table(section["rows"]), ""]
        if section["lines"]:
            lines += [*(f"- {line}" for line in section["lines"]), ""]
    return lines


def filled(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def ran_on(run: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {v}" for name, v in run["versions"].items() if v != "-")
    machine = f"{run['processor']}, {run['cores']} cores, {run['system']}"
    return f"{run['date']}: {run['python']}, {versions}; {machine}."


def table(rows: list[list[str]]) -> list[str]:
    """A table in Markdown; the first column is text, the others are figures."""
    head, *body = ([cell.replace("|", "\\|") for cell in row] for row in rows)
    rule = ["---", *["---:"] * (len(head) - 1)]
    return [f"| {' | '.join(row)} |" for row in (head, rule, *body)]


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    found = sorted(Path(sys.argv[1]).glob("*.json"))
    parts = [json.loads(path.read_text()).get("page") for path in found]
    if not any(parts):
        raise SystemExit(f"no benchmark has written figures to {sys.argv[1]}")
    Path(sys.argv[2]).write_text(page([part for part in parts if part]))


if __name__ == "__main__":
    main()
