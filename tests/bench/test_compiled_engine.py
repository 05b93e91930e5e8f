"""The benchmark of the compiled engine runs, and its results do not depend on the clock."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def figures_of(tmp_path: Path, *names: str):
    """The output of the benchmark for these cases at their smallest size."""
    found = tmp_path / "figures.json"
    args = ["--smallest", "--rounds", "1", "--json", str(found), "--only", *names]
    command = [sys.executable, str(ROOT / "bench" / "compiled_engine.py"), *args]
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(found.read_text()), done.stdout


def test_a_program_is_compared_with_njit_and_with_the_call_replaced_by_hand(tmp_path: Path):
    figures, printed = figures_of(tmp_path, "mandelbrot", "hot_loop")
    rows = {row["case"]: row for row in figures["programs"]}
    assert list(rows) == [
        f"{name}, {how}"
        for name in ("hot_loop", "mandelbrot")
        for how in ("never reached", "overlaid")
    ]
    for case, row in rows.items():
        assert min(row["njit"], row["ours"]) > 0
        assert case in printed
    assert rows["hot_loop, never reached"]["same_instructions"]
    assert rows["mandelbrot, never reached"]["same_instructions"]
    assert figures["machine"] in printed


def test_costs_that_grow_are_measured_at_each_size(tmp_path: Path):
    figures, printed = figures_of(tmp_path, "contexts", "entry", "layers", "nesting", "graph")
    for name, sizes in (("layers", [1, 3]), ("nesting", [1, 3])):
        assert [row["size"] for row in figures[name]] == [size for size in sizes for _ in "rc"]
    assert len(figures["entry"]) == 2
    assert figures["contexts"]["asked"] == 0.010
    compiled = {stage: count for stage, (_, count) in figures["graph"]["stages"].items()}
    assert compiled["cold, njit"] == compiled["cold"] == 13
    assert compiled["a new context of the same table"] == 0
    assert "for each more" in printed
