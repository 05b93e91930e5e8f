"""Runs of a function for a group of samples, and how a group is split where its samples differ."""

from __future__ import annotations

import contextvars
import logging
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

__all__ = ["LOGGER", "BatchRun", "Split", "current"]

LOGGER = logging.getLogger("overlay.batching")

current: contextvars.ContextVar[BatchRun | None] = contextvars.ContextVar("batching", default=None)
"""The run in force; arrays that the program makes are batches of it."""


class Split(BaseException):
    """The samples of a run differ in something that a program has only once: a condition, a
    length, an error. It is no Exception, so that programs do not catch it.

    labels: a label for each sample, equal where the samples may continue together. why: the text
    of the trace where each continues alone.
    """

    def __init__(self, run: BatchRun, labels: Sequence[Hashable], why: str) -> None:
        super().__init__("the samples of a batch differ")
        self.run, self.labels, self.why = run, labels, why

    def groups(self) -> list[NDArray[np.intp]]:
        """The places of the samples of each group."""
        found: dict[Hashable, list[int]] = {}
        for place, label in enumerate(self.labels):
            found.setdefault(label, []).append(place)
        return [np.array(places, np.intp) for places in found.values()]


class BatchRun:
    """One run of a function for several samples at once.

    rows: the numbers of the samples among all of the call. parent: the run in which the function
    is called, each of whose samples has ``count`` of this call's. pending: the split that a run
    has requested; the program may have caught it.
    """

    def __init__(
        self,
        rows: NDArray[np.intp],
        parent: BatchRun | None = None,
        count: int = 1,
        trace: Callable[[str], None] | None = None,
    ) -> None:
        self.rows, self.parent, self.count, self.trace = rows, parent, count, trace
        self.pending: Split | None = None

    @property
    def size(self) -> int:
        """The number of samples."""
        return len(self.rows)

    def split(self, labels: Iterable[Hashable], why: str = "values that all differ") -> NoReturn:
        """End the run, to be started again for each group of samples."""
        self.pending = Split(self, tuple(labels), why)
        raise self.pending

    def one_by_one(self, why: str) -> NoReturn:
        """End the run, to be started again for each sample alone."""
        if self.size == 1 and self.parent is not None:
            self.parent.one_by_one(why)
        self.split(range(self.size), why)

    def note(self, call: str) -> None:
        """Log that a call is made for one sample after the other."""
        LOGGER.info("%s is run for each of %d samples", call, self.size)
        if self.trace is not None:
            self.trace(call)

    def rows_in(self, other: BatchRun) -> NDArray[np.intp] | None:
        """For each sample of this run, the place of its sample in an enclosing run; None if the
        other does not enclose it."""
        places = np.arange(self.size)
        run = self
        while run is not other:
            if run.parent is None:
                return None
            places, run = run.rows[places] // run.count, run.parent
        return places
