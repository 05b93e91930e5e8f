"""Another numba than those that are known: what needs no compilation goes on working."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from overlay.code.versions import NUMBA_TESTED

ROOT = Path(__file__).parents[3]

PROGRAM = """
import math, warnings
import numba
import numpy as np

@numba.njit
def compiled(x):
    return math.sin(x)

@numba.vectorize
def kernel(x):
    return math.sin(x) + 1.0

def plain(x):
    return compiled(x) + math.cos(x)

{before}
from overlay import Context, MethodTable, NotCompilable, OverlayWarning, generic

table = MethodTable("table")

@table.overlay(math.sin)
def sin(x: float) -> float:
    return 10.0

@table.overlay(math.cos)
@numba.njit
def cos(x: float) -> float:
    return 100.0

ctx = Context(table)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    {do}
print([str(w.message) for w in caught if w.category is OverlayWarning])
"""

WITHOUT_AN_INTERNAL = """
import numba.core.typed_passes
del numba.core.typed_passes.NopythonTypeInference
"""
ANOTHER_BEHAVIOUR = """
import numba.core.typed_passes
numba.__version__ = "0.99.0"
numba.core.typed_passes.NopythonTypeInference.run_pass = None
"""
NEWER = """
numba.__version__ = "0.99.0"
"""
REFUSED = """
    try:
        ctx.jit(plain)
    except NotCompilable as error:
        print(error)
"""


def run(before, do):
    code = PROGRAM.format(before=before, do=do)
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert not result.stderr, result.stderr
    return result.stdout


@pytest.mark.parametrize("before", [WITHOUT_AN_INTERNAL, ANOTHER_BEHAVIOUR])
def test_with_an_unknown_numba_programs_are_interpreted(before):
    shown = run(before, "print(ctx(plain, 1.0), ctx(np.add, 1, 2), ctx(max, 3, 4))" + REFUSED)
    assert shown.startswith("110.0 3 4\ncannot compile with numba ")
    assert "tested: numba 0." in shown
    assert "help: install one of these versions" in shown
    assert "compiled is interpreted in a context" in shown
    assert "cos is interpreted in a context" in shown


def test_a_newer_numba_is_tried_out_and_used():
    shown = run(NEWER, "print(ctx.jit(plain)(1.0), ctx(kernel, 1.0))")
    assert shown.startswith("110.0 11.0\n")
    assert "numba 0.99.0 is not among the versions" in shown


def test_a_known_numba_says_nothing():
    assert run("", "print(ctx.jit(plain)(1.0))") == "110.0\n[]\n"


def test_the_versions_that_are_tested_are_those_that_are_claimed():
    first, last = (".".join(map(str, version)) for version in NUMBA_TESTED)
    assert f'"numba>={first}"' in (ROOT / "pyproject.toml").read_text("utf-8")
    for name, version in (("constraints.txt", last), ("constraints-oldest.txt", first)):
        pinned = re.search(r"^numba==(\d+\.\d+)\.", (ROOT / name).read_text("utf-8"), re.M)
        assert pinned is not None
        assert pinned[1] == version
