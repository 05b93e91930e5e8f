"""Relations of array functions, made for the types of their arguments.

Besides arrays these functions take constants of the program, such as an axis. A maker takes the
arguments of the function, with a type in place of each array that is not constant, and returns the
relation with these as axes; None if there is none for these arguments.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from primitives.arrays import cumulative, linear, reductions
from primitives.relation import Relation

__all__ = ["ARRAY_RELATIONS", "MOVES", "OF_ITSELF"]

Maker = Callable[..., Relation | None]


def _dot(target: Any) -> Maker:
    def product(a: Any, b: Any) -> Relation | None:
        return linear.product(a, b, target)

    return product


def _length(target: Any) -> Maker:
    def squared(a: Any) -> Relation | None:
        return linear.squared_length(a, target)

    return squared


ARRAY_RELATIONS: Mapping[Any, Maker] = {
    np.sum: reductions.total,
    np.mean: reductions.mean,
    np.prod: reductions.product,
    np.max: reductions.maximum,
    np.min: reductions.minimum,
    np.cumsum: cumulative.cumsum,
    np.cumprod: cumulative.cumprod,
    np.diff: cumulative.difference,
    np.sort: cumulative.sort,
    operator.matmul: _dot(operator.matmul),
    np.matmul: _dot(np.matmul),
    np.dot: _dot(np.dot),
    np.linalg.solve: linear.solved,
    np.linalg.inv: linear.inverted,
}

OF_ITSELF: Mapping[Any, Maker] = {
    target: _length(target) for target in (operator.matmul, np.matmul, np.dot)
}
"""The relations of functions of two arrays, for a call with the same array twice."""

MOVES: frozenset[Any] = frozenset(
    (
        operator.getitem, np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.squeeze,
        np.expand_dims, np.concatenate, np.stack, np.hstack, np.vstack, np.column_stack, np.flip,
        np.fliplr, np.flipud, np.rot90, np.roll, np.take, np.repeat, np.tile, np.broadcast_to,
        np.array, np.asarray, np.copy, np.diag, np.diagonal, np.append, np.atleast_1d,
        np.atleast_2d, np.ascontiguousarray, np.tril, np.triu, np.pad,
    )
)  # fmt: skip
"""Functions that only move elements of their arguments."""
