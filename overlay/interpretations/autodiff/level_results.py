"""Results of a run in a level: their values and tangents."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np

from overlay import known_function
from overlay.core.interpreted_values import UNDERLYING
from overlay.core.location import name_of
from overlay.core.short_repr import a_or_an
from overlay.interpretations.autodiff.duals import Active, ActiveArray
from overlay.interpretations.autodiff.errors import (
    refuse_argument,
    refuse_no_number,
    refuse_result,
)

__all__ = [
    "check_argument",
    "check_argument_kind",
    "check_kind",
    "check_one",
    "check_result",
    "described",
    "is_number",
    "is_structure",
    "parts_of_result",
    "tangent_of",
    "through",
    "value_of",
]

_NUMBERS = "biufc"


def value_of(found: Any, level: Any) -> Any:
    if isinstance(found, (level.number, level.array)):
        return found.value
    return through(found, lambda part: value_of(part, level))


def tangent_of(found: Any, level: Any, k: int) -> Any:
    if isinstance(found, (level.number, level.array)):
        return found.tangents[k]
    if isinstance(found, (np.ndarray, ActiveArray)):
        return np.zeros(found.shape)
    if is_structure(found):
        return through(found, lambda part: tangent_of(part, level, k))
    return 0.0


def is_number(x: Any) -> bool:
    """Whether an object is a number, of any interpretation."""
    if isinstance(x, Active) or not isinstance(x, np.generic):
        return isinstance(x, (Active, numbers.Number)) or hasattr(type(x), "__float__")
    return x.dtype.kind in _NUMBERS


def is_structure(found: Any) -> bool:
    """Whether a result has several parts: a tuple, list or dict that is no number, as an interval
    is."""
    return isinstance(found, (tuple, list, dict)) and not isinstance(
        found, (Active, numbers.Number)
    )


def check_argument(f: Any, x: Any) -> None:
    """Raise NotDifferentiable for an argument of f that is no number, array of numbers, or list of
    these."""
    if isinstance(x, (list, tuple)) and not is_number(x):
        for part in x:
            check_argument(f, part)
        if len({() if is_number(part) else np.shape(part) for part in x}) > 1:
            refuse_argument(f, f"{a_or_an(type(x).__qualname__)} of parts of different lengths")
    elif not _is_made_of_numbers(x):
        refuse_argument(f, described(x))


def check_argument_kind(f: Any, kind: Any) -> None:
    """``check_argument`` for the class of an argument of ``autodiff``."""
    if not isinstance(kind, type) or issubclass(kind, (Active, numbers.Number)):
        return
    is_plain_tuple = issubclass(kind, tuple) and not hasattr(kind, UNDERLYING)
    if is_plain_tuple or issubclass(kind, (str, bytes, list, dict, set, NoneType)):
        refuse_argument(known_function(f) or "the function", a_or_an(kind.__qualname__))


def check_result(f: Any, value: Any) -> None:
    """Raise NotDifferentiable for a result of f that is no number, array of numbers, or structure
    of these."""
    for part in parts_of_result(value):
        if not _is_made_of_numbers(part):
            refuse_no_number(f, described(part), is_part=part is not value)


def check_one(f: Any, found: Any) -> None:
    """Raise NotDifferentiable for a result of f that is not one number or array of numbers."""
    if is_structure(found):
        refuse_result(f, type(found).__qualname__)
    check_result(f, found)


def check_kind(f: Any, kind: Any) -> None:
    """``check_one`` for the class of a result, in compiled code."""
    of: Any = get_origin(kind) or kind
    if of in (Union, UnionType):
        for each in get_args(kind):
            check_kind(f, each)
        return
    if issubclass(of, (tuple, list, dict)) and not issubclass(of, numbers.Number):
        refuse_result(f, of.__qualname__)
    held = kind.dtype if issubclass(of, np.ndarray) else of
    if not issubclass(held, (numbers.Number, np.number, np.bool_)):
        function = known_function(kind)
        is_known = of is NoneType or function is not None
        refuse_no_number(f, described(function) if is_known else a_or_an(of.__qualname__))


def described(part: Any) -> str:
    """A description of a result that is no number."""
    if part is None:
        return "None"
    if isinstance(part, np.ndarray):
        return f"an array of the dtype {part.dtype}"
    if callable(part):
        return f"the {'class' if isinstance(part, type) else 'function'} {name_of(part)}"
    return a_or_an(type(part).__qualname__)


def _is_made_of_numbers(part: Any) -> bool:
    if isinstance(part, Active) or not isinstance(part, np.ndarray):
        return is_number(part)
    if part.dtype.kind == "O":
        return all(map(is_number, part.flat))
    return part.dtype.kind in _NUMBERS


def through(found: Any, each: Callable[[Any], Any]) -> Any:
    """A result with each of its parts replaced."""
    if not is_structure(found):
        return found
    if isinstance(found, dict):
        return {name: each(part) for name, part in found.items()}
    parts = [each(part) for part in found]
    if hasattr(found, "_fields"):
        return type(found)(*parts)
    return type(found)(parts)


def parts_of_result(found: Any) -> Iterator[Any]:
    """The numbers and arrays in a result."""
    if is_structure(found):
        for part in found.values() if isinstance(found, dict) else found:
            yield from parts_of_result(part)
    else:
        yield found
