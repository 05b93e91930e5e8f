"""Solvers in other forms than the one that Python runs: each form is a method table, and a context
that holds it compiles all solvers in that form."""

from __future__ import annotations

import functools
import math
import types
import weakref
from typing import Any, Final

from overlay import Context, MethodTable
from primitives.floats.vector_maths import VECTORISED
from primitives.numba_unrefused import unrefused

__all__ = ["compiled_forms", "compiled_solvers", "without_refusals"]

compiled_forms = MethodTable("compiled forms", faithful=True)
"""Functions that solvers call, as they are in compiled code: integers, which have any size when
interpreted, have 64 bits there, and numba knows less of arrays."""

compiled_solvers: Final = Context(compiled_forms)
"""Where solvers are compiled."""

_made: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def without_refusals(value: Any) -> Any:
    """A function that answers NaN where it would raise, and with it the plain Python functions
    that it calls by name; anything but a Python function is returned as it is."""
    if value is math:
        return _vectorised()
    if isinstance(value, types.BuiltinFunctionType):
        value = VECTORISED.get(value, value)
    if not isinstance(value, types.FunctionType):
        return value
    made = _made.get(value)
    return _copied(value) if made is None else made


def _copied(function: types.FunctionType) -> Any:
    found = compiled_forms.methods(function)
    form: Any = found[0].function if found else function
    names = dict(form.__globals__)
    outer = form.__closure__ or ()
    cells = tuple(types.CellType() for _ in outer)
    copied = types.FunctionType(form.__code__, names, form.__name__, form.__defaults__, cells)
    copied.__qualname__ = form.__qualname__
    # known before its helpers are looked at, which may call it in turn
    made = _made[function] = unrefused(copied)
    for name in form.__code__.co_names:
        if name in names:
            names[name] = without_refusals(names[name])
    for cell, original in zip(cells, outer, strict=True):
        cell.cell_contents = without_refusals(original.cell_contents)
    return made


@functools.cache
def _vectorised() -> types.ModuleType:
    """``math`` with the functions that can be vectorised."""
    module = types.ModuleType("math")
    vars(module).update(vars(math))
    for function, form in VECTORISED.items():
        setattr(module, function.__name__, without_refusals(form))
    return module
