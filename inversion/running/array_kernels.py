"""Loops over elements in interpreted inverses, which are interpreted until they are compiled in the
background.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from inversion.errors import NoSolution, OutsideDomain
from inversion.running.lockstep import Lockstep
from inversion.running.meter import PayMeter
from inversion.running.quick import Pace, in_threads
from overlay.core.background import Later

__all__ = ["ArrayKernel"]

CHUNK = 4096
REFUSALS = (NoSolution, OutsideDomain, ValueError, ArithmeticError, LookupError)


class ArrayKernel:
    """A loop over elements: fills ``outs`` arrays by calling ``one`` on the elements of the others.

    one: the function for an element; it may accept columns. forms: make the loop for the types of
    given arguments, as a compiled function that raises, and, if there is one, as a compiled loop
    that stores NaN instead. Chunks with NaN are computed again by the first. Chunks for which that
    raises are interpreted, for the error. Both are compiled in the background.
    """

    def __init__(
        self, one: Lockstep, outs: int, forms: Sequence[Callable[[tuple[Any, ...]], Any]]
    ) -> None:
        self.one = one
        self.outs = outs
        self.forms = forms
        self.calls, self.in_columns = PayMeter(), PayMeter()
        self.pace = Pace()
        self.compiled: dict[tuple[Any, ...], Later[list[Callable[..., Any]]]] = {}

    def __call__(self, *columns: Any) -> None:
        size = len(columns[0])
        loops = self.loops(columns)
        if not loops.is_made:
            self.interpreted(size, columns, loops)
            return
        *quick, refusing = loops.now()
        if not quick:
            self.refusing(refusing, 0, size, columns)
        elif self.missed(quick[0], columns):
            for start in range(0, size, CHUNK):
                if any(np.isnan(out[start : start + CHUNK]).any() for out in columns[: self.outs]):
                    self.refusing(refusing, start, min(start + CHUNK, size), columns)

    def loops(self, columns: tuple[Any, ...]) -> Later[list[Callable[..., Any]]]:
        """The compiled loops for such columns; the one that raises is last."""
        kinds = tuple(map(_kind, columns))
        if kinds not in self.compiled:
            example = tuple(c[:0] if _is_column(c) else c for c in columns)
            self.compiled[kinds] = Later(
                lambda: [form(example) for form in reversed(self.forms)], "a loop over elements"
            )
        return self.compiled[kinds]

    def missed(self, loop: Callable[..., None], columns: tuple[Any, ...]) -> int:
        """Run a loop in threads over columns, and over numbers that all elements share. Returns the
        number of results that are NaN.
        """

        def stretch(*parts: Any) -> int:
            loop(*parts)
            return sum(int(np.isnan(out).sum()) for out in parts[: self.outs])

        return in_threads(stretch, columns, self.pace)

    def refusing(
        self, loop: Callable[..., Any], start: int, stop: int, columns: tuple[Any, ...]
    ) -> None:
        """Fill a range of elements by compiled code that raises, and in Python where it raises."""
        try:
            loop(*_stretch(columns, start, stop))
        except REFUSALS:
            for low in range(start, stop, CHUNK):
                high = min(low + CHUNK, stop)
                try:
                    loop(*_stretch(columns, low, high))
                except REFUSALS:
                    self.by_calls(low, high, columns)

    def interpreted(
        self, size: int, columns: tuple[Any, ...], loops: Later[list[Callable[..., Any]]]
    ) -> None:
        """Fill the elements in Python until there are compiled loops. An error names
        the element.
        """
        outs, given = columns[: self.outs], columns[self.outs :]
        with self.in_columns.metered(size):
            left = list(self.one.missed(given, outs, 0, size))
        for start, stop in left:
            while start < stop and not loops.is_made:
                end = min(start + self.calls.slice, stop)
                with self.calls.metered(end - start):
                    self.by_calls(start, end, columns)
                start = end
                self.begin(loops, self.calls, size - start)
            if start < stop:
                self.refusing(loops.now()[-1], start, stop, columns)
        self.begin(loops, self.in_columns, 0)

    def begin(self, loops: Later[Any], meter: PayMeter, left: int) -> None:
        """Begin to compile the loops in the background, if that pays off."""
        meter.begin(loops, left, lambda: True, is_kept=False)

    def by_calls(self, start: int, stop: int, columns: tuple[Any, ...]) -> None:
        """Fill a range of elements one by one."""
        outs, given = columns[: self.outs], columns[self.outs :]
        rows = zip(*(_values(column, start, stop) for column in given), strict=False)
        for i, row in enumerate(rows if given else itertools.repeat((), stop - start), start):
            try:
                found = self.one.function(*row)
            except REFUSALS as error:
                error.add_note(f"at element {i}, counted along the last axis first")
                raise
            for out, value in zip(outs, found if self.outs > 1 else (found,), strict=True):
                out[i] = value


def _kind(value: Any) -> Any:
    """The properties of an argument for which a loop is compiled."""
    if not _is_column(value):
        return type(value)
    return value.dtype, value.flags.c_contiguous, value.flags.aligned, value.flags.writeable


def _stretch(columns: tuple[Any, ...], start: int, stop: int) -> list[Any]:
    return [c[start:stop] if _is_column(c) else c for c in columns]


def _is_column(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _values(column: Any, start: int, stop: int) -> Any:
    """The elements of a range, as numbers of Python unless they are words."""
    if not _is_column(column):
        return itertools.repeat(column, stop - start)
    part = column[start:stop]
    return part if part.dtype.kind in "iu" else part.tolist()
