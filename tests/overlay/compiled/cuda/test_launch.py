"""Launches, up to where the GPU is: numba-cuda is handed the kernel that the context compiled."""

import math

import numpy as np
import pytest

from overlay import Context, MethodTable

pytest.importorskip("numba_cuda", reason="the extra 'cuda' is not installed")
from numba import cuda
from numba.cuda import codegen, dispatcher

from overlay.compiled.cuda import compiling as numba_cuda
from overlay.compiled.cuda import cuda_typing as numba_cuda_typing

SEVEN, NINE = "0d401C000000000000", "0d4022000000000000"  # the numbers in PTX


class Ampere:
    compute_capability = (8, 0)


@pytest.fixture
def launched(monkeypatch):
    """The PTX of each launch, for a GPU that is not there."""
    codes = []

    def launch(kernel, arguments, *configuration):
        codes.append(kernel._codelibrary.get_asm_str())

    library, kernel = codegen.CUDACodeLibrary, dispatcher._Kernel
    monkeypatch.setattr(library, "_ensure_cc", lambda self, cc: cc or (8, 0))
    monkeypatch.setattr(kernel, "bind", lambda self: None)
    monkeypatch.setattr(kernel, "launch", launch)
    monkeypatch.setattr(numba_cuda, "get_current_device", Ampere)
    monkeypatch.setattr(numba_cuda_typing, "capability_at_hand", lambda: (8, 0))
    return codes


def test_a_launch_has_the_table_and_sees_its_changes(launched):
    table = MethodTable("table")

    @table.overlay(math.sin)
    def sevens(x: float) -> float:
        return x + 7.0

    def kernel(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = math.sin(x[i])

    hot, x = Context(table).jit(kernel, target="cuda"), np.zeros(8)
    launch = hot[256, 128]
    launch(x)
    launch(x)

    @table.overlay(math.sin)
    def nines(x: float) -> float:
        return x + 9.0

    launch(x)
    assert [SEVEN in code for code in launched] == [True, True, False]
    assert NINE in launched[2]
    assert launched[0] is launched[1]


def test_what_cannot_be_compiled_is_refused_at_the_launch(launched):
    from overlay import NotCompilable

    def prints(x):
        x[0] = len(input("length"))

    with pytest.raises(NotCompilable, match="prints cannot be compiled for a GPU"):
        Context().jit(prints, target="cuda")[256, 128](np.zeros(1))
    assert launched == []
