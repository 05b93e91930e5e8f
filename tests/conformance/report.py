"""The table of a conformance run, and its totals over the versions."""

import datetime
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from explained import NOT_COUNTED, Row
from judge import Finding, Result

SHARE = 0.99  # of the modules have no difference at all
LISTED = 20  # differences shown of one module; the others are in the JSON file
DETAIL = 300  # characters shown of an exception or a log


def cell(result: Result) -> str:
    """The row of the first half for a module."""
    if result.context is None:
        return "-"
    if result.context.crashed:
        return "CRASH"
    findings = result.findings
    if not findings:
        return "same"
    explained = sum(f.row is not None for f in findings)
    parts = [f"{explained} explained"] if explained else []
    parts += [f"{len(findings) - explained} DIFFER"] if explained < len(findings) else []
    return ", ".join(parts)


def unchanged_table(results: list[Result]) -> Iterable[str]:
    """The first half: a line for each module."""
    yield f"{'unchanged: module':48}{'outcomes':>9}{'seconds':>9}   never-reached table"
    for result in results:
        if result.skipped:
            yield f"{result.module:48}  {result.native.ending}"
            continue
        flaky = f"flaky: {', '.join(sorted(result.flaky))}" if result.flaky else ""
        size = f"{result.tests:9}{result.native.seconds:9.1f}"
        yield f"{result.module:48}{size}   {cell(result):26}{flaky}".rstrip()


def reached_table(results: list[Result]) -> Iterable[str]:
    """The second half: a line for each function."""
    yield f"{'reached: function':64}{'natively':>11}{'reached':>11}"
    for result in results:
        odd = {f.what: f for f in result.findings}
        for name, native in result.native.counts.items():
            counted = "none" if result.context is None else result.context.counts.get(name, "none")
            line = f"{name:64}{native:11}{counted:>11}"
            finding = odd.get(name)
            if finding is not None:
                line += " explained" if finding.row else " DIFFERS"
            yield line


def shown(finding: Finding) -> Iterable[str]:
    """One difference, with its reason if it has one."""
    mark = "explained" if finding.row else "DIFFERS"
    what = f"{finding.module} {finding.what}"
    yield f"  {mark} {what}: {finding.native} -> {finding.found}"
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
        "the same (context)": sum(not result.findings for result in run),
        "outcomes": sum(result.tests for result in run),
        "functions": len(functions),
        "functions exact (context)": _exact(counted, functions),
        "calls missed": sum(missed(result) for result in counted),
        "explained": sum(len(r.findings) - len(r.unexplained) for r in everything),
        "unexplained": sum(len(r.unexplained) for r in everything),
        "crashes": sum(r.context is not None and r.context.crashed for r in everything),
    }


def _exact(counted: list[Result], functions: set[str]) -> int:
    """The number of functions of which a context sees each call."""
    return len(functions - {f.what for result in counted for f in result.findings})


def missed(result: Result) -> int:
    """The number of calls that the context did not see, explained or not."""
    if result.context is None:
        return 0
    differ, seen = {finding.what for finding in result.findings}, result.context.counts
    counted = result.native.counts.items()
    return sum(max(n - seen.get(name, 0), 0) for name, n in counted if name in differ)


def passes(totals: dict[str, Any]) -> bool:
    """Whether a version conforms."""
    enough = totals["the same (context)"] >= SHARE * totals["modules"]
    return enough and not totals["unexplained"] and not totals["crashes"]


def lines(results: list[Result], counted: list[Result], old: list[Row]) -> Iterable[str]:
    """The whole report of one version."""
    if results:
        yield from unchanged_table(results)
    if counted:
        yield ""
        yield from reached_table(counted)
    for result in [*results, *counted]:
        for finding in result.findings[:LISTED]:
            yield from shown(finding)
        if len(result.findings) > LISTED:
            yield f"  ... and {len(result.findings) - LISTED} more in {result.module}"
    for row in old:
        yield f"  stale: nothing differs any more at {row.module} {row.what} ({row.reason})"
    if counted:
        for name, reason in NOT_COUNTED.items():
            yield f"  left out where functions are counted: *{name}* ({reason})"


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
    """Store the totals of the last whole run of each version, for the report of the project."""
    kept = json.loads(path.read_text())["versions"] if path.exists() else {}
    for content in contents(folder):
        if content.get("whole"):
            kept[content["python"]] = {"date": content["date"], "totals": content["totals"]}
    path.write_text(json.dumps({"versions": kept}, indent=1) + "\n")


def contents(folder: Path) -> Iterable[dict[str, Any]]:
    """The saved results of each version."""
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]


def record(result: Result) -> dict[str, Any]:
    """The stored record of a module: everything except outcomes that do not differ."""
    runs = {"native": result.native}
    if result.context is not None:
        runs["context"] = result.context
    return {
        "module": result.module,
        "tests": result.tests,
        "flaky": sorted(result.flaky),
        "endings": {name: run.ending for name, run in runs.items()},
        "seconds": {name: run.seconds for name, run in runs.items()},
        "counts": {name: run.counts for name, run in runs.items()},
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
