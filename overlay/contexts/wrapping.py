"""``ctx.wrap``: functions bound to the context that they run in."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any, Self

from overlay.core.location import name_of
from overlay.core.own_builtins import __builtins__
from overlay.core.pickling import home_of_caller, name_at_home, named
from overlay.plugins.plugin import refuse_edits, refuse_stages

if TYPE_CHECKING:
    from overlay.contexts.context import Context

__all__ = ["Wrapped", "interpreted_in", "wrapped_in"]


class Wrapped(functools.partial[Any]):
    """A function bound to a context, as ``ctx.wrap(f)`` gives it.

    A class, so that it can be pickled; in all else it behaves like the function.
    """

    def __new__(cls, context: Context, function: Callable[..., Any]) -> Self:
        return super().__new__(cls, context, function)

    def __init__(self, context: Context, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self._home: str | None = home_of_caller()

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<{name_of(self.args[0])} in {self.func!r}>"

    def __reduce__(self) -> Any:
        name = name_at_home(self, self._home)
        if name is not None:
            return named, (self._home, name)
        return Wrapped, (self.func, *self.args)


def wrapped_in(function: Any) -> tuple[Context, Callable[..., Any]] | None:
    """The context and function of a ``Wrapped``, or of what ``ctx.jit`` gave; None for anything
    else."""
    if type(function) is not Wrapped:
        ask = getattr(type(function), "__overlay_wrapped__", None)
        return None if ask is None else ask(function)
    context: Any = function.func
    return context, function.args[0]


def interpreted_in(function: Any) -> tuple[Context, Callable[..., Any]] | None:
    """The context and function of ``wrapped_in``, for those who read or interpret the Python code.

    Raises OverlayError where a plugin of the context takes part in compiling, which they would
    ignore: as a call does for a ``Wrapped``, and for any such plugin of compiled code.
    """
    bound = wrapped_in(function)
    if bound is not None:
        refuse = refuse_stages if type(function) is Wrapped else refuse_edits
        refuse(bound[0].plugins, bound[1])
    return bound
