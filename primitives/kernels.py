"""Solvers compiled by numba, on demand."""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable
from typing import Any

import numba

__all__ = ["compiled"]

_compiled: weakref.WeakKeyDictionary[Callable[..., Any], Any] = weakref.WeakKeyDictionary()


def compiled(function: Any) -> Any:
    """A function that numba compiles on its first call, and with it the plain Python functions
    that it calls by name; anything but a Python function is returned as it is."""
    if not isinstance(function, types.FunctionType):
        return function
    made = _compiled.get(function)
    if made is None:
        made = _compiled[function] = numba.njit(_with_compiled_helpers(function))
    return made


def _with_compiled_helpers(function: types.FunctionType) -> types.FunctionType:
    known = function.__globals__
    helpers = {
        name: compiled(known[name])
        for name in function.__code__.co_names
        if isinstance(known.get(name), types.FunctionType) and known[name] is not function
    }
    cells = tuple(types.CellType(compiled(c.cell_contents)) for c in function.__closure__ or ())
    if not helpers and not cells:
        return function
    return types.FunctionType(
        function.__code__, {**known, **helpers}, function.__name__, function.__defaults__, cells
    )
