"""Functions of numbers run over columns of them, by numpy, where all rows take the same way.

A column is an array whose truth is that of its elements, where they agree. So a function of
numbers takes, for a column, the way that it takes for each element: where elements disagree, or the
function would raise for some of them, rows are halved, and at last left to calls.
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
"""The most rows that run at once, which fit into the caches, and the fewest: to run a column
takes about as long as a hundred calls.
"""


class _Parted(BaseException):
    """Rows take different ways, or the function raises for some. No error: code that handles errors
    lets it pass.
    """


class _NoColumns(BaseException):
    """The function needs a number where a column is."""


class _Column(np.ndarray):
    """An array that stands for one number of each row."""

    def __bool__(self) -> bool:
        values = self.view(np.ndarray)
        if values.all():
            return True
        if values.any():
            raise _Parted
        return False

    def __array_function__(self, *_: Any) -> NoReturn:
        raise _NoColumns  # it might take the rows together


def _needs_number(*_: Any) -> NoReturn:
    raise _NoColumns


def _makes_another(*_: Any) -> Any:
    """A number is not changed in place: Python goes on to the operator itself."""
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
    """The context in which functions run over columns: made when one does, since the functions of
    ``math`` are intercepted from then on.
    """
    return Context(by_numpy)


def _raises(kind: str, flag: int) -> NoReturn:
    """numpy calls this where Python raises."""
    raise _Parted


class Lockstep:
    """A function of numbers, run over columns of floats, numbers and tuples of them. It gives a
    number, or a tuple of numbers.

    fits: whether it may be run so. It is False once a column did not do in place of a number.
    """

    def __init__(self, function: Callable[..., Any], *, fits: bool) -> None:
        self.function = function
        self.fits = fits
        self._run: Callable[..., Any] | None = None

    def missed(
        self, given: Sequence[Any], outs: Sequence[NDArray[Any]], start: int, stop: int
    ) -> Iterator[tuple[int, int]]:
        """Fill a range of rows of ``outs`` from columns, and numbers that all rows share; gives the
        ranges that are left, in order.
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
        """Fill a range of rows, if all of them have an answer in the same way."""
        try:
            found = self._ran(_parts(given, start, stop))
        except _Parted:
            return False
        except (_NoColumns, UnsupportedPython):
            self.fits = False
            return False
        except Exception:  # the function's own, or a refusal: calls tell which
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
