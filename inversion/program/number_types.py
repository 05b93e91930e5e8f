"""Values as they come in, and the types that numba and numpy have for them."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np

from inversion.errors import NoSolution, WrongArguments
from inversion.running.columns import fitted
from inversion.running.number_checks import margin
from overlay import NotCompilable
from overlay.core.location import caller
from primitives.arrays.domain import Arrays, is_array
from primitives.domains import domain_of
from primitives.sequences.lists import element_of_sequence, is_list, is_sequence

__all__ = ["as_text", "cast", "dtype_of", "example_of", "is_close"]


def cast(axis: str, kind: Any, value: Any) -> Any:
    """A value given for an axis, in the type that the program has there.

    Raises NoSolution for NaN and infinities, WrongArguments for values of another type.
    """
    if is_array(kind):
        return _cast_array(axis, kind.domain, value)
    if isinstance(value, np.ndarray) and value.ndim == 0:  # as np.where gives of numbers
        value = value[()]
    if kind is float and isinstance(value, (int, float, np.integer, np.floating)):
        try:
            number = float(value)
        except OverflowError as error:
            raise NoSolution(f"{axis} is too large for a float", where=caller()) from error
        if not math.isfinite(number):
            raise NoSolution(f"{axis} = {value!r} is not finite", where=caller())
        return number
    if kind is complex and isinstance(value, (int, float, complex, np.number)):
        whole = complex(value)
        if not cmath.isfinite(whole):
            raise NoSolution(f"{axis} = {value!r} is not finite", where=caller())
        return whole
    if is_list(kind) and isinstance(value, list):
        return [
            cast(f"{axis}[{i}]", element_of_sequence(kind), item) for i, item in enumerate(value)
        ]
    domain = domain_of(kind)
    if kind is float or (domain is not None and not domain.contains(value)):
        raise WrongArguments(
            f"{axis} = {value!r} is not a value of type {getattr(kind, '__name__', kind)}",
            where=caller(),
            help="give a value of the type that invert was asked for",
        )
    return value if domain is None else domain.cast(value)


def _cast_array(axis: str, domain: Arrays, value: Any) -> Any:
    try:
        array = np.asarray(value)
    except ValueError as error:  # rows of different lengths
        raise WrongArguments(f"{axis} is no array: {error}", where=caller()) from error
    if array.shape != domain.shape:
        empty = ", without elements," if not array.size else ""
        raise WrongArguments(
            f"{axis} is an array of shape {array.shape},{empty} and the function has one of "
            f"shape {domain.shape} there",
            where=caller(),
            help="call invert with an example of the shape that is meant",
        )
    numbers = fitted(array, domain.element) if array.dtype.kind in "biufc" else None
    if numbers is None:
        raise WrongArguments(
            f"{axis} is an array of {array.dtype}, and the function has one of "
            f"{domain.element.dtype} there",
            where=caller(),
            help="convert it with .astype(...)",
        )
    if numbers.dtype.kind in "fc" and not np.isfinite(numbers).all():
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(numbers))[0])
        raise NoSolution(
            f"{axis}[{', '.join(map(str, at))}] = {numbers[at]} is not finite", where=caller()
        )
    return np.array(numbers, order="C")


def is_close(answer: Any, wanted: Any, rtol: float, atol: float) -> bool:
    """Whether a number, or each element of an array, is what it should be."""
    if isinstance(wanted, list):
        pairs = zip(answer, wanted, strict=False)
        return len(answer) == len(wanted) and all(
            is_close(one, other, rtol, atol) for one, other in pairs
        )
    if isinstance(wanted, (float, complex)) or (
        isinstance(wanted, np.ndarray) and wanted.dtype.kind in "fc"
    ):
        return bool(np.all(abs(answer - wanted) <= margin(wanted, rtol, atol)))
    return bool(np.all(answer == wanted))


def dtype_of(kind: Any) -> np.dtype[Any]:
    """The dtype of an array of values of a type."""
    domain = domain_of(kind)
    return np.dtype(object) if domain is None else domain.dtype


def example_of(kind: Any) -> Any:
    """A value of a type, for compiling. Raises NotCompilable where there is none."""
    domain = domain_of(kind)
    if domain is None or is_sequence(kind):
        shown = getattr(kind, "__name__", repr(kind))
        raise NotCompilable(
            f"values of type {shown} are not compiled",
            where=caller(),
            help="call the inverse itself, which is interpreted",
        )
    return domain.default


def as_text(value: Any) -> str:
    """A value for a message, in one line: a large array in short, and also an integer that has
    more digits than Python writes."""
    try:
        with np.printoptions(threshold=6, edgeitems=2):
            return " ".join(repr(value).split())
    except ValueError:
        return "an integer of thousands of digits"
