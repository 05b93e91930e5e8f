"""The benchmark of barriers runs, and recovers each value."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_calls_through_a_barrier_are_compared_with_plain_calls(tmp_path: Path):
    found = tmp_path / "figures.json"
    command = [sys.executable, str(ROOT / "bench" / "barrier.py"), "--smallest", "--rounds", "1"]
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [*command, "--json", str(found)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(found.read_text())
    assert len(figures["seen"]) == 5
    for row in figures["seen"]:
        assert min(row["njit"], row["ours"]) > 0
        assert row["asked"] == 2.0
        assert row["case"] in done.stdout
    assert list(figures["from Python"]) == ["made before", "changing"]
    assert list(figures["unseen"]) == [
        "interpreted, first",
        "interpreted, second",
        "compiled, third",
        "found, fourth",
    ]
