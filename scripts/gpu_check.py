"""Runs kernels on the GPU that is at hand, and compares with the CPU: make gpu-check.

What it measures are ratios. Without a GPU it says so, and claims nothing; in numba's simulator it
compares, and measures nothing.
Exits with 1 where a result is not the CPU's.
"""

from __future__ import annotations

import importlib.util
import math
import statistics
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from overlay import Context, MethodTable
from overlay.interpretations.autodiff import autodiff

if importlib.util.find_spec("numba_cuda") is None:
    print("no numba-cuda here: nothing was run, and nothing is claimed")
    sys.exit(0)

from numba import config, cuda, types

THREADS = 128
ROUNDS = 31
TOLERANCE = 1e-12

table, unreached = MethodTable("waves"), MethodTable("unreached")


def wave(x):
    return math.sin(x)


@table.overlay(wave)
def short_wave(x):
    return x - x * x * x / 6.0


@unreached.overlay(math.gamma)
def gamma(x: float) -> float:
    return 0.0


def response(x):
    return x * wave(x) + math.exp(-x * x)


def response_by_hand(x):
    return math.sin(x) + x * math.cos(x) - 2.0 * x * math.exp(-x * x)


def slope(x):
    return autodiff(response, x)


def curvature(x):
    return autodiff(slope, x)


# ---- kernels ------------------------------------------------------------------------------


def values(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = response(x[i])


def slopes(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = slope(x[i])


def curvatures(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = curvature(x[i])


def slopes_by_hand(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = response_by_hand(x[i])


def plain(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * math.sin(x[i]) + math.exp(-x[i] * x[i])


def neighbours(x, out):
    """Each value with that of the next thread of its block, through shared memory."""
    shared = cuda.shared.array(THREADS, types.float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    shared[t] = wave(x[i]) if i < out.size else 0.0
    cuda.syncthreads()
    if i < out.size:
        out[i] = shared[t] + shared[(t + 1) % THREADS]


def total(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, 0, wave(x[i]))


# ---- against the CPU ----------------------------------------------------------------------


def on_gpu(context: Context, kernel: Callable[..., Any], x: Any, size: int) -> Any:
    """What a kernel writes."""
    out = np.zeros(size)
    blocks = (len(x) + THREADS - 1) // THREADS
    context.jit(kernel, target="cuda")[blocks, THREADS](x, out)
    return out


def on_cpu(context: Context, function: Callable[..., Any], x: Any) -> Any:
    """What a function gives of each number, compiled for the CPU."""
    hot = context.jit(function)
    return np.array([hot(each) for each in x])


def compare(x: Any) -> bool:
    """Whether kernels give what the CPU gives, in two contexts."""
    good = True
    for context in (Context(), Context(table)):
        waves = on_cpu(context, wave, x)
        expected = {
            values: on_cpu(context, response, x),
            slopes: on_cpu(context, slope, x),
            curvatures: on_cpu(context, curvature, x),
            neighbours: waves + np.roll(waves.reshape(-1, THREADS), -1, axis=1).ravel(),
            total: np.array([waves.sum()]),
        }
        for kernel, right in expected.items():
            found = on_gpu(context, kernel, x, len(right))
            same = np.allclose(found, right, rtol=TOLERANCE, atol=TOLERANCE)
            good = good and same
            verdict = "as on the CPU" if same else f"WRONG by {np.abs(found - right).max():.3g}"
            print(f"{kernel.__name__:12} {context!r:20} {verdict}")
    return good


# ---- figures ------------------------------------------------------------------------------


def milliseconds(launch: Callable[[], None]) -> float:
    """How long the GPU takes for a launch."""
    start, end = cuda.event(), cuda.event()
    start.record()
    launch()
    end.record()
    end.synchronize()
    return cuda.event_elapsed_time(start, end)


def ratio(one: Any, other: Any, arguments: tuple[Any, ...], blocks: int) -> float:
    """The median of the ratios of two kernels' times, launched in turn."""
    found = []
    for i in range(ROUNDS + 3):
        first = milliseconds(lambda: one[blocks, THREADS](*arguments))
        second = milliseconds(lambda: other[blocks, THREADS](*arguments))
        if i >= 3:  # the first launches compile, and wake the GPU
            found.append(first / second)
    return statistics.median(found)


def measure(size: int) -> None:
    """Print what tables and derivatives cost on the GPU."""
    x, out = cuda.to_device(np.linspace(0.1, 2.0, size)), cuda.to_device(np.zeros(size))
    blocks = (size + THREADS - 1) // THREADS
    hot = Context(unreached).jit(plain, target="cuda")
    derived = Context().jit(slopes, target="cuda")
    by_hand = Context().jit(slopes_by_hand, target="cuda")
    never = ratio(hot, cuda.jit(plain), (x, out), blocks)
    print(f"a table that is never reached, to numba-cuda's own kernel: {never:.3f}")
    print(f"a derivative, to one by hand: {ratio(derived, by_hand, (x, out), blocks):.3f}")


def main() -> int:
    if config.ENABLE_CUDASIM:
        print("in numba's simulator: nothing is measured")
        return 0 if compare(np.linspace(0.1, 2.0, THREADS)) else 1
    if not cuda.is_available():
        print("no GPU at hand: nothing was run, and nothing is claimed")
        return 0
    print(f"on {cuda.get_current_device().name.decode()}")
    good = compare(np.linspace(0.1, 2.0, 64 * THREADS))
    measure(1 << 24)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
