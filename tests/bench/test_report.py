"""The report is made from the output of benchmarks, and contains everything that other pages quote
from it.
"""

import ast
import functools
import importlib
import itertools
import json
import os
import platform
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCH = ROOT / "bench"
DOCS = ROOT / "docs"
LINES = tomllib.loads((BENCH / "report" / "lines.toml").read_text())
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
PACKAGES = ("overlay", "inversion", "primitives")
# those of the gallery are measured with it, beside their programs
MEASURED = ("report.md", "inverse_problems.md")
OTHERS = [page for page in PAGES if page.name not in MEASURED]
ELSEWHERE = {  # none, where nobody measured them
    *("gpu", "report", "fuzz", "soak", "mutation"),
    *("coverage", "fresh_clone", "levels", "packages", "tests"),
}
RUN = {
    "processor": "A processor",
    "cores": 4,
    "system": "A system 1.0",
    "python": "CPython 3.13.0",
    "versions": {"numba": "0.1", "absent": "-"},
    "date": "2000-01-02",
    "quick": False,
    "load": 0.1,
    "seconds": 61.0,
    "failed": {"inverses": "ValueError: too much"},
}


@pytest.fixture
def of_bench(monkeypatch: pytest.MonkeyPatch):
    """Imports modules of the benchmarks."""
    monkeypatch.syspath_prepend(BENCH)
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in ("common", "counts", "report"):
            del sys.modules[name]


def kernel(name: str, never: float, calls: int = 5):
    ratios = {"never": never, "reached": 2.0}
    spreads = {"never": 0.01, "reached": 0.01}
    row = {"kernel": name, "native": 0.01, "each": 1e-7, "by_hand": None, "spreads": spreads}
    return {**row, **ratios, "medians": ratios, "calls": calls, "native_calls": 5}


def python_engine(**kernels: float):
    """The figures of a benchmark, with its part of the page."""
    section = {
        "title": "Programs",
        "text": "What is measured.",
        "rows": [["case", "ratio"], ["a|b", "1.00"]],
        "lines": ["a remark"],
    }
    part = {"title": "Python engine", "text": "The peer.", "run": RUN, "sections": [section]}
    return {"kernels": [kernel(*each) for each in kernels.items()], "page": part}


def built(folder: Path, **kernels: float) -> str:
    """The page made from figures, in a folder in place of the project's; quotes in its README."""
    build, docs = folder / "build", folder / "docs"
    for path in (build, docs / "report"):
        path.mkdir(parents=True, exist_ok=True)
    (build / "run.txt").write_text(json.dumps(RUN))
    (build / "python_engine.json").write_text(json.dumps(python_engine(**kernels)))
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "report", "--write", "--build", build, "--docs", docs],
        cwd=BENCH,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert done.returncode == 1, done.stderr  # a benchmark had failed
    return (docs / "report.md").read_text()


def row_of(text: str, line: str) -> list[str]:
    [row] = re.findall(rf"^\|.*<a id=\"{line}\"></a>.*\|$", text, re.M)
    return [cell.strip() for cell in row.strip("|").split(" | ")]


def test_each_target_stands_in_the_page_and_those_of_other_runs_as_they_were(tmp_path: Path):
    (tmp_path / "README.md").write_text("[9.99 times](docs/report.md#python-never-worst)")
    text = built(tmp_path, fast=1.0, slow=1.6)
    assert sorted(re.findall(r'<a id="([\w-]+)">', text)) == sorted(LINES)
    worst = row_of(text, "python-never-worst")
    assert worst[2:] == ["at most 1.10", "1.60", "1.00 to 1.60", "1.0%", "MISSED"]
    assert row_of(text, "python-seen")[2:] == ["at most 0", "0", "-", "-", "reached"]
    last = (ROOT / "docs" / "report.md").read_text()
    assert row_of(text, "inverse-plan") == row_of(last, "inverse-plan")
    assert "\n## Inverses\n\nMeasured on 20" in text
    assert "\n## Python engine\n\nMeasured on 20" not in text
    assert row_of(text, "conformance-run")[-1] == "reached"  # by what is kept
    assert "`inverses`: ValueError: too much" in text
    assert "Not installed, so not measured: absent." in text
    assert "2000-01-02, in 1 minutes, load of each core at the start 0.1: A processor" in text
    assert "| case | ratio |\n| --- | ---: |\n| a\\|b | 1.00 |\n\n- a remark" in text
    assert (tmp_path / "README.md").read_text() == "[1.60 times](docs/report.md#python-never-worst)"
    picture = tmp_path / "docs" / "report" / "python_engine.svg"
    assert f"(report/{picture.name})" in text
    assert picture.stat().st_size < 100_000


def test_what_got_worse_by_more_than_its_spread_is_named(of_bench):
    found = of_bench("report.lines").Found
    before = found(2.0, 2.0, 2.0, 0.05, 1)
    assert not found(2.09, 2.0, 2.0, 0.01, 1).worse_than(before, more=False)
    assert found(2.11, 2.0, 2.0, 0.01, 1).worse_than(before, more=False)
    assert not found(2.11, 2.0, 2.0, 0.01, 1).worse_than(before, more=True)
    assert found(1.89, 2.0, 2.0, 0.01, 1).worse_than(before, more=True)
    once = found(2.0, 2.0, 2.0, 0.0, 1)
    assert not found(2.15, 2.0, 2.0, 0.0, 1).worse_than(once, more=False)
    assert found(1.0, 1.0, 1.0, 0.0, 1).worse_than(found(0.0, 0.0, 0.0, 0.0, 1), more=False)
    page, lines = of_bench("report.page"), of_bench("report.lines").lines()
    report = page.Report(
        run={},
        figures={},
        lines=lines,
        found={line.name: "not measured" for line in lines}
        | {"python-never": found(1.5, 1.0, 2.0, 0.01, 2), "python-sine": before}
        | {"python-classes": found(9.0, 9.0, 9.0, 2.0, 1)},
        before={"python-never": found(1.4, 1.0, 2.0, 0.01, 2), "python-sine": before},
        failed={},
        pictures={},
    )
    text = "\n".join(page.changes(report))
    assert "1 of 2 lines got worse" in text
    assert "(report.md#python-never) | 1.40 | 1.50 | 2.0% |" in text
    assert "which say nothing" in text
    assert "(report.md#python-classes)" in text


def test_a_report_that_is_written_again_keeps_its_regressions(of_bench):
    same_run = of_bench("report.__main__").same_run
    assert same_run({**RUN, "seconds": 62.0, "failed": {}}, RUN)
    assert not same_run({**RUN, "load": 0.2}, RUN)
    page, lines = of_bench("report.page"), of_bench("report.lines")
    found = lines.Found(1.5, 1.5, 1.5, 0.01, 1)
    report = page.Report(
        run=RUN,
        figures={},
        lines=[line for line in lines.lines() if line.name == "python-never"],
        found={"python-never": found},
        before={"python-never": found},
        failed={},
        pictures={},
        last="2000-01-02, in 1 minutes\n\n## Regressions\n\n1 of 9 lines\n\n## Kernels\n\nNone",
        again=True,
    )
    assert list(page.changes(report)) == ["## Regressions\n\n1 of 9 lines"]


@pytest.mark.parametrize(
    ("value", "spread", "verdict"),
    [
        (1.0, 0.0, "reached"),
        (1.04, 0.05, "within spread"),
        (1.2, 0.05, "MISSED"),
        (1.2, 5.0, "MISSED"),  # a run that spreads so says nothing that excuses
    ],
)
def test_a_figure_is_excused_by_its_spread_up_to_a_tenth(of_bench, value, spread, verdict):
    module = of_bench("report.lines")
    line = module.Line("a", "part", "text", "python_engine", "never", asked="at most 1.0")
    assert line.verdict(module.Found(value, value, value, spread, 1)) == verdict


def test_quotes_are_as_exact_as_they_stand(of_bench):
    module = of_bench("report.quotes")
    figures = {"a": module.Figure(0.00371, 0.0012, 1234.5)}
    for stands, right in (
        ("9.9 ms", "3.7 ms"),
        ("1 µs", "3,710 µs"),
        ("0.1 to 9", "0.0 to 1,234"),
        ("no figure", "no figure"),
        ("12.5 %", "0.4 %"),
    ):
        assert module.renewed(f"[{stands}](report.md#a)", figures) == f"[{right}](report.md#a)"
    assert module.renewed("[1](report.md#other)", figures) == "[1](report.md#other)"


def test_a_quote_that_was_negative_once_is_renewed_with_its_sign(of_bench):
    quotes = of_bench("report.quotes")
    below = {"line": quotes.Figure(3e-9, -1_499e-9, 594e-9)}
    above = {"line": quotes.Figure(100e-9, 8e-9, 268e-9)}
    page = "[8 to 268 ns](report.md#line)"
    assert quotes.renewed(page, below) == "[-1,499 to 594 ns](report.md#line)"
    assert quotes.renewed(quotes.renewed(page, below), below) == quotes.renewed(page, below)
    assert quotes.renewed(quotes.renewed(page, below), above) == page


def test_each_variant_runs_after_each_other_one(of_bench):
    ran: list[str] = []
    variants = {name: functools.partial(ran.append, name) for name in "abc"}
    times = of_bench("common.timing").interleaved(variants, rounds=20)
    assert {name: len(each) for name, each in times.items()} == dict.fromkeys("abc", 20)
    rounds = zip(*[iter(ran[3:])] * 3, strict=True)
    assert all(sorted(each) == ["a", "b", "c"] for each in rounds)
    assert set(itertools.permutations("abc", 2)) <= set(itertools.pairwise(ran[3:]))


def test_a_benchmark_that_fails_is_named_and_loses_no_other(of_bench, tmp_path: Path, monkeypatch):
    runs = of_bench("report.runs")
    writes = "import pathlib, sys; pathlib.Path(sys.argv[-1]).write_text('{}')"
    programs = {
        "raises": "raise ValueError('/some/where/a.json: 1/2 is too much')",
        "works": writes,
        "writes_nothing": "",
        "is_void": f"{writes}; sys.exit('void')",
    }
    for name, program in programs.items():
        (tmp_path / f"{name}.py").write_text(program)
    monkeypatch.setattr(runs, "BENCHMARKS", tmp_path)
    assert runs.in_order(["works", "growth", "raises", "dispatch"]) == [
        *("dispatch", "growth", "raises", "works")
    ]
    failed = runs.run_all([*programs, "absent"], tmp_path / "build", quick=True)
    assert "absent.py" in failed.pop("absent")
    assert failed == {
        "raises": "ValueError: a.json: 1/2 is too much",
        "writes_nothing": "wrote no figures",
        "is_void": "void",
    }
    assert not (tmp_path / "build" / "is_void.json").exists()
    assert (tmp_path / "build" / "works.json").exists()


def test_a_benchmark_that_takes_too_long_is_ended_and_what_it_wrote_stands(
    of_bench, tmp_path: Path, monkeypatch
):
    runs = of_bench("report.runs")
    program = "import pathlib, sys, time; pathlib.Path(sys.argv[-1]).write_text('{}')"
    (tmp_path / "slow.py").write_text(f"{program}; time.sleep(600)")
    monkeypatch.setattr(runs, "BENCHMARKS", tmp_path)
    figures = tmp_path / "build" / "slow.json"

    class Late(subprocess.Popen[str]):
        def wait(self, timeout: float | None = None) -> int:
            if timeout is None:
                return super().wait()
            while not (figures.exists() and figures.read_text()):
                time.sleep(0.01)
            raise subprocess.TimeoutExpired(self.args, timeout)

    monkeypatch.setattr(subprocess, "Popen", Late)
    monkeypatch.setattr(runs, "EACH", 2.0)
    failed = runs.run_all(["slow"], tmp_path / "build", quick=True)
    assert failed == {"slow": "took longer than 2 s, what it had measured by then stands"}
    assert figures.read_text() == "{}"


def test_what_takes_longer_than_the_report_is_counted_in_it(of_bench):
    page, lines = of_bench("report.page"), of_bench("report.lines")
    looks = [{"megabytes": size} for size in (10.0, 20.0, 20.5)]
    figures = {
        "fuzz": {"date": "2000-01-02", "kinds": {"edits": {"cases": 1200, "failed": [{}]}}},
        "soak": {"date": "2000-01-02", "parts": {"threads": {"calls": 9, "memory": looks}}},
        "mutation": {"cores": {"a": {"mutants": 9, "equivalent": 1, "killed": 4}}},
    }
    found = {line.name: lines.found(line, figures) for line in lines.lines()}
    names = ("fuzz-cases", "fuzz-failed", "soak-calls", "soak-growth", "mutation-killed")
    assert [found[name].value for name in names] == [1200, 1, 9, 0.5, 0.5]
    report = page.Report({}, figures, lines.lines(), found, {}, {}, {})
    text = "\n".join(page.tried(report, figures["fuzz"], *page.TRIED["fuzz"]))
    assert "Measured on 2000-01-02, " in text
    assert "| edits | 1,200 | 1 |" in text


def test_coverage_is_kept_by_package_and_stands_in_the_page(of_bench, tmp_path: Path):
    def module(lines: int, branches: int):
        summary = {"covered_lines": lines, "num_statements": 10}
        branched = {"covered_branches": branches, "num_branches": 4}
        return {"summary": {**summary, **branched}, "missing_lines": [3, 4, 5]}

    files = {
        "overlay/a.py": module(9, 4),
        "overlay/b.py": module(7, 2),
        "inversion/c.py": module(10, 1),
    }
    measured = {"meta": {"timestamp": "2000-01-02T03:04:05"}, "files": files}
    (tmp_path / "coverage.json").write_text(json.dumps(measured))
    kept = tmp_path / "kept.json"
    command = [
        sys.executable,
        "-m",
        "scripts.uncovered",
        tmp_path / "coverage.json",
        "--keep",
        kept,
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "overlay: 80.0 % of lines, 75.0 % of branches" in done.stdout
    assert "overlay/b.py: 70.0 % of lines, 50.0 % of branches; lines 3-5" in done.stdout
    found = json.loads(kept.read_text())
    assert found["date"] == "2000-01-02"
    assert found["packages"]["overlay"] == {"lines": 0.8, "branches": 0.75}
    page, lines = of_bench("report.page"), of_bench("report.lines")
    by_name = {line.name: lines.found(line, {"coverage": found}) for line in lines.lines()}
    assert (by_name["coverage-lines"].value, by_name["coverage-branches"].value) == (0.8, 0.25)
    report = page.Report({}, {"coverage": found}, lines.lines(), by_name, {}, {}, {})
    text = "\n".join(page.tried(report, found, *page.TRIED["coverage"]))
    assert "| overlay | 80.0% | 75.0% |" in text
    assert "Measured on 2000-01-02, " in text


def test_a_run_of_the_tests_is_kept_where_that_is_asked_for(of_bench, tmp_path: Path):
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (tmp_path / "test_some.py").write_text("def test_one(): pass\ndef test_two(): assert False")
    kept = tmp_path / "tests.json"
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", tmp_path],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        env={**os.environ, "KEEP_TESTS": str(kept), "PYTHONPATH": str(ROOT)},
    )
    found = json.loads(kept.read_text())
    [(name, run)] = found["runs"].items()
    assert name.startswith(f"CPython {platform.python_version()}, numba ")
    assert name.endswith(": tests")
    assert (run["passed"], run["failed"]) == (1, 1)
    older = {**run, "python": "3.12.1", "numba": "0.1.0", "seconds": 5.0, "failed": 0}
    newer = {**older, "numba": "0.4.0", "seconds": 7.0}
    runs = {"tests": older, "documents": older, "newer": newer}
    lines = of_bench("report.lines")
    figures = {"tests": {"runs": runs}}
    by_name = {line.name: lines.found(line, figures) for line in lines.lines()}
    names = ("tests-failed", "tests-pythons", "tests-numbas", "tests-time")
    assert [by_name[name].value for name in names] == [0, 1, 3, 10]


def test_lines_of_code_are_counted_without_words_and_examples(of_bench):
    counts = of_bench("counts")
    source = (
        '"""About it."""\n# why\n\ndef f(x):\n    """What."""\n    return x\n\nassert f(\n    1)\n'
    )
    assert counts.lines(source) == 2
    assert counts.relation_of_a_user().startswith("relation(")
    assert all(count > 0 for count in counts.of_parts().values())


# ---- the report that is kept ------------------------------------------------------------------

REPORT = (DOCS / "report.md").read_text()
ANCHORS = set(re.findall(r'<a id="([\w-]+)">', REPORT))
HEADINGS = {
    re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
    for title in re.findall(r"^#+ (.*)", REPORT, re.M)
}


def test_each_line_is_measured_by_something_and_stands_in_the_report(of_bench):
    of_bench("report.lines").lines()  # which checks that there are such measures
    benches = {path.stem for path in (*BENCH.glob("*.py"), *DOCS.glob("report/kept/*.json"))}
    assert {line["bench"] for line in LINES.values()} <= benches | ELSEWHERE
    assert set(LINES) == ANCHORS


def test_each_link_to_the_report_leads_to_a_line_or_a_part():
    linked = {
        (page.name, anchor)
        for page in OTHERS
        for anchor in re.findall(r"report\.md#([\w-]+)\)", page.read_text())
    }
    assert len(linked) > 40
    assert {each for each in linked if each[1] not in ANCHORS | HEADINGS} == set()


def test_figures_are_quoted_as_they_stand_in_the_report(of_bench):
    module = of_bench("report.quotes")
    kept = json.loads((DOCS / "report" / "figures.json").read_text())
    assert set(kept["lines"]) <= set(LINES)
    names = ("value", "least", "most")
    figures = {
        name: module.Figure(*(line[each] for each in names)) for name, line in kept["lines"].items()
    }
    quotes = list(module.quotes(OTHERS, figures))
    assert len(quotes) > 30
    if not kept["run"]["quick"]:
        assert [quote for quote in quotes if quote.stands != quote.right] == []


CLAIM = re.compile(
    r"""\d\ (?:times\ (?:as|faster|slower|sooner)|[µmn]s\b|%(?!\ confidence))
    | \b(?:micro|milli)seconds\b
    | \bcosts?\ (?:nothing|none|no\ more|less|what|a\ few)\b
    | \bno\ (?:run-time\ )?cost\b
    | \b(?:some|a\ few)\ (?:seconds|megabytes|bytes)\b
    | \b(?:times|twice|half|hardly)\ as\ (?:long|fast)\b
    | \b(?:half|tenth\ of|fraction\ of|about)\ a\ second\b
    | \bas\ fast\ as\b | \b(?:faster|slower|cheaper)\ than\b""",
    re.X,
)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("it takes 1.3 times as long", True),
        ("it takes some milliseconds", True),
        ("an operator costs nothing", True),
        ("the numbers cost what plain floats cost", True),
        ("compiled with no run-time cost", True),
        ("state is cheaper than code", True),
        ("91 % of them are answered", True),
        ("with 95 % confidence", False),
        ("one each millisecond", False),
        ("a call costs time", False),
    ],
)
def test_what_is_a_claim_of_speed_or_share(text, is_one):
    assert bool(CLAIM.search(text)) == is_one


def blocks_of(page: Path) -> list[str]:
    """Paragraphs and rows of tables, each on one line, without code."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    text = re.sub(r"^\|.*\|$\n(?=\|)", r"\g<0>\n", text, flags=re.M)  # each row by itself
    return [" ".join(block.split()) for block in text.split("\n\n")]


def test_claims_link_to_their_line():
    blocks = [(page.name, block) for page in OTHERS for block in blocks_of(page)]
    claims = [(page, block) for page, block in blocks if CLAIM.search(block)]
    assert len(claims) > 20
    assert [claim for claim in claims if "report.md#" not in claim[1]] == []


def test_docstrings_claim_no_speed_since_they_have_no_links():
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    claims = [
        (path.name, claim[0])
        for path in files
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, kinds)
        for claim in CLAIM.finditer(" ".join((ast.get_docstring(node) or "").split()))
        if not claim[0].endswith(("seconds", "%"))  # units, and remainders
    ]
    assert claims == []


def test_the_report_names_its_machine_and_no_place_on_it():
    assert re.search(r"^\d{4}-\d\d-\d\d, in [^;]*\s\d+ cores", REPORT, re.M)
    assert not re.search(r"(^|[\s`(])/(home|root|tmp|work|usr)\b", REPORT)
    for path in (DOCS / "report").glob("*.svg"):
        assert f"report/{path.name}" in REPORT
        assert path.stat().st_size < 200_000
