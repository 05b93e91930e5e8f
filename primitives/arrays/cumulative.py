"""Cumulative sums and products, differences, sorting."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overlay import OverlayError
from primitives.arrays.axes import AxisRows, cumulated, products
from primitives.arrays.domain import Arrays, array_of, element_of, shape_of
from primitives.arrays.reductions import rows_of, written
from primitives.domains import Domain, Integer, different_members, domain_of
from primitives.errors import NoSolution
from primitives.relation import Relation, parametric, relation
from primitives.solver_forms import compiled_forms

__all__ = ["Permutations", "cumprod", "cumsum", "difference", "is_permutation", "sort"]


def _flat_or_same(a: Any, rows: AxisRows) -> Any:
    return a if rows.axis is not None else array_of(element_of(a), (rows.along,))


def cumsum(a: Any, axis: int | None = None) -> Relation | None:
    """The relation of ``np.cumsum``, which is bijective."""
    rows = rows_of(a, axis)
    if rows is None or element_of(a) is bool:
        return None
    shape, split = rows.shape, rows.split
    given = _flat_or_same(a, rows)
    result = shape_of(given)

    def forward(a: Any) -> Any:
        return cumulated(a.reshape(split)).reshape(result)

    def back(ret: Any) -> Any:
        sums = ret.reshape(split)
        found = sums.copy()
        found[:, 1:, :] -= sums[:, :-1, :]
        return found.reshape(shape)

    return relation(np.cumsum, a, written("cumsum", axis), returns=given, ret=forward, a=back)


def cumprod(a: Any, axis: int | None = None) -> Relation | None:
    """The relation of ``np.cumprod``, of floats: elements after a 0 are free."""
    rows = rows_of(a, axis)
    if rows is None or element_of(a) is not float:
        return None
    shape, split = rows.shape, rows.split
    given = _flat_or_same(a, rows)
    result = shape_of(given)

    def forward(a: Any) -> Any:
        return products(a.reshape(split)).reshape(result)

    def back(ret: Any, free: Any) -> Any:
        found = ret.reshape(split).copy()
        before, after = ret.reshape(split)[:, :-1, :], ret.reshape(split)[:, 1:, :]
        is_zero = before == 0
        if (is_zero & (after != 0)).any():
            raise NoSolution("a product that was 0 stays 0")
        chosen = free.reshape(split)[:, 1:, :]
        found[:, 1:, :] = np.where(is_zero, chosen, after / np.where(is_zero, 1.0, before))
        return found.reshape(shape)

    real = domain_of(float)
    assert real is not None
    solved = parametric(back, free=Arrays(real, shape), recover=lambda a: (a,))
    return relation(np.cumprod, a, written("cumprod", axis), returns=given, ret=forward, a=solved)


def difference(a: Any, n: int = 1, axis: int = -1) -> Relation | None:
    """The relation of ``np.diff``: the first element of each row is free."""
    rows = rows_of(a, axis)
    if n != 1 or rows is None or rows.along < 2 or element_of(a) is bool:
        return None
    shape, split, along = rows.shape, rows.split, rows.along
    shorter = rows.less(along - 1)
    fewer, one = (split[0], along - 1, split[2]), (split[0], 1, split[2])
    head = rows.less(1)

    def forward(a: Any) -> Any:
        rows = a.reshape(split)
        return np.ascontiguousarray(rows[:, 1:, :] - rows[:, :-1, :]).reshape(shorter)

    def back(ret: Any, first: Any) -> Any:
        found = np.empty(split, ret.dtype)
        found[:, :1, :] = first.reshape(one)
        found[:, 1:, :] = ret.reshape(fewer)
        return cumulated(found).reshape(shape)

    def chosen(a: Any) -> Any:
        return (np.ascontiguousarray(a.reshape(split)[:, :1, :]).reshape(head),)

    element = domain_of(element_of(a))
    assert element is not None
    kept = "" if axis == -1 else f", axis={axis}"
    return relation(
        np.diff, a, f"return = diff(a{kept})", returns=array_of(element_of(a), shorter),
        low_information=True,
        ret=forward, a=parametric(back, first=Arrays(element, head), recover=chosen),
    )  # fmt: skip


# ---- sorting ------------------------------------------------------------------------------


def is_permutation(order: Any) -> Any:
    """Return whether each row is a permutation of its indices."""
    wanted = np.arange(order.shape[-1])
    return bool((np.sort(order, axis=-1) == wanted).all())


@compiled_forms.overlay(is_permutation)
def is_permutation_compiled(order: Any) -> Any:
    n = order.shape[-1]
    rows = order.reshape((order.size // n, n))
    for i in range(rows.shape[0]):
        seen = np.zeros(n, np.bool_)
        for k in rows[i]:
            if k < 0 or k >= n or seen[k]:
                return False
            seen[k] = True
    return True


@dataclass(frozen=True)
class Permutations(Domain):
    """The domain of integer arrays whose rows are permutations of their indices."""

    shape: tuple[int, ...]
    kind: type = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", array_of(int, self.shape))

    @property
    def _all(self) -> Arrays:
        return Arrays(Integer, self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._all.size

    def contains(self, value: Any) -> bool:
        return self._all.contains(value) and bool(is_permutation(np.asarray(value)))

    def spread(self, units: NDArray[np.float64]) -> NDArray[Any]:
        return np.argsort(units.reshape((*units.shape[:-1], *self.shape)), axis=-1, kind="stable")

    def from_unit(self, u: Any) -> Any:
        """The permutations that sort numbers in [0, 1]."""
        units = np.asarray(u, dtype=np.float64).reshape(-1)
        if units.size != self.size:
            raise OverlayError(
                f"{u!r} is not {self.size} numbers",
                help="give one number in [0, 1] for each element",
            )
        return self.spread(units)

    def sample(self, rng: np.random.Generator, size: int | None = None) -> Any:
        lead = () if size is None else (size,)
        return np.argsort(rng.random((*lead, *self.shape)), axis=-1, kind="stable")

    @property
    def default(self) -> Any:
        return np.broadcast_to(np.arange(self.shape[-1]), self.shape).copy()

    @property
    def edges(self) -> tuple[Any, ...]:
        return self.default, np.ascontiguousarray(self.default[..., ::-1])

    def condition(self, name: str, kind: type | None = None) -> str:
        return f"is_permutation({name})"

    def meet(self, other: Domain) -> Domain:
        if other != self:
            raise different_members(self, other)
        return self

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._all.dtype

    def cast(self, value: Any) -> Any:
        return self._all.cast(value)


def sorted_rows(a: Any) -> Any:
    """The array with each row sorted."""
    return np.sort(a, axis=1)


@compiled_forms.overlay(sorted_rows)
def sorted_rows_compiled(a: Any) -> Any:
    found = a.copy()
    for i in range(a.shape[0]):
        found[i] = np.sort(a[i])
    return found


def order_of_rows(a: Any) -> Any:
    """The indices that sort each row."""
    return np.argsort(a, axis=1, kind="stable")


@compiled_forms.overlay(order_of_rows)
def order_of_rows_compiled(a: Any) -> Any:
    found = np.empty(a.shape, np.int64)
    for i in range(a.shape[0]):
        found[i] = np.argsort(a[i], kind="mergesort")
    return found


def scattered(values: Any, order: Any) -> Any:
    """The array with the elements of each row moved to these indices."""
    found = np.empty_like(values)
    np.put_along_axis(found, order, values, axis=1)
    return found


@compiled_forms.overlay(scattered)
def scattered_compiled(values: Any, order: Any) -> Any:
    found = np.empty_like(values)
    for i in range(values.shape[0]):
        for k in range(values.shape[1]):
            found[i, order[i, k]] = values[i, k]
    return found


def sort(a: Any, axis: int | None = -1) -> Relation | None:
    """The relation of ``np.sort`` along the last axis, or of all elements; the parameter is the
    permutation.
    """
    shape, element = shape_of(a), element_of(a)
    if axis not in (None, -1, len(shape) - 1) or element in (bool, complex):
        return None
    rows = AxisRows(shape, None if axis is None else len(shape) - 1)
    table, given = rows.split[:2], _flat_or_same(a, rows)
    result = shape_of(given)

    def forward(a: Any) -> Any:
        return sorted_rows(a.reshape(table)).reshape(result)

    def back(ret: Any, order: Any) -> Any:
        rows = ret.reshape(table)
        if (rows[:, 1:] < rows[:, :-1]).any():
            raise NoSolution("it is not sorted")
        return scattered(rows, order.reshape(table)).reshape(shape)

    def chosen(a: Any) -> Any:
        return (order_of_rows(a.reshape(table)).reshape(result),)

    solved = parametric(back, order=Permutations(result), recover=chosen)
    name = "return = sort(a, axis=None)" if axis is None else "return = sort(a)"
    return relation(np.sort, a, name, returns=given, ret=forward, a=solved)
