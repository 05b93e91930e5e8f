"""The operations and functions whose results are rounded."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from overlay import MethodTable, call_next
from overlay.catalogue import FUNCTIONS
from overlay.catalogue.operator_ufuncs import UFUNCS

__all__ = [
    "ARRAY_BINARY",
    "ARRAY_UNARY",
    "BINARY",
    "COMPARISONS",
    "REDUCTIONS",
    "UNARY",
    "add_for_numbers",
    "add_operators_of_arrays",
]

COMPARISONS: Final[tuple[Callable[..., Any], ...]] = (
    *(operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge),
)
_OF_ONE: Final = [f for f in FUNCTIONS if f.arity == 1]
_OF_TWO: Final = [f for f in FUNCTIONS if f.arity == 2]
_OF_ARRAYS = (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow)
ARRAY_BINARY: Final[tuple[Callable[..., Any], ...]] = (
    *(UFUNCS[each] for each in _OF_ARRAYS),
    *(spelling for f in _OF_TWO for spelling in f.numpy),
)
"""Binary operations on numbers and arrays, with broadcasting."""
BINARY: Final[tuple[Callable[..., Any], ...]] = (
    *_OF_ARRAYS,
    *ARRAY_BINARY,
    *(operator.floordiv, operator.mod),
    *(f.function for f in _OF_TWO),
    *(math.pow, math.fmod, math.log),
)
ARRAY_UNARY: Final[tuple[Callable[..., Any], ...]] = (
    *(spelling for f in _OF_ONE for spelling in f.numpy),
)
UNARY: Final[tuple[Callable[..., Any], ...]] = (
    *ARRAY_UNARY,
    *(f.function for f in _OF_ONE),
)
REDUCTIONS: Final[tuple[Callable[..., Any], ...]] = (np.sum, np.prod, np.mean, np.cumsum)
"""Operations on a whole array."""


def add_for_numbers(
    table: MethodTable, target: Any, kinds: tuple[type, type], operate: Callable[..., Any]
) -> None:
    """Add a method of a function of two numbers to a table. It leaves out operands with an operator
    of their own.

    kinds: the classes of the numbers.
    """

    def chosen(a: Any, b: Any) -> Any:
        return _unchanged if _has_own_operator(target, a, b) else operate

    chosen.__annotations__ = dict(zip("ab", kinds, strict=True))
    table.generated(target)(chosen)


def add_operators_of_arrays(table: MethodTable, kinds: tuple[Any, Any]) -> None:
    """Add methods of operators of arrays that call their ufuncs, which have the methods that round.
    A result would else be rounded by the method of the operator and by that of the ufunc.
    """
    for target in _OF_ARRAYS:
        table.overlay(target)(_calling(UFUNCS[target], kinds))


def _calling(ufunc: Callable[..., Any], kinds: tuple[Any, Any]) -> Callable[..., Any]:
    def operate(a: Any, b: Any) -> Any:
        return ufunc(a, b)

    operate.__annotations__ = dict(zip("ab", kinds, strict=True))
    return operate


def _unchanged(a: Any, b: Any) -> Any:
    return call_next(a, b)


def _has_own_operator(target: Any, *kinds: Any) -> bool:
    """Whether an operand's class below Python's numbers implements an operator itself: what that
    returns may be anything. kinds: the classes of the operands."""
    if target.__module__ != "_operator":
        return False
    name = target.__name__
    names = {f"__{name}__", f"__r{name}__", f"__{_REFLECTED.get(name)}__"}
    return any(
        not names.isdisjoint(vars(cls))
        for kind in kinds
        for cls in kind.__mro__[: [*map(_NUMBERS.__contains__, kind.__mro__)].index(True)]
    )


_REFLECTED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_NUMBERS = frozenset((float, int, np.float64, np.int64))
