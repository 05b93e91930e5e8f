"""Calls that are made for one sample after the other."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from overlay.core.target import describe
from overlay.interpretations.batching.batches import Batch, leaves, mapped
from overlay.interpretations.batching.sample_runs import BatchRun, current
from overlay.interpretations.batching.stacking import batch_of, label

__all__ = ["looped", "of_rows", "viewed"]


def of_rows(
    run: BatchRun, call: Callable[[int], Any], rows: Sequence[int] | None = None
) -> tuple[list[Any], Exception | None]:
    """The results of a call for each sample; the run is split where some raise an error or results
    have not the same form. If all raise, the first error.

    rows: the samples whose call is made; the others need none.
    """
    found: list[Any] = []
    labels: list[Any] = ["none"] * run.size
    first: Exception | None = None
    token = current.set(None)
    try:
        for i in range(run.size) if rows is None else rows:
            try:
                found.append(call(i))
                labels[i] = label(found[-1])
            except Exception as error:
                first = first or error
                labels[i] = ("raises", type(error))
    finally:
        current.reset(token)
    if any(each != labels[0] for each in labels) and (rows is None or len(set(labels)) > 1):
        run.split(labels)
    return found, first


def looped(
    run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any], name: str
) -> Any:
    """The result of a function that is called for each sample."""
    if any(callable(x) and not isinstance(x, type) for x in (*args, *named.values())):
        run.one_by_one(name)  # the calls of the function are the program's
    run.note(name)

    def call(i: int) -> Any:
        def sample(x: Batch) -> Any:
            return x.sample(i)

        given = [mapped(x, sample) for x in args]
        return function(*given, **{key: mapped(x, sample) for key, x in named.items()})

    found, error = of_rows(run, call)
    if error is not None:
        raise error
    for x in leaves([*args, *named.values()]):
        if x.ndim and any(
            isinstance(one, np.ndarray) and np.may_share_memory(one, x.value) for one in found
        ):
            return _views(run, x, found)
    return batch_of(run, found)


def _views(run: BatchRun, x: Batch, found: list[Any]) -> Any:
    """The batch of results that are views of the samples of a batch."""
    begin = x.value.__array_interface__["data"][0]
    step = x.value.strides[0]
    labels = [
        (one.__array_interface__["data"][0] - begin - i * step, one.shape, one.strides)
        for i, one in enumerate(found)
    ]
    if any(each != labels[0] for each in labels):
        run.split(labels)
    return viewed(run, x.value, found[0])


def viewed(run: BatchRun, value: Any, first: Any) -> Batch:
    """The batch of views that are to the samples of an array what ``first`` is to its first."""
    strides = (value.strides[0], *first.strides)
    shape = (run.size, *first.shape)
    made = np.lib.stride_tricks.as_strided(first, shape, strides, writeable=first.flags.writeable)
    return Batch(run, made)


def name_of(function: Any) -> str:
    """The name of a function, for the trace of calls."""
    if isinstance(function, operator.methodcaller):
        return repr(function)
    return describe(function)
