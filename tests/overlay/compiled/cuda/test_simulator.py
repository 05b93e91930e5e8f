"""numba's simulator runs the same kernels, each thread interpreted in the context; what they give
is what compiled code gives on the CPU."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]

PROGRAM = """
import math
import numba
import numpy as np
from numba import cuda, types
from overlay import Context, MethodTable, current_context
from overlay.interpretations.autodiff import autodiff

table = MethodTable("table")

@table.overlay(math.sin)
def sin(x: float) -> float:
    return x + 7.0

def wave(x):
    return math.cos(x)

@table.overlay(wave)
def wave_in_context(x):
    return x * x + 7.0

@numba.njit
def helper(x):
    return math.sin(x) * 2.0

@cuda.jit(device=True)
def device(x):
    return math.sin(x) + 1.0

def response(x):
    return x * x * wave(x)

def kernel(x, out, total):
    shared = cuda.shared.array(4, types.float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i < out.size:
        shared[t] = response(x[i]) + current_context().metadata + helper(x[i])
        cuda.syncthreads()
        out[i] = autodiff(response, x[i]) + device(x[i])
        cuda.atomic.add(total, 0, shared[t])

context = Context(table, metadata=3.0)
hot = context.jit(kernel, target="cuda")
x, out, total = np.linspace(0.0, 1.0, 8), np.zeros(8), np.zeros(1)
hot[2, 4](x, out, total)

slopes = context.jit(lambda x: autodiff(response, x))
values = context.jit(response)
assert np.allclose(out, [slopes(v) + v + 8.0 for v in x], rtol=1e-15)
assert np.allclose(total, sum(values(v) + 3.0 + 2.0 * (v + 7.0) for v in x), rtol=1e-15)

again = np.zeros(8)
hot.forall(8)(x, again, total)
assert np.array_equal(again, out)

try:
    hot.ptx("float64[:], float64[:], float64[:]", (8, 0))
except Exception as error:
    assert "NUMBA_ENABLE_CUDASIM unset" in str(error)
else:
    raise AssertionError("compiled")
print("simulated")
"""

TRAINING = """
import math
import numpy as np
from numba import cuda, types
from overlay import Context
from overlay.interpretations.autodiff import add_gradient
from overlay.kernels import local_array

def loss(w, x, y):
    hidden = local_array(2)
    for j in range(2):
        hidden[j] = math.tanh(w[0, j] * x)
    return (w[1, 0] * hidden[0] + w[1, 1] * hidden[1] - y) ** 2

def descend(w, d_w, x, y):
    d_w[:] = 0.0
    add_gradient(loss, (w, d_w), x, y)
    for j in range(2):
        w[0, j] -= 0.1 * d_w[0, j]
        w[1, j] -= 0.1 * d_w[1, j]

def kernel(weights, x, y):
    i = cuda.grid(1)
    if i < x.size:
        descend(weights[i], cuda.local.array((2, 2), types.float64), x[i], y[i])

weights = np.linspace(-1.0, 1.0, 12).reshape(3, 2, 2)
x, y, before = np.linspace(0.5, 1.0, 3), np.ones(3), weights.copy()
Context().jit(kernel, target="cuda")[1, 4](weights, x, y)
step = Context().jit(descend)
for w, each, wanted in zip(before, x, y):
    step(w, np.zeros((2, 2)), each, wanted)
assert np.allclose(weights, before, rtol=1e-14)
print("simulated")
"""

SHARED = """
import time
import numpy as np
from numba import cuda, types
from numba.cuda.simulator import kernelapi
from overlay import Context

class Slow:
    # Another thread gets here while a shared array is made.
    def __getattr__(self, name):
        return getattr(np, name)

    def empty(self, *args):
        time.sleep(0.05)
        return np.empty(*args)

kernelapi.np = Slow()

def neighbours(x, out):
    shared = cuda.shared.array(4, types.float64)
    t = cuda.threadIdx.x
    shared[t] = x[t]
    cuda.syncthreads()
    out[t] = shared[t] + shared[(t + 1) % 4]

x, out = np.arange(4.0), np.zeros(4)
Context().jit(neighbours, target="cuda")[1, 4](x, out)
assert out.tolist() == [1.0, 3.0, 5.0, 3.0], out
print("simulated")
"""


@pytest.mark.parametrize(
    "program", [PROGRAM, TRAINING, SHARED], ids=["program", "training", "shared memory"]
)
def test_simulated_kernels_give_what_the_cpu_gives(program):
    run = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "simulated\n"
