"""``make gpu-check``: without a GPU it claims nothing; what it runs and measures is right in the
simulator, and as code for GPUs that the CPU runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

pytest.importorskip("numba_cuda", reason="the extra 'cuda' is not installed")
from scripts import gpu_check
from scripts.gpu_programs import PROGRAMS, THREADS
from tests.overlay.compiled.cuda import gpu_code

ROOT = Path(__file__).parents[4]
ARRAYS = (numba.float64[::1],) * 2
AMPERE = (8, 0)
ALONE = [program for program in PROGRAMS if not program.together]


def test_without_a_gpu_nothing_is_claimed(monkeypatch, capsys):
    monkeypatch.setattr(gpu_check.cuda, "is_available", lambda: False)
    assert gpu_check.main([]) == 0
    assert "nothing was run, and nothing is claimed" in capsys.readouterr().out


def test_its_kernels_are_right_in_the_simulator():
    run = subprocess.run(
        [sys.executable, "-m", "scripts.gpu_check"],
        cwd=ROOT,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("as on the CPU") == len(PROGRAMS)


@pytest.mark.parametrize("program", ALONE, ids=lambda program: program.name)
def test_the_code_of_its_kernels_is_right_on_the_cpu(program):
    """What NVIDIA's compiler is given for its PTX writes what the interpreter gives."""
    kernel = program.context.jit(program.kernel, target="cuda").compile(ARRAYS, AMPERE)
    assert f".entry {kernel.symbol}(" in kernel.ptx
    x = program.given(THREADS)[:6]
    found = np.full(program.count(6), np.nan)
    gpu_code.run(kernel, 2, 3, x, found)
    assert np.allclose(found, program.expected(x, compiled=False), rtol=1e-12, atol=1e-12)


def test_kernels_in_which_threads_wait_for_one_another_become_ptx():
    for program in PROGRAMS:
        if program.together:
            kernel = program.context.jit(program.kernel, target="cuda")
            assert re.search(r"bar\.sync|atom\.", kernel.ptx(ARRAYS, AMPERE))


def test_what_is_measured_compiles_to_comparable_code():
    """The first pair to the same instructions, which is a ratio of 1."""
    for name, one, other in gpu_check.measured():
        if hasattr(other, "py_func"):
            theirs, _ = numba.cuda.compile(
                other.py_func, numba.void(*ARRAYS), cc=AMPERE, device=False, abi="numba"
            )
        else:
            theirs = other.ptx(ARRAYS, AMPERE)
        mine, theirs = map(instructions, (one.ptx(ARRAYS, AMPERE), theirs))
        assert mine == theirs if "never" in name else len(mine) <= len(theirs)


def instructions(code):
    """Those on float64, without their operands."""
    return sorted(line.split()[0] for line in code.splitlines() if ".f64" in line)
