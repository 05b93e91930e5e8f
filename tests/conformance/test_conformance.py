"""The conformance harness on a few quick modules: it passes if no call is lost, and notices lost
calls.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

RUN = Path(__file__).parent / "run.py"
QUICK = ("test_bisect", "test_graphlib", "test_textwrap", "test_augassign")

# Stand-ins for a context: one that runs everything natively, one in which a function of the
# library is another.
STAND_INS = """
from unittest import mock

class Dropping:
    def __init__(self, *tables):
        pass

    def __call__(self, f, *args):
        return f(*args)

class Changing(Dropping):
    def __call__(self, f, *args):
        with mock.patch("test.test_textwrap.dedent", str.upper):
            return f(*args)

class Crashing(Dropping):
    def __call__(self, f, *args):
        import os, signal
        os.kill(os.getpid(), signal.SIGSEGV)
"""


def conformance(folder: Path, *arguments: str) -> tuple[int, dict[str, Any], str]:
    """The exit code, the JSON file and the printed table of a run."""
    (folder / "stand_ins.py").write_text(STAND_INS)
    report = folder / "report.json"
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, str(RUN), *arguments, "--json", str(report)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
    )
    assert report.exists(), done.stderr
    return done.returncode, json.loads(report.read_text()), done.stdout


def findings(report: dict[str, Any], half: str) -> dict[str, tuple[str, str]]:
    """The findings, by difference: natively, and in the context."""
    return {
        finding["what"]: (finding["native"], finding["found"])
        for result in report[half]
        for finding in result["findings"]
    }


def test_quick_modules_are_unchanged_and_their_functions_are_reached(tmp_path: Path):
    code, report, printed = conformance(tmp_path, *QUICK)
    assert findings(report, "unchanged") == findings(report, "reached") == {}
    assert code == 0
    assert {result["module"] for result in report["unchanged"]} == set(QUICK)
    assert all(result["tests"] > 5 for result in report["unchanged"])
    [graphlib, textwrap] = report["reached"]
    added = graphlib["counts"]["context"]["graphlib:TopologicalSorter.add"]
    assert added == graphlib["counts"]["native"]["graphlib:TopologicalSorter.add"] > 100
    assert textwrap["counts"]["context"]["textwrap:dedent"] > 10
    assert "test_graphlib" in printed


def test_a_context_that_drops_everything_is_unchanged_but_not_reached(tmp_path: Path):
    code, report, printed = conformance(
        tmp_path, "test_graphlib", "--context", "stand_ins:Dropping"
    )
    assert code == 1
    assert findings(report, "unchanged") == {}
    native, found = findings(report, "reached")["graphlib:TopologicalSorter.add"]
    assert int(native.removesuffix(" calls")) > 100
    assert found == "0 calls"
    assert report["totals"]["functions exact (context)"] == 0
    assert "DIFFERS" in printed


def test_a_changed_outcome_is_found(tmp_path: Path):
    code, report, _ = conformance(
        tmp_path, "test_textwrap", "--half", "unchanged", "--context", "stand_ins:Changing"
    )
    assert code == 1
    changed = findings(report, "unchanged")
    assert changed["DedentTestCase.test_dedent_even"] == ("ok", "fail")
    assert "WrapTestCase.test_simple" not in changed


def test_a_crash_is_a_failure_whatever_is_explained(tmp_path: Path):
    code, report, printed = conformance(
        tmp_path, "test_bisect", "--half", "unchanged", "--context", "stand_ins:Crashing"
    )
    assert code == 1
    assert report["totals"]["crashes"] == 1
    assert findings(report, "unchanged") == {"(the whole run)": ("ended", "signal SIGSEGV")}
    assert "CRASH" in printed


def test_totals_of_whole_runs_are_kept_and_others_leave_them(tmp_path: Path):
    kept, runs = tmp_path / "kept.json", tmp_path / "runs"
    runs.mkdir()

    def keep(**saved: dict[str, Any]) -> dict[str, Any]:
        for version, content in saved.items():
            (runs / f"{version}.json").write_text(json.dumps({"python": version, **content}))
        code = "import pathlib, report, sys; report.keep(*map(pathlib.Path, sys.argv[1:]))"
        command = [sys.executable, "-c", code, str(runs), str(kept)]
        subprocess.run(command, check=True, cwd=RUN.parent)
        return json.loads(kept.read_text())["versions"]

    whole = {"date": "2000-01-02", "totals": {"modules": 9}}
    assert keep(one={**whole, "whole": True}) == {"one": whole}
    part = {"date": "2000-01-03", "totals": {"modules": 1}, "whole": False}
    assert keep(one=part, two={**whole, "whole": True}) == {"one": whole, "two": whole}
