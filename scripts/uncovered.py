"""Prints what the tests have run of each package, by line and branch, and what they have not.

python scripts/uncovered.py build/proof/coverage.json --worst 10
"""

import argparse
import json
from collections import Counter, defaultdict
from pathlib import Path

KINDS = ("covered_lines", "num_statements", "covered_branches", "num_branches")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path, help="what `coverage json` wrote")
    parser.add_argument("--worst", type=int, default=8, help="modules to name for each package")
    asked = parser.parse_args()
    for package, figures in packages(json.loads(asked.file.read_text())["files"]).items():
        print(f"{package}: {share(figures['total'])}")
        for path, each in figures["modules"][: asked.worst]:
            print(f"    {path}: {share(each)}; lines {ranges(each['missing'])}")


def packages(files):
    """By package, the sums, and the modules with what is missing, the most first."""
    totals, modules = defaultdict(Counter), defaultdict(list)
    for path, found in files.items():
        package, summary = path.partition("/")[0], found["summary"]
        totals[package].update({kind: summary[kind] for kind in KINDS})
        modules[package].append((path, {**summary, "missing": found["missing_lines"]}))
    for each in modules.values():
        each.sort(key=lambda module: -len(module[1]["missing"]))
    return {name: {"total": totals[name], "modules": modules[name]} for name in sorted(totals)}


def share(figures):
    """Both shares, in words."""
    lines = 100 * figures["covered_lines"] / max(1, figures["num_statements"])
    branches = 100 * figures["covered_branches"] / max(1, figures["num_branches"])
    return f"{lines:.1f} % of lines, {branches:.1f} % of branches"


def ranges(lines):
    """Line numbers, those in a row together."""
    runs = []
    for line in lines:
        if runs and line == runs[-1][1] + 1:
            runs[-1][1] = line
        else:
            runs.append([line, line])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs) or "none"


if __name__ == "__main__":
    main()
