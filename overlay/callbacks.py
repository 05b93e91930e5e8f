"""Declaring what a C function does with the callables that it is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from overlay.errors import OverlayError
from overlay.location import caller
from overlay.target import canonical, describe

__all__ = ["declare_callbacks"]


def declare_callbacks(
    function: Callable[..., Any], positions: Sequence[int] = (), names: Sequence[str] = ()
) -> None:
    """Declare that a C function calls its arguments at these positions, or with these names,
    before it returns: inside a context they then run in the context.

    Without positions and names: it calls none of its arguments, and may keep them. A method is
    declared as ``Class.method``, where position 0 is the object. Declare before a context meets
    the function. Raises OverlayError where it is not a C function or class.

    >>> import sqlite3
    >>> from overlay import declare_callbacks
    >>> declare_callbacks(sqlite3.enable_callback_tracebacks)
    """
    from overlay.python.leaving import declare, is_native

    function = canonical(function)
    if not is_native(function):
        raise OverlayError(
            f"{describe(function)} is not implemented in C: a context sees the calls it makes",
            where=caller(),
            help="declare C functions, methods of C classes and C classes only",
        )
    declare(function, tuple(positions), tuple(names))
