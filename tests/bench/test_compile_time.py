"""The benchmark of compile time runs, and each variant gives an answer in its own process."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_compilations_are_measured_in_fresh_processes(tmp_path: Path):
    found = tmp_path / "figures.json"
    command = [sys.executable, str(ROOT / "bench" / "compile_time.py"), "--smallest"]
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [*command, "--json", str(found)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr  # the code on disk is used
    figures = json.loads(found.read_text())
    for title in ("Gradients", "Inverses", "Code from disk"):
        (ways,) = figures[title].values()
        assert all(way["median"] > 0 for way in ways.values())
    (kept,) = figures["Code from disk"].values()
    assert kept["ours"]["median"] < 3 * kept["numba, by hand"]["median"]
