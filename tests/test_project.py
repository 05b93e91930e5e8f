"""What the distribution promises as a whole."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("overlay", "primitives", "inversion")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONSTRAINTS = [
    line
    for line in (ROOT / "constraints.txt").read_text().splitlines()
    if line and not line.startswith("#")
]


def name_of(requirement: str) -> str:
    """``Pyright[nodejs]>=1.1`` → ``pyright``"""
    return re.split(r"[^\w.-]", requirement)[0].lower().replace("_", "-")


def test_importing_overlay_does_not_import_numba():
    code = "import sys, overlay; sys.exit('numba' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_wheel_holds_the_three_packages_with_their_type_markers(tmp_path: Path):
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path]
    subprocess.run(build, check=True, cwd=ROOT, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)
    metadata = f"overlay_dispatch-{PROJECT['version']}.dist-info"
    top = {*PACKAGES, "pytest_overlay.py", metadata}
    assert {name.split("/")[0] for name in names} == top


def test_constraints_are_exact_versions_without_addresses():
    exact = re.compile(r"[\w.-]+==[\w.]+( ; [\w\s.<>='\"]+)?")
    assert [line for line in CONSTRAINTS if not exact.fullmatch(line)] == []


def test_every_requirement_of_make_is_pinned():
    extras = PROJECT["optional-dependencies"]
    required = [*PROJECT["dependencies"], *extras["dev"], *extras["demo"], *extras["bench"]]
    required += extras["cuda"]
    assert {name_of(r) for r in required} <= {name_of(line) for line in CONSTRAINTS}


def test_only_modules_made_for_it_know_numba_cuda():
    imports = re.compile(
        r"^\s*(from numba[._]cuda|import numba[._]cuda|from numba import cuda)", re.M
    )
    knowing = [p for p in (ROOT / "overlay").rglob("*.py") if imports.search(p.read_text())]
    assert knowing
    assert {p.parent.name for p in knowing} == {"compiled"}
    assert [p.name for p in knowing if not p.name.startswith("numba_cuda")] == []
