"""``with ctx:``: blocks in which generic functions see the tables of a context."""

from __future__ import annotations

import sys
import warnings
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from overlay.errors import OverlayError, OverlayWarning
from overlay.in_force import be_inside, put_in_force, stack_in_force
from overlay.location import caller
from overlay.stack import Stack
from overlay.target import describe, generic_state

if TYPE_CHECKING:
    from overlay.context import Context

__all__ = ["enter", "leave", "unreached"]

_blocks: ContextVar[Block | None] = ContextVar("overlay_blocks", default=None)


class Block(NamedTuple):
    """A ``with ctx:`` that has begun: the stack inside, the stack before, the block around, and
    what the thread was inside before."""

    context: Context
    stack: Stack
    before: Stack | None
    outer: Block | None
    inside: Stack | None


def enter(context: Context) -> None:
    """Begin a block. Warns of what it cannot reach."""
    outer = stack_in_force.get()
    stack = context._alone if outer is None else outer.push(context)
    if stack.is_intercepted:
        stack.python.settle()
    elif names := context._unreached:
        # of the line with the block: this function and __enter__ stand between
        warnings.warn(_out_of_reach(context, names), OverlayWarning, stacklevel=3)
    if outer is not None and stack is not outer:
        outer.has_block_inside()
    inside = None if _has_tasks() else be_inside(stack)
    _blocks.set(Block(context, stack, outer, _blocks.get(), inside))
    put_in_force(stack)


def _has_tasks() -> bool:
    """Whether an event loop runs here: other tasks of the thread are not inside the block."""
    events: Any = sys.modules.get("asyncio.events")
    return events is not None and events._get_running_loop() is not None


def leave(context: Context, error: BaseException | None) -> None:
    """End a block. error: the exception that left it."""
    block = _blocks.get()
    if block is None or block.context is not context or stack_in_force.get() is not block.stack:
        _leave_out_of_order(context, error)
        return
    _blocks.set(block.outer)
    if not _has_tasks():
        be_inside(block.inside)
    put_in_force(block.before)


def unreached(context: Context) -> tuple[str, ...]:
    """What of a context a block cannot reach: all targets but generic functions, and plugins."""
    targets = [t for table in context.tables for t in table.targets()]
    found = dict.fromkeys(describe(t) for t in targets if generic_state(t) is None)
    return (*found, *map(repr, context.plugins))


def _out_of_reach(context: Context, names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    what = "the overlays and plugins" if context.plugins else "the overlays of"
    return (
        f"with {context!r}: only generic functions see the tables in a block; it cannot reach "
        f"{what} {shown}. Run ctx(f, ...) for code that calls them"
    )


def _leave_out_of_order(context: Context, error: BaseException | None) -> None:
    """A block ends that is not the innermost: take it out from under the others."""
    above: list[Context] = []
    block = _blocks.get()
    while block is not None and block.context is not context:
        above.append(block.context)
        block = block.outer
    if block is not None:
        stack, outer = block.before, block.outer
        for inner in reversed(above):
            inside = inner._alone if stack is None else stack.push(inner)
            outer = Block(inner, inside, stack, outer, stack)
            stack = inside
        _blocks.set(outer)
        put_in_force(stack)
    message = (
        "the block ended in another thread or task than it began in"
        if block is None
        else "the block ended out of order, or what runs in it did: what was called since it "
        "began may have seen tables that were not meant for it"
    )
    remedy = "do not yield inside `with ctx:`; collect the results, or yield ctx.wrap(f)(...)"
    if error is not None:
        error.add_note(f"with {context!r}: {message}\n  help: {remedy}")
        return
    raise OverlayError(f"with {context!r}: {message}", where=caller(), help=remedy)
