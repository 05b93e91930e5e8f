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

from report.lines import Found, found, lines
from report.page import Report, page
from report.plots import draw_all
from report.quotes import Figure, renewed
from report.runs import BENCHMARKS, in_order, run_all

ROOT = BENCHMARKS.parent
KEPT = "docs/report/figures.json"


def options() -> argparse.Namespace:
    names = in_order(path.stem for path in BENCHMARKS.glob("*.py"))
    parser = argparse.ArgumentParser(prog="python -m report", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="to see that it works: no figures")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=names, help="these, run anew")
    parser.add_argument("--write", action="store_true", help="from what was measured before")
    parser.add_argument(
        "--build", type=Path, default=ROOT / "build" / "report", help="where the figures are put"
    )
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="where the page is put")
    chosen = parser.parse_args()
    chosen.names = [] if chosen.write else chosen.only or names
    return chosen


def measured(folder: Path) -> dict[str, Any]:
    """What was written there, by names."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}


def committed(kind: str, path: Path) -> Mapping[str, Found] | str:
    """The lines of the report that is committed, or why there is nothing to compare with."""
    done = subprocess.run(
        ["git", "show", f"HEAD:{KEPT}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    text = done.stdout if done.returncode == 0 else path.read_text() if path.exists() else ""
    if not text:
        return "There is no report before this one."
    before = json.loads(text)
    if before["run"]["kind"] != kind:
        return (
            f"The last report was of another kind ({before['run']['kind']}): nothing is compared."
        )
    return {name: Found(**fields) for name, fields in before["lines"].items()}


def written(report: Report, docs: Path) -> None:
    """The page, the figures that the next report is compared with, and the quotes of them."""
    (docs / "report.md").write_text(page(report))
    values = {name: asdict(f) for name, f in report.found.items() if isinstance(f, Found)}
    content = {"run": dict(report.run), "lines": values}
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


def main() -> int:
    """The exit status: 1 where a benchmark failed."""
    chosen, every, start = options(), lines(), time.monotonic()
    chosen.build.mkdir(parents=True, exist_ok=True)
    state = chosen.build / "run.txt"
    if chosen.write or chosen.only:
        if not state.exists():
            raise SystemExit(f"nothing was measured in {chosen.build} before: leave the option out")
        about = json.loads(state.read_text())
    else:
        load = os.getloadavg()[0] / (os.cpu_count() or 1)
        about = {**machine(), "quick": chosen.quick, "load": load, "seconds": 0.0, "failed": {}}
        for old in chosen.build.glob("*.json"):
            old.unlink()
    about["kind"] = "quick" if about["quick"] else "full"
    failed = run_all(chosen.names, chosen.build, about["quick"])
    about["seconds"] += time.monotonic() - start
    about["failed"] = {
        **{name: why for name, why in about["failed"].items() if name not in chosen.names},
        **failed,
    }
    state.write_text(json.dumps(about))
    folder = chosen.docs / "report"
    kept = {**measured(folder / "kept"), **measured(chosen.build.parent / "proof")}
    figures = {**kept, **measured(chosen.build), "report": about}
    report = Report(
        run={name: about[name] for name in about if name != "failed"},
        figures=figures,
        lines=every,
        found={line.name: found(line, figures) for line in every},
        before=committed(about["kind"], folder / "figures.json"),
        failed=about["failed"],
        pictures=draw_all(figures, folder),
    )
    written(report, chosen.docs)
    print(f"{chosen.docs / 'report.md'}, after {about['seconds'] / 60:.1f} minutes of measuring")
    return 1 if about["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
