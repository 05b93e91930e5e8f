"""Batches of dask arrays: one task for each chunk of rows, computed lazily."""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from inversion.emitting.definition import Definition, dtype_of
from inversion.errors import WrongArguments
from inversion.program.trees import rebuilt, taken_apart
from inversion.running.columns import common_shape, theta_columns
from inversion.running.rows import BatchOptions, OnError, check_on_error, kind_columns
from overlay.core.location import caller
from primitives.arrays.domain import shape_of

if TYPE_CHECKING:
    from inversion.inverse import Inverse

__all__ = ["has_dask", "lazily"]


def has_dask(definition: Definition, known: Sequence[Any], theta: Any) -> bool:
    """Return whether a known value, or θ, is a dask array."""
    if "dask.array" not in sys.modules:
        return False
    parts = [
        part
        for axis, value in zip(definition.axes.known, known, strict=True)
        for part in definition.parts(axis, value)
    ]
    return any(map(_is_dask, (*parts, theta)))


def _is_dask(value: Any) -> bool:
    return isinstance(value, sys.modules["dask.array"].Array)


def lazily(
    inverse: Inverse, definition: Definition, known: Sequence[Any], theta: Any, wanted: BatchOptions
) -> tuple[Any, ...]:
    """The unknown axes as dask arrays. Types and shapes are checked immediately, values in the
    tasks.

    Raises WrongArguments also for options that dask arrays do not support.
    """
    _check_wanted(definition, wanted)
    parts = [
        part
        for axis, value in zip(definition.axes.known, known, strict=True)
        for part in definition.parts(axis, value)
    ]
    if isinstance(theta, Mapping):
        theta = _of_one(theta)
    _check(definition, parts, theta)
    inner = [shape_of(kind) for kind in definition.leaf_kinds(definition.axes.known)]
    with_theta = _is_dask(theta) or isinstance(theta, np.ndarray)
    if with_theta:
        parts, inner = [*parts, theta], [*inner, ()]
    kinds = definition.leaf_kinds(definition.axes.unknown)
    takes, _ = _dimensions("in", inner)
    gives, sizes = _dimensions("out", [shape_of(kind) for kind in kinds])
    dtypes = [dtype_of(kind).base for kind in kinds]
    da: Any = importlib.import_module("dask.array")
    answers = da.apply_gufunc(
        _Chunk(inverse, None if with_theta else theta, with_theta, wanted.on_error),
        f"{takes}->{gives}",
        *_in_equal_chunks(parts, inner),
        output_dtypes=dtypes if len(dtypes) > 1 else dtypes[0],
        output_sizes=sizes,
    )
    found = iter(answers if len(dtypes) > 1 else [answers])
    return tuple(rebuilt(definition.axes.trees[axis], found) for axis in definition.axes.unknown)


@dataclass(frozen=True)
class _Chunk:
    """A task that computes the answers for chunks of the known axes, and of θ if it is an array."""

    inverse: Inverse
    theta: Any
    with_theta: bool
    on_error: OnError

    @property
    def __name__(self) -> str:
        return "inverse"

    def __call__(self, *arrays: Any) -> Any:
        trees, parts = self.inverse.axes.trees, iter(arrays)
        known = [rebuilt(trees[axis], parts) for axis in self.inverse.known]
        theta = next(parts) if self.with_theta else self.theta
        answers = self.inverse.batch(*known, theta=theta, on_error=self.on_error)
        found = [
            part
            for axis, answer in zip(self.inverse.unknown, answers, strict=True)
            for part in taken_apart(trees[axis], answer)
        ]
        return tuple(found) if len(found) > 1 else found[0]


def _of_one(theta: Mapping[str, Any]) -> Mapping[str, Any]:
    """Check that coordinates are shared by all rows. Raises WrongArguments for arrays of them."""
    arrays = [
        name for name, value in theta.items() if isinstance(value, np.ndarray) or _is_dask(value)
    ]
    if arrays:
        raise WrongArguments(
            f"of dask arrays θ.{arrays[0]} cannot be an array by name",
            where=caller(),
            help="give one value for all rows, or theta= as an array of inv.parameters.dtype",
        )
    return theta


def _dimensions(side: str, inner: Sequence[tuple[int, ...]]) -> tuple[str, dict[str, int]]:
    """Names and lengths of the inner dimensions of each array, as in a gufunc signature."""
    named = [
        {f"{side}{i}_{j}": length for j, length in enumerate(shape)}
        for i, shape in enumerate(inner)
    ]
    sizes = {name: length for names in named for name, length in names.items()}
    return ",".join(f"({','.join(names)})" for names in named), sizes


def _in_equal_chunks(parts: Sequence[Any], inner: Sequence[tuple[int, ...]]) -> list[Any]:
    """Known values as dask arrays with equal chunks of rows, and undivided inner dimensions."""
    da: Any = importlib.import_module("dask.array")
    given: list[Any] = []
    for i, (part, shape) in enumerate(zip(parts, inner, strict=True)):
        array = da.asarray(part)
        rows = array.ndim - len(shape)
        whole = array.rechunk(dict.fromkeys(range(rows, array.ndim), -1)) if shape else array
        # rows are numbered from the last axis, as in broadcasting
        given += [whole, (*range(-rows, 0), *((i, j) for j in range(len(shape))))]
    return list(da.core.unify_chunks(*given)[1])


def _check_wanted(definition: Definition, wanted: BatchOptions) -> None:
    check_on_error(definition, wanted.on_error)
    fault, help = None, ""
    if wanted.out is not None:
        fault, help = "out= cannot be given", "leave it out, and use dask.array.store"
    elif wanted.progress is not False:
        fault = "progress= cannot be given"
        help = "use dask.diagnostics.ProgressBar, or distributed.progress on a cluster"
    elif not definition.axes.unknown:
        fault, help = "nothing is unknown, so there is nothing to compute", "give numpy arrays"
    if fault is not None:
        raise WrongArguments(f"of dask arrays {fault}", where=caller(), help=help)


def _check(definition: Definition, parts: Sequence[Any], theta: Any) -> None:
    """Raise the errors that a batch would raise for the types and shapes of these arrays."""
    trees, known = definition.axes.trees, definition.axes.known
    inner = [len(shape_of(kind)) for kind in definition.leaf_kinds(known)]
    shown = iter(list(map(_stand_in, parts, inner)))
    kind_columns(definition, [rebuilt(trees[axis], shown) for axis in known])
    leads = [_lead(part, count) for part, count in zip(parts, inner, strict=True)]
    if len(definition.parameters):
        columns = theta_columns(definition.parameters, _stand_in(theta, 0))
        leads += [_lead(theta, 0)] if _is_dask(theta) else [column.lead for column in columns]
    common_shape(leads)


def _lead(value: Any, inner: int) -> tuple[int, ...]:
    """The shape of the rows; an unknown length becomes 1, which fits any."""
    shape = np.shape(value)
    return tuple(1 if math.isnan(n) else n for n in shape[: max(0, len(shape) - inner)])


def _stand_in(value: Any, inner: int) -> Any:
    """An array of one row, with the same dtype and dimensions, for a dask array; other values
    unchanged.
    """
    if not _is_dask(value):
        return value
    rows = max(0, value.ndim - inner)
    shape = [0 if math.isnan(length) else length for length in value.shape[rows:]]
    return np.zeros((*(1 for _ in range(rows)), *shape), value.dtype)
