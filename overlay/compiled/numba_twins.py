"""Functions as numba is given them."""

from __future__ import annotations

import inspect
import types as python_types
from typing import Any

__all__ = ["twin"]


def twin(function: Any) -> Any:
    """The same function as an object of its own: numba tells recursive calls by identity."""
    code, defaults, by_keyword = _positional(function)
    twin = python_types.FunctionType(
        code, function.__globals__, function.__name__, defaults, function.__closure__
    )
    twin.__kwdefaults__ = by_keyword
    twin.__qualname__ = function.__qualname__
    twin.__module__ = function.__module__
    twin.__doc__ = function.__doc__
    return twin


def _positional(function: Any) -> tuple[Any, Any, Any]:
    """Code and defaults of a function with keyword-only parameters, of which numba knows none,
    as parameters like any other; dispatch and Python's rules have seen the call before."""
    code, defaults, by_keyword = function.__code__, function.__defaults__, function.__kwdefaults__
    first, count = code.co_argcount, code.co_kwonlyargcount
    given = [n for n in code.co_varnames[first : first + count] if n in (by_keyword or {})]
    optional_last = len(given) == count or (not defaults and given == _last(code, len(given)))
    if not count or code.co_flags & inspect.CO_VARARGS or not optional_last:
        return code, defaults, by_keyword
    code = code.replace(co_argcount=first + count, co_kwonlyargcount=0)
    return code, (*(defaults or ()), *(by_keyword[name] for name in given)), None


def _last(code: Any, count: int) -> list[str]:
    end = code.co_argcount + code.co_kwonlyargcount
    return list(code.co_varnames[end - count : end])
