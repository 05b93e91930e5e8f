"""The table of a conformance run, and its totals over the versions."""

import datetime
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from explained import LEFT_OUT, Row
from judge import EXPECTED, Finding, Result

# of the modules have no difference at all; implicit contexts meet what C keeps for itself, such as
# the constructors that unpickling calls
SHARES = {"context": 0.98, "implicit": 0.95}
LISTED = 20  # differences shown of one module; the others are in the JSON file
DETAIL = 300  # characters shown of an exception or a log


def cell(result: Result, column: str) -> str:
    """What a column of the first half says of a module."""
    if column not in result.runs:
        return "-"
    if result.runs[column].crashed:
        return "CRASH"
    findings = [f for f in result.findings if f.column == column]
    if not findings:
        return "same"
    explained = sum(f.row is not None for f in findings)
    parts = [f"{explained} explained"] if explained else []
    parts += [f"{len(findings) - explained} DIFFER"] if explained < len(findings) else []
    return ", ".join(parts)


def unchanged_table(results: list[Result], columns: tuple[str, ...]) -> Iterable[str]:
    """The first half: a line for each module."""
    yield f"{'unchanged: module':48}{'outcomes':>9}{'seconds':>9}   " + header(columns)
    for result in results:
        if result.skipped:
            yield f"{result.module:48}  {result.native.ending}"
            continue
        cells = "".join(f"{cell(result, column):26}" for column in columns)
        flaky = f"flaky: {', '.join(sorted(result.flaky))}" if result.flaky else ""
        size = f"{result.tests:9}{result.native.seconds:9.1f}"
        yield f"{result.module:48}{size}   {cells}{flaky}".rstrip()


def header(columns: tuple[str, ...]) -> str:
    """The headings of the kinds of context."""
    names = {"context": "never-reached table", "implicit": "the same, implicit"}
    return "".join(f"{names[column]:26}" for column in columns).rstrip()


def reached_table(results: list[Result], columns: tuple[str, ...]) -> Iterable[str]:
    """The second half: a line for each function."""
    heads = "".join(f"{f'{EXPECTED[c]}: native':>18}{'reached':>9}" for c in columns)
    yield f"{'reached: function':64}{'all starts':>11}{heads}"
    for result in results:
        odd = {(f.what, f.column): f for f in result.findings}
        for name, native in result.native.counts.items():
            line = f"{name:64}{native['all']:11}"
            for column in columns:
                counted = result.runs[column].counts.get(name, "none")
                line += f"{native[EXPECTED[column]]:18}{counted:>9}"
                finding = odd.get((name, column))
                if finding is not None:
                    line += " explained" if finding.row else " DIFFERS"
            yield line


def shown(finding: Finding) -> Iterable[str]:
    """One difference, with its reason if it has one."""
    mark = "explained" if finding.row else "DIFFERS"
    what = f"{finding.module} {finding.what}"
    yield f"  {mark} [{finding.column}] {what}: {finding.native} -> {finding.found}"
    detail = finding.row.reason if finding.row else finding.detail[:DETAIL]
    if detail:
        yield f"      {detail}"


def summary(results: list[Result], counted: list[Result]) -> dict[str, Any]:
    """The totals of one version."""
    run = [result for result in results if not result.skipped]
    functions = {name for result in counted for name in result.native.counts}
    everything = [*run, *counted]
    return {
        "modules": len(run),
        **{f"the same ({column})": _same(run, column) for column in columns_of(run)},
        "outcomes": sum(result.tests for result in run),
        "functions": len(functions),
        **{f"functions exact ({c})": _exact(counted, functions, c) for c in columns_of(counted)},
        "calls missed": sum(missed(result) for result in counted),
        "explained": sum(len(r.findings) - len(r.unexplained) for r in everything),
        "unexplained": sum(len(r.unexplained) for r in everything),
        "crashes": sum(run.crashed for r in everything for run in r.runs.values()),
    }


def columns_of(results: list[Result]) -> list[str]:
    """The kinds of context that these were run in."""
    return sorted({column for result in results for column in result.runs})


def _exact(counted: list[Result], functions: set[str], column: str) -> int:
    """Of how many functions one kind of context sees each call."""
    found = {f.what for result in counted for f in result.findings if f.column == column}
    return len(functions - found)


def _same(run: list[Result], column: str) -> int:
    """How many modules have no difference at all in one kind of context."""
    return sum(all(found.column != column for found in result.findings) for result in run)


def missed(result: Result) -> int:
    """How many calls the contexts did not see, explained or not."""
    return sum(
        max(native[EXPECTED[column]] - run.counts.get(name, 0), 0)
        for name, native in result.native.counts.items()
        for column, run in result.runs.items()
    )


def passes(totals: dict[str, Any]) -> bool:
    """Whether a version conforms."""
    enough = all(
        totals.get(f"the same ({column})", totals["modules"]) >= share * totals["modules"]
        for column, share in SHARES.items()
    )
    return enough and not totals["unexplained"] and not totals["crashes"]


def lines(
    results: list[Result], counted: list[Result], columns: tuple[str, ...], old: list[Row]
) -> Iterable[str]:
    """The whole report of one version."""
    if results:
        yield from unchanged_table(results, columns)
    if counted:
        yield ""
        yield from reached_table(counted, columns)
    for result in [*results, *counted]:
        for finding in result.findings[:LISTED]:
            yield from shown(finding)
        if len(result.findings) > LISTED:
            yield f"  ... and {len(result.findings) - LISTED} more in {result.module}"
    for row in old:
        yield f"  stale: nothing differs any more at {row.module} {row.what} ({row.reason})"
    for name, reason in LEFT_OUT.items():
        yield f"  left out: {name} ({reason})"
    if "implicit" not in columns:
        yield "  implicit=True: not available"


def save(
    path: Path,
    results: list[Result],
    counted: list[Result],
    totals: dict[str, Any],
    title: str,
    whole: bool,
) -> None:
    """Write all of it as JSON. whole: whether nothing was left out by options."""
    path.parent.mkdir(parents=True, exist_ok=True)
    halves = {"unchanged": [*map(record, results)], "reached": [*map(record, counted)]}
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    about = {"python": title, "date": date, "whole": whole}
    path.write_text(json.dumps({**about, "totals": totals, **halves}, indent=1))


def keep(folder: Path, path: Path) -> None:
    """Keep the totals of the last whole run of each version, for the report of the project."""
    kept = json.loads(path.read_text())["versions"] if path.exists() else {}
    for content in contents(folder):
        if content.get("whole"):
            kept[content["python"]] = {"date": content["date"], "totals": content["totals"]}
    path.write_text(json.dumps({"versions": kept}, indent=1) + "\n")


def contents(folder: Path) -> Iterable[dict[str, Any]]:
    """What was saved of each version."""
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]


def record(result: Result) -> dict[str, Any]:
    """What is kept of a module: everything but the outcomes that do not differ."""
    runs = {"native": result.native, **result.runs}
    return {
        "module": result.module,
        "tests": result.tests,
        "flaky": sorted(result.flaky),
        "endings": {column: run.ending for column, run in runs.items()},
        "seconds": {column: run.seconds for column, run in runs.items()},
        "counts": {column: run.counts for column, run in runs.items()},
        "findings": [
            {**asdict(finding), "row": finding.row and finding.row.reason}
            for finding in result.findings
        ],
    }


def totals_table(folder: Path) -> Iterable[str]:
    """The totals of all versions that were run."""
    for content in contents(folder):
        verdict = "conforms" if passes(content["totals"]) else "DOES NOT CONFORM"
        figures = ", ".join(f"{name} {figure}" for name, figure in content["totals"].items())
        yield f"Python {content['python']} {verdict}: {figures}"
