"""Loops over elements in interpreted inverses: interpreted where short, else compiled."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from inversion.errors import NoSolution, OutsideDomain
from inversion.running.quick import Pace, in_threads

__all__ = ["ArrayKernel"]

COMPILED_AFTER = 20_000
"""Number of elements after which a loop is compiled: by then interpretation has taken as long as
compilation does."""

CHUNK = 4096
REFUSALS = (NoSolution, OutsideDomain, ValueError, ArithmeticError, LookupError)


class ArrayKernel:
    """A loop over elements: fills ``outs`` arrays by calling ``one`` on the elements of the others.

    compiled: returns the loop as one compiled function, or None where numba does not compile it.
    Chunks for which it raises are interpreted, for the error.
    quick: returns a compiled loop that stores NaN instead of raising, or None; chunks with NaN are
    computed again by the others.
    """

    def __init__(
        self,
        one: Callable[..., Any],
        outs: int,
        compiled: Callable[[], Callable[..., Any] | None],
        quick: Callable[[], Callable[..., None] | None],
    ) -> None:
        self.one = one
        self.outs = outs
        self.compiled = compiled
        self.quick = quick
        self.elements = 0
        self.pace = Pace()

    def __call__(self, *columns: Any) -> None:
        size = len(columns[0])
        self.elements += size
        if self.elements <= COMPILED_AFTER:
            self.interpreted(0, size, columns)
            return
        quick = self.quick()
        if quick is None:
            self.refusing(0, size, columns)
            return
        if not self.missed(quick, columns):
            return
        for start in range(0, size, CHUNK):
            if any(np.isnan(out[start : start + CHUNK]).any() for out in columns[: self.outs]):
                self.refusing(start, min(start + CHUNK, size), columns)

    def missed(self, loop: Callable[..., None], columns: tuple[Any, ...]) -> int:
        """Run a loop in threads over columns, and numbers that all elements share. Returns the
        number of results that are NaN.
        """

        def stretch(*parts: Any) -> int:
            loop(*parts)
            return sum(int(np.isnan(out).sum()) for out in parts[: self.outs])

        return in_threads(stretch, columns, self.pace)

    def refusing(self, start: int, stop: int, columns: tuple[Any, ...]) -> None:
        """Fill a range of elements by compiled code that raises, and by Python where it raises."""
        fast = self.compiled()
        if fast is None:
            self.interpreted(start, stop, columns)
            return
        try:
            fast(*_stretch(columns, start, stop))
        except REFUSALS:
            for low in range(start, stop, CHUNK):
                high = min(low + CHUNK, stop)
                try:
                    fast(*_stretch(columns, low, high))
                except REFUSALS:
                    self.interpreted(low, high, columns)

    def interpreted(self, start: int, stop: int, columns: tuple[Any, ...]) -> None:
        """Fill a range of elements by Python. An error names the element."""
        outs, given = columns[: self.outs], columns[self.outs :]
        rows = zip(*(_values(column, start, stop) for column in given), strict=False)
        for i, row in enumerate(rows if given else itertools.repeat((), stop - start), start):
            try:
                found = self.one(*row)
            except REFUSALS as error:
                error.add_note(f"at element {i}, counted along the last axis first")
                raise
            for out, value in zip(outs, found if self.outs > 1 else (found,), strict=True):
                out[i] = value


def _stretch(columns: tuple[Any, ...], start: int, stop: int) -> list[Any]:
    return [c[start:stop] if _is_column(c) else c for c in columns]


def _is_column(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _values(column: Any, start: int, stop: int) -> Any:
    """The elements of a range, as numbers of Python where they are not words."""
    if not _is_column(column):
        return itertools.repeat(column, stop - start)
    part = column[start:stop]
    return part if part.dtype.kind in "iu" else part.tolist()
