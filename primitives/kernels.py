"""Solvers compiled by numba, on demand."""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

import numba

__all__ = ["compiled", "compiled_form"]

F = TypeVar("F", bound=Callable[..., Any])

_compiled: weakref.WeakKeyDictionary[Callable[..., Any], Any] = weakref.WeakKeyDictionary()
_forms: weakref.WeakKeyDictionary[Callable[..., Any], Any] = weakref.WeakKeyDictionary()


def compiled_form(function: Callable[..., Any]) -> Callable[[F], F]:
    """Mark a function as what ``function`` is in compiled code.

    For integers, which have any size when interpreted and 64 bits when compiled.
    """

    def mark(form: F) -> F:
        _forms[function] = form
        return form

    return mark


def compiled(function: Any) -> Any:
    """A function that numba compiles on its first call, and with it the plain Python functions
    that it calls by name; anything but a Python function is returned as it is."""
    if not isinstance(function, types.FunctionType):
        return function
    made = _compiled.get(function)
    return _compile(function) if made is None else made


def _compile(function: types.FunctionType) -> Any:
    form: types.FunctionType = _forms.get(function, function)
    names = dict(form.__globals__)
    outer = form.__closure__ or ()
    cells = tuple(types.CellType() for _ in outer)
    copied = types.FunctionType(form.__code__, names, form.__name__, form.__defaults__, cells)
    # known before its helpers are looked at, which may call it in turn
    made = _compiled[function] = numba.njit(copied)
    for name in form.__code__.co_names:
        if name in names:
            names[name] = compiled(names[name])
    for cell, original in zip(cells, outer, strict=True):
        cell.cell_contents = compiled(original.cell_contents)
    return made
