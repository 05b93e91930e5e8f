"""Whole arrays of known values: columns in, compiled loops, and the rows that have no answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from inversion.batch import columns, flattened, theta_columns
from inversion.code import Code
from inversion.definition import Definition
from inversion.errors import NoSolution, WrongArguments
from inversion.quick import in_threads
from inversion.trees import leaves, rebuilt, taken_apart
from inversion.values import dtype_of
from overlay.location import caller
from primitives.arrays.domain import element_of, shape_of

__all__ = ["OnError", "Rows"]

OnError = Literal["raise", "nan"]
Columns = Sequence[NDArray[Any]]


class Rows:
    """An inverse over rows. interpreted: a call of it, in Python, that says why there is no answer.

    is_changed: whether the function has changed since it was inverted; then all are interpreted.
    """

    def __init__(
        self,
        definition: Definition,
        code: Code,
        interpreted: Callable[[tuple[Any, ...]], tuple[Any, ...]],
        is_changed: Callable[[], bool],
    ) -> None:
        self._definition = definition
        self._code = code
        self._interpreted = interpreted
        self._is_changed = is_changed

    def answers(
        self, known: Sequence[Any], theta: Any, on_error: OnError
    ) -> tuple[NDArray[Any], ...]:
        """The unknown axes: see ``Inverse.batch``."""
        definition = self._definition
        kinds = definition.leaf_kinds(definition.axes.unknown)
        _check_on_error(on_error, kinds)
        given = [
            column
            for axis, value in zip(definition.axes.known, known, strict=True)
            for column in columns(
                axis, definition.parts(axis, value), leaves(definition.kinds[axis])
            )
        ]
        given += theta_columns(definition.parameters, theta) if len(definition.parameters) else []
        inner = [shape_of(kind) for kind in definition.leaf_kinds(definition.axes.known)]
        inner += [parameter.domain.dtype.shape for parameter in definition.parameters]
        shape, flat = flattened(given, inner)
        outs = [np.zeros(math.prod(shape), dtype=dtype_of(kind)) for kind in kinds]
        self._fill(flat, outs, on_error)
        shaped = iter([out.reshape(*shape, *out.shape[1:]) for out in outs])
        return tuple(
            rebuilt(definition.axes.trees[axis], shaped) for axis in definition.axes.unknown
        )

    def _fill(self, flat: Columns, outs: Columns, on_error: OnError) -> None:
        """The answers for columns of rows, written into these."""
        failed = np.zeros(len(outs[0]) if outs else len(flat[0]), dtype=np.bool_)
        changed = self._is_changed()
        if changed:
            failed[:] = True  # the compiled form is that of the old function
        else:
            self._solve(failed, flat, outs)
        if changed or on_error == "raise":
            for row in np.flatnonzero(failed):
                self._again(int(row), flat, outs, on_error)
        else:
            for out in outs:
                out[failed] = np.nan

    def _solve(self, failed: NDArray[Any], flat: Columns, outs: Columns) -> None:
        """Fill in the answers, and which rows have failed."""
        quick_rows = self._code.quick_rows
        if quick_rows is None:
            self._code.rows(failed, *flat, *outs)
            return
        try:
            in_threads(quick_rows, [failed, *flat, *outs])
        except Exception:  # the function itself raised; the rows are told apart below
            failed[:] = True
        rows = np.flatnonzero(failed)
        if len(rows):
            answers = [out[rows] for out in outs]
            still = np.zeros(len(rows), dtype=np.bool_)
            self._code.rows(still, *(column[rows] for column in flat), *answers)
            failed[rows] = still
            for out, answer in zip(outs, answers, strict=True):
                out[rows] = answer

    def _again(self, row: int, columns: Columns, outs: Columns, on_error: OnError) -> None:
        """A row that compiled code does not answer, interpreted: an answer, or the reason."""
        definition = self._definition
        trees, unknown = definition.axes.trees, definition.axes.unknown
        values = iter([column[row] for column in columns])
        known = [
            definition.cast(axis, rebuilt(trees[axis], values)) for axis in definition.axes.known
        ]
        theta = definition.parameters.normal(tuple(values))
        try:
            answers = self._interpreted((*known, *definition.as_argument(theta)))
        except NoSolution as error:
            if on_error == "raise":
                error.notes = (("row", str(row)), *error.notes)
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


def _check_on_error(on_error: str, kinds: Sequence[Any]) -> None:
    """Raise WrongArguments unless answers of these types can be refused in this way."""
    if on_error not in ("raise", "nan"):
        raise WrongArguments(
            f'on_error is "raise" or "nan", not {on_error!r}',
            where=caller(),
            help='use on_error="raise"',
        )
    if on_error == "nan" and (not kinds or any(element_of(k) is not float for k in kinds)):
        raise WrongArguments(
            'on_error="nan" needs answers that are floats',
            where=caller(),
            help='use on_error="raise"',
        )
