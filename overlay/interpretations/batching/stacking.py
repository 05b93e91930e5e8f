"""One value of the values of several samples: stacked numbers and arrays, in their structures."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, cast

import numpy as np

from overlay.interpretations.batching.batches import Batch

__all__ = ["label", "stacked"]

PYTHON = (float, complex, bool)
"""The classes of Python's numbers whose values may differ within a batch. Integers are not among
them, since they have no bounds: a batch of those is split.
"""


def label(x: Any) -> Hashable:
    """The key that the values of samples share to be one batch: structure, shapes, and parts that
    are neither numbers nor arrays."""
    kind = type(x)
    if kind in PYTHON:
        return kind
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "biufcMm":
        return (kind, x.dtype, x.shape)
    if isinstance(x, (list, tuple)):
        items: Sequence[Any] = x
        return (kind, *[label(part) for part in items])
    if kind is dict:
        parts = cast("dict[Any, Any]", x)
        return (kind, *((key, label(part)) for key, part in parts.items()))
    if x is None or kind in (int, str, bytes, slice, type, range) or isinstance(x, np.dtype):
        return (kind, repr(x) if kind is slice else x)
    return id(x)


def stacked(values: Sequence[Any], make: Callable[[Any, bool], Any]) -> Any:
    """The samples' values, of one label, as one. make: makes a batch of an array, and of whether
    the numbers are Python's."""
    first = values[0]
    kind = type(first)
    if kind in PYTHON:
        return make(np.array(values), True)
    if isinstance(first, (np.ndarray, np.generic)):
        return make(np.stack(values), False)
    if isinstance(first, (list, tuple)):
        parts = [stacked(each, make) for each in zip(*values, strict=True)]
        return kind(*parts) if hasattr(first, "_fields") else kind(parts)
    if kind is dict:
        return {key: stacked([each[key] for each in values], make) for key in first}
    return first


def batch_of(run: Any, values: Sequence[Any]) -> Any:
    """The batch of the samples' values, of one label."""
    return stacked(values, lambda value, python: Batch(run, value, python=python))
