"""Which method each call site resolves to, found by reading the code: ``ctx.explain``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from overlay.inspect.call_tree import CallTree
from overlay.inspect.explanation import Explanation

if TYPE_CHECKING:
    from overlay.contexts.context import Context

__all__ = ["explain"]


def explain(
    context: Context, function: Callable[..., Any], *types: Any, depth: int | None = None
) -> Explanation:
    """Which method each call site below ``context(function, ...)`` resolves to.

    types: of the arguments; from the annotations where none are given. depth: how many calls
    deep to look, None for all. Nothing of the program runs. Raises UnsupportedPython on a
    Python version whose bytecode is not known.
    """
    for table in context.tables:
        table.settle()
    return Explanation(context, CallTree(context).site(function, types, depth))
