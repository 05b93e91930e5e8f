"""The report as a page in Markdown."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from report.lines import MISSED, REACHED, UNKNOWN, WITHIN, Found, Line, shown
from report.runs import in_order

__all__ = ["Report", "page"]

WIDTH = 100
HEAD = """# Report

For readers who want measurements of the project's claims, compared with its peers and its targets.
`make report` measures them and writes this page. Most figures are ratios to a peer that is measured
in the same run and process, in alternating rounds: 1.00 is the speed of the peer, more is slower.
By default the fastest runs are compared. *Median* is that of the rounds' ratios, *spread* half the
distance between their quartiles, and *noise* the difference between two equal programs. If the
machine does other work, a run says little beyond its spread. The [glossary](glossary.md) defines
the terms."""
QUICK = (
    "**This was a quick run, which shows that everything works: its figures say nothing. No page "
    "quotes them.**"
)
ALWAYS = ("Targets: met and missed", "Regressions", "Not measured here")
"""The parts that are written again for each report."""
TRIED = {
    "levels": (
        *("Three levels", "kinds"),
        "The share of random programs that each level of inversion answers ([Potential and "
        "limits](potential_and_limits.md)).",
    ),
    "fuzz": ("Fuzzing", "kinds", "Random programs, tables, edits, files and command lines."),
    "soak": ("Soak", "parts", "Load equal to hours of use."),
    "mutation": ("Mutation testing", "cores", "Faults inserted into the code, one at a time."),
    "coverage": ("Coverage", "packages", "The lines and branches that the tests run."),
    "derivative_coverage": (
        *("Coverage of derivatives", "lists"),
        "The functions that autograd and JAX differentiate: the share that is right in all forms.",
    ),
    "derivative_programs": (
        *("Programs of others, differentiated", "runs"),
        "Functions that were not written for this package: the number with right derivatives "
        "at two points in each mode, at the first trial and now. The others are refused by "
        "name.",
    ),
    "programs_to_invert": (
        *("Programs of others, inverted", "runs"),
        "Programs from textbooks, standards and published code, in the style of their "
        "fields: the outcomes at the first trial and now.",
    ),
    "tests": ("Tests", "runs", "`make test`, on the Pythons listed."),
    "packages": (
        *("Packages of others", "packages"),
        "The tests of packages from PyPI, natively and under `pytest --overlay`.",
    ),
    "fresh_clone": ("Fresh clones", "commands", "The first command on a fresh clone."),
    "gpu": ("Kernels", "kernels", "On a GPU, by `make gpu-check`."),
}
UNITS = {"seconds": "seconds", "ratio": "times"}  # of floats that are no shares
LARGE_SPREAD = 0.5  # of a figure that says little


@dataclass(frozen=True)
class Report:
    """Contents of the page.

    run: machine, versions, date. figures: by benchmark. found: by line, the measurement or why
    there is none. before: the lines of the last report, or why it cannot be compared with. failed:
    the reason, by failed benchmark. pictures: files, by benchmark. last: the page of the last
    report, whose parts stand where this run has none. again: whether the last report is of this
    run, and has its regressions.
    """

    run: Mapping[str, Any]
    figures: Mapping[str, Any]
    lines: Sequence[Line]
    found: Mapping[str, Found | str]
    before: Mapping[str, Found] | str
    failed: Mapping[str, str]
    pictures: Mapping[str, str]
    last: str = ""
    again: bool = False


def page(report: Report) -> str:
    """The whole page."""
    head = [HEAD, *about(report), *targets(report), *changes(report)]
    blocks: list[str] = []
    for bench in in_order(report.figures):
        part = report.figures[bench].get("page")
        blocks += of_part(report, bench, part) if part else []
    blocks += [*conformance(report), *random_programs(report)]
    for name, words in TRIED.items():
        if name in report.figures:
            blocks += tried(report, report.figures[name], *words)
    parts = with_last(parts_of("\n\n".join(blocks)), report.last)
    return "\n\n".join([*head, *parts, *others(report, parts)]) + "\n"


def parts_of(text: str) -> dict[str, str]:
    """The parts of a page, by their titles."""
    found = (f"## {each.strip()}" for each in f"\n{text}".split("\n## ")[1:])
    return {each.partition("\n")[0].removeprefix("## "): each for each in found}


def with_last(parts: Mapping[str, str], last: str) -> list[str]:
    """The parts of this run in the order of the last page, with the parts of that page which this
    run has not, each with its day."""
    date = last.partition("\n\n20")[2].partition(",")[0]
    before = {name: each for name, each in parts_of(last).items() if name not in ALWAYS}
    found = [
        parts[name] if name in parts else dated(each, f"20{date}") for name, each in before.items()
    ]
    return [*found, *(each for name, each in parts.items() if name not in before)]


def dated(part: str, date: str) -> str:
    """A part of an earlier report with its day."""
    head, _, rest = part.partition("\n\n")
    return part if rest.startswith("Measured on ") else f"{head}\n\nMeasured on {date}.\n\n{rest}"


def filled(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def table(rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """A table; the first ``words`` columns are text, the others figures."""
    head, *body = ([cell.replace("|", "\\|") for cell in row] for row in rows)
    rule = [*["---"] * words, *["---:"] * (len(head) - words)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *body))


# ---- the head --------------------------------------------------------------------------------


def about(report: Report) -> Iterator[str]:
    run = report.run
    known = run["versions"]
    versions = ", ".join(f"{name} {v}" for name, v in known.items() if v != "-")
    machine = f"{run['processor']}, {run['cores']} cores, {run['system']}"
    minutes = f"{run['seconds'] / 60:.0f} minutes"
    load = f"load of each core at the start {run['load']:.1f}"
    yield filled(f"{run['date']}, in {minutes}, {load}: {machine}. {run['python']}, {versions}.")
    if run["quick"]:
        yield filled(QUICK)
    missing = [name for name, v in known.items() if v == "-"]
    if missing:
        yield filled(f"Not installed, so not measured: {', '.join(missing)}.")
    if report.failed:
        yield "\n".join(
            ["Not measured:", "", *(f"- `{name}`: {why}" for name, why in report.failed.items())]
        )


def targets(report: Report) -> Iterator[str]:
    """The lines with a limit."""
    asked = [line for line in report.lines if line.asked]
    verdicts = [line.verdict(report.found[line.name]) for line in asked]
    kinds = (REACHED, WITHIN, MISSED, UNKNOWN)
    counts = ", ".join(f"{verdicts.count(v)} {v}" for v in kinds if v in verdicts)
    yield "## Targets: met and missed"
    yield filled(
        f"Limits that were set before the work: {counts}. If a figure combines several cases, "
        "*cases* gives the least and the most of them."
    )
    head = ("part", "measure", "target", "measured", "cases", "spread", "")
    yield table([head, *map(row_of_target, asked, [report.found[a.name] for a in asked])], 2)


def row_of_target(line: Line, found: Found | str) -> Sequence[str]:
    what = (line.part, anchored(line), line.asked_shown)
    if isinstance(found, str):
        return (*what, "-", "-", "-", found)
    return (*what, *figures_of(line, found), line.verdict(found))


def anchored(line: Line) -> str:
    return f'<a id="{line.name}"></a>{line.text}'


def figures_of(line: Line, found: Found) -> Sequence[str]:
    several = found.cases > 1 and line.unit not in ("count",)
    ends = [shown(value, line.unit) for value in (found.least, found.most)]
    spread = f"{found.spread:.1%}" if found.spread else "-"
    return (shown(found.value, line.unit), " to ".join(ends) if several else "-", spread)


def changes(report: Report) -> Iterator[str]:
    """The lines that got worse since the stored report."""
    if report.again:
        yield parts_of(report.last)["Regressions"]
        return
    yield "## Regressions"
    if isinstance(report.before, str):
        yield filled(report.before)
        return
    rows = [("what", "before", "now", "spread")]
    for line in report.lines:
        now, before = report.found[line.name], report.before.get(line.name)
        if isinstance(now, Found) and before and now.worse_than(before, line.more):
            share = max(now.noise, before.noise)
            values = (shown(each.value, line.unit) for each in (before, now))
            rows.append((f"[{line.text}](report.md#{line.name})", *values, f"{share:.1%}"))
    compared = sum(
        name in report.before for name, f in report.found.items() if not isinstance(f, str)
    )
    worse = f"{len(rows) - 1} of {compared} lines"
    if len(rows) == 1:
        worse = f"None of {compared} lines"
    yield filled(
        f"{worse} got worse by more than the spread since the last report. The spread counts as at "
        "least 2 %, and as 10 % for figures that are measured once in a run."
    )
    if len(rows) > 1:
        yield table(rows)
    if wide := [line for line in report.lines if spreads(report.found[line.name])]:
        names = ", ".join(f"[{line.text}](report.md#{line.name})" for line in wide)
        yield filled(f"Figures with a spread above {LARGE_SPREAD:.0%}, which say nothing: {names}.")


def spreads(found: Found | str) -> bool:
    """Whether a figure varied so much within the run that it is uninformative."""
    return isinstance(found, Found) and found.spread > LARGE_SPREAD


# ---- the parts -------------------------------------------------------------------------------


def of_part(report: Report, bench: str, part: Mapping[str, Any]) -> Iterator[str]:
    """The part of one benchmark."""
    yield f"## {part['title']}"
    yield filled(part["text"])
    yield from figures(report, part["title"])
    if bench in report.pictures:
        alternative = f"Chart of the measurements below: {part['title']}"
        yield f"![{alternative}](report/{report.pictures[bench]})"
    for section in part["sections"]:
        yield f"### {section['title']}"
        if section["text"]:
            yield filled(section["text"])
        if section["rows"]:
            yield table(section["rows"])
        if section["lines"]:
            yield "\n".join(f"- {line}" for line in section["lines"])


def figures(report: Report, part: str) -> Iterator[str]:
    """The lines of a part without a limit."""
    rows = [("in short", "measured", "cases", "spread")]
    for line in report.lines:
        if line.part == part and not line.asked:
            now = report.found[line.name]
            found = (now, "-", "-") if isinstance(now, str) else figures_of(line, now)
            rows.append((anchored(line), *found))
    if len(rows) > 1:
        yield table(rows)


def conformance(report: Report) -> Iterator[str]:
    kept = report.figures.get("conformance")
    if kept is None:
        return
    yield "## Conformance"
    yield filled(
        "CPython's own tests in a context, on each version. `make conformance` takes too "
        "long for this report: these are the counts of its last complete run, with its date. "
        "[Conformance](conformance.md) says what is compared."
    )
    yield from figures(report, "Conformance")
    names = list(
        dict.fromkeys(name for each in kept["versions"].values() for name in each["totals"])
    )
    rows = [("", *names, "of")]
    for python, each in kept["versions"].items():
        counts = (f"{each['totals'].get(name, '-')}" for name in names)
        rows.append((f"CPython {python}", *counts, each["date"]))
    yield table(rows)


def random_programs(report: Report) -> Iterator[str]:
    kept = report.figures.get("random_programs")
    if kept is None:
        return
    yield "## Random programs"
    yield filled(
        f"{kept['about']} They were run on {kept['date']} by {kept['by']}, since they take too "
        "long for this report. [Potential and limits](potential_and_limits.md) discusses the "
        "results."
    )
    yield from figures(report, "Random programs")
    shares = ("inverted", "answered", "own arguments found again", "random θ answered")
    timed = [
        (what, which) for what in ("to invert", "to compile") for which in ("median", "longest")
    ]
    rows = [
        (
            *("programs", "tried", "with a value", *shares, "wrong answers"),
            *(f"{what}: {which}" for what, which in timed),
        )
    ]
    for kind, row in kept["kinds"].items():
        of_value = (shown(row[name], "share") if name in row else "-" for name in shares)
        times = (shown(row[a][b], "seconds") if a in row else "-" for a, b in timed)
        counted = (f"{row[name]:,}" if name in row else "-" for name in ("tried", "with a value"))
        rows.append((kind, *counted, *of_value, str(row["wrong"]), *times))
    yield table(rows)


def tried(
    report: Report, kept: Mapping[str, Any], title: str, key: str, text: str
) -> Iterator[str]:
    """Counts that take too long for the report."""
    yield f"## {title}"
    yield filled(f"{text} Measured on {kept['date']}, since it takes too long for this report.")
    yield from figures(report, title)
    rows = {row: counts(each) for row, each in kept[key].items()}
    names = list(dict.fromkeys(name for each in rows.values() for name in each))
    body = ((row, *(each.get(name, "-") for name in names)) for row, each in rows.items())
    yield table([("", *names), *body])


def counts(each: Mapping[str, Any]) -> dict[str, str]:
    """Numbers and words unchanged, shares as percentages, and the lengths of lists of failures."""
    found = {}
    for name, value in each.items():
        if isinstance(value, list) and name != "memory":
            found[name] = f"{len(value):,}"
        elif isinstance(value, float):
            found[name] = shown(value, UNITS.get(name, "share"))
        elif isinstance(value, int):
            found[name] = f"{value:,}"
        elif isinstance(value, str):
            found[name] = value
    return found


def others(report: Report, parts: Sequence[str]) -> Iterator[str]:
    """Lines that stand in no part, as they could not be measured here."""
    there = "\n\n".join(parts)
    rows = [("part", "what", "")]
    for line in report.lines:
        if f'<a id="{line.name}">' not in there and not line.asked:
            rows.append((line.part, anchored(line), str(report.found[line.name])))
    if len(rows) > 1:
        yield "## Not measured here"
        yield table(rows, 2)
