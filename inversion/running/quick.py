"""Rows of floats solved all at once: compiled code in which nothing can raise, so that LLVM may
vectorise it. What it gives no number for is left to the code that says why."""

from __future__ import annotations

import functools
import math
import operator
import os
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np

from inversion.numba_compilation import released
from overlay import Context, MethodTable, call_next
from primitives.floats import vector_maths
from primitives.solver_kernels import compiled

__all__ = ["SEEN", "Pace", "in_threads", "quick_loop", "quick_names"]

ROWS_AT_ONCE = 1 << 15

PAYS_AFTER = 500e-6
"""Seconds: what is done sooner by one thread is done by one. To wake others takes a fifth of this,
and what takes as little for so many rows waits for memory, which the threads have in common."""

vectorised = MethodTable("vectorised")
for _function, _form in vector_maths.VECTORISED.items():
    vectorised.overlay(_function)(_form)


@vectorised.overlay(operator.truediv)
def _quotient(a: float, b: float) -> float:
    return call_next(a, b) if b != 0.0 else math.nan


def size(value: float) -> np.int64:
    """An integer that grows with the size of a float; that of NaN is beyond that of infinity."""
    return np.float64(abs(value)).view(np.int64)


SEEN = {"size": compiled(size, refuses=False), "INFINITE": int(size(math.inf))}
"""By what the loop over rows sees answers that are NaN."""


def quick_names(
    text: str,
    names: Mapping[str, Any],
    function: Callable[..., Any],
    context: Context | None,
) -> dict[str, Any]:
    """The generated functions compiled so that ``inverse`` answers NaN where it would raise."""
    forward = (context or Context(vectorised)).jit(function, forceinline=True)
    return _unrefused(text, {**names, "forward": forward}, "inverse")


def quick_loop(text: str, names: Mapping[str, Any], loop: str, one: str) -> Callable[..., None]:
    """A generated loop over elements, compiled so that it fills in NaN where ``one`` would raise,
    for threads."""
    return released(_unrefused(text, names, one)[loop])


def _unrefused(text: str, names: Mapping[str, Any], one: str) -> dict[str, Any]:
    found = {name: compiled(value, refuses=False) for name, value in names.items()}
    exec(compile(text, "<rows of an inverse>", "exec"), found)
    found[one] = compiled(found[one], refuses=False)
    return found


@dataclass
class Pace:
    """What a row takes, in seconds: the least that has been seen, as caches that are cold, pages
    that are new and other programs only ever add to it."""

    least: float = math.inf

    def timed(self, rows: Callable[..., int], columns: Sequence[Any]) -> int:
        """What ``rows`` gives for these columns."""
        begin = time.perf_counter()
        found = rows(*columns)
        self.least = min(self.least, (time.perf_counter() - begin) / _length(columns))
        return found


def in_threads(rows: Callable[..., int], columns: Sequence[Any], pace: Pace) -> int:
    """Run ``rows`` over columns of one length, and numbers that all rows share, by as many threads
    as there are cores to use where that pays; the sum of what it gives. pace: that of ``rows``."""
    count = _length(columns)
    if count < 2 * ROWS_AT_ONCE:
        return rows(*columns)
    if count * pace.least < PAYS_AFTER or (cores := _cores()) < 2:
        return pace.timed(rows, columns)
    start, found = 0, 0
    if pace.least == math.inf:
        start, found = ROWS_AT_ONCE, pace.timed(rows, _part(columns, 0, ROWS_AT_ONCE))
        if (count - start) * pace.least < PAYS_AFTER:
            return found + pace.timed(rows, _part(columns, start, count))
    # each takes what is left: none waits for one that has no core to run on
    left = deque(range(start, count, ROWS_AT_ONCE))
    work = functools.partial(_work, rows, columns, pace, left)
    waiting = [_pool().submit(work) for _ in range(min(cores, len(left)) - 1)]
    try:
        found += work()
        return found + sum(one.result() for one in waiting if not one.cancel())
    finally:
        left.clear()
        wait(waiting)  # they write into these columns


def _length(columns: Sequence[Any]) -> int:
    return next(len(column) for column in columns if isinstance(column, np.ndarray))


def _part(columns: Sequence[Any], start: int, stop: int) -> list[Any]:
    """A range of rows."""
    return [c[start:stop] if isinstance(c, np.ndarray) else c for c in columns]


def _work(rows: Callable[..., int], columns: Sequence[Any], pace: Pace, left: deque[int]) -> int:
    """Take ranges of rows until none is left."""
    found = 0
    while True:
        try:
            start = left.popleft()
        except IndexError:
            return found
        found += pace.timed(rows, _part(columns, start, start + ROWS_AT_ONCE))


@functools.cache
def _pool() -> ThreadPoolExecutor:
    """The threads beside the one that asks; they stay, since to start one takes as long as to
    solve some ten thousand rows."""
    return ThreadPoolExecutor(max(1, _cores() - 1), "rows")


if hasattr(os, "register_at_fork"):  # a child has none of these threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
