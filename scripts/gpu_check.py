"""Runs kernels on the GPU of this machine, and compares with the CPU: make gpu-check.

The kernels are those of ``gpu_programs``. It measures ratios; with ``--keep FILE`` they are
written there, for docs/report.md. Without a GPU it prints so, and claims nothing; in numba's
simulator it compares, and measures nothing. Exits with 1 where a result differs from the CPU's.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from overlay import Context

if importlib.util.find_spec("numba_cuda") is None:
    print("no numba-cuda here: nothing was run, and nothing is claimed")
    sys.exit(0)

from numba import config, cuda

from scripts.gpu_programs import PROGRAMS, THREADS, Program, each, slopes, slopes_by_hand, unreached
from scripts.kept_figures import keep

ROUNDS = 31
TOLERANCE = 1e-12


def compare(blocks: int, *, compiled: bool) -> bool:
    """Whether the results of all kernels, in so many blocks, equal those of the CPU."""
    found = [is_right(program, blocks, compiled=compiled) for program in PROGRAMS]
    return all(found)


def is_right(program: Program, blocks: int, *, compiled: bool) -> bool:
    """Whether the result of a kernel equals that of the CPU, compiled or interpreted; prints it."""
    x = program.given(blocks * THREADS)
    right = program.expected(x, compiled=compiled)
    found = np.zeros(len(right))
    program.context.jit(program.kernel, target="cuda")[blocks, THREADS](x, found)
    same = np.allclose(found, right, rtol=TOLERANCE, atol=TOLERANCE)
    verdict = "as on the CPU" if same else f"WRONG by {np.abs(found - right).max():.3g}"
    print(f"{program.name:20} {program.context!r:24} {verdict}")
    return same


# ---- figures ------------------------------------------------------------------------------


def plain(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * math.sin(x[i]) + math.exp(-x[i] * x[i])


def milliseconds(launch: Callable[[], None]) -> float:
    """The time that the GPU takes for a launch."""
    start, end = cuda.event(), cuda.event()
    start.record()
    launch()
    end.record()
    end.synchronize()
    return cuda.event_elapsed_time(start, end)


def ratio(one: Any, other: Any, arguments: tuple[Any, ...], blocks: int) -> tuple[float, float]:
    """The median of the ratios of two kernels' times, launched alternately, and their spread: half
    the interquartile range, relative to the median."""
    found = []
    for i in range(ROUNDS + 3):
        first = milliseconds(lambda: one[blocks, THREADS](*arguments))
        second = milliseconds(lambda: other[blocks, THREADS](*arguments))
        if i >= 3:  # the first launches compile, and wake the GPU
            found.append(first / second)
    low, middle, high = statistics.quantiles(found, n=4, method="inclusive")
    return middle, (high - low) / 2 / middle


def measured() -> tuple[tuple[str, Any, Any], ...]:
    """The comparisons: a name, a kernel, and the kernel that its time is divided by."""
    derived, by_hand = (
        Context().jit(each(f).kernel, target="cuda") for f in (slopes, slopes_by_hand)
    )
    never = Context(unreached).jit(plain, target="cuda")
    return (
        ("never reached", never, cuda.jit(plain)),
        ("a derivative", derived, by_hand),
    )


PEERS = {"never reached": "numba-cuda's own kernel", "a derivative": "one by hand"}


def measure(size: int) -> dict[str, dict[str, Any]]:
    """Measure and print the cost of tables and derivatives on the GPU."""
    arguments = cuda.to_device(np.linspace(0.1, 2.0, size)), cuda.to_device(np.zeros(size))
    kernels: dict[str, dict[str, Any]] = {}
    for name, one, other in measured():
        found, spread = ratio(one, other, arguments, size // THREADS)
        print(f"{name}, to {PEERS[name]}: {found:.3f} (spread {spread:.1%})")
        kernels[name] = {"to": PEERS[name], "ratio": found, "spread": spread}
    return kernels


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--keep", type=Path, help="a file for the figures")
    asked = parser.parse_args(arguments)
    if config.ENABLE_CUDASIM:
        print("in numba's simulator: nothing is measured")
        return 0 if compare(1, compiled=False) else 1
    if not cuda.is_available():
        print("no GPU at hand: nothing was run, and nothing is claimed")
        return 0
    gpu = cuda.get_current_device().name.decode()
    print(f"on {gpu}")
    good = compare(16, compiled=True)
    kernels = measure(1 << 24)
    if asked.keep:
        keep(asked.keep, kernels={name: {**each, "gpu": gpu} for name, each in kernels.items()})
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
