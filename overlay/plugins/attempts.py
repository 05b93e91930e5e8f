"""Calls that may raise, in code that cannot catch an exception."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from overlay.core.own_builtins import __builtins__  # noqa: F401

__all__ = ["attempted"]


def attempted(f: Callable[..., Any], *args: Any) -> tuple[bool, Any]:
    """Whether a call of f ends without an exception, and what it gives: for kernels, which have no
    ``try``. Where it has raised compiled code gives zeros, and the interpreter None.

    >>> from overlay.kernels import attempted
    >>> attempted(int, "12"), attempted(int, "a dozen")
    ((True, 12), (False, None))
    """
    try:
        return True, f(*args)
    except Exception:
        return False, None
