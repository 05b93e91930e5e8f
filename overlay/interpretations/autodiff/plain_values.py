"""Values without tangents, for rules of functions that call functions of the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from overlay.interpretations.autodiff.duals import Active

__all__ = ["plain", "plainly"]


def plain(x: Any) -> Any:
    """A value without the tangents of any level, also in lists and tuples."""
    while isinstance(x, Active):
        x = x.value
    if type(x) in (list, tuple):
        return type(x)(plain(part) for part in x)
    return x


def plainly(run: Callable[..., Any], f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of plain values whose results have no tangents, and which runs in the program's
    context."""

    def of(x: Any, *args: Any, **named: Any) -> Any:
        given = np.array(x) if isinstance(x, np.ndarray) else x
        return plain(run(f, given, *args, **named))

    return of
