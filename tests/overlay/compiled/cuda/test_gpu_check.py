"""``make gpu-check``: without a GPU it claims nothing; its kernels are right in the simulator."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]


def check(**environment):
    return subprocess.run(
        [sys.executable, "scripts/gpu_check.py"],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_a_gpu_nothing_is_claimed():
    run = check(CUDA_VISIBLE_DEVICES="")
    assert run.returncode == 0, run.stderr
    assert "nothing was run, and nothing is claimed" in run.stdout


def test_its_kernels_are_right_in_the_simulator():
    pytest.importorskip("numba_cuda", reason="the extra 'cuda' is not installed")
    run = check(NUMBA_ENABLE_CUDASIM="1")
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("as on the CPU") == 10
