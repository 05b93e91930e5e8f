"""Values as they come in, and the types that numba and numpy have for them."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np

from inversion.errors import NoSolution, WrongArguments
from overlay import NotCompilable
from overlay.location import caller
from primitives.domains import domain_of

__all__ = ["as_text", "cast", "dtype_of", "example_of"]


def cast(axis: str, kind: Any, value: Any) -> Any:
    """A value given for an axis, in the type that the program has there.

    Raises NoSolution for NaN and infinities, WrongArguments for values of another type.
    """
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
    domain = domain_of(kind)
    if kind is float or (domain is not None and not domain.contains(value)):
        raise WrongArguments(
            f"{axis} = {value!r} is not a value of type {getattr(kind, '__name__', kind)}",
            where=caller(),
            help="give a value of the type that invert was asked for",
        )
    return value if domain is None else domain.cast(value)


def dtype_of(kind: Any) -> np.dtype[Any]:
    """The dtype of an array of values of a type."""
    domain = domain_of(kind)
    return np.dtype(object) if domain is None else domain.dtype


def example_of(kind: Any) -> Any:
    """A value of a type, for compiling. Raises NotCompilable where there is none."""
    domain = domain_of(kind)
    if domain is None:
        raise NotCompilable(f"values of type {kind!r} are not compiled", where=caller())
    return domain.default


def as_text(value: Any) -> str:
    """A value for a message, also where it has more digits than Python writes."""
    try:
        return repr(value)
    except ValueError:
        return "an integer of thousands of digits"
