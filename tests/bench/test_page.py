"""The page of benchmarks is made of what the benchmarks wrote."""

import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
RUN = {
    "processor": "A processor",
    "cores": 4,
    "system": "A system 1.0",
    "python": "CPython 3.11.0",
    "versions": {"numba": "0.1", "absent": "-"},
    "date": "2000-01-02",
}
SECTION = {
    "title": "Programs",
    "text": "What is measured.",
    "rows": [["case", "ratio"], ["a|b", "1.00"]],
    "lines": ["geometric mean: 1.00"],
}


def written(*args: str | Path):
    script = ROOT / "scripts" / "write_benchmarks.py"
    command = [sys.executable, str(script), *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_each_benchmark_has_its_part_with_what_it_ran_on(tmp_path: Path):
    for name in ("second", "first"):
        part = {"title": name, "text": "", "run": RUN, "sections": [SECTION]}
        (tmp_path / f"{name}.json").write_text(json.dumps({"figures": 1, "page": part}))
    made = tmp_path / "page.md"
    assert written(tmp_path, made).returncode == 0
    text = made.read_text()
    assert re.findall(r"^##+ (.*)", text, re.M) == ["first", "Programs", "second", "Programs"]
    assert "| case | ratio |\n| --- | ---: |\n| a\\|b | 1.00 |" in text
    assert "- geometric mean: 1.00" in text
    assert "2000-01-02: CPython 3.11.0, numba 0.1; A processor, 4 cores, A system 1.0." in text


def test_a_page_of_nothing_is_refused(tmp_path: Path):
    done = written(tmp_path, tmp_path / "page.md")
    assert done.returncode != 0
    assert "no benchmark" in done.stderr


def test_a_benchmark_writes_its_part(tmp_path: Path):
    found = tmp_path / "dispatch.json"
    command = [sys.executable, str(ROOT / "bench" / "dispatch.py"), "--rounds", "1"]
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(
        [*command, "--json", str(found)], capture_output=True, check=False, env=environment
    )
    assert done.returncode == 0
    part = json.loads(found.read_text())["page"]
    assert [section["title"] for section in part["sections"]] == ["Of 1 argument", "Of 2 arguments"]
    assert part["run"]["python"].endswith(platform.python_version())
    assert written(tmp_path, tmp_path / "page.md").returncode == 0
    page = (tmp_path / "page.md").read_text()
    assert not re.search(rf"\b{re.escape(platform.node())}\b", page)
    assert f"{Path.home()}/" not in page


def test_the_page_that_is_kept_is_one_that_the_script_writes():
    text = (ROOT / "docs" / "benchmarks.md").read_text()
    assert re.findall(r"^## (.*)", text, re.M) == [
        "Barriers",
        "Which tool",
        "Compiled engine",
        "Derivatives",
        "Generic functions",
        "Inverses",
        "Parallel loops",
        "Probabilistic programs",
        "Python engine",
    ]
    assert "`make bench`" in text
    assert not re.search(r"(^|[\s`(])/(home|root|tmp|work|usr)\b", text)
