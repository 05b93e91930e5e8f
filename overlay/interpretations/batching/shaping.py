"""Batches as arrays whose first axis is that of the samples, and arrays as batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from overlay.interpretations.batching.batches import Batch
from overlay.interpretations.batching.sample_runs import BatchRun

__all__ = ["NoForm", "aligned", "depth_of", "joined", "result", "rows_of"]


class NoForm(Exception):
    """A call has no form for whole batches."""


def aligned(run: BatchRun, args: Sequence[Any], *, least: int = 0, weak: bool = True) -> list[Any]:
    """Arguments as arrays that broadcast as the samples' do.

    least: the least number of axes of the samples. weak: whether Python's numbers take the type
    of numpy's numbers beside them.
    """
    depth = max([least, *map(depth_of, args)])
    kinds = [] if not weak else _kinds(args)
    found: list[Any] = []
    for x in args:
        if type(x) is not Batch:
            found.append(x)
            continue
        value = x.value
        if value.ndim <= depth:
            value = value.reshape(run.size, *[1] * (depth + 1 - value.ndim), *value.shape[1:])
        if kinds and x.python and value.dtype.kind in "fc":
            value = value.astype(np.result_type(*kinds, value.dtype.type(0).item()))
        found.append(value)
    return found


def depth_of(x: Any) -> int:
    """The number of axes of each sample's value."""
    return x.value.ndim - 1 if type(x) is Batch else np.ndim(x)


def _kinds(args: Sequence[Any]) -> list[Any]:
    """The types of the arguments of numpy, if there are others beside them."""
    if not any(type(x) is Batch and x.python for x in args):
        return []
    typed = [x for x in args if isinstance(x, (np.ndarray, np.generic)) or type(x) is Batch]
    return [x.dtype for x in typed if not (type(x) is Batch and x.python)]


def result(run: BatchRun, found: Any) -> Any:
    """The result of a function of whole arrays, as batches."""
    if isinstance(found, tuple):
        parts = [result(run, each) for each in found]
        return type(found)(*parts) if hasattr(found, "_fields") else tuple(parts)
    if isinstance(found, list):
        return [result(run, each) for each in found]
    return Batch(run, found)


def rows_of(run: BatchRun, x: Any) -> Any:
    """An argument as an array with a row for each sample."""
    if type(x) is Batch:
        return x.value
    plain = np.asarray(x)
    return np.broadcast_to(plain, (run.size, *plain.shape))


def joined(run: BatchRun, x: Any) -> Batch:
    """A list of batches as a batch of arrays."""
    if isinstance(x, (list, tuple)):
        parts = [joined(run, each) for each in x]
        if len({each.shape for each in parts}) > 1:
            raise NoForm
        kinds = [each.dtype for each in parts]
        return Batch(
            run, np.stack([each.value for each in parts], 1).astype(np.result_type(*kinds))
        )
    return x if type(x) is Batch else Batch(run, rows_of(run, x))
