"""Functions as numba is given them."""

from __future__ import annotations

import types as python_types
from typing import Any, Final

__all__ = ["REQUIRED", "copied", "twin"]

# In place of a default, of a parameter that has none but comes after one that has.
REQUIRED: Final = object()


def copied(function: Any) -> Any:
    """The same function as an object of its own, with nothing that was put on it since."""
    made = python_types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    made.__module__ = function.__module__
    made.__doc__ = function.__doc__
    return made


def twin(function: Any) -> Any:
    """A copy, which numba tells from the function where that calls itself. Keyword-only
    parameters, of which numba knows none, are parameters like any other in it: Python's rules
    have seen the call before."""
    made, code = copied(function), function.__code__
    if code.co_kwonlyargcount:
        made.__defaults__ = _defaults(function)
        made.__kwdefaults__ = None
        count = code.co_argcount + code.co_kwonlyargcount
        made.__code__ = code.replace(co_argcount=count, co_kwonlyargcount=0)
    return made


def _defaults(function: Any) -> tuple[Any, ...]:
    """Of all parameters from the first that has one."""
    code, by_position = function.__code__, function.__defaults__ or ()
    count = code.co_argcount
    names = code.co_varnames[count : count + code.co_kwonlyargcount]
    by_name = function.__kwdefaults__ or {}
    given = [REQUIRED] * (count - len(by_position)) + list(by_position)
    given += [by_name.get(name, REQUIRED) for name in names]
    first = next((i for i, each in enumerate(given) if each is not REQUIRED), len(given))
    return tuple(given[first:])
