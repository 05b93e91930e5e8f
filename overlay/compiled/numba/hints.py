"""Conversion between Python types and numba's."""

from __future__ import annotations

import typing
from typing import Any

import numpy as np
from numba import from_dtype
from numba.core import errors, sigutils, types
from numba.core.typing.asnumbatype import as_numba_type
from numba.core.typing.templates import Signature

from overlay.compiled.dispatch_types import Unspellable, hint_of
from overlay.compiled.numba.numba_types import Type
from overlay.core.errors import OverlayError
from overlay.core.location import caller

__all__ = ["numba_type", "spelt", "types_of_signature"]

# the oldest supported numba knows these aliases alone, and not list[float]
_ALIASES = {each: getattr(typing, each.__name__.capitalize()) for each in (list, set, dict, tuple)}


def spelt(ty: Type | None) -> Any:
    """The annotation for a numba type in signatures; None where there is none."""
    found = None if ty is None else hint_of(ty)
    return None if found is Unspellable else found


def numba_type(hint: Any) -> Type:
    """The numba type of values of a Python type. Raises OverlayError unless there is exactly
    one."""
    if isinstance(hint, Type):
        return hint
    alias: Any = _ALIASES.get(typing.get_origin(hint))  # pyright: ignore[reportArgumentType]
    if alias is not None:
        hint = alias[typing.get_args(hint)]
    dtype, ndim = getattr(hint, "dtype", None), getattr(hint, "ndim", None)
    try:
        if isinstance(hint, type) and issubclass(hint, np.ndarray) and isinstance(ndim, int):
            return types.Array(from_dtype(np.dtype(dtype)), ndim, "C")
        if isinstance(hint, type) and issubclass(hint, np.generic):
            return from_dtype(np.dtype(hint))
        return types.none if hint in (None, type(None)) else as_numba_type(hint)
    except (errors.NumbaError, TypeError):
        raise OverlayError(
            f"{hint!r} is not one type in compiled code",
            where=caller(),
            help="give a scalar's type, an array type with dtype and dimensions, or numba's own",
        ) from None


def types_of_signature(given: Any) -> tuple[Type, ...]:
    """The numba types of a signature's arguments: Python's or numba's types in a sequence, a
    signature of numba's, or one as text. Raises OverlayError for anything else."""
    try:
        if isinstance(given, str):
            given = given if given.endswith(")") else f"({given},)"
        if isinstance(given, (str, Signature)):
            args, _ = sigutils.normalize_signature(given)
            return tuple(args)
        return tuple(map(numba_type, given))
    except (errors.NumbaError, TypeError, NameError, SyntaxError, AttributeError) as error:
        raise OverlayError(
            f"{given!r} does not say of which types the arguments are",
            where=caller(),
            help="give a tuple of types, Python's or numba's, or text: \"float64[:], int64\"",
        ) from error
