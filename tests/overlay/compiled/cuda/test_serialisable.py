"""Compiled kernels are written in one process and read in another; what is written tells nothing
of the process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from overlay import OverlayError
from overlay.kernels import CompiledKernel

ROOT = Path(__file__).parents[4]

PROGRAM = """
import math, sys
from numba import cuda, types
from overlay import Context, MethodTable
from overlay.interpretations.autodiff import autodiff

table = MethodTable("table")

def wave(x):
    return math.sin(x)

@table.overlay(wave)
def sevens(x):
    return x * 7.0

def response(x):
    return x * wave(x)

def other(x):
    shared = cuda.shared.array(8, types.float64)
    shared[0] = response(x[0])
    x[0] = max(shared[1], autodiff(response, x[1]))

def kernel(x, out):
    shared = cuda.shared.array(8, types.float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    shared[t] = max(x[i], 0.5) + autodiff(response, x[i])
    cuda.syncthreads()
    out[i] = shared[0]

if "after others" in sys.argv:
    Context().jit(response)(0.5)
    Context().jit(other, target="cuda").ptx("float64[::1]", (9, 0))
hot = Context(table).jit(kernel, target="cuda")
hot.compile("float64[::1], float64[::1]", (8, 0)).save(sys.argv[1])
"""


def test_processes_write_the_same_bytes_and_read_what_others_wrote(tmp_path):
    pytest.importorskip("numba_cuda", reason="the extra 'cuda' is not installed")
    files = tmp_path / "one", tmp_path / "two"
    for path, seed, *more in ((files[0], "1"), (files[1], "2", "after others")):
        command = [sys.executable, "-c", PROGRAM, str(path), *more]
        subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed}, check=True)
    assert files[0].read_bytes() == files[1].read_bytes()

    kernel = CompiledKernel.load(files[0])
    assert ".target sm_80" in kernel.ptx
    assert f".entry {kernel.symbol}(" in kernel.ptx
    assert (kernel.name, kernel.capability) == ("kernel", (8, 0))
    assert {"kernel", "response", "sevens"} <= {f.name for f in kernel.functions}


def test_other_files_are_refused(tmp_path):
    (tmp_path / "file").write_bytes(b'{"format": 0}')
    with pytest.raises(OverlayError, match=r"file is not a compiled kernel(.|\n)*save"):
        CompiledKernel.load(tmp_path / "file")
