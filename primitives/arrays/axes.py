"""Arrays as rows along one axis, in the shape (before, along, after), and operations along it.

All functions take and return C-contiguous arrays, in numpy and in code that numba compiles. In
numba most functions lack ``axis``: the operations are written as loops there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from primitives.solver_forms import compiled_forms

__all__ = [
    "AxisRows",
    "completed",
    "cumulated",
    "first_place",
    "largest",
    "multiplied",
    "placed",
    "products",
    "smallest",
    "summed",
]


@dataclass(frozen=True)
class AxisRows:
    """The view of arrays of a shape as rows along one axis (None: all elements are one row).

    shape: the shape of the array. along: the length of a row. split: (before, along, after).
    reduced: the shape with one element for each row, () for a single row. less(n): the shape with
    rows of length n.
    """

    shape: tuple[int, ...]
    axis: int | None

    @property
    def split(self) -> tuple[int, int, int]:
        if self.axis is None:
            return 1, math.prod(self.shape), 1
        before, after = self.shape[: self.axis], self.shape[self.axis + 1 :]
        return math.prod(before), self.shape[self.axis], math.prod(after)

    @property
    def along(self) -> int:
        return self.split[1]

    @property
    def reduced(self) -> tuple[int, ...]:
        if self.axis is None:
            return ()
        return self.shape[: self.axis] + self.shape[self.axis + 1 :]

    def less(self, n: int) -> tuple[int, ...]:
        if self.axis is None:
            return (n,)
        return (*self.shape[: self.axis], n, *self.shape[self.axis + 1 :])

    def spread(self) -> Callable[[Any], Any]:
        """The function from one value for each row to an array of shape (before, 1, after)."""
        before, _, after = self.split
        wide = (before, 1, after)
        if self.reduced == ():
            return lambda value: np.full(wide, value)
        return lambda value: np.ascontiguousarray(value).reshape(wide)

    def gathered(self) -> Callable[[Any], Any]:
        """The function from an array of shape (before, after) to one value for each row."""
        shape = self.reduced
        if shape == ():
            return lambda value: value[0, 0]
        return lambda value: np.ascontiguousarray(value).reshape(shape)


def summed(a: Any) -> Any:
    """The sum along the middle axis."""
    return a.sum(axis=1)


@compiled_forms.overlay(summed)
def summed_compiled(a: Any) -> Any:
    found = np.zeros((a.shape[0], a.shape[2]), a.dtype)
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(a.shape[2]):
                found[i, j] += a[i, k, j]
    return found


def completed(total: Any, others: Any) -> Any:
    """``others``, (before, n, after), with their difference from ``total``, (before, 1, after), in
    front.
    """
    found = np.empty((others.shape[0], others.shape[1] + 1, others.shape[2]), others.dtype)
    found[:, 1:, :] = others
    found[:, 0, :] = total[:, 0, :] - others.sum(axis=1)
    return found


@compiled_forms.overlay(completed)
def completed_compiled(total: Any, others: Any) -> Any:
    found = np.empty((others.shape[0], others.shape[1] + 1, others.shape[2]), others.dtype)
    for i in range(found.shape[0]):
        for j in range(found.shape[2]):
            missing = total[i, 0, j]
            for k in range(1, found.shape[1]):
                found[i, k, j] = others[i, k - 1, j]
                missing -= others[i, k - 1, j]
            found[i, 0, j] = missing
    return found


def multiplied(a: Any) -> Any:
    """The product along the middle axis."""
    return a.prod(axis=1)


@compiled_forms.overlay(multiplied)
def multiplied_compiled(a: Any) -> Any:
    found = np.ones((a.shape[0], a.shape[2]), a.dtype)
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(a.shape[2]):
                found[i, j] *= a[i, k, j]
    return found


def largest(a: Any) -> Any:
    """The maximum along the middle axis."""
    return a.max(axis=1)


@compiled_forms.overlay(largest)
def largest_compiled(a: Any) -> Any:
    found = a[:, 0, :].copy()
    for i in range(a.shape[0]):
        for k in range(1, a.shape[1]):
            for j in range(a.shape[2]):
                found[i, j] = max(found[i, j], a[i, k, j])
    return found


def smallest(a: Any) -> Any:
    """The minimum along the middle axis."""
    return a.min(axis=1)


@compiled_forms.overlay(smallest)
def smallest_compiled(a: Any) -> Any:
    found = a[:, 0, :].copy()
    for i in range(a.shape[0]):
        for k in range(1, a.shape[1]):
            for j in range(a.shape[2]):
                found[i, j] = min(found[i, j], a[i, k, j])
    return found


def first_place(a: Any, wanted: Any) -> Any:
    """The first index along the middle axis of ``wanted``, of shape (before, 1, after)."""
    return (a == wanted).argmax(axis=1)


@compiled_forms.overlay(first_place)
def first_place_compiled(a: Any, wanted: Any) -> Any:
    found = np.zeros((a.shape[0], a.shape[2]), np.int64)
    for i in range(a.shape[0]):
        for j in range(a.shape[2]):
            for k in range(a.shape[1]):
                if a[i, k, j] == wanted[i, 0, j]:
                    found[i, j] = k
                    break
    return found


def placed(a: Any, at: Any, value: Any) -> Any:
    """``a`` with ``value`` at the indices ``at`` along the middle axis; both are (before, 1,
    after).
    """
    np.put_along_axis(a, at, value, axis=1)
    return a


@compiled_forms.overlay(placed)
def placed_compiled(a: Any, at: Any, value: Any) -> Any:
    for i in range(a.shape[0]):
        for j in range(a.shape[2]):
            a[i, at[i, 0, j], j] = value[i, 0, j]
    return a


def cumulated(a: Any) -> Any:
    """The cumulative sums along the middle axis."""
    return a.cumsum(axis=1)


@compiled_forms.overlay(cumulated)
def cumulated_compiled(a: Any) -> Any:
    found = a.copy()
    for i in range(a.shape[0]):
        for k in range(1, a.shape[1]):
            for j in range(a.shape[2]):
                found[i, k, j] += found[i, k - 1, j]
    return found


def products(a: Any) -> Any:
    """The cumulative products along the middle axis."""
    return a.cumprod(axis=1)


@compiled_forms.overlay(products)
def products_compiled(a: Any) -> Any:
    found = a.copy()
    for i in range(a.shape[0]):
        for k in range(1, a.shape[1]):
            for j in range(a.shape[2]):
                found[i, k, j] *= found[i, k - 1, j]
    return found
