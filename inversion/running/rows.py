"""Batches: columns of known values, compiled loops, and rows without an answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from inversion.running.meter import PayMeter
from inversion.running.progress import Progress, reported
from inversion.running.quick import Pace, in_threads
from overlay.core.background import Later
from overlay.core.location import caller
from overlay.core.short_repr import a_or_an
from primitives.arrays.domain import element_of, shape_of
from primitives.domains import domain_of

__all__ = ["BatchOptions", "OnError", "RowsInverse", "check_on_error", "kind_columns"]

OnError = Literal["raise", "nan"]
Arrays = Sequence[NDArray[Any]]
Rows = range | NDArray[Any]

AT_ONCE, AT_ONCE_REPORTED = 1 << 20, 1 << 16
"""The largest number of numbers of a column that are solved for at a time."""


@dataclass(frozen=True)
class BatchOptions:
    """The options of a batch: see ``Inverse.batch``."""

    out: Any = None
    on_error: OnError = "raise"
    progress: Progress = False


def searched_for(space: ParameterSpace, theta: Any) -> frozenset[str]:
    """The coordinates that are searched for in rows without an answer: those that are not given;
    none if all of them matter only for rounding.
    """
    if space.optional or not (theta is None or isinstance(theta, Mapping)):
        return frozenset()
    return frozenset(space.names).difference(theta or ())


class RowsInverse:
    """An inverse over rows.

    at: solves one row from known values and a complete θ. solved: solves it from some coordinates
    of θ; it searches for the others, and raises the reason if there is no answer. is_changed:
    whether the function has changed since it was inverted; then all rows are interpreted.
    """

    def __init__(
        self,
        definition: Definition,
        code: GeneratedFunctions,
        at: Callable[[tuple[Any, ...], tuple[Any, ...]], tuple[Any, ...]],
        solved: Callable[[tuple[Any, ...], Mapping[str, Any]], tuple[Any, ...]],
        is_changed: Callable[[], bool],
    ) -> None:
        self._definition = definition
        self._code = code
        self._at = at
        self._solved_by_call = solved
        self._is_changed = is_changed
        self._choices = len(definition.parameters)
        self._pace = Pace()

    def as_they_are(self, known: Sequence[Any], on_error: OnError) -> tuple[Any, ...] | None:
        """The answers for arrays of numbers that compiled code can take directly, with little
        overhead; None for other arguments.
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

    @cached_property
    def _by_calls(self) -> PayMeter:
        return PayMeter()

    @cached_property
    def _by_columns(self) -> PayMeter:
        return PayMeter()

    def compile(self) -> None:
        """Compile the loops over rows, now. Raises NotCompilable."""
        self._code.rows.now()
        if self._code.may_be_quick:
            for quick in self._code.quick_rows[: 2 if self._choices else 1]:
                quick.now()

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

        def unanswered(rows: Iterable[int]) -> None:
            if changed or searched or on_error == "raise":
                for row in rows:
                    self._again(int(row), flat, outs, first, on_error, searched)
            else:
                left = list(rows)
                for out in outs:
                    out[left] = np.nan

        changed = self._is_changed()
        # the compiled forms are those of the old function
        missed = [range(count)] if changed else self._missed(flat, outs, count)
        for rows in missed:
            while len(rows):
                if self._code.rows.is_made and not changed:
                    unanswered(self._failed(rows, flat, outs, count))
                    break
                size = self._by_calls.slice
                part, rows = rows[:size], rows[size:]
                with self._by_calls.metered(len(part)):
                    unanswered([row for row in part if not self._is_answered(row, flat, outs)])
                if not changed:
                    self._begin(self._code.rows, self._by_calls, len(rows))

    def _begin(self, loop: Later[Any], meter: PayMeter, left: int = 0) -> None:
        """Begin to compile a loop in the background, if that pays off.

        left: the number of remaining rows of the batch.
        """
        is_kept = self._code.cache is not False
        meter.begin(loop, left, lambda: not self._is_changed(), is_kept=is_kept)

    def _missed(self, flat: Arrays, outs: Arrays, count: int) -> Iterable[Rows]:
        """Compute answers by the loop that never raises, or interpreted over columns, where
        possible; return the remaining rows.
        """
        known = len(flat) - self._choices
        one_theta = known < len(flat) and all(map(is_one, flat[known:]))
        shared = [column[0] for column in flat[known:]] if one_theta else []
        quick = self._code.quick_rows[one_theta]
        rows = quick.now() if quick.is_made else None
        if rows is not None:
            given = map(_filled, flat[:known] if one_theta else flat)
            try:
                if not in_threads(rows, [*given, *shared, *outs], self._pace):
                    return []
            except Exception:  # the function itself raised
                return [range(count)]
            return [np.flatnonzero(np.isnan(outs[0]))]
        if not self._code.columns.fits:
            return [range(count)]
        theta = [value.item() for value in shared] if one_theta else flat[known:]
        whole = (tuple(theta),) if self._choices else ()
        return self._by_numpy([*flat[:known], *whole], outs, count, quick)

    def _by_numpy(
        self, given: Sequence[Any], outs: Arrays, count: int, quick: Later[Any]
    ) -> Iterator[Rows]:
        """Compute answers interpreted over columns; return the remaining rows."""
        with self._by_columns.metered(count):
            left = list(self._code.columns.missed(given, outs, 0, count))
        if self._code.may_be_quick and self._code.columns.fits:
            self._begin(quick, self._by_columns)
        for start, stop in left:
            yield range(start, stop)

    def _failed(self, rows: Rows, flat: Arrays, outs: Arrays, count: int) -> NDArray[Any]:
        """Compute the answers of some rows by compiled code; return those without an answer."""
        failed = np.zeros(len(rows), np.bool_)
        loop = self._code.rows.now()
        if len(rows) == count:
            loop(failed, *map(_filled, flat), *outs)
            return np.flatnonzero(failed)
        some = np.asarray(rows)
        answers = [out[some] for out in outs]
        loop(failed, *(column[some] for column in flat), *answers)
        for out, answer in zip(outs, answers, strict=True):
            out[some] = answer
        return some[failed]

    def _is_answered(self, row: int, columns: Arrays, outs: Arrays) -> bool:
        """Solve a row by a call with its complete θ, as the compiled loop does; return whether it
        has an answer.
        """
        try:
            known, theta = self._row(row, columns)
            answers = self._at(known, theta)
        except Exception:  # as in compiled code: a refusal, or an exception of the function
            return False
        self._put(row, answers, outs)
        return True

    def _row(self, row: int, columns: Arrays) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The known values and θ of a row."""
        definition = self._definition
        trees = definition.axes.trees
        values = iter([column[row] for column in columns])
        known = [
            definition.cast(axis, rebuilt(trees[axis], values)) for axis in definition.axes.known
        ]
        return tuple(known), definition.parameters.normal(tuple(values))

    def _put(self, row: int, answers: Sequence[Any], outs: Arrays) -> None:
        """Write the answers of a row."""
        trees, unknown = self._definition.axes.trees, self._definition.axes.unknown
        found = [
            part
            for axis, answer in zip(unknown, answers, strict=True)
            for part in taken_apart(trees[axis], answer)
        ]
        for out, answer in zip(outs, found, strict=True):
            out[row] = answer

    def _again(
        self,
        row: int,
        columns: Arrays,
        outs: Arrays,
        first: int,
        on_error: OnError,
        searched: frozenset[str],
    ) -> None:
        """Solve a row without an answer by a call of the inverse, which may search for missing
        coordinates, or raise the reason.
        """
        try:
            known, whole = self._row(row, columns)
            chosen = {
                name: value
                for name, value in zip(self._definition.parameters.names, whole, strict=True)
                if name not in searched
            }
            self._put(row, self._solved_by_call(known, chosen), outs)
        except NoSolution as error:
            if on_error == "raise":
                error.notes = (("row", str(first + row)), *error.notes)
                raise
            for out in outs:
                out[row] = math.nan


def _ranges(count: int, size: int) -> Iterator[tuple[int, int]]:
    """Consecutive ranges of this number of rows; the last may be shorter."""
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
    """The arrays given for the answers of rows of this shape. Raises WrongArguments."""
    unknown = definition.axes.unknown
    whole = (out,) if len(unknown) == 1 and not isinstance(out, tuple) else out
    if not isinstance(whole, tuple) or len(whole) != len(unknown):
        raise WrongArguments(
            f"out= is {a_or_an(type(out).__name__)}, and {definition!r} answers "
            f"{', '.join(unknown)}",
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
                    help="give a separate array for each",
                )
            found.append(array)
    return found


def _check_room(axis: str, array: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raise WrongArguments unless answers of this shape and dtype fit into an array."""
    if not isinstance(array, np.ndarray):
        fault = f"is {a_or_an(type(array).__name__)}"
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
    """Raise WrongArguments unless this is a valid value of ``on_error``."""
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
