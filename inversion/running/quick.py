"""Rows solved by code that never raises, divided among threads."""

from __future__ import annotations

import functools
import math
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["SEEN", "Pace", "in_threads"]

ROWS_AT_ONCE = 1 << 15

PAYS_AFTER = 500e-6
"""The time, in seconds, below which a single thread is used. Waking others takes a fifth of this
time, and faster code is limited by the memory that threads share.
"""


def size(value: float) -> np.int64:
    """An integer that increases with the size of a float; that of NaN exceeds that of infinity."""
    return np.float64(abs(value)).view(np.int64)


SEEN = {"size": size, "INFINITE": int(size(math.inf))}
"""The names with which the loop over rows detects answers that are NaN."""


@dataclass
class Pace:
    """The time per row, in seconds: the minimum of all measurements, because cold caches, new pages
    and other programs only add to it.
    """

    least: float = math.inf

    def timed(self, rows: Callable[..., int], columns: Sequence[Any]) -> int:
        """Call ``rows`` on these columns, measure it, and return its result."""
        begin = time.perf_counter()
        found = rows(*columns)
        self.least = min(self.least, (time.perf_counter() - begin) / _length(columns))
        return found


def in_threads(rows: Callable[..., int], columns: Sequence[Any], pace: Pace) -> int:
    """Run ``rows`` over columns of one length, and over numbers that all rows share, in parallel
    threads if that pays off; return the sum of the results.

    pace: the pace of ``rows``.
    """
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
    # work is taken from a queue, so that no thread waits for one without a core
    left = deque(range(start, count, ROWS_AT_ONCE))
    work = functools.partial(_work, rows, columns, pace, left)
    waiting = [_pool().submit(work) for _ in range(min(cores, len(left)) - 1)]
    try:
        found += work()
        return found + sum(one.result() for one in waiting if not one.cancel())
    finally:
        left.clear()
        wait(waiting)  # the threads write into these columns


def _length(columns: Sequence[Any]) -> int:
    return next(len(column) for column in columns if isinstance(column, np.ndarray))


def _part(columns: Sequence[Any], start: int, stop: int) -> list[Any]:
    """A range of rows."""
    return [c[start:stop] if isinstance(c, np.ndarray) else c for c in columns]


def _work(rows: Callable[..., int], columns: Sequence[Any], pace: Pace, left: deque[int]) -> int:
    """Process ranges of rows until none is left."""
    found = 0
    while True:
        try:
            start = left.popleft()
        except IndexError:
            return found
        found += pace.timed(rows, _part(columns, start, start + ROWS_AT_ONCE))


@functools.cache
def _pool() -> ThreadPoolExecutor:
    """The pool of threads in addition to the caller's. They persist, because starting one takes as
    long as solving some ten thousand rows.
    """
    return ThreadPoolExecutor(max(1, _cores() - 1), "rows")


if hasattr(os, "register_at_fork"):  # a child process has none of these threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
