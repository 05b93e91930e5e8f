"""Calls that may raise, in code that cannot catch an exception."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from overlay.core.own_builtins import __builtins__

__all__ = ["attempted"]


def attempted(f: Callable[..., Any], *args: Any) -> tuple[bool, Any]:
    """Call f, and return whether it ended without an exception, and its result: for kernels, which
    have no ``try``. After an exception the result is zeros in compiled code, and None in the
    interpreter.

    >>> from overlay.kernels import attempted
    >>> attempted(int, "12"), attempted(int, "a dozen")
    ((True, 12), (False, None))
    """
    try:
        return True, f(*args)
    except Exception:
        return False, None
