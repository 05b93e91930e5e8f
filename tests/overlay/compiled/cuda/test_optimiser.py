"""Stages of plugins around optimisation in kernels, for GPUs whose compiler takes what numba's LLVM
writes."""

import math
import re

import numba
import numpy as np
import pytest

from overlay import Context, NotCompilable, Plugin

pytest.importorskip("numba_cuda", reason="the extra 'cuda' is not installed")
from numba import cuda

from scripts.gpu_programs import PROGRAMS, THREADS
from tests.overlay.compiled.cuda import gpu_code

ARRAYS = (numba.float64[::1],) * 2
BLACKWELL = (10, 0)


class Watches(Plugin):
    """Counts the functions that are defined before and after optimisation."""

    def __init__(self):
        self.defined = []

    def before_optimisation(self, module):
        self.defined.append(sum(not f.is_declaration for f in module.functions))

    after_optimisation = before_optimisation


def functions(capability):
    """A kernel that calls two functions, in a context that watches, and what has been seen."""

    def half(x):
        return x * 0.5

    def raised(x):
        return math.exp(half(x)) + half(x)

    def kernel(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = raised(x[i])

    watches = Watches()
    hot = Context(plugins=(watches,)).jit(kernel, target="cuda")
    return hot.compile(ARRAYS, capability), watches.defined


@pytest.mark.parametrize("capability", [BLACKWELL, (12, 0)])
def test_a_kernel_is_one_module_with_all_that_it_calls(capability):
    kernel, defined = functions(capability)
    assert defined == [3, 1]
    assert len(kernel.llvm) == 1
    assert [function.symbol for function in kernel.functions] == [kernel.symbol]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_nvidias_compiler_takes_what_is_optimised_and_it_is_right(program):
    watches = Watches()
    context = program.context | Context(plugins=(watches,))
    kernel = context.jit(program.kernel, target="cuda").compile(ARRAYS, BLACKWELL)
    assert len(watches.defined) == 2
    assert f".entry {kernel.symbol}(" in kernel.ptx
    if program.together:
        assert re.search(r"bar\.sync|barrier|atom\.|red\.", kernel.ptx)
        return
    x = program.given(THREADS)[:6]
    found = np.full(program.count(6), np.nan)
    gpu_code.run(kernel, 2, 3, x, found)
    assert np.allclose(found, program.expected(x, compiled=False), rtol=1e-12, atol=1e-12)


class Thirds(Plugin):
    """Edits optimised code: a half becomes a third."""

    def after_optimisation(self, module):
        return str(module).replace("5.000000e-01", "0x3FD5555555555555")


def scaled(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * 0.5


def test_an_edit_of_optimised_code_is_what_runs():
    hot = Context(plugins=(Thirds(),)).jit(scaled, target="cuda")
    kernel = hot.compile(ARRAYS, BLACKWELL)
    found = np.zeros(2)
    gpu_code.run(kernel, 1, 2, np.array([3.0, 6.0]), found)
    assert list(found) == [1.0, 2.0]
    assert "0d3FD5555555555555" in kernel.ptx


def test_a_plugin_that_only_a_function_below_the_kernel_has_is_refused():
    def below(x):
        return x * 0.5

    def kernel(x, out):
        out[0] = below(x[0])

    class FromBelow(Plugin):
        def enter(self, callee, types):
            return Thirds() if callee is below else self

    hot = Context(plugins=(FromBelow(),)).jit(kernel, target="cuda")
    with pytest.raises(NotCompilable, match=r"after_optimisation(.|\n)*active in the kernel"):
        hot.compile(ARRAYS, BLACKWELL)
