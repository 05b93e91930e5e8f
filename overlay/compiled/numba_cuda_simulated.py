"""Kernels run by the interpreter, in numba's simulator of a GPU."""

from __future__ import annotations

import functools
import types as python_types
from collections.abc import Callable
from typing import Any

from numba import cuda

from overlay.context import Context

__all__ = ["simulated"]


def simulated(context: Context, function: Any) -> Any:
    """The simulator's kernel in which each thread runs a function in a context."""
    function = getattr(function, "py_func", function)

    def run(*args: Any) -> None:
        context(function, *args)

    return cuda.jit(functools.wraps(function)(_among_names_of(function, run)))


def _among_names_of(function: Any, run: Callable[..., None]) -> Any:
    """The same function, of which the simulator takes the names of another for its own: there it
    puts itself in place of ``numba.cuda``."""
    names = getattr(function, "__globals__", run.__globals__)
    code, cells = run.__code__, run.__closure__
    return python_types.FunctionType(code, names, run.__name__, None, cells)
