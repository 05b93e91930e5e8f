"""What ``overlay.kernels.attempted`` is in compiled code of the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["on_cpu"]


def on_cpu(f: Callable[..., Any], *args: Any) -> tuple[bool, Any]:
    """A call that may raise. numba fills a variable that was not assigned with zeros."""
    ended = True
    try:
        found = f(*args)
    except Exception:
        ended = False
    return ended, found  # type: ignore[reportPossiblyUnbound]
