"""Kinds of results, found by calls with arrays of several sizes."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from overlay.interpretations.autodiff.reverse.pullbacks import kind_of
from overlay.interpretations.autodiff.reverse.reverse_program import (
    BOOL,
    FLOAT,
    INT,
    KnownBefore,
    NumberKind,
)

__all__ = ["RESULTS", "kind_of_result", "kinds_of_results", "sampled"]

SIZES = (6, 12, 4, 2, 3, 1)
"""The lengths of the axes of the arrays with which a function is tried."""
RESULTS = NumberKind("t")
"""The kind of a tuple of results, before it is taken apart."""
VARIANTS = (0, 1)
"""The values of whole numbers and booleans with which a function is tried: its result must be of
one kind for all."""
MATRICES = ("positive definite", "indefinite", "not symmetric")
"""The matrices with which a function is tried. Those that are not symmetric have complex
eigenvalues, and their lower triangle is that of a positive definite matrix. Indefinite ones have
complex roots and logarithms."""


def kinds_of_results(function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The kind of the result of a call; a tuple for several results. None if it is unknown, or
    depends on the sizes of arrays."""
    found: list[Any] = []
    for result in sampled(function, args, named):
        try:
            found.append(kind_of_result(result))
        except (KeyError, TypeError):
            return None
    known = list(dict.fromkeys(found))
    return known[0] if len(known) == 1 else None


def sampled(function: Any, args: Sequence[Any], named: dict[str, Any]) -> list[Any]:
    """The results of a function for arrays of several sizes, matrices of several kinds, and other
    values of whole numbers, where it raises nothing; none if it raises for all arrays of more than
    one element."""
    found: list[Any] = []
    largest = 0
    has_matrices = any(map(_has_matrices, (*args, *named.values())))
    kinds = MATRICES if has_matrices else ("",)
    for size, whole, kind in itertools.product(SIZES, VARIANTS, kinds):
        try:
            given = [_sample(x, size, whole, kind) for x in args]
            more = {name: _sample(x, size, whole, kind) for name, x in named.items()}
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                found.append(function(*given, **more))
        except Exception:
            continue
        largest = max(largest, size)
    return found if largest > 1 else []


def _has_matrices(operand: Any) -> bool:
    if isinstance(operand, tuple):
        return any(map(_has_matrices, operand))
    kind = kind_of(operand)
    return kind is not None and kind.ndim > 1


def _sample(operand: Any, size: int, whole: int, matrices: str) -> Any:
    """A value of the kind of an operand. whole: that of whole numbers."""
    if isinstance(operand, tuple):
        return tuple(_sample(each, size, whole, matrices) for each in operand)
    if isinstance(operand, KnownBefore):
        return operand.value
    kind = kind_of(operand)
    if kind is None or kind.dtype not in "fib":
        raise TypeError
    if kind.dtype == "f":
        values = 1.0 + np.arange(float(size**kind.ndim)) / size**kind.ndim
        array = values.reshape((size,) * kind.ndim)
        if kind.ndim > 1:
            array = _matrices(array, size, matrices)
        return array if kind.ndim else 1.0
    made = np.full((size,) * kind.ndim, whole, np.int64 if kind.dtype == "i" else np.bool_)
    return made if kind.ndim else made[()]


def _matrices(array: Any, size: int, kind: str) -> Any:
    """Matrices from an array with elements between 1 and 2. No eigenvalues are equal, since
    rounding would decide whether such ones are real."""
    diagonal = 4.0 * size + np.arange(float(size))
    if kind == "indefinite":
        diagonal *= np.where(np.arange(size) % 2, -1.0, 1.0)
    above = np.triu(np.ones((size, size)), 1)
    skew = 6.0 * (above - above.T) if kind == "not symmetric" else 0.0
    return array + array.swapaxes(-1, -2) + np.diag(diagonal) + skew


def kind_of_result(result: Any) -> Any:
    """The kind of a result; a tuple for several. Raises TypeError or KeyError if it has none."""
    if isinstance(result, (tuple, list)):
        kinds = tuple(kind_of_result(part) for part in result)
        if any(isinstance(kind, tuple) for kind in kinds):
            raise TypeError
        return kinds
    if isinstance(result, np.ndarray) and result.ndim:
        dtypes = {"float64": "f", "int64": "i", "bool": "b"}
        return NumberKind(dtypes[str(result.dtype)], result.ndim)
    if isinstance(result, (bool, np.bool_)):
        return BOOL
    if isinstance(result, (int, np.integer)):
        return INT
    if isinstance(result, float) or getattr(result, "dtype", None) == np.float64:
        return FLOAT
    raise TypeError
