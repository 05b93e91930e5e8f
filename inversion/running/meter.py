"""The rule for when compilation pays off, and a measure of the time that interpretation takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from overlay.core.background import Later

__all__ = ["PayMeter"]

COMPILED_AFTER = 2.0
"""The seconds of interpretation after which a loop is compiled in the background. A compilation
takes at least as long: a program that interprets for less cannot gain from it.
"""

WAITED_FOR = 5.0
"""The predicted remaining seconds of a batch from which on its rows wait for their loop, whose
compilation then begins at once. Most compilations take as long; two threads that run Python slow
each other down.
"""

SLICE = 0.05
"""The seconds of interpretation from which the time for the other rows is predicted."""


class PayMeter:
    """The processor time of this thread, in seconds, that the interpretation of rows has taken."""

    def __init__(self) -> None:
        self._spent = 0.0
        self._rows = 0

    @contextmanager
    def metered(self, rows: int) -> Generator[None]:
        """Measure the block, which solves this number of rows."""
        begin = time.thread_time()
        try:
            yield
        finally:
            self._spent += time.thread_time() - begin
            self._rows += rows

    @property
    def slice(self) -> int:
        """The number of rows to interpret before the next decision whether to compile."""
        return max(1, int(self._rows * SLICE / self._spent)) if self._spent else 1

    def begin(
        self, loop: Later[Any], left: int, wanted: Callable[[], bool], *, is_kept: bool
    ) -> None:
        """Begin to compile a loop over rows in the background, if that pays off.

        left: the number of rows of the batch that are not solved yet. wanted: whether the loop is
        to be used. is_kept: whether it is stored on disk, where it may pay off for other processes.
        """
        is_long = left > 0 and self._spent * left >= WAITED_FOR * self._rows
        if is_long or is_kept or (not left and self._spent >= COMPILED_AFTER):
            loop.begin(wanted)
            if is_long:
                loop.wait()
