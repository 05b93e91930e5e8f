"""Functions for code inside a context."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar

from overlay import _native
from overlay.core.errors import OverlayError
from overlay.core.in_force import natively, outside, stack_in_force
from overlay.core.location import caller, name_of
from overlay.core.own_builtins import __builtins__
from overlay.core.public_names import hides
from overlay.core.target import refuse_values
from overlay.generics.views import resolved, view_of

if TYPE_CHECKING:
    from overlay.contexts.context import Context
    from overlay.core.table import MethodTable
    from overlay.plugins.plugin import Plugin

__all__ = [
    "call_next",
    "current_context",
    "nonoverlay",
    "plugins_in_force",
    "recurse",
    "tables_in_force",
]

P = ParamSpec("P")
R = TypeVar("R")


def current_context() -> Context | None:
    """The innermost context in force.

    Its metadata and state do not depend on the contexts around it. ``outer | inner`` is one
    context that has both.

    Returns
    -------
    Context or None
        The context; None outside of any.

    Examples
    --------
    >>> from overlay import Context, current_context
    >>> outer, inner = Context(metadata=3), Context()
    >>> outer(lambda: inner(lambda: current_context().metadata)) is None
    True
    >>> (outer | inner)(lambda: current_context().metadata)
    3
    """
    stack = stack_in_force.get()
    return None if stack is None else stack.context


def tables_in_force() -> tuple[MethodTable, ...]:
    """The tables of all contexts in force, for interpreted code.

    Returns
    -------
    tuple of MethodTable
        The tables, innermost first.

    Examples
    --------
    >>> from overlay import Context, MethodTable, tables_in_force
    >>> table = MethodTable("table")
    >>> Context(table)(tables_in_force) == (table,)
    True
    """
    stack = stack_in_force.get()
    return () if stack is None else stack.tables


def plugins_in_force() -> tuple[Plugin, ...]:
    """The plugins of all contexts in force.

    Returns
    -------
    tuple of Plugin
        The plugins, outermost first; in a generated method those that the code is compiled with.

    Examples
    --------
    >>> from overlay import Context, Plugin, plugins_in_force
    >>> plugin = Plugin()
    >>> Context(plugins=(plugin,))(plugins_in_force) == (plugin,)
    True
    """
    compiling = natively(sys.modules.get, "overlay.compiled.sharing")
    frame = None if compiling is None else compiling.frame()
    if frame is not None:
        return frame.world.plugins
    stack = stack_in_force.get()
    return () if stack is None else stack.plugins


def call_next(*args: Any, **kwargs: Any) -> Any:
    """Inside a method: call the next method for these arguments, after the last one the base.

    The next methods are the less specific ones of the same table, then those of the tables
    further out, resolved again for the arguments given. A method is never entered twice.

    Parameters
    ----------
    *args, **kwargs
        The arguments of the call; they may differ from those of the method.

    Returns
    -------
    object
        The result of the next method, or of the base.

    Raises
    ------
    OverlayError
        The call is outside a method.

    Examples
    --------
    >>> import math
    >>> from overlay import Context, MethodTable, call_next
    >>> table = MethodTable("table")
    >>> @table.overlay(math.sqrt)
    ... def sqrt(x: float) -> float:
    ...     return 10 * call_next(x)
    >>> Context(table)(math.sqrt, 4.0)
    20.0
    """
    view = view_of(sys._getframe(1))
    if view is None:
        _only_inside_a_method()
    return view(*args, **kwargs)


if _native.intercept is not None:
    _native.intercept.set_up_call_next(call_next, resolved)


def _only_inside_a_method() -> NoReturn:
    raise OverlayError(
        "call_next() was called outside a method that a context runs",
        where=caller(),
        help="call it directly in the body of a function registered by @table.overlay(...)",
    )


def recurse[**P, R](context: Context, f: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Run the body of a function under a context, even where the function itself is overlaid in
    it.

    Calls of ``f`` further down are dispatched, like any other.

    Parameters
    ----------
    context : Context
        The context, inside those in force.
    f : callable
        The function whose own body runs.
    *args, **kwargs
        Its arguments.

    Returns
    -------
    object
        The result of the body.

    Examples
    --------
    >>> from overlay import Context, MethodTable, recurse
    >>> def size(x):
    ...     return x
    >>> table = MethodTable("table")
    >>> @table.overlay(size)
    ... def doubled(x: float) -> float:
    ...     return 2 * x
    >>> ctx = Context(table)
    >>> ctx(size, 3.0), recurse(ctx, size, 3.0)
    (6.0, 3.0)
    """
    refuse_values(f, "run", "give a function, as in recurse(ctx, f, x)")
    if not natively(hasattr, type(context), "_alone"):  # Context would be imported in a circle
        raise OverlayError(
            f"recurse takes a context and then a function, not {context!r}",
            where=caller(),
            help="give the context first, as in recurse(ctx, f, x)",
        )
    outer = stack_in_force.get()
    stack = context._alone if outer is None else outer.push(context)
    engine = stack.python
    try:
        if natively(isinstance, f, MethodType):
            method: Any = f
            own = MethodType(engine.quietly(engine.enter_base, method.__func__), method.__self__)
        else:
            own = engine.quietly(engine.enter_base, f)
        return engine.run(stack, stack.key, own, *args, **kwargs)
    finally:
        if outer is None and stack.calls is not None:
            engine.quietly(stack.calls.forget)


@hides("function")
class nonoverlay[**P, R]:  # noqa: N801 (reads as the function that it stands for)
    """``nonoverlay(f)(*args)``: call f, and all below it, without any overlay.

    Parameters
    ----------
    function : callable
        The function to call outside of all contexts.

    Examples
    --------
    >>> import math
    >>> from overlay import nonoverlay
    >>> nonoverlay(math.sqrt)(4.0)
    2.0
    """

    __slots__ = ("__weakref__", "function")

    def __init__(self, function: Callable[P, R], /) -> None:
        refuse_values(function, "call", "give a function, as in nonoverlay(f)(x)")
        self.function = function

    def __repr__(self) -> str:
        return f"nonoverlay({name_of(self.function)})"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function outside of all contexts, and return its result."""
        return outside(self.function, *args, **kwargs)
