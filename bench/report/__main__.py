"""Measures everything and writes docs/report.md: see --help."""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from common.page import run as machine

from report.lines import Found, Line, found, lines
from report.page import Report, page
from report.plots import draw_all
from report.quotes import Figure, renewed
from report.runs import BENCHMARKS, in_order, run_all

ROOT = BENCHMARKS.parent
KEPT = "docs/report/figures.json"


def options() -> argparse.Namespace:
    names = in_order(path.stem for path in BENCHMARKS.glob("*.py"))
    parser = argparse.ArgumentParser(prog="python -m report", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="to see that it works: the page goes to build/quick"
    )
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", choices=names, help="these, run anew: others stand"
    )
    parser.add_argument("--write", action="store_true", help="from what was measured before")
    parser.add_argument(
        "--build", type=Path, default=ROOT / "build" / "report", help="where the figures are put"
    )
    parser.add_argument("--docs", type=Path, help="where the page is put: docs")
    chosen = parser.parse_args()
    chosen.names = [] if chosen.write else chosen.only or names
    return chosen


def measured(folder: Path) -> dict[str, Any]:
    """The figures written to a folder, by file name."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}


def text_of(name: str, path: Path) -> str:
    """The text of a committed file; of the file at a path where it is in no commit."""
    done = subprocess.run(
        ["git", "show", f"HEAD:{name}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout if done.returncode == 0 else path.read_text() if path.exists() else ""


def committed(path: Path) -> Mapping[str, Any]:
    """The run and the lines of the committed report; nothing where there is none."""
    return json.loads(text_of(KEPT, path) or "{}")


def same_run(about: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether a report is of this run."""
    changing = ("seconds", "failed")
    return all(before.get(name) == about[name] for name in about if name not in changing)


def lines_before(quick: bool, before: Mapping[str, Any]) -> Mapping[str, Found] | str:
    """The lines of a report, or the reason why they cannot be compared with."""
    if not before:
        return "There is no report before this one."
    if before["run"]["quick"] != quick:
        return "One of this report and the last one is a quick one: nothing is compared."
    return {name: Found(**fields) for name, fields in before["lines"].items()}


def written(report: Report, docs: Path) -> None:
    """Write the page, the figures for comparison with the next report, and the quotes of them."""
    (docs / "report.md").write_text(page(report))
    values = {name: asdict(f) for name, f in report.found.items() if isinstance(f, Found)}
    run = {name: value for name, value in report.run.items() if name != "failed"}
    content = {"run": run, "lines": values}
    (docs / "report" / "figures.json").write_text(json.dumps(content, indent=1) + "\n")
    if report.run["quick"]:
        return
    quoted = {name: Figure(f["value"], f["least"], f["most"]) for name, f in values.items()}
    for path in (docs.parent / "README.md", *docs.glob("*.md")):
        if path.name != "report.md" and path.exists():
            text = path.read_text()
            if (new := renewed(text, quoted)) != text:
                path.write_text(new)
                print(f"figures renewed in {path.name}")


def begun(chosen: argparse.Namespace) -> dict[str, Any]:
    """The state of the run: of one that is continued, or of a new one.

    Raises SystemExit where one is to be continued and there is none.
    """
    state = chosen.build / "run.txt"
    if (chosen.write or chosen.only) and state.exists():
        return json.loads(state.read_text())
    if chosen.write:
        raise SystemExit(f"nothing was measured in {chosen.build} before: leave the option out")
    chosen.build.mkdir(parents=True, exist_ok=True)
    for old in chosen.build.glob("*.json"):
        old.unlink()
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    about = {**machine(), "quick": chosen.quick, "whole": not chosen.only, "load": load}
    return {**about, "seconds": 0.0, "failed": {}}


def run(chosen: argparse.Namespace) -> dict[str, Any]:
    """Measure the requested parts; return the state of the run, which is stored beside the
    figures."""
    about, start = begun(chosen), time.monotonic()
    about["failed"] |= dict.fromkeys(chosen.names, "was not run")
    state = chosen.build / "run.txt"
    state.write_text(json.dumps(about))
    failed = run_all(chosen.names, chosen.build, about["quick"])
    others = {name: why for name, why in about["failed"].items() if name not in chosen.names}
    about |= {"failed": others | failed, "seconds": about["seconds"] + time.monotonic() - start}
    state.write_text(json.dumps(about))
    return about


def reported(about: dict[str, Any], build: Path, docs: Path, every: list[Line]) -> None:
    """Write the report of the measurements."""
    folder = docs / "report"
    kept = measured(ROOT / "docs" / "report" / "kept")
    kept |= {
        name: each for name, each in measured(ROOT / "build" / "proof").items() if "date" in each
    }
    figures = {**kept, **measured(build)}
    if about.get("whole", True):
        figures["report"] = about
    report_before = committed(folder / "figures.json")
    before = lines_before(about["quick"], report_before)
    # a part that was not measured in this run stands as it was
    stands = {} if isinstance(before, str) else before
    report = Report(
        run=about,
        figures=figures,
        lines=every,
        found={
            line.name: stands[line.name]
            if line.bench not in figures and line.name in stands
            else found(line, figures)
            for line in every
        },
        before=before,
        failed=about["failed"],
        pictures=draw_all(figures, folder),
        last=text_of("docs/report.md", docs / "report.md") if stands else "",
        again=bool(stands) and same_run(about, report_before["run"]),
    )
    written(report, docs)
    print(f"{docs / 'report.md'}, after {about['seconds'] / 60:.1f} minutes of measuring")


def main() -> int:
    """The exit status: 1 where a benchmark failed."""
    chosen, every = options(), lines()
    about = run(chosen)
    docs = ROOT / "build" / "quick" if about["quick"] else ROOT / "docs"
    reported(about, chosen.build, chosen.docs or docs, every)
    return 1 if about["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
