"""Solvers compiled by numba, on demand."""

from __future__ import annotations

import functools
import math
import types
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

import numba

from overlay.plugins.attempts import attempted
from primitives.floats.vector_maths import VECTORISED
from primitives.numba_unrefused import unrefused

__all__ = ["compiled", "compiled_form", "entered", "form_of", "kernel_form", "on_device"]

F = TypeVar("F", bound=Callable[..., Any])

Forms = weakref.WeakKeyDictionary[Callable[..., Any], Any]

_forms: Forms = weakref.WeakKeyDictionary()
_kernel_forms: Forms = weakref.WeakKeyDictionary()


def compiled_form(function: Callable[..., Any]) -> Callable[[F], F]:
    """Mark a function as what ``function`` is in compiled code.

    For integers, which have any size when interpreted and 64 bits when compiled.
    """

    def mark(form: F) -> F:
        _forms[function] = form
        return form

    return mark


def kernel_form(function: Callable[..., Any]) -> Callable[[F], F]:
    """Mark a function as what ``function`` is in a kernel, where no exception can be caught."""

    def mark(form: F) -> F:
        _kernel_forms[function] = form
        return form

    return mark


def form_of(function: Any) -> Any:
    """What a function is in compiled code: itself, where that is no other."""
    return _forms.get(function, function)


class _KernelWay:
    """One way to have functions compiled. wrap: makes of a copy of a function what its callers
    call; vectorised: whether these call the functions of ``vector_maths``; kernel: whether it is
    for kernels."""

    def __init__(
        self, wrap: Callable[[Any], Any], *, vectorised: bool = False, kernel: bool = False
    ) -> None:
        self._wrap = wrap
        self._own_forms: Forms | None = _kernel_forms if kernel else None
        self._vectorised = vectorised
        self._made: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    def __call__(self, value: Any) -> Any:
        """What a name that stands for this has to stand for in compiled code."""
        if self._vectorised and value is math:
            return _vectorised()
        if self._vectorised and isinstance(value, types.BuiltinFunctionType):
            value = VECTORISED.get(value, value)
        if not isinstance(value, types.FunctionType) or value is attempted:
            return value
        made = self._made.get(value)
        return self._copied(value) if made is None else made

    def _copied(self, function: types.FunctionType) -> Any:
        own = self._own_forms or {}
        form: types.FunctionType = own.get(function) or form_of(function)
        names = dict(form.__globals__)
        outer = form.__closure__ or ()
        cells = tuple(types.CellType() for _ in outer)
        copied = types.FunctionType(form.__code__, names, form.__name__, form.__defaults__, cells)
        copied.__qualname__ = form.__qualname__
        # known before its helpers are looked at, which may call it in turn
        made = self._made[function] = self._wrap(copied)
        for name in form.__code__.co_names:
            if name in names:
                names[name] = self(names[name])
        for cell, original in zip(cells, outer, strict=True):
            cell.cell_contents = self(original.cell_contents)
        return made


_entered = _KernelWay(lambda copied: copied)
_refusing = _KernelWay(numba.njit)
_unrefused = _KernelWay(unrefused, vectorised=True)
_on_device = _KernelWay(lambda copied: copied, kernel=True)


def entered(value: Any) -> Any:
    """A function as a context compiles it, with its helpers in their compiled forms; anything but
    a Python function is returned as it is."""
    return _entered(value)


def on_device(value: Any) -> Any:
    """A function as a context compiles it for a kernel, with its helpers in their forms for
    kernels; anything but a Python function is returned as it is."""
    return _on_device(value)


def compiled(value: Any, *, refuses: bool = True) -> Any:
    """A function that numba compiles on its first call, and with it the plain Python functions
    that it calls by name; anything but a Python function is returned as it is.

    refuses: whether it raises; else it answers NaN where it would, which only a function that
    returns floats, or a tuple of floats, can; it calls the functions of ``vector_maths`` in place
    of those of ``math``.
    """
    return (_refusing if refuses else _unrefused)(value)


@functools.cache
def _vectorised() -> types.ModuleType:
    """``math`` with the functions that can be vectorised."""
    module = types.ModuleType("math")
    vars(module).update(vars(math))
    for function, form in VECTORISED.items():
        setattr(module, function.__name__, _unrefused(form))
    return module
