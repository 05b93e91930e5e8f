"""Builds the wheel and the sdist, and tests each in an empty environment.

The built files stay in dist/; the environments are removed.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
SMOKE = ROOT / "scripts" / "smoke.py"
BUILD = (sys.executable, "-m", "build", "--no-isolation")
PIP = ("-I", "-m", "pip", "install", "-q", "--disable-pip-version-check")


def built(folder: Path) -> list[Path]:
    """Build the wheel and the sdist into an emptied folder."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([*BUILD, "-o", folder], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return sorted(folder.iterdir(), key=lambda file: file.suffix == ".gz")


def try_out(file: Path, constraints: Path) -> None:
    """Install a distribution with its requirements only, and run the smoke test outside the
    checkout.

    Raises CalledProcessError where either fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"
        smoke = shutil.copy(SMOKE, folder)
        for command in ([*PIP, "-c", constraints, file], ["-I", smoke]):
            subprocess.run([python, *command], check=True, cwd=folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--build", action="store_true", help="build them, and stop")
    parser.add_argument("--constraints", type=Path, default=ROOT / "constraints.txt")
    asked = parser.parse_args()
    for file in built(ROOT / "dist"):
        print(file.relative_to(ROOT), flush=True)
        if not asked.build:
            try_out(file, asked.constraints.resolve())


if __name__ == "__main__":
    main()
