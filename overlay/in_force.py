"""The stack of contexts in force in this thread or task, and its key."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from overlay import _native

if TYPE_CHECKING:
    from overlay.stack import Stack

__all__ = [
    "be_inside",
    "key_in_force",
    "leave_outside",
    "outside",
    "put_in_force",
    "stack_in_force",
]

stack_in_force: ContextVar[Stack | None] = ContextVar("overlay_stack", default=None)
# what generic functions ask at every call
key_in_force: ContextVar[object] = ContextVar("overlay_key", default=None)
if _native.intercept is not None:
    _native.intercept.set_up(stack_in_force, key_in_force)


def put_in_force(stack: Stack | None) -> None:
    """From here on the stack is in force; None for no stack."""
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


def leave_outside(more: int) -> None:
    """So many calls more of this thread are meant to have no stack in force: what they call is
    not lost."""
    if _native.intercept is not None:
        _native.intercept.leave_outside(more)


def be_inside(stack: Stack | None) -> Stack | None:
    """From here on this thread is inside a stack, also where the stack is not in force; what it
    was inside before. Contexts that are strict or count ask for it."""
    return None if _native.intercept is None else _native.intercept.be_inside(stack)
