"""Functions of numbers, run over columns of numbers by numpy while all rows take the same branches.

A column is an array whose truth value is that of its elements, if they agree. So a function of
numbers takes for a column the branch that it takes for each element. If elements disagree, or if
the function would raise for some of them, the rows are halved; single rows are left to calls.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from overlay import Context, MethodTable, UnsupportedPython
from overlay.catalogue import FUNCTIONS
from overlay.core.in_force import outside

__all__ = ["FEWEST", "Lockstep"]

MOST, FEWEST = 1 << 13, 1 << 7
"""The largest number of rows that run at once, which fit into the caches, and the smallest: running
a column takes about as long as a hundred calls.
"""


class _Parted(BaseException):
    """Rows take different branches, or the function raises for some of them.

    It is not an Exception, so that error handlers do not catch it.
    """


class _NoColumns(BaseException):
    """The function needs a number in place of a column."""


class _Column(np.ndarray):
    """An array that stands for one number in each row."""

    def __bool__(self) -> bool:
        values = self.view(np.ndarray)
        if values.all():
            return True
        if values.any():
            raise _Parted
        return False

    def __array_function__(self, *_: Any) -> NoReturn:
        raise _NoColumns  # such a function might combine rows


def _needs_number(*_: Any) -> NoReturn:
    raise _NoColumns


def _makes_another(*_: Any) -> Any:
    """Return NotImplemented: numbers are not changed in place, so that Python uses the plain
    operator.
    """
    return NotImplemented


NUMBERS_HAVE = "float int complex index round floor ceil trunc hash"
SEQUENCES_HAVE = "len iter getitem setitem contains"
IN_PLACE = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift"
for _name in f"{NUMBERS_HAVE} {SEQUENCES_HAVE}".split():
    setattr(_Column, f"__{_name}__", _needs_number)
for _name in IN_PLACE.split():
    setattr(_Column, f"__i{_name}__", _makes_another)


by_numpy = MethodTable("by numpy")
"""The functions of ``math`` for columns."""


def _of_one(ufunc: np.ufunc) -> tuple[Callable[..., Any], ...]:
    def by_column(a: _Column) -> Any:
        return ufunc(a)

    return (by_column,)


def _of_two(ufunc: np.ufunc) -> tuple[Callable[..., Any], ...]:
    def by_first(a: _Column, b: float) -> Any:
        return ufunc(a, b)

    def by_second(a: float, b: _Column) -> Any:
        return ufunc(a, b)

    def by_both(a: _Column, b: _Column) -> Any:
        return ufunc(a, b)

    return by_first, by_second, by_both


for _row in FUNCTIONS:
    if _row.numpy:
        for _way in (_of_one, _of_two)[_row.arity - 1](_row.numpy[0]):
            by_numpy.overlay(_row.function)(_way)


@functools.cache
def _in_columns() -> Context:
    """The context in which functions run over columns. It is made on first use, because the
    functions of ``math`` are intercepted from then on.
    """
    return Context(by_numpy)


def _raises(kind: str, flag: int) -> NoReturn:
    """Raise where Python raises; numpy calls this."""
    raise _Parted


class Lockstep:
    """A function of numbers, run over columns of floats, numbers and tuples of them. It returns a
    number, or a tuple of numbers.

    fits: whether it can run in this way; False after a column failed in place of a number.
    """

    def __init__(self, function: Callable[..., Any], *, fits: bool) -> None:
        self.function = function
        self.fits = fits
        self._run: Callable[..., Any] | None = None

    def missed(
        self, given: Sequence[Any], outs: Sequence[NDArray[Any]], start: int, stop: int
    ) -> Iterator[tuple[int, int]]:
        """Fill a range of rows of ``outs`` from columns, and from numbers that all rows share;
        return the remaining ranges, in order.
        """
        if not self.fits or stop - start < FEWEST:
            yield start, stop
        elif stop - start > MOST or not self._filled(given, outs, start, stop):
            middle = (start + stop) // 2
            yield from self.missed(given, outs, start, middle)
            yield from self.missed(given, outs, middle, stop)

    def _filled(
        self, given: Sequence[Any], outs: Sequence[NDArray[Any]], start: int, stop: int
    ) -> bool:
        """Fill a range of rows, if all of them have an answer by the same branches."""
        try:
            found = self._ran(_parts(given, start, stop))
        except _Parted:
            return False
        except (_NoColumns, UnsupportedPython):
            self.fits = False
            return False
        except Exception:  # an exception of the function, or a refusal: calls show which
            return False
        answers = found if isinstance(found, tuple) else (found,)
        for out, answer in zip(outs, answers, strict=True):
            out[start:stop] = answer
        return True

    def _ran(self, columns: tuple[Any, ...]) -> Any:
        if self._run is None:
            self._run = _in_columns().wrap(self.function)
        calls: Any = {"divide": "call", "over": "call", "invalid": "call", "under": "ignore"}
        with np.errstate(call=_raises, **calls):
            return outside(self._run, *columns)


def _parts(given: Sequence[Any], start: int, stop: int) -> tuple[Any, ...]:
    """A range of rows of columns, numbers, and tuples of these."""
    return tuple(
        _part(one, start, stop)
        if isinstance(one, np.ndarray)
        else _parts(one, start, stop)
        if isinstance(one, tuple)
        else one
        for one in given
    )


def _part(column: NDArray[Any], start: int, stop: int) -> _Column:
    part = column[start:stop].view(_Column)
    part.flags.writeable = False
    return part
