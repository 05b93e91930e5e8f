"""Parts of batches of arrays, and writing into them."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from overlay.interpretations.batching.batches import Batch, leaves
from overlay.interpretations.batching.one_by_one import looped, viewed
from overlay.interpretations.batching.sample_runs import BatchRun
from overlay.interpretations.batching.shaping import depth_of, joined, rows_of

__all__ = ["part", "write"]


def _parts(index: Any) -> tuple[Any, ...]:
    return index if type(index) is tuple else (index,)


def part(run: BatchRun, a: Any, index: Any) -> Any:
    """``a[index]`` of each sample, where the array or the index differs among them."""
    if type(a) is not Batch or leaves(index):
        if not isinstance(a, np.ndarray):
            return a.__getitem__(index)  # which asks the index for one number
        return _by_samples(run, a, index)
    if not a.ndim:
        return looped(run, operator.getitem, (a, index), {}, "indexing of a number")
    first = a.value[0]
    found = first[index]
    if isinstance(found, np.ndarray) and np.may_share_memory(found, first) and first.size:
        return viewed(run, a.value, found)
    if not isinstance(found, np.ndarray):
        parts = _parts(index)
        return Batch(run, a.value[(slice(None), *parts)].copy())
    return Batch(run, _coordinates_taken(a.value, _places(first, index)))


def _places(first: Any, index: Any) -> Any:
    return np.arange(first.size).reshape(first.shape)[index]


def _coordinates_taken(value: Any, places: Any) -> Any:
    return value[(slice(None), *np.unravel_index(places, value.shape[1:]))]


def _by_samples(run: BatchRun, a: Any, index: Any) -> Any:
    """The parts by an index that differs among the samples."""
    value = rows_of(run, a)
    given = _rowwise(run, value, index)
    if given is None:
        return looped(run, operator.getitem, (a, index), {}, "indexing by values of the samples")
    whole, block, before = given
    found = value[whole]
    if before:
        found = np.moveaxis(found, range(1, 1 + block), range(before + 1, before + 1 + block))
    return Batch(run, found if found.base is None else found.copy())


def _rowwise(run: BatchRun, value: Any, index: Any) -> tuple[tuple[Any, ...], int, int] | None:
    """An index of the rows of samples: with the number of axes of the arrays of integers in it,
    and of the axes before these in a sample's part. None if there is no such index."""
    parts = _parts(index)
    used = 0
    for x in parts:
        whole = x.value.dtype.kind in "iu" if type(x) is Batch else _is_whole(x)
        if not whole and not isinstance(x, slice) and x is not None and x is not Ellipsis:
            return None
        if type(x) is slice and leaves(x):
            return None
        used += x is not None and x is not Ellipsis
    if Ellipsis in [x for x in parts if x is Ellipsis]:
        place = next(i for i, x in enumerate(parts) if x is Ellipsis)
        if sum(x is Ellipsis for x in parts) > 1:
            return None
        fill = (slice(None),) * (value.ndim - 1 - used)
        parts = (*parts[:place], *fill, *parts[place + 1 :])
    block = max(depth_of(x) for x in parts if not isinstance(x, slice) and x is not None)
    chosen = [i for i, x in enumerate(parts) if not isinstance(x, slice) and x is not None]
    adjacent = chosen == list(range(chosen[0], chosen[-1] + 1))
    before = chosen[0] if adjacent else 0
    given: list[Any] = [np.arange(run.size).reshape(-1, *[1] * block)]
    for x in parts:
        if type(x) is Batch:
            x = x.value.reshape(run.size, *[1] * (block - x.ndim), *x.shape)
        given.append(x)
    return tuple(given), block, before


def _is_whole(x: Any) -> bool:
    kind = np.asarray(x).dtype.kind if isinstance(x, (list, np.ndarray)) else ""
    return type(x) is int or isinstance(x, np.integer) or kind in ("i", "u")


def write(run: BatchRun, a: Batch, index: Any, value: Any) -> None:
    """``a[index] = value`` of each sample."""
    if isinstance(value, (list, tuple)) and leaves(value):
        value = joined(run, value)
    if leaves(index):
        mask = index if type(index) is Batch and index.value.dtype == bool else None
        if mask is not None and mask.shape == a.shape and not depth_of(value):
            given = value.value.reshape(-1, *[1] * a.ndim) if type(value) is Batch else value
            np.copyto(a.value, given, where=mask.value, casting="unsafe")
            return
        given = None if mask is not None else _rowwise(run, a.value, index)
        if given is None:
            looped(run, operator.setitem, (a, index, value), {}, "writing by values of the samples")
            return
        spots = np.broadcast_to(np.arange(a.size).reshape(a.shape), (run.size, *a.shape))[given[0]]
        if given[2]:
            spots = np.moveaxis(
                spots, range(1, 1 + given[1]), range(given[2] + 1, given[2] + 1 + given[1])
            )
        rows = np.arange(run.size).reshape(-1, *[1] * (spots.ndim - 1))
        coordinates = np.unravel_index(spots, a.shape)
        a.value[(rows, *coordinates)] = _valued(run, value, spots.shape[1:])
        return
    first = a.value[0]
    found = first[index]
    if isinstance(found, np.ndarray) and np.may_share_memory(found, first):
        into = viewed(run, a.value, found).value
        into[...] = _valued(run, value, found.shape)
        return
    places = _places(first, index)
    coordinates = np.unravel_index(places, a.shape)
    a.value[(slice(None), *coordinates)] = _valued(run, value, np.shape(places))


def _valued(run: BatchRun, value: Any, shape: Sequence[int]) -> Any:
    """A value that is written, with an axis of samples that fits a part of this shape."""
    if type(value) is not Batch:
        return value
    have = value.shape
    while len(have) > len(shape) and have[0] == 1:
        have = have[1:]
    return value.value.reshape(run.size, *[1] * (len(shape) - len(have)), *have)
