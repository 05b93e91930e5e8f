"""Sums, products and extremes of arrays: all elements of a row but one are free."""

from __future__ import annotations

from typing import Any

import numpy as np

from primitives.arrays.axes import (
    AxisRows,
    completed,
    first_place,
    largest,
    multiplied,
    placed,
    smallest,
    summed,
)
from primitives.arrays.domain import Arrays, array_of, element_of, shape_of
from primitives.domains import Integers, domain_of
from primitives.errors import NoSolution
from primitives.relation import Relation, parametric, relation

__all__ = ["maximum", "mean", "minimum", "product", "total"]


def rows_of(a: Any, axis: int | None) -> AxisRows | None:
    """The rows of arrays of a type; None if there is no such axis."""
    shape = shape_of(a)
    if axis is None:
        return AxisRows(shape, None)
    if not isinstance(axis, int) or not -len(shape) <= axis < len(shape):  # pyright: ignore[reportUnnecessaryIsInstance]
        return None
    return AxisRows(shape, axis % len(shape))


def written(name: str, axis: int | None) -> str:
    """The equation of a function along an axis."""
    return f"return = {name}(a{'' if axis is None else f', axis={axis}'})"


def reduced_type(a: Any, rows: AxisRows) -> Any:
    """The type with one element for each row."""
    return array_of(element_of(a), rows.reduced) if rows.reduced else element_of(a)


def total(a: Any, axis: int | None = None) -> Relation | None:
    """The relation of ``np.sum``, of floats, complex numbers and words (which wrap)."""
    return _linear(np.sum, "sum", a, axis, 1) if element_of(a) is not bool else None


def mean(a: Any, axis: int | None = None) -> Relation | None:
    """The relation of ``np.mean``, of floats and complex numbers."""
    rows = rows_of(a, axis)
    if rows is None or element_of(a) not in (float, complex):
        return None
    return _linear(np.mean, "mean", a, axis, rows.along)


def _linear(target: Any, name: str, a: Any, axis: int | None, count: int) -> Relation | None:
    """The relation of the sum of each row, divided by ``count``."""
    rows = rows_of(a, axis)
    if rows is None:
        return None
    shape, split, n = rows.shape, rows.split, rows.along
    fewer, short = (split[0], n - 1, split[2]), rows.less(n - 1)
    spread, gathered = rows.spread(), rows.gathered()

    def forward(a: Any) -> Any:
        return gathered(summed(a.reshape(split)) / count)

    def whole(a: Any) -> Any:
        return gathered(summed(a.reshape(split)))

    def only(ret: Any) -> Any:
        return spread(ret).reshape(shape)

    def first(ret: Any, rest: Any) -> Any:
        wanted = spread(ret) * count if count > 1 else spread(ret)
        return completed(wanted, rest.reshape(fewer)).reshape(shape)

    def rest_of(a: Any) -> Any:
        return (np.ascontiguousarray(a.reshape(split)[:, 1:, :]).reshape(short),)

    element = domain_of(element_of(a))
    assert element is not None
    solved: Any = only
    if n > 1:
        solved = parametric(first, rest=Arrays(element, short), recover=rest_of)
    return relation(
        target, a, written(name, axis), returns=reduced_type(a, rows), low_information=True,
        ret=forward if count > 1 else whole, a=solved,
    )  # fmt: skip


def product(a: Any, axis: int | None = None) -> Relation | None:
    """The relation of ``np.prod``, of floats. free: the first factor if others are 0."""
    rows = rows_of(a, axis)
    if rows is None or element_of(a) is not float:
        return None
    shape, split, n = rows.shape, rows.split, rows.along
    fewer, short = (split[0], n - 1, split[2]), rows.less(n - 1)
    spread, gathered = rows.spread(), rows.gathered()

    def forward(a: Any) -> Any:
        return gathered(multiplied(a.reshape(split)))

    def only(ret: Any) -> Any:
        return spread(ret).reshape(shape)

    def first(ret: Any, rest: Any, free: Any) -> Any:
        wanted = spread(ret)[:, 0, :]
        others = rest.reshape(fewer)
        product = multiplied(others)
        is_zero = product == 0
        if (is_zero & (wanted != 0)).any():
            raise NoSolution("a product with 0 is 0")
        found = np.empty(split, np.float64)
        found[:, 1:, :] = others
        found[:, 0, :] = np.where(
            is_zero, spread(free)[:, 0, :], wanted / np.where(is_zero, 1.0, product)
        )
        return found.reshape(shape)

    def chosen(a: Any) -> Any:
        rows = a.reshape(split)
        rest = np.ascontiguousarray(rows[:, 1:, :]).reshape(short)
        return rest, gathered(rows[:, 0, :])

    real = domain_of(float)
    assert real is not None
    solved: Any = only
    if n > 1:
        free = Arrays(real, rows.reduced) if rows.reduced else real
        solved = parametric(first, rest=Arrays(real, short), free=free, recover=chosen)
    return relation(
        np.prod, a, written("prod", axis), returns=reduced_type(a, rows), low_information=True,
        ret=forward, a=solved,
    )  # fmt: skip


def maximum(a: Any, axis: int | None = None) -> Relation | None:
    """The relation of ``np.max``. at: the index of the maximum. rest: the other elements, capped at
    the maximum.
    """
    return _extreme(np.max, "max", a, axis, largest, lambda one, other: np.minimum(one, other))


def minimum(a: Any, axis: int | None = None) -> Relation | None:
    """The relation of ``np.min``. at: the index of the minimum. rest: the other elements, raised to
    the minimum.
    """
    return _extreme(np.min, "min", a, axis, smallest, lambda one, other: np.maximum(one, other))


def _extreme(
    target: Any, name: str, a: Any, axis: int | None, extreme: Any, limited: Any
) -> Relation | None:
    rows = rows_of(a, axis)
    if rows is None or element_of(a) in (bool, complex):
        return None
    shape, split, n = rows.shape, rows.split, rows.along
    spread, gathered = rows.spread(), rows.gathered()

    def forward(a: Any) -> Any:
        return gathered(extreme(a.reshape(split)))

    def limit(ret: Any, rest: Any, at: Any) -> Any:
        wanted = spread(ret)
        found = limited(rest.reshape(split), wanted)
        return placed(found, spread(at), wanted).reshape(shape)

    def chosen(ret: Any, a: Any) -> Any:
        return a, gathered(first_place(a.reshape(split), spread(ret)))

    place = Integers(0, n - 1)
    element = domain_of(element_of(a))
    assert element is not None
    solved = parametric(
        limit,
        rest=Arrays(element, shape),
        at=Arrays(place, rows.reduced) if rows.reduced else place,
        recover=chosen,
    )
    return relation(
        target, a, written(name, axis), returns=reduced_type(a, rows), low_information=True,
        ret=forward, a=solved,
    )  # fmt: skip
