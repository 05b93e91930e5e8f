"""The benchmark of tools runs, and all of them give the same results."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_tool_is_compared_with_the_program_by_hand(tmp_path: Path):
    found = tmp_path / "figures.json"
    command = [sys.executable, str(ROOT / "bench" / "choosing.py"), "--smallest", "--json", found]
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(found.read_text())
    ways = {"method", "generated method", "metadata", "state", "plugin", "barrier"}
    assert set(figures["ways"]) == ways
    assert all(figure["compiled"] > 0 for figure in figures["ways"].values())
    assert all(way in done.stdout for way in ways)
