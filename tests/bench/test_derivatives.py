"""The benchmark of derivatives runs, and its derivatives agree."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_derivatives_are_compared_with_those_by_hand(tmp_path: Path):
    found = tmp_path / "figures.json"
    command = [sys.executable, str(ROOT / "bench" / "derivatives.py"), "--smallest"]
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [*command, "--rounds", "1", "--json", str(found)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(found.read_text())
    assert len(figures["rows"]) == len(figures["jax"]) == 4
    assert len(figures["reverse"]) == len(figures["peers"]) == 3
    assert all(others["function"] > 0 for others in figures["peers"])
    for row in figures["as written"]:
        assert {"compiled", "interpreted", "finite differences"} <= set(row["seconds"])
        assert min(row["seconds"].values()) > 0
    titles = [each["title"] for each in figures["page"]["sections"]]
    assert titles[-1] == "Programs as they are written"
    for row in [*figures["rows"], *figures["reverse"]]:
        assert min(row["njit"], row["ours"]) > 0
        assert row["asked"] == 1.05
        assert row["case"] in done.stdout
