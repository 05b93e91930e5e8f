"""Solvers compiled by numba, on demand."""

from __future__ import annotations

import functools
import math
import types
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

import numba

from primitives.numba_unrefused import unrefused
from primitives.vector_maths import VECTORISED

__all__ = ["compiled", "compiled_form"]

F = TypeVar("F", bound=Callable[..., Any])

_Kernels = weakref.WeakKeyDictionary[Callable[..., Any], Any]
_refusing: _Kernels = weakref.WeakKeyDictionary()
_unrefused: _Kernels = weakref.WeakKeyDictionary()
_forms: _Kernels = weakref.WeakKeyDictionary()


def compiled_form(function: Callable[..., Any]) -> Callable[[F], F]:
    """Mark a function as what ``function`` is in compiled code.

    For integers, which have any size when interpreted and 64 bits when compiled.
    """

    def mark(form: F) -> F:
        _forms[function] = form
        return form

    return mark


def compiled(function: Any, *, refuses: bool = True) -> Any:
    """A function that numba compiles on its first call, and with it the plain Python functions
    that it calls by name; anything but a Python function is returned as it is.

    refuses: whether it raises; else it answers NaN where it would, which only a function that
    returns floats, or a tuple of floats, can; it calls the functions of ``vector_maths`` in place
    of those of ``math``.
    """
    if not isinstance(function, types.FunctionType):
        return function
    made = (_refusing if refuses else _unrefused).get(function)
    return _compile(function, refuses) if made is None else made


def _compile(function: types.FunctionType, refuses: bool) -> Any:
    form: types.FunctionType = _forms.get(function, function)
    names = dict(form.__globals__)
    outer = form.__closure__ or ()
    cells = tuple(types.CellType() for _ in outer)
    copied = types.FunctionType(form.__code__, names, form.__name__, form.__defaults__, cells)
    # known before its helpers are looked at, which may call it in turn
    if refuses:
        made = _refusing[function] = numba.njit(copied)
    else:
        made = _unrefused[function] = unrefused(copied)
    for name in form.__code__.co_names:
        if name in names:
            names[name] = _named(names[name], refuses)
    for cell, original in zip(cells, outer, strict=True):
        cell.cell_contents = _named(original.cell_contents, refuses)
    return made


def _named(value: Any, refuses: bool) -> Any:
    """What a kernel's name stands for in compiled code."""
    if not refuses and value is math:
        return _vectorised()
    if not refuses and isinstance(value, types.BuiltinFunctionType):
        value = VECTORISED.get(value, value)
    return compiled(value, refuses=refuses)


@functools.cache
def _vectorised() -> types.ModuleType:
    """``math`` with the functions that can be vectorised."""
    module = types.ModuleType("math")
    vars(module).update(vars(math))
    for function, form in VECTORISED.items():
        setattr(module, function.__name__, compiled(form, refuses=False))
    return module
