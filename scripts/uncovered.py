"""Prints the coverage of each package by the tests, by line and branch, and the lines missing.

python -m scripts.uncovered build/proof/coverage.json --worst 10
python -m scripts.uncovered build/proof/coverage.json --keep docs/report/kept/coverage.json
"""

import argparse
import json
from collections import Counter, defaultdict
from pathlib import Path

from scripts.kept_figures import keep

KINDS = ("covered_lines", "num_statements", "covered_branches", "num_branches")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path, help="what `coverage json` wrote")
    parser.add_argument("--worst", type=int, default=8, help="modules to name for each package")
    parser.add_argument("--keep", type=Path, help="a file for the shares, for docs/report.md")
    asked = parser.parse_args()
    found = json.loads(asked.file.read_text())
    each_package = packages(found["files"])
    for package, figures in each_package.items():
        print(f"{package}: {words(figures['total'])}")
        for path, each in figures["modules"][: asked.worst]:
            print(f"    {path}: {words(each)}; lines {ranges(each['missing'])}")
    if asked.keep:
        kept = {name: shares(figures["total"]) for name, figures in each_package.items()}
        keep(asked.keep, date=found["meta"]["timestamp"][:10], packages=kept)


def packages(files):
    """Sums by package, and the modules with their missing lines, the most first."""
    totals, modules = defaultdict(Counter), defaultdict(list)
    for path, found in files.items():
        if Path(path).is_absolute():  # written by a test, under the name of a package
            continue
        package, summary = path.partition("/")[0], found["summary"]
        totals[package].update({kind: summary[kind] for kind in KINDS})
        modules[package].append((path, {**summary, "missing": found["missing_lines"]}))
    for each in modules.values():
        each.sort(key=lambda module: -len(module[1]["missing"]))
    return {name: {"total": totals[name], "modules": modules[name]} for name in sorted(totals)}


def shares(figures):
    """Covered shares of lines and of branches."""
    return {
        "lines": figures["covered_lines"] / max(1, figures["num_statements"]),
        "branches": figures["covered_branches"] / max(1, figures["num_branches"]),
    }


def words(figures):
    """Both shares as text."""
    return ", ".join(f"{100 * share:.1f} % of {what}" for what, share in shares(figures).items())


def ranges(lines):
    """Line numbers as text, with consecutive ones as a range."""
    runs = []
    for line in lines:
        if runs and line == runs[-1][1] + 1:
            runs[-1][1] = line
        else:
            runs.append([line, line])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs) or "none"


if __name__ == "__main__":
    main()
