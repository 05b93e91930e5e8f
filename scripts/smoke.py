"""Smoke test of an installation, outside the checkout: all packages, engines and commands.

usage: python -I smoke.py
"""

import importlib.metadata
import json
import math
import statistics
import subprocess
import sys
import sysconfig
from pathlib import Path

import inversion
import overlay
import primitives
from inversion import invert
from overlay import Context, MethodTable, call_next
from primitives import relation
from primitives.testing import check_relation

SITE = Path(sysconfig.get_path("purelib"))
SCRIPTS = Path(sysconfig.get_path("scripts"))
LAMBDA = "lambda x, y: x * y"

coarse = MethodTable("coarse")


@coarse.overlay(math.exp)
def exp(x: float) -> float:
    return call_next(x) if abs(x) > 1 else 1 + x + x * x / 2


ctx = Context(coarse)


def decay(t):
    return 10 * math.exp(-t)


def feet(metres: float) -> float:
    return metres / 0.3048


def line(x: float):
    return 2 * x + 3


def printed(*command: str) -> str:
    """The output of a command, which has to succeed."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def is_what_was_installed() -> None:
    for package in (overlay, primitives, inversion):
        home = Path(package.__file__).parent
        assert home.parent == SITE, home
        assert (home / "py.typed").is_file(), home
    assert printed(sys.executable, "-I", "-m", "overlay_dispatch").count(str(SITE)) == 3
    points = importlib.metadata.entry_points(group="pytest11")
    assert "pytest_overlay" in {point.value for point in points}


def interprets_and_compiles() -> None:
    bell = statistics.NormalDist(0, 1)
    assert f"{ctx(bell.pdf, 0.5):.6f}" == "0.352191"
    assert ctx.jit(decay)(0.5) == ctx(decay, 0.5) == 6.25


def solves() -> None:
    lengths = relation(
        feet,
        float,
        "return = feet(metres)",
        ret=lambda metres: metres / 0.3048,
        metres=lambda ret: ret * 0.3048,
    )
    check_relation(lengths)
    inverse = invert(line)
    assert inverse(5.0) == inverse.compile()(5.0) == (1.0,)


def has_its_commands() -> None:
    for name in ("overlay", "inversion"):
        for command in ([str(SCRIPTS / name)], [sys.executable, "-I", "-m", name]):
            assert "examples:" in printed(*command, "--help")
            assert importlib.metadata.version("overlay-dispatch") in printed(*command, "--version")
    found = printed(str(SCRIPTS / "inversion"), LAMBDA, "--return=6", "--known=x=2", "--json")
    assert json.loads(found)["arguments"] == {"y": 3.0}


if __name__ == "__main__":
    for check in (is_what_was_installed, interprets_and_compiles, solves, has_its_commands):
        check()
        print(f"  {check.__name__.replace('_', ' ')}")
