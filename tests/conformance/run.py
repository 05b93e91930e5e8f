"""Runs modules of CPython's own test suite natively and in a context, and compares.

    python tests/conformance/run.py [MODULE ...] [--half unchanged|reached]

The first half compares each test's outcome; the second, how often library functions start.
With ``--context operators_met:context`` each operator is a target, for types that never come.
Exits with 1 where a difference is not explained (see explained.py), a run crashed, or too few
modules are without any difference. Another package than the installed one is tested by putting
its directory first on PYTHONPATH.
"""

import argparse
import importlib
import platform
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import explained
import judge
import lists
import report
from judge import Result
from process import Options, run_once

BUILD = Path(__file__).parents[2] / "build" / "conformance"
VERSION = ".".join(platform.python_version_tuple()[:2])
NATIVE_AGAIN = 2  # further native runs where something differs
COUNT_AGAIN = 8  # where a count does: some depend on addresses


def unchanged(options: Options, name: str, module: str) -> Result:
    """Run a module natively and in a context.

    Where something differs the native run is repeated: what differs between native runs is
    flaky, and says nothing about contexts.
    """
    result = Result(name, run_once(options, module, "native"))
    if result.skipped:
        return result
    result.context = run_once(options, module, "context")
    if judge.outcomes_differ(result):
        for _ in range(NATIVE_AGAIN):
            again = run_once(options, module, "native")
            result.flaky |= {found.test for found in judge.differences(result.native, again)}
    result.findings = judge.explain(judge.outcomes_differ(result), explained.UNCHANGED, VERSION)
    return result


def reached(options: Options, name: str, module: str) -> Result:
    """Count the starts of the functions listed for a module, natively and in a context; if they
    differ, natively once more.
    """
    targets = tuple(lists.REACHED[name].split())
    result = Result(name, run_once(options, module, "native", targets))
    if result.skipped:
        return result
    result.context = run_once(options, module, "context", targets)
    for _ in range(COUNT_AGAIN):
        if not judge.counts_differ(result):
            break
        result.natively.append(run_once(options, module, "native", targets).counts)
    findings = [*judge.counts_differ(result), *judge.outcomes_differ(result)]
    result.findings = judge.explain(findings, explained.REACHED, VERSION)
    return result


def arguments() -> argparse.Namespace:
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", help="names as in lists.py; all if none are given")
    parser.add_argument("--half", choices=("unchanged", "reached"), help="this half alone")
    parser.add_argument("--context", default="overlay:Context", metavar="MODULE:NAME")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one run")
    parser.add_argument("--workers", type=int, default=2, help="runs at a time")
    parser.add_argument("--json", type=Path, default=BUILD / f"{VERSION}.json")
    parser.add_argument("--totals", action="store_true", help="show the last runs' totals, no more")
    parser.add_argument(
        "--keep", type=Path, metavar="FILE", help="with --totals: those of whole runs"
    )
    return parser.parse_args()


def each(
    task: Callable[[Options, str, str], Result], options: Options, names: list[str], workers: int
) -> list[Result]:
    """Do a task for each of these modules, some at a time."""
    places = lists.modules()
    unknown = [name for name in names if name not in places]
    if unknown:
        raise SystemExit(f"not in lists.py, or not in this version: {' '.join(unknown)}")
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda name: task(options, name, places[name]), names))


def conformance(asked: argparse.Namespace) -> int:
    """Run the requested modules, print and save the report; return the exit code."""
    start = time.monotonic()
    options = Options(asked.context, asked.limit)
    names = asked.modules or list(lists.modules())
    results, counted = list[Result](), list[Result]()
    if asked.half != "reached":
        results = each(unchanged, options, names, asked.workers)
    if asked.half != "unchanged":
        listed = [name for name in names if name in lists.REACHED]
        counted = each(reached, options, listed, asked.workers)
    old = judge.stale(results, explained.UNCHANGED, VERSION)
    old += judge.stale(counted, explained.REACHED, VERSION)
    totals = report.summary(results, counted)
    where = importlib.import_module(asked.context.partition(":")[0]).__file__
    print(f"Python {platform.python_version()}, contexts of {where}")
    print(*report.lines(results, counted, old), sep="\n")
    figures = ", ".join(f"{name} {figure}" for name, figure in totals.items())
    print(f"{figures}; {time.monotonic() - start:.0f} s")
    everything = not asked.modules and not asked.half
    report.save(asked.json, results, counted, totals, platform.python_version(), everything)
    return 0 if report.passes(totals) else 1


def main() -> int:
    """The exit code: 1 where something does not conform."""
    asked = arguments()
    if asked.totals:
        print(*report.totals_table(BUILD), sep="\n")
        if asked.keep:
            report.keep(BUILD, asked.keep)
        return 0
    return conformance(asked)


if __name__ == "__main__":
    sys.exit(main())
