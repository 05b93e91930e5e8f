"""Calls that may raise, in code that cannot catch an exception."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from overlay.core.own_builtins import __builtins__

__all__ = ["attempted"]


def attempted(f: Callable[..., Any], *args: Any) -> tuple[bool, Any]:
    """Call a function, and return whether it ended without an exception.

    It is for kernels, which have no ``try``.

    Parameters
    ----------
    f : callable
        The function.
    *args
        Its arguments.

    Returns
    -------
    (bool, object)
        Whether the call ended without an exception, and its result. After an exception the result
        is zeros in compiled code, and None in the interpreter.

    Examples
    --------
    >>> from overlay.kernels import attempted
    >>> attempted(int, "12"), attempted(int, "a dozen")
    ((True, 12), (False, None))
    """
    try:
        return True, f(*args)
    except Exception:
        return False, None
