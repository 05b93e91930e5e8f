"""Runs the tests of packages from PyPI natively and in a context, and compares each outcome.

python scripts/package_tests.py more-itertools==11.1.0 --keep docs/report/kept/packages.json

A package's sources are downloaded and unpacked, and its tests run there as they come, with and
without ``pytest --overlay``, under a table that nothing reaches. Exits with 1 where one differs.
"""

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from kept_figures import keep

CONTEXT = """
import math
from overlay import Context, MethodTable

table = MethodTable("unreached")
table.overlay(math.gamma)(lambda x: x)
ctx = Context(table)
"""
PIP = ("-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("packages", nargs="+", help="such as more-itertools==11.1.0")
    parser.add_argument("--keep", type=Path, help="a file for the figures, for docs/report.md")
    asked = parser.parse_args()
    found = {package: compared(package) for package in asked.packages}
    if asked.keep:
        keep(asked.keep, packages=found)
    return int(any(each["differ"] for each in found.values()))


def compared(package):
    """How many tests there are, and which come out otherwise in the context."""
    with tempfile.TemporaryDirectory() as folder:
        sources = unpacked(package, Path(folder))
        (Path(folder) / "unreached.py").write_text(CONTEXT)
        natively = outcomes(sources)
        inside = outcomes(sources, "--overlay", "unreached:ctx")
    differ = sorted(
        name for name in natively.keys() | inside if natively.get(name) != inside.get(name)
    )
    passed = list(natively.values()).count("passed")
    print(
        f"{package}: {len(natively)} tests, {passed} pass natively, {len(differ)} differ",
        flush=True,
    )
    print(*(f"    {name}: {natively.get(name)}, {inside.get(name)}" for name in differ), sep="\n")
    return {
        "tests": len(natively),
        "passed natively": passed,
        "differ": differ if natively else ["no tests"],
    }


def unpacked(package, folder):
    """The folder of a package's sources."""
    subprocess.run([sys.executable, *PIP, "-d", str(folder), package], check=True)
    [archive] = folder.glob("*.tar.gz")
    with tarfile.open(archive) as sources:
        sources.extractall(folder, filter="data")
    [found] = [path for path in folder.iterdir() if path.is_dir()]
    return found


def outcomes(sources, *options):
    """Of each test whether it passed, failed or was skipped."""
    report = sources.parent / "outcomes.xml"
    report.unlink(missing_ok=True)
    paths = (
        str(sources),
        str(sources / "src"),
        str(sources.parent),
        os.environ.get("PYTHONPATH", ""),
    )
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-n",
            "0",
            f"--junitxml={report}",
            *options,
            "tests",
        ],
        cwd=sources,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        stdout=subprocess.DEVNULL,
        check=False,
    )
    cases = ElementTree.parse(report).iter("testcase") if report.exists() else ()
    return {f"{case.get('classname')}::{case.get('name')}": outcome(case) for case in cases}


def outcome(case):
    kinds = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
    return kinds[0] if kinds else "passed"


if __name__ == "__main__":
    sys.exit(main())
