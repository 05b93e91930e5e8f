"""The stack of contexts in force in this thread or task, and its key."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from types import FunctionType
from typing import TYPE_CHECKING, Any

from overlay import _native
from overlay.core.own_builtins import __builtins__

if TYPE_CHECKING:
    from overlay.contexts.stack import Stack

__all__ = [
    "be_inside",
    "current_key",
    "current_stack",
    "key_in_force",
    "leave_outside",
    "methods_run_natively",
    "natively",
    "outside",
    "put_in_force",
    "runs_natively",
    "stack_in_force",
]

stack_in_force: ContextVar[Stack | None] = ContextVar("overlay_stack", default=None)
# read by generic functions at every call
key_in_force: ContextVar[object] = ContextVar("overlay_key", default=None)
current_stack = stack_in_force.get
current_key = key_in_force.get
if _native.intercept is not None:
    _native.intercept.set_up(stack_in_force, key_in_force)


def put_in_force(stack: Stack | None) -> None:
    """Set the stack in force; None for no stack."""
    stack_in_force.set(stack)
    key_in_force.set(None if stack is None else stack.key)


def outside(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a function with no stack in force."""
    stack, key = stack_in_force.set(None), key_in_force.set(None)
    leave_outside(1)
    try:
        return function(*args, **kwargs)
    finally:
        leave_outside(-1)
        stack_in_force.reset(stack)
        key_in_force.reset(key)


def _call(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Fallback of ``natively`` where targets are not intercepted."""
    return function(*args, **kwargs)


def _nothing(_: Any) -> None:
    """Fallback that does nothing, where targets are not intercepted."""


_intercept = _native.intercept
# natively(function, *args, **kwargs): calls the function; the calls that it makes are not
# dispatched, and are not counted as the program's. The stack stays in force.
natively: Callable[..., Any] = _intercept.undispatched if _intercept else _call


def runs_natively[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Decorator: the calls that the function makes are not dispatched, and are not counted as the
    program's. For functions of ours that a program may call in a context.
    """

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        return natively(function, *args, **kwargs)

    return run


def methods_run_natively[T](cls: type[T]) -> type[T]:
    """Decorator of a class of values whose methods C code calls: ``runs_natively`` for each method
    and property that the class defines itself. ``__class__`` is decorated where it is defined, as
    no class can replace it.
    """
    for name, value in list(vars(cls).items()):
        if isinstance(value, FunctionType) and name not in ("__init__", "__new__"):
            setattr(cls, name, runs_natively(value))
        elif isinstance(value, property) and value.fget is not None and name != "__class__":
            setattr(cls, name, value.getter(runs_natively(value.fget)))
    return cls


# leave_outside(more): changes the number of this thread's calls that run without a stack on
# purpose, so that their calls do not count as lost.
leave_outside: Callable[[int], None] = _intercept.leave_outside if _intercept else _nothing
# be_inside(stack): marks this thread as inside a stack, also where the stack is not in force;
# returns the stack that it was inside before. Strict and counting contexts use it.
be_inside: Callable[[Stack | None], Stack | None] = _intercept.be_inside if _intercept else _nothing
