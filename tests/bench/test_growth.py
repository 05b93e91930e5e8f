"""The benchmarks of growth and of generic functions run, and give the figures for the report."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def figures_of(name: str, folder: Path, *options: str):
    """The files that a benchmark writes at its smallest size, and its printed output."""
    found = folder / "figures.json"
    command = [sys.executable, str(ROOT / "bench" / f"{name}.py"), "--smallest", "--rounds", "1"]
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [*command, *options, "--json", str(found)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(found.read_text()), done.stdout


def test_costs_are_measured_at_each_size_with_an_exponent(tmp_path: Path):
    grows = ("coordinates of θ", "contexts nested", "iterations of a loop")
    figures, printed = figures_of("growth", tmp_path, "--only", *grows)
    assert {row["grows"] for row in figures["rows"]} == set(grows)
    for row in figures["rows"]:
        assert len(row["ours"]) == 3
        assert all(size["median"] >= size["least"] > 0 for size in row["ours"].values())
        assert row["what"] in printed
    [compiled] = [row for row in figures["rows"] if row["what"] == "compiled"]
    assert compiled["peer"].keys() == compiled["ours"].keys()
    assert set(compiled["exponents"]) == {"ours", "peer"}
    assert len(figures["page"]["sections"]) == len(grows)


def test_calls_of_generic_functions_are_compared_with_other_libraries(tmp_path: Path):
    pytest.importorskip("effectful")
    figures, _ = figures_of("dispatch", tmp_path)
    for calls in (figures["1"], figures["2"]):
        assert {"direct call", "ours, no context", "plum", "ovld"} <= set(calls)
        assert all(each["median"] >= each["ns"] for each in calls.values())
    part = figures["page"]
    assert [section["title"] for section in part["sections"]] == ["Of 1 argument", "Of 2 arguments"]
    assert part["run"]["python"].endswith(platform.python_version())
    assert platform.node() not in json.dumps(part["run"]).split('"')
