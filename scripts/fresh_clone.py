"""Times commands, each as the first one on a fresh clone, its set-up included.

python -m scripts.fresh_clone "make demo" --keep docs/report/kept/fresh_clone.json
"""

import argparse
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from scripts.kept_figures import keep

ROOT = Path(__file__).resolve().parents[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("commands", nargs="+", help="such as 'make demo'")
    parser.add_argument("--keep", type=Path, help="a file for the figures, for docs/report.md")
    asked = parser.parse_args()
    found = {command: timed(command) for command in asked.commands}
    if asked.keep:
        keep(asked.keep, commands=found)
    return int(any(each["status"] for each in found.values()))


def timed(command):
    """Run a command in a clone of the last commit; return its seconds and exit status."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        begin = time.monotonic()
        status = subprocess.run(shlex.split(command), cwd=clone, check=False).returncode
        seconds = time.monotonic() - begin
    print(f"{command}: {seconds:.0f} s, exit status {status}", flush=True)
    return {"seconds": round(seconds, 1), "status": status}


if __name__ == "__main__":
    sys.exit(main())
