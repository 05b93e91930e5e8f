"""Derivatives of statements about arrays: sparse matrices, a row for each element.

Each element has a row: its derivatives with respect to the unknown inputs. Elementwise functions
scale rows; moving elements permutes rows. Derivatives of functions of whole arrays are computed by
complex steps (J. N. Lyness and C. B. Moler, Numerical differentiation of analytic functions, SIAM
J. Numer. Anal. 4, 1967), which avoid cancellation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inversion.program.elementwise_statements import Elementwise
from inversion.program.moved_elements import Moved
from inversion.program.statements import Variable
from overlay.core.late_binding import LateBound
from primitives import NoSolution, Relation
from primitives.arrays.array_table import ARRAY_RELATIONS
from primitives.arrays.domain import is_array, shape_of

__all__ = [
    "Slope",
    "Value",
    "has_steps",
    "log_determinant",
    "of_elements",
    "of_moved",
    "of_whole",
    "rows_of",
    "unit_rows",
]

Slope = Any
"""The derivatives of a value: a sparse matrix with a row for each element; for a number, one row.
None if all are 0.
"""
Value = tuple[Any, Slope | None]

STEP = 1e-100
DENSE = 300
"""The largest number of rows for which the determinant is computed from a dense matrix."""


@LateBound
def _sparse() -> Any:
    """Sparse matrices of scipy."""
    from scipy import sparse  # pyright: ignore[reportMissingTypeStubs]

    return sparse


@LateBound
def _factored() -> Any:
    """Scipy's factors of a sparse matrix, lower and upper."""
    from scipy.sparse import linalg  # pyright: ignore[reportMissingTypeStubs]

    return linalg.splu


def has_steps(rule: Relation) -> bool:
    """Return whether a relation's function accepts complex steps: those in the table do."""
    return rule.target in ARRAY_RELATIONS


def unit_rows(start: int, count: int, size: int) -> Slope:
    """The derivatives of elements that are the unknown numbers from ``start`` on: rows of the
    identity matrix.
    """
    at = np.arange(count)
    return _sparse.load().csr_array((np.ones(count), (at, at + start)), shape=(count, size))


def rows_of(values: Sequence[Value], kinds: Sequence[type], size: int) -> Slope:
    """The derivatives of several values, stacked."""
    sparse = _sparse.load()
    blocks = [
        sparse.csr_array((math.prod(shape_of(kind)), size)) if slope is None else slope
        for (_, slope), kind in zip(values, kinds, strict=True)
    ]
    return sparse.vstack(blocks, format="csr")


def of_moved(rule: Moved, given: Sequence[Value], size: int) -> list[Value]:
    """Moved elements, with their derivatives."""
    kinds = [v.kind for v in rule.read]
    values = np.concatenate([np.ravel(value) for value, _ in given])
    moves = any(slope is not None for _, slope in given)
    rows = rows_of(given, kinds, size) if moves else None
    found: list[Value] = []
    for result in rule.results:
        places = rule.places[result.name]
        picked = values[places]
        value = picked.reshape(shape_of(result.kind)) if is_array(result.kind) else picked[0]
        found.append((value, None if rows is None else rows[places]))
    return found


def of_elements(
    rule: Elementwise,
    given: Sequence[Value],
    runs: Callable[[int], Callable[[dict[Variable, Value]], list[Value]]],
) -> list[Value]:
    """The results of a scalar program for each element, with derivatives.

    runs: maps a number of derivatives to the function that computes the program's results from
    inputs with so many derivatives.
    """
    places = [k for k, (_, slope) in enumerate(given) if slope is not None]
    count = math.prod(rule.shape)
    columns = [
        np.ravel(value).tolist() if v.name in rule.arrays else [value] * count
        for v, (value, _) in zip(rule.read, given, strict=True)
    ]
    units: list[Slope | None] = [None] * len(given)
    for number, place in enumerate(places):
        units[place] = np.eye(len(places))[number] if len(places) > 1 else 1.0
    values: list[list[Any]] = [[] for _ in rule.results]
    slopes = np.zeros((len(rule.results), len(places), count))
    run = runs(len(places))
    for element, row in enumerate(zip(*columns, strict=True)):
        answers = run(dict(zip(rule.read, zip(row, units, strict=True), strict=True)))
        for number, (value, slope) in enumerate(answers):
            values[number].append(value)
            if slope is not None:
                slopes[number, :, element] = slope
    sparse = _sparse.load()
    moving = [_spread(given[place][1], rule.read[place], rule, count) for place in places]
    return [
        (
            np.array(values[number]).reshape(rule.shape),
            sum(sparse.diags_array(s) @ m for s, m in zip(slopes[number], moving, strict=True))
            if places
            else None,
        )
        for number in range(len(rule.results))
    ]


def _spread(slope: Slope, variable: Variable, rule: Elementwise, count: int) -> Slope:
    """The derivatives of an array; those of a number are repeated for each element."""
    return slope if variable.name in rule.arrays else slope[np.zeros(count, np.int64)]


def of_whole(
    rule: Relation,
    given: Sequence[Value],
    size: int,
    partials: Callable[..., Sequence[Any]] | None = None,
) -> Value:
    """The result of a function of whole arrays, with derivatives.

    partials: returns for each argument the Jacobian of the result; without it, complex steps
    compute the derivatives. Raises NoSolution at a kink.
    """
    values = [value for value, _ in given]
    known = None if partials is None else partials(*values)
    result = rule(*values)
    sparse = _sparse.load()
    total: Any = sparse.csr_array((np.size(result), size))
    for place, (value, slope) in enumerate(given):
        if slope is not None:
            jacobian = _by_steps(rule, values, place) if known is None else known[place]
            shape = np.size(result), np.size(value)
            total = total + sparse.csr_array(np.reshape(jacobian, shape)) @ slope
    return result, total


def _by_steps(rule: Relation, values: Sequence[Any], place: int) -> NDArray[np.float64]:
    """The Jacobian of the result with respect to one argument, by complex steps."""
    columns: list[NDArray[np.float64]] = []
    moved = np.array(values[place], dtype=np.complex128)
    flat = moved.reshape(-1)
    for element in range(flat.size):
        ends: list[NDArray[np.float64]] = []
        for step in (STEP, -STEP):
            flat.imag[element] = step
            arguments = [*values[:place], moved if moved.ndim else flat[0], *values[place + 1 :]]
            ends.append(np.ravel(np.imag(rule(*arguments))) / step)
        flat.imag[element] = 0.0
        if (ends[0] != ends[1]).any():
            raise NoSolution(f"{rule.name} has a kink there, and no derivative")
        columns.append(ends[0])
    return np.stack(columns, axis=1)


def log_determinant(jacobian: Slope) -> float:
    """The logarithm of the absolute determinant; minus infinity for a singular matrix."""
    if jacobian.shape[0] <= DENSE:
        dense = jacobian if isinstance(jacobian, np.ndarray) else jacobian.toarray()
        return float(np.linalg.slogdet(dense)[1])
    matrix = _sparse.load().csc_array(jacobian)
    try:
        factors = _factored.load()(matrix)
    except RuntimeError:  # it is exactly singular
        return -math.inf
    return float(np.log(np.abs(factors.U.diagonal())).sum())
