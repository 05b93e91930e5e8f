"""Derivatives of functions in several directions, arranged as gradients and Jacobians."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any

import numpy as np

from overlay import MethodTable, nonoverlay
from overlay.contexts.rules_alone import in_program
from overlay.interpretations.autodiff.active_arguments import Rules, tables_of
from overlay.interpretations.autodiff.duals import Active, ActiveArray
from overlay.interpretations.autodiff.escapes import looked
from overlay.interpretations.autodiff.forward import linearised
from overlay.interpretations.autodiff.level_results import (
    check_result,
    is_structure,
    parts_of_result,
    tangent_of,
    value_of,
)
from overlay.interpretations.autodiff.reverse.gradients import MANY, slopes_by_reverse
from overlay.interpretations.autodiff.reverse.reverse_program import ReverseValue, leaves

__all__ = [
    "are_mixed_up",
    "both_shapes",
    "by_each",
    "by_rows",
    "fresh",
    "is_small",
    "one_or_all",
    "run_in_directions",
    "shaped",
    "total",
]

TOGETHER = 8
"""The number of directions in which derivatives are computed in one run."""


def run_in_directions(
    f: Callable[..., Any], args: Sequence[Any], seeds: Sequence[Any], count: int, rules: Rules
) -> tuple[Any, list[Any]]:
    """The result of f, and its tangent in each direction."""
    tables = tables_of(rules)
    laid_out = nonoverlay(_laid_out)  # in a level, type(x) is that of the value
    seeds = [
        seed if seed is None else tuple(laid_out(t, x) for t in seed)
        for seed, x in zip(seeds, args, strict=True)
    ]
    found, level, watch = linearised(f, args, seeds, tables)
    value, tangents = value_of(found, level), [tangent_of(found, level, k) for k in range(count)]
    del found
    looked(watch, f)
    check_result(f, value)
    return value, tangents


def _laid_out(tangent: Any, x: Any) -> Any:
    """A tangent laid out in memory as its array is, so that views of one correspond to views of
    the other.
    """
    # in an enclosing derivative its arrays have this type, too
    is_plain = not (isinstance(x, Active) or isinstance(tangent, Active))
    if is_plain and type(x) is np.ndarray and type(tangent) is np.ndarray and x.flags.fnc:
        return np.asfortranarray(tangent)
    return tangent


def is_small(adjoint: Any, args: Sequence[Any], places: Sequence[int]) -> bool:
    """Whether there are many numbers in the arguments for each number in the result."""
    results = list(leaves(adjoint.result))
    if any(value.kind.ndim for value in results):
        return False
    return len(results) * MANY <= sum(_size(args[i]) for i in places)


def _size(x: Any) -> int:
    return x.size if isinstance(x, (np.ndarray, ActiveArray)) else 1


def by_rows(
    f: Callable[..., Any],
    adjoint: Any,
    args: Sequence[Any],
    places: Sequence[int],
    tables: Sequence[MethodTable],
) -> list[Any]:
    """The Jacobian by each argument, computed row by row of the result."""
    results = list(leaves(adjoint.result))
    shapes: list[Any] = [() for _ in results]
    if any(value.kind.ndim for value in results):
        found = list(_floats_in(in_program(f, *args), adjoint.result))
        shapes = [np.shape(each) if _size(each) != 1 or np.ndim(each) else () for each in found]
    rows = slopes_by_reverse(adjoint, args, tables, shapes)
    return [_by_argument(adjoint.result, rows, shapes, k, args[i]) for k, i in enumerate(places)]


def _floats_in(found: Any, result: Any) -> Iterator[Any]:
    """The results of f, in the order of the variables of its program."""
    if isinstance(result, tuple):
        for part, each in zip(found, result, strict=True):
            yield from _floats_in(part, each)
    elif isinstance(result, ReverseValue):
        yield found


def _by_argument(result: Any, rows: list[list[Any]], shapes: list[Any], k: int, x: Any) -> Any:
    """The part of a Jacobian for one argument, with the structure of the result."""
    at_row, at_shape = iter(rows), iter(shapes)

    def part(each: Any) -> Any:
        if isinstance(each, tuple):
            return tuple(part(inner) for inner in each)
        if not isinstance(each, ReverseValue):
            return _unit(x, None)
        shape = next(at_shape)
        if not shape:
            return next(at_row)[k]
        found = [next(at_row)[k] for _ in range(int(np.prod(shape)))]
        return np.reshape(np.array(found), (*shape, *np.shape(x)))

    return part(result)


def by_each(
    f: Callable[..., Any], args: Sequence[Any], places: Sequence[int], rules: Rules
) -> tuple[Any, list[list[Any]]]:
    """The result of f, and for each of some arguments the tangents by each of its numbers."""
    directions = [(i, k) for i in places for k in range(np.size(args[i]))]
    slopes: dict[int, list[Any]] = {i: [] for i in places}
    value: Any = None
    for start in range(0, len(directions), TOGETHER):
        chosen = directions[start : start + TOGETHER]
        seeds = [
            tuple(_unit(args[i], k if i == j else None) for j, k in chosen) if i in slopes else None
            for i in range(len(args))
        ]
        value, tangents = run_in_directions(f, fresh(args, slopes), seeds, len(chosen), rules)
        for (i, _), tangent in zip(chosen, tangents, strict=True):
            slopes[i].append(tangent)
    return value, list(slopes.values())


def fresh(args: Sequence[Any], places: Container[int] | None = None) -> list[Any]:
    """Arguments with copies of the arrays in these places, or in all: f may write to them."""
    return [+x if (places is None or i in places) and np.ndim(x) else x for i, x in enumerate(args)]


def are_mixed_up(value: Any, slopes: Sequence[Sequence[Any]]) -> bool:
    """Whether forward mode in several directions left a derivative undefined, of a result that is
    a number. An infinite partial derivative makes those in all other directions nan there, as it is
    multiplied by their tangents, zero; reverse mode keeps them apart."""
    parts = [part for each in slopes for slope in each for part in parts_of_result(slope)]
    return (
        len(parts) > 1
        and any(map(_is_undefined, parts))
        and not any(map(_is_undefined, parts_of_result(value)))
    )


def _is_undefined(x: Any) -> bool:
    """Whether a plain number, or one in a plain array, is nan."""
    is_plain = type(x) in (float, np.float64) or (type(x) is np.ndarray and x.dtype.kind == "f")
    return is_plain and bool(np.isnan(x).any())


def _unit(x: Any, place: int | None) -> Any:
    """A tangent with the shape of an argument: 1 in one place, 0 elsewhere."""
    if not isinstance(x, (np.ndarray, ActiveArray)):
        return 0.0 if place is None else 1.0
    flat = [0.0] * x.size
    if place is not None:
        flat[place] = 1.0
    return np.reshape(np.array(flat), x.shape)


# ---- arrangement --------------------------------------------------------------------------


def total(product: Any) -> Any:
    return np.sum(product) if np.ndim(product) else product


def one_or_all(found: list[Any]) -> Any:
    return found[0] if len(found) == 1 else tuple(found)


def shaped(slopes: list[Any], x: Any) -> Any:
    """Numbers, one for each number of an argument, in its shape."""
    if not isinstance(x, (np.ndarray, ActiveArray)):
        return slopes[0]
    return np.reshape(np.array(slopes), x.shape)


def both_shapes(slopes: list[Any], x: Any) -> Any:
    """The tangents of a result by each number of an argument, as one array."""
    first = slopes[0]
    if isinstance(first, dict):
        return {name: both_shapes([slope[name] for slope in slopes], x) for name in first}
    if is_structure(first):
        return tuple(both_shapes([slope[i] for slope in slopes], x) for i in range(len(first)))
    if not isinstance(x, (np.ndarray, ActiveArray)):
        return first
    return np.reshape(np.moveaxis(np.array(slopes), 0, -1), (*np.shape(first), *x.shape))
