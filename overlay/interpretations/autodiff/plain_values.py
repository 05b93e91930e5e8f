"""Values without tangents, for rules of functions that call functions of the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from overlay.core.interpreted_values import stands_for_another, underlying
from overlay.interpretations.autodiff.duals import Active

__all__ = ["has_no_derivative", "is_container", "plain", "plainly"]


def plain(x: Any) -> Any:
    """A value without the tangents of any level, also in lists and tuples."""
    while isinstance(x, Active):
        x = x.value
    if type(x) in (list, tuple):
        return type(x)(plain(part) for part in x)
    return x


def is_container(x: Any) -> bool:
    """Whether a value is a list or tuple of parts. Numbers of interpretations may be tuples, too:
    active ones, and intervals."""
    return isinstance(x, (list, tuple)) and not stands_for_another(x)


def has_no_derivative(x: Any) -> bool:
    """Whether a result is constant: integers, booleans and others that are no floats. A number of
    another interpretation, such as an interval, is what it represents."""
    if isinstance(x, Active):
        return False
    if isinstance(x, np.ndarray) and x.dtype == object:
        return all(map(has_no_derivative, x.flat))
    x = underlying(x)
    dtype = getattr(x, "dtype", None)
    if dtype is not None:
        return dtype.kind not in "fc"
    return not isinstance(x, (float, complex))


def plainly(run: Callable[..., Any], f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of plain values whose results have no tangents, and which runs in the program's
    context."""

    def of(x: Any, *args: Any, **named: Any) -> Any:
        given = np.array(x) if isinstance(x, np.ndarray) else x
        return plain(run(f, given, *args, **named))

    return of
