"""Callables in compiled code: a type for each function, a function for each callable object."""

from __future__ import annotations

import copyreg
import functools
from collections.abc import Callable
from typing import Any

from overlay.core.own_builtins import __builtins__

__all__ = [
    "form_in_compiled_code",
    "known_function",
    "type_of_function",
]


def form_in_compiled_code(value: Any, *, on_device: bool) -> Callable[..., Any] | None:
    """The function that compiled code calls for a callable object of the program: the result of its
    class's method ``__overlay_compiled__(on_device=...)``; None for any other value.

    on_device: whether the code runs on a GPU.
    """
    ask = getattr(type(value), "__overlay_compiled__", None)
    return None if ask is None else ask(value, on_device=on_device)


class FunctionClass(type):
    """Metaclass of the types whose only value is one function."""

    function: Callable[..., Any]


class _Wrapped:
    """A function as a dictionary key, compared by identity."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Wrapped) and other.function is self.function

    def __hash__(self) -> int:
        return id(self.function)


def type_of_function(function: Callable[..., Any]) -> type:
    """The type that represents a function: one type for each function."""
    return _made(_Wrapped(function))


@functools.lru_cache(maxsize=1024)
def _made(key: _Wrapped) -> type:
    return FunctionClass("Function", (), {"function": staticmethod(key.function)})


def known_function(hint: Any) -> Callable[..., Any] | None:
    """In a generated method: the function that an argument's type represents.

    Parameters
    ----------
    hint : type
        One of the types that the method is given.

    Returns
    -------
    callable or None
        The function where it is known, as in compiled code; else None.

    Examples
    --------
    >>> from overlay import Context, MethodTable, known_function
    >>> def twice(f, x):
    ...     return f(f(x))
    >>> table, seen = MethodTable("table"), []
    >>> @table.generated(twice)
    ... def twice_of(f, x):
    ...     seen.append(known_function(f))
    ...     return lambda f, x: f(x)
    >>> def increment(x):
    ...     return x + 1
    >>> Context(table).jit(lambda x: twice(increment, x))(1), seen == [increment]
    (2, True)
    """
    return hint.function if isinstance(hint, FunctionClass) else None


copyreg.pickle(FunctionClass, lambda made: (type_of_function, (made.function,)))  # type: ignore[arg-type]
