"""Columns: the numbers that a batch reads and writes, by ranges of rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inversion.emitting.definition import fits
from inversion.errors import OutsideDomain, WrongArguments
from inversion.planning.parameters import ParameterSpace
from overlay.core.location import caller
from primitives.arrays.domain import shape_of
from primitives.domains import domain_of

__all__ = [
    "AnswerTarget",
    "Column",
    "as_compiled",
    "columns",
    "common_shape",
    "is_one",
    "theta_columns",
]


@dataclass(frozen=True)
class Column:
    """One input of rows: a number, or an array, for each row.

    array: of shape (*rows, *inner), in any layout. dtype: the dtype for compiled code. inner: the
    shape of the value of one row.
    """

    array: NDArray[Any]
    dtype: np.dtype[Any]
    inner: tuple[int, ...] = ()

    @property
    def lead(self) -> tuple[int, ...]:
        """The shape of the rows."""
        return self.array.shape[: self.array.ndim - len(self.inner)]

    def spread(self, shape: tuple[int, ...]) -> Column:
        """The column broadcast to rows of this shape."""
        if self.lead == shape:
            return self
        return Column(np.broadcast_to(self.array, (*shape, *self.inner)), self.dtype, self.inner)

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """A range of rows, flattened, in the form for compiled code. A number that all rows share
        is not expanded, and rows in the right layout are not copied.
        """
        part = _flat_rows(self.array, self.inner, start, stop)
        return part if is_one(part) and part.dtype == self.dtype else as_compiled(part, self.dtype)


def is_one(rows: NDArray[Any]) -> bool:
    """Return whether all rows share one number."""
    return rows.strides == (0,)


def as_compiled(rows: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Rows in the layout for compiled code; copied only if necessary."""
    return np.require(rows, dtype, ["C", "A", "W"])


class AnswerTarget:
    """The destination of answers.

    array: of shape (*rows, *inner), in any layout.
    """

    def __init__(self, array: NDArray[Any], inner: tuple[int, ...]) -> None:
        self.array = array
        self._inner = inner
        self._is_plain = array.flags.c_contiguous and array.flags.aligned

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """A buffer for a range of rows; ``put`` copies it to its place."""
        if self._is_plain:
            return _flat_rows(self.array, self._inner, start, stop)
        return np.empty((stop - start, *self._inner), self.array.dtype)

    def put(self, start: int, stop: int, answers: NDArray[Any]) -> None:
        """Copy a range of rows to its place."""
        if self._is_plain:
            return
        size = math.prod(self._inner)
        self.array.flat[start * size : stop * size] = answers.reshape(-1)


def _flat_rows(array: NDArray[Any], inner: tuple[int, ...], start: int, stop: int) -> NDArray[Any]:
    """A range of rows, flattened: a view if the layout allows it."""
    if array.ndim == 1 + len(inner):
        return array[start:stop]
    count = math.prod(array.shape[: array.ndim - len(inner)])
    if array.flags.c_contiguous or stop - start == count:
        return array.reshape((count, *inner))[start:stop]
    size = math.prod(inner)
    return array.flat[start * size : stop * size].reshape((stop - start, *inner))


# ---- columns of arguments -----------------------------------------------------------------


def columns(axis: str, arrays: Iterable[Any], kinds: Iterable[Any]) -> list[Column]:
    """The columns of a known axis, in the types of the program.

    Raises WrongArguments for values of other types, or that do not fit into its words.
    """
    found: list[Column] = []
    for values, kind in zip(arrays, kinds, strict=True):
        domain = domain_of(kind)
        array = np.asarray(values)
        _check_rows(axis, array, shape_of(kind))
        if domain is None or not fits(array, domain):
            raise WrongArguments(
                f"{axis} is an array of {array.dtype}{_range(array)}, "
                f"and the inverse takes {getattr(kind, '__name__', kind)}",
                where=caller(),
                help="convert it with .astype(...); arrays hold integers of 64 bits",
            )
        found.append(Column(array, domain.dtype.base, shape_of(kind)))
    return found


def theta_columns(space: ParameterSpace, theta: Any) -> list[Column]:
    """The columns of the coordinates, from a structured array, from one θ for all rows, or from a
    dict of arrays or values; missing coordinates have their defaults.

    Raises WrongArguments for missing fields, and OutsideDomain for values outside a domain.
    """
    if theta is None or isinstance(theta, Mapping):
        given: Mapping[str, Any] = theta or {}
        space.check_known(given)
        defaults = dict(zip(space.names, space.filled(space.default()), strict=True))
        arrays = [np.asarray(given.get(name, defaults[name])) for name in space.names]
    elif not isinstance(theta, np.ndarray):
        chosen = space.chosen(theta)
        whole = tuple(chosen[name] for name in space.names)
        arrays = [np.asarray(value) for value in space.filled(whole)]
    elif theta.dtype.names is None and len(space) == 1:
        arrays = [theta]
    elif theta.dtype.names is None:
        raise space.wrong(0)
    else:
        space.check_names(theta.dtype.names)
        arrays = [theta[name] for name in space.names]
    found: list[Column] = []
    for parameter, array in zip(space, arrays, strict=True):
        dtype = parameter.domain.dtype
        _check_rows(f"θ.{parameter.name}", array, dtype.shape)
        if not fits(array, parameter.domain):
            raise OutsideDomain(
                f"θ.{parameter.name} is an array of {array.dtype}{_range(array)}, "
                f"outside {parameter.domain!r}",
                where=caller(),
                help="use an array of inv.parameters.dtype",
            )
        found.append(Column(array, dtype.base, dtype.shape))
    return found


def _check_rows(name: str, array: NDArray[Any], shape: tuple[int, ...]) -> None:
    """Raise WrongArguments unless an array holds arrays of this shape."""
    if array.shape[max(array.ndim - len(shape), 0) :] != shape:
        raise WrongArguments(
            f"{name} is an array of shape {array.shape}, which does not end with {shape}",
            where=caller(),
            help="rows come first: give an array for each row",
        )


def common_shape(leads: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape to which arrays of rows with these shapes are broadcast.

    Raises WrongArguments if they do not fit.
    """
    try:
        return np.broadcast_shapes(*leads)
    except ValueError as error:
        raise WrongArguments(
            f"arrays of the shapes {', '.join(map(str, leads))} do not broadcast",
            where=caller(),
            help="known values and θ have one row for each answer, or one for all",
        ) from error


def _range(array: NDArray[Any]) -> str:
    if array.dtype.kind not in "iu" or not array.size:
        return ""
    return f" from {array.min()} to {array.max()}"
