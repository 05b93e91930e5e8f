"""Comparison of the runs of a module; it says which differences are explained."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from explained import Row
from outcomes import SKIPPED, WHOLE, Run, differences


@dataclass(frozen=True)
class Finding:
    """One difference. row: its explanation, if there is one."""

    module: str
    what: str
    native: str
    found: str
    detail: str = ""
    row: Row | None = None


@dataclass
class Result:
    """The outcome of one module in one half. flaky: tests that differ between native runs.
    natively: how often each function started in further native runs."""

    module: str
    native: Run
    context: Run | None = None
    flaky: set[str] = field(default_factory=set)
    natively: list[dict[str, int]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def skipped(self) -> bool:
        """Whether the module refuses to run here."""
        return self.native.ending.startswith(SKIPPED)

    @property
    def tests(self) -> int:
        """The number of outcomes of the native run, subtests included."""
        return sum(map(len, self.native.outcomes.values()))

    @property
    def unexplained(self) -> list[Finding]:
        """The differences that are not explained."""
        return [finding for finding in self.findings if finding.row is None]


def outcomes_differ(result: Result) -> list[Finding]:
    """Each test with another outcome in a context than natively, except flaky ones."""
    if result.context is None:
        return []
    return [
        Finding(result.module, found.test, found.native, found.found, found.detail)
        for found in differences(result.native, result.context)
        if found.test not in result.flaky
    ]


def counts_differ(result: Result) -> list[Finding]:
    """Each function that a context saw more or less often than it started in any native run: code
    that sorts by addresses, or uses them as keys, does not start it equally often each time.
    """
    findings = list[Finding]()
    for name, native in result.native.counts.items():
        if native == 0:
            detail = "the tests of this module do not call it: a mistake in the list"
            findings.append(Finding(result.module, name, "0 calls", "", detail))
        counted = None if result.context is None else result.context.counts.get(name)
        if counted != native and all(counted != again.get(name) for again in result.natively):
            shown = "not counted" if counted is None else f"{counted} calls"
            findings.append(Finding(result.module, name, f"{native} calls", shown))
    return findings


def explain(findings: Iterable[Finding], rows: list[Row], version: str) -> list[Finding]:
    """The differences, each with the row that explains it. Nothing explains a crash or a time
    limit.
    """
    rows = [row for row in rows if version in row.versions.split()]
    return [
        finding
        if finding.what == WHOLE
        else Finding(
            **{
                **vars(finding),
                "row": next((r for r in rows if r.holds(finding.module, finding.what)), None),
            }
        )
        for finding in findings
    ]


def stale(results: list[Result], rows: list[Row], version: str) -> list[Row]:
    """The rows for this version that explain nothing, although their modules were run."""
    used = {id(finding.row) for result in results for finding in result.findings}
    run = {result.module for result in results if result.context is not None}
    return [
        row
        for row in rows
        if version in row.versions.split()
        and row.module in run
        and not row.sometimes
        and id(row) not in used
    ]
