"""Derivatives of functions that call what numba-cuda itself defines: indices of threads, barriers,
atomic sums, arrays; in forward and reverse mode, in code for GPUs and in the simulator."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from overlay import Context, MethodTable
from overlay.interpretations.autodiff import (
    NotDifferentiable,
    add_shared_gradient,
    autodiff,
    differentiation,
    partials_of,
)
from overlay.kernels import atomic_add

pytest.importorskip("numba_cuda", reason="the extra 'cuda' is not installed")
from numba import cuda, types
from numba.cuda import libdevice

from tests.overlay.compiled.cuda import gpu_code

ROOT = Path(__file__).parents[4]
AMPERE = (8, 0)
THREE = ", ".join(["float64[::1]"] * 3)
BLOCKS, THREADS = 2, 3


# ---- functions of an array and a number ----------------------------------------------------


def one_element(w, x):
    return w[cuda.grid(1)] * x


def grid_stride(w, x):
    total = 0.0
    for i in range(cuda.grid(1), w.size, cuda.gridsize(1)):
        total += w[i] * w[i] * x
    return total


def by_thread(w, x):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    return w[i] * x * cuda.gridDim.x


def after_a_barrier(w, x):
    y = w[cuda.threadIdx.x] * x
    cuda.syncthreads()
    return y * y


def barriers_in_a_loop(w, x):
    total = 0.0
    for i in range(2):
        cuda.syncthreads()
        total += w[i] * x
        cuda.threadfence()
    return total


def summed_in_own_array(w, x):
    own = cuda.local.array(1, types.float64)
    own[0] = 1.0
    cuda.atomic.add(own, 0, w[0] * x)
    atomic_add(own, 0, w[1])
    return own[0] * own[0]


def by_bits(w, x):
    return w[cuda.popc(5)] * x


READ_ON_THE_CPU = [one_element, grid_stride, by_thread, after_a_barrier, summed_in_own_array]


def by_lane(w, x):
    return w[cuda.laneid] * x


def by_two_indices(w, x):
    i, j = cuda.grid(2)
    return w[i] * x + w[j]


def written_elsewhere(w, x):
    cuda.atomic.add(w, 0, x)
    return w[0]


def added_elsewhere(w, x):
    atomic_add(w, 0, x)
    return w[0]


def in_shared_memory(w, x):
    tile = cuda.shared.array(4, types.float64)
    tile[cuda.threadIdx.x] = w[0] * x
    cuda.syncthreads()
    return tile[0]


def shuffled(w, x):
    return cuda.shfl_sync(0xFFFFFFFF, w[0] * x, 0)


def of_libdevice(w, x):
    return libdevice.sin(w[0]) * x


def whole_grid(w, x):
    cuda.cg.this_grid().sync()
    return w[0] * x


def reverse(function):
    def kernel(w, d_w, x):
        add_shared_gradient(function, (w, d_w), x[0])

    return kernel


def by_number(x):
    return x * x * (1.0 + cuda.grid(1)) * cuda.blockDim.x


def forward(x, out):
    out[cuda.grid(1)] = autodiff(by_number, x[0])


def compiled(kernel, arguments=THREE):
    return Context().jit(kernel, target="cuda").compile(arguments, AMPERE)


# ---- in code for GPUs ----------------------------------------------------------------------


def expected(function):
    """The gradient of the sum over all threads, by hand."""
    w, x, n = np.linspace(1.0, 2.0, 8), 3.0, BLOCKS * THREADS
    own = (1.0 + w[0] * x + w[1]) * 2.0 * n
    return {
        one_element: [x] * n + [0, 0],
        grid_stride: list(2.0 * w * x),
        by_thread: [x * BLOCKS] * n + [0, 0],
        after_a_barrier: [*(BLOCKS * 2.0 * w[:THREADS] * x * x), 0, 0, 0, 0, 0],
        summed_in_own_array: [own * x, own, 0, 0, 0, 0, 0, 0],
    }[function]


@pytest.mark.parametrize("function", READ_ON_THE_CPU)
def test_the_gradient_is_right_in_each_thread(function):
    kernel = compiled(reverse(function))
    found = np.zeros(8)
    gpu_code.run(kernel, BLOCKS, THREADS, np.linspace(1.0, 2.0, 8), found, np.array([3.0]))
    assert np.allclose(found, expected(function), rtol=1e-14)


@pytest.mark.parametrize("function", [by_lane, by_two_indices, by_bits])
def test_the_adjoint_reads_the_same_place(function):
    kernel = compiled(reverse(function))
    assert re.search("laneid|ctaid.y|popc|st.global|atom.global", kernel.ptx)
    assert "adjoint_of_" + function.__name__ in [each.name for each in kernel.functions]


@pytest.mark.parametrize(("function", "count"), [(after_a_barrier, 1), (barriers_in_a_loop, 2)])
def test_barriers_are_in_the_forward_pass(function, count):
    code = compiled(reverse(function)).ptx
    assert len(re.findall(r"bar\.sync|barrier\.sync|membar|fence", code)) >= count


def test_forward_mode_takes_indices_as_constants():
    kernel = compiled(forward, ", ".join(["float64[::1]"] * 2))
    found = np.zeros(6)
    gpu_code.run(kernel, BLOCKS, THREADS, np.array([3.0]), found)
    assert np.allclose(found, 6.0 * THREADS * np.arange(1.0, 7.0))


REFUSED = [
    (written_elsewhere, r"(?s)calls cuda\.atomic\.add, which adds to an array.*return the number"),
    (added_elsewhere, r"(?s)calls atomic_add, which adds to an array.*return the number"),
    (in_shared_memory, r"(?s)calls cuda\.shared\.array.*make the shared array in the kernel"),
    (shuffled, r"(?s)calls cuda\.shfl_sync.*before the derivative is taken"),
    (of_libdevice, r"(?s)calls libdevice\.sin.*function of math"),
    (whole_grid, r"(?s)calls cuda\.cg\.this_grid.*before the derivative is taken"),
]


@pytest.mark.parametrize(("function", "says"), REFUSED)
def test_what_exchanges_numbers_is_refused_by_its_name(function, says):
    with pytest.raises(NotDifferentiable, match=says) as caught:
        compiled(reverse(function))
    assert "partials_of(cuda.shfl" not in str(caught.value)


def of_tile(tile, w, x):
    return tile[0] * tile[1] * w[0] * x


def with_the_remedies(w, d_w, x):
    tile = cuda.shared.array(2, types.float64)
    if cuda.threadIdx.x < 2:
        tile[cuda.threadIdx.x] = w[cuda.threadIdx.x]
    cuda.syncthreads()
    add_shared_gradient(of_tile, tile, (w, d_w), x[0])
    cuda.atomic.add(x, 1, of_tile(tile, w, x[0]))


def test_the_remedies_work():
    code = compiled(with_the_remedies).ptx
    assert ".shared" in code
    assert "atom.global.add.f64" in code


def fused(w, x):
    return cuda.fma(w[0], x, w[1])


def test_a_rule_of_the_user_for_a_function_of_the_gpu():
    rules = MethodTable("rules")

    @rules.overlay(partials_of(cuda.fma))
    def partials(a: float, b: float, c: float):
        return b, a, 1.0

    kernel = differentiation(rules).jit(reverse(fused), target="cuda").compile(THREE, AMPERE)
    found = np.zeros(2)
    gpu_code.run(kernel, 1, 2, np.array([5.0, 6.0]), found, np.array([3.0]))
    assert found.tolist() == [6.0, 2.0]


def test_on_the_cpu_what_only_kernels_have_is_named():
    with pytest.raises(NotDifferentiable, match=r"it calls grid, which is not written in Python"):
        Context().jit(lambda w, d_w: add_shared_gradient(one_element, (w, d_w), 1.0))(
            np.ones(2), np.zeros(2)
        )


# ---- in the simulator ----------------------------------------------------------------------

SIMULATED = """
import numpy as np
from overlay import Context
from tests.overlay.compiled.cuda import test_thread_indices as given

for function in given.READ_ON_THE_CPU:
    if function is given.summed_in_own_array:  # the simulator's own array is one from outside
        continue
    found = np.zeros(8)
    hot = Context().jit(given.reverse(function), target="cuda")
    hot[given.BLOCKS, given.THREADS](np.linspace(1.0, 2.0, 8), found, np.array([3.0]))
    assert np.allclose(found, given.expected(function)), (function, found)
found = np.zeros(6)
Context().jit(given.forward, target="cuda")[given.BLOCKS, given.THREADS](np.array([3.0]), found)
assert np.allclose(found, 6.0 * given.THREADS * np.arange(1.0, 7.0)), found
print("simulated")
"""


def test_the_simulator_gives_the_same():
    run = subprocess.run(
        [sys.executable, "-c", SIMULATED],
        cwd=ROOT,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "simulated\n"
