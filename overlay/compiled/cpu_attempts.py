"""Implementation of ``overlay.kernels.attempted`` in compiled code of the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["on_cpu"]


def on_cpu(f: Callable[..., Any], *args: Any) -> tuple[bool, Any]:
    """Call a function that may raise. numba fills an unassigned variable with zeros."""
    ended = True
    try:
        found = f(*args)
    except Exception:
        ended = False
    return ended, found  # type: ignore[reportPossiblyUnbound]
