"""``with ctx:``: blocks of code that run in a context."""

from __future__ import annotations

import sys
import warnings
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from overlay import _native
from overlay.contexts.stack import Stack
from overlay.core.errors import OverlayError, OverlayWarning
from overlay.core.in_force import be_inside, key_in_force, put_in_force, stack_in_force
from overlay.core.location import caller
from overlay.core.own_builtins import __builtins__
from overlay.core.target import describe, generic_state

if TYPE_CHECKING:
    from overlay.contexts.context import Context

__all__ = ["enter", "leave", "unreached"]

_HAS_TASKS = object()  # an event loop runs here: other tasks of the thread are not inside the block
_blocks: ContextVar[Block | None] = ContextVar("overlay_blocks", default=None)


# An open ``with ctx:``: its context, the stack inside, the stack before, the enclosing block, and
# the previous result of ``be_inside``, or _HAS_TASKS.
type Block = tuple[Context, Stack, Stack | None, Block | None, Any]


def enter(context: Context, stack: Stack | None = None) -> Context:
    """Run the block in a context, as ``ctx(f, ...)`` runs a function, in this thread or task.
    stack: of this context, in place of the one that it has in the stack in force.

    Where this Python has no engine, only generic functions see the tables, and a warning names the
    targets that it cannot reach.
    """
    # few calls of our own functions, since they take most of the time here
    outer = stack_in_force.get()
    if stack is None:
        stack = context._alone if outer is None else outer.push(context)
    engine = stack.__dict__.get("python")
    if engine is not None:
        if engine.modules != len(sys.modules):
            engine.settle()
    elif stack.is_intercepted:
        stack.python.settle()
    elif names := context._unreached:
        # at the line of the block: this function is in between
        warnings.warn(_out_of_reach(context, names), OverlayWarning, stacklevel=2)
    if stack.plugins and stack.is_intercepted:
        stack.python.refuse_stages("the block")
    events: Any = sys.modules.get("asyncio.events")
    if events is None or events._get_running_loop() is None:
        inside = be_inside(stack)
    else:
        inside = _HAS_TASKS
    _blocks.set((context, stack, outer, _blocks.get(), inside))
    stack_in_force.set(stack)
    key_in_force.set(stack.key)
    if getattr(stack.__dict__.get("python"), "applies", False):
        _native.intercept.prepare_frames()  # running frames continue in the stack
    return context


def leave(context: Context, kind: Any, error: BaseException | None, trace: Any) -> None:
    """End the block. error: the exception that left it."""
    block = _blocks.get()
    if block is None or block[0] is not context or stack_in_force.get() is not block[1]:
        _leave_out_of_order(context, error)
        return
    _, _, before, outer, inside = block
    _blocks.set(outer)
    if inside is not _HAS_TASKS:
        be_inside(inside)
    stack_in_force.set(before)
    key_in_force.set(None if before is None else before.key)
    calls = block[1].calls
    if before is None and calls is not None:
        block[1].python.quietly(calls.forget)


def unreached(context: Context) -> tuple[str, ...]:
    """The parts of a context that a block without an engine cannot reach: all targets but generic
    functions, and plugins."""
    targets = [t for table in context.tables for t in table.targets()]
    found = dict.fromkeys(describe(t) for t in targets if generic_state(t) is None)
    return (*found, *map(repr, context.plugins))


def _out_of_reach(context: Context, names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    what = "the overlays and plugins" if context.plugins else "the overlays of"
    return (
        f"with {context!r}: only generic functions see the tables here, where targets are not "
        f"intercepted; it cannot reach {what} {shown}\n  help: ctx(f, ...) raises an error that "
        "names the cause"
    )


def _leave_out_of_order(context: Context, error: BaseException | None) -> None:
    """Remove a block that is not the innermost from under the others, and report the error."""
    above: list[Context] = []
    block = _blocks.get()
    while block is not None and block[0] is not context:
        above.append(block[0])
        block = block[3]
    if block is not None:
        stack, outer = block[2:4]
        for inner in reversed(above):
            inside = inner._alone if stack is None else stack.push(inner)
            outer = inner, inside, stack, outer, stack
            stack = inside
        _blocks.set(outer)
        put_in_force(stack)
    message = (
        "the block ended in another thread or task than it began in"
        if block is None
        else "the block, or one inside it, ended out of order: calls since it began may have "
        "seen the wrong tables"
    )
    remedy = "do not yield inside `with ctx:`; collect the results, or yield ctx.wrap(f)(...)"
    if error is not None:
        error.add_note(f"with {context!r}: {message}\n  help: {remedy}")
        return
    raise OverlayError(f"with {context!r}: {message}", where=caller(), help=remedy)
