"""Batches: columns of known values, compiled loops, and rows that have no answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from inversion.emitting.definition import Definition, dtype_of
from inversion.errors import NoSolution, WrongArguments
from inversion.planning.parameters import ParameterSpace
from inversion.program.trees import leaves, rebuilt, taken_apart
from inversion.running.columns import (
    AnswerTarget,
    Column,
    as_compiled,
    columns,
    common_shape,
    is_one,
    theta_columns,
)
from inversion.running.generated_functions import GeneratedFunctions
from inversion.running.progress import Progress, reported
from inversion.running.quick import Pace, in_threads
from overlay.core.location import caller
from primitives.arrays.domain import element_of, shape_of
from primitives.domains import domain_of

__all__ = ["BatchOptions", "OnError", "RowsInverse", "check_on_error", "kind_columns"]

OnError = Literal["raise", "nan"]
Arrays = Sequence[NDArray[Any]]

AT_ONCE, AT_ONCE_REPORTED = 1 << 20, 1 << 16
"""The most numbers of a column that are solved for at a time."""


COMPILED_AFTER = 1 << 24
"""The number of rows, solved by code from disk, after which faster code is compiled."""


@dataclass(frozen=True)
class BatchOptions:
    """Options of a batch: see ``Inverse.batch``."""

    out: Any = None
    on_error: OnError = "raise"
    progress: Progress = False


def searched_for(space: ParameterSpace, theta: Any) -> frozenset[str]:
    """The coordinates that are searched for in rows without an answer: those that are not given. If
    all of them matter only for rounding, none is.
    """
    if space.optional or not (theta is None or isinstance(theta, Mapping)):
        return frozenset()
    return frozenset(space.names).difference(theta or ())


class RowsInverse:
    """An inverse over rows. solved: solves one row from known values and the given coordinates of
    θ, searches for the others, and gives the reason if there is no answer.

    is_changed: whether the function has changed since it was inverted; then all rows are
    interpreted.
    """

    def __init__(
        self,
        definition: Definition,
        code: GeneratedFunctions,
        solved: Callable[[tuple[Any, ...], Mapping[str, Any]], tuple[Any, ...]],
        is_changed: Callable[[], bool],
    ) -> None:
        self._definition = definition
        self._code = code
        self._solved_by_call = solved
        self._is_changed = is_changed
        self._choices = len(definition.parameters)
        self._solved = 0
        self._pace = Pace()

    def as_they_are(self, known: Sequence[Any], on_error: OnError) -> tuple[Any, ...] | None:
        """The answers for arrays of numbers that compiled code can take directly, with little
        overhead; None for any others.
        """
        takes, gives = self._numbers
        if not takes or len(known) != len(takes):
            return None
        shape = getattr(known[0], "shape", ())
        for array, dtype in zip(known, takes, strict=True):
            if not (
                type(array) is np.ndarray
                and array.shape == shape
                and array.dtype == dtype
                and array.flags.carray
            ):
                return None
        count = known[0].size
        if not 0 < count <= AT_ONCE:
            return None
        check_on_error(self._definition, on_error)
        answers = [np.empty(shape, dtype) for dtype in gives]
        flat, outs = ([a.reshape(-1) for a in arrays] for arrays in (known, answers))
        self._fill(flat, outs, 0, on_error, count)
        return tuple(answers)

    @cached_property
    def _numbers(self) -> tuple[list[np.dtype[Any]], list[np.dtype[Any]]]:
        """The dtypes of the known and the unknown axes, if each is a number, and there are no
        parameters; otherwise empty.
        """
        definition = self._definition
        trees = definition.axes.trees.values()
        kinds = definition.leaf_kinds(definition.axes.trees)
        if len(definition.parameters) or not all(isinstance(tree, str) for tree in trees):
            return [], []
        if any(domain_of(kind) is None or shape_of(kind) for kind in kinds):
            return [], []
        known, unknown = map(
            definition.leaf_kinds, (definition.axes.known, definition.axes.unknown)
        )
        return [dtype_of(kind).base for kind in known], [dtype_of(kind).base for kind in unknown]

    def answers(self, known: Sequence[Any], theta: Any, wanted: BatchOptions) -> tuple[Any, ...]:
        """The unknown axes: see ``Inverse.batch``."""
        definition = self._definition
        check_on_error(definition, wanted.on_error)
        given = kind_columns(definition, known)
        given += theta_columns(definition.parameters, theta)
        shape = common_shape([column.lead for column in given])
        given = [column.spread(shape) for column in given]
        if wanted.out is None:
            kinds = definition.leaf_kinds(definition.axes.unknown)
            arrays = [np.empty((*shape, *shape_of(k)), dtype_of(k).base) for k in kinds]
        else:
            arrays = _given_room(definition, wanted.out, shape)
            given = [_apart(column, arrays) for column in given]
        self._solve_all(given, arrays, shape, wanted, searched_for(definition.parameters, theta))
        parts = iter(arrays)
        trees = definition.axes.trees
        return tuple(rebuilt(trees[axis], parts) for axis in definition.axes.unknown)

    def _solve_all(
        self,
        given: Sequence[Column],
        arrays: Arrays,
        shape: tuple[int, ...],
        wanted: BatchOptions,
        searched: frozenset[str],
    ) -> None:
        """Compute the answers, a range of rows at a time."""
        inner = [array.shape[len(shape) :] for array in arrays]
        targets = [AnswerTarget(array, tail) for array, tail in zip(arrays, inner, strict=True)]
        count = math.prod(shape)
        largest = max(map(math.prod, (*inner, *(column.inner for column in given))), default=1)
        with reported(wanted.progress, count, self._definition.name) as report:
            at_once = AT_ONCE_REPORTED if report is not None else AT_ONCE
            for start, stop in _ranges(count, max(1, at_once // max(1, largest))):
                flat = [column.rows(start, stop) for column in given]
                outs = [target.rows(start, stop) for target in targets]
                self._fill(flat, outs, start, wanted.on_error, stop - start, searched)
                for target, out in zip(targets, outs, strict=True):
                    target.put(start, stop, out)
                if report is not None:
                    report(stop, count)

    def _fill(
        self,
        flat: Arrays,
        outs: Arrays,
        first: int,
        on_error: OnError,
        count: int,
        searched: frozenset[str] = frozenset(),
    ) -> None:
        """Write the answers for columns of rows. first: the number of the first row."""
        changed = self._is_changed()
        # the compiled form is that of the old function
        failed = np.ones(count, np.bool_) if changed else self._failed(flat, outs, count)
        if failed is None:
            return
        if changed or searched or on_error == "raise":
            for row in np.flatnonzero(failed):
                self._again(int(row), flat, outs, first, on_error, searched)
        else:
            for out in outs:
                out[failed] = np.nan

    def _failed(self, flat: Arrays, outs: Arrays, count: int) -> NDArray[Any] | None:
        """Compute answers by compiled code; returns which rows have none, None if all have one."""
        known = len(flat) - self._choices
        one_theta = known < len(flat) and all(map(is_one, flat[known:]))
        quick_rows = self._quick_rows(count, one_theta)
        if quick_rows is None:
            failed = np.zeros(count, np.bool_)
            return failed if self._code.rows(failed, *map(_filled, flat), *outs) else None
        shared = [column[0] for column in flat[known:]] if one_theta else []
        given = map(_filled, flat[:known] if one_theta else flat)
        try:
            if not in_threads(quick_rows, [*given, *shared, *outs], self._pace):
                return None
            failed = np.isnan(outs[0])
        except Exception:  # the function itself raised; rows are examined below
            failed = np.ones(count, np.bool_)
        rows = np.flatnonzero(failed)
        answers = [out[rows] for out in outs]
        still = np.zeros(len(rows), np.bool_)
        self._code.rows(still, *(column[rows] for column in flat), *answers)
        failed[rows] = still
        for out, answer in zip(outs, answers, strict=True):
            out[rows] = answer
        return failed

    def _quick_rows(self, count: int, one_theta: bool) -> Callable[..., int] | None:
        """The loop that cannot raise, if there is one. It is not stored on disk: if the other loop
        is, it is compiled after so many rows that it pays.
        """
        self._solved += count
        if self._code.cache is not False and self._solved < COMPILED_AFTER:
            return None
        return self._code.quick_rows_of_one if one_theta else self._code.quick_rows

    def _again(
        self,
        row: int,
        columns: Arrays,
        outs: Arrays,
        first: int,
        on_error: OnError,
        searched: frozenset[str],
    ) -> None:
        """Solve a row without a compiled answer by a call of the inverse, which may search for
        missing coordinates, or raise the reason.
        """
        definition = self._definition
        trees, unknown = definition.axes.trees, definition.axes.unknown
        values = iter([column[row] for column in columns])
        try:
            known = [
                definition.cast(axis, rebuilt(trees[axis], values))
                for axis in definition.axes.known
            ]
            whole = definition.parameters.normal(tuple(values))
            names = definition.parameters.names
            chosen = {
                name: value
                for name, value in zip(names, whole, strict=True)
                if name not in searched
            }
            answers = self._solved_by_call(tuple(known), chosen)
        except NoSolution as error:
            if on_error == "raise":
                error.notes = (("row", str(first + row)), *error.notes)
                raise
            nothing = iter([math.nan] * len(outs))
            answers = tuple(rebuilt(trees[axis], nothing) for axis in unknown)
        found = [
            part
            for axis, answer in zip(unknown, answers, strict=True)
            for part in taken_apart(trees[axis], answer)
        ]
        for out, answer in zip(outs, found, strict=True):
            out[row] = answer


def _ranges(count: int, size: int) -> Iterator[tuple[int, int]]:
    """Consecutive ranges of this many rows; the last may be shorter."""
    for start in range(0, count, size):
        yield start, min(start + size, count)


def _filled(column: NDArray[Any]) -> NDArray[Any]:
    """A column with a number in each row."""
    return as_compiled(column, column.dtype) if is_one(column) else column


def kind_columns(definition: Definition, known: Sequence[Any]) -> list[Column]:
    """The columns of the known axes."""
    return [
        column
        for axis, value in zip(definition.axes.known, known, strict=True)
        for column in columns(axis, definition.parts(axis, value), leaves(definition.kinds[axis]))
    ]


# ---- buffers for answers ------------------------------------------------------------------


def _given_room(definition: Definition, out: Any, shape: tuple[int, ...]) -> list[NDArray[Any]]:
    """The arrays given for answers of rows of this shape. Raises WrongArguments."""
    unknown = definition.axes.unknown
    whole = (out,) if len(unknown) == 1 and not isinstance(out, tuple) else out
    if not isinstance(whole, tuple) or len(whole) != len(unknown):
        raise WrongArguments(
            f"out= is a {type(out).__name__}, and {definition!r} answers {', '.join(unknown)}",
            where=caller(),
            help="give an array, or a tuple of arrays for several",
        )
    found: list[NDArray[Any]] = []
    for axis, value in zip(unknown, whole, strict=True):
        kinds = leaves(definition.kinds[axis])
        for array, kind in zip(definition.parts(axis, value), kinds, strict=True):
            _check_room(axis, array, (*shape, *shape_of(kind)), dtype_of(kind).base)
            if any(np.may_share_memory(array, other) for other in found):
                raise WrongArguments(
                    f"out= for {axis} shares memory with the array for another answer",
                    where=caller(),
                    help="give an array of its own for each",
                )
            found.append(array)
    return found


def _check_room(axis: str, array: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raise WrongArguments unless answers of this shape and dtype can be written into an array."""
    if not isinstance(array, np.ndarray):
        fault = f"is a {type(array).__name__}"
    elif array.shape != shape or array.dtype != dtype:
        fault = f"is an array of {array.dtype} of shape {array.shape}"
    elif not array.flags.writeable:
        fault = "is read-only"
    else:
        return
    raise WrongArguments(
        f"out= for {axis} {fault}; the answers are {dtype} of shape {shape}",
        where=caller(),
        help=f"use numpy.empty({shape}, {dtype.name!r})",
    )


def _apart(column: Column, arrays: Arrays) -> Column:
    """A column that does not change while answers are written into these arrays."""
    if not any(np.may_share_memory(column.array, array) for array in arrays):
        return column
    return Column(column.array.copy(), column.dtype, column.inner)


def check_on_error(definition: Definition, on_error: str) -> None:
    """Raise WrongArguments unless this is a valid handling of errors."""
    if on_error == "raise":
        return
    kinds = definition.leaf_kinds(definition.axes.unknown)
    if on_error != "nan":
        raise WrongArguments(
            f'on_error is "raise" or "nan", not {on_error!r}',
            where=caller(),
            help='use on_error="raise"',
        )
    if not kinds or any(element_of(k) is not float for k in kinds):
        raise WrongArguments(
            'on_error="nan" needs answers that are floats',
            where=caller(),
            help='use on_error="raise"',
        )
