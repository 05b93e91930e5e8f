"""Resolution of each call site to its method, by static analysis: ``ctx.explain``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from overlay.core.target import refuse_values
from overlay.inspect.call_tree import CallTree
from overlay.inspect.explanation import Explanation

if TYPE_CHECKING:
    from overlay.contexts.context import Context

__all__ = ["explain"]


def explain(
    context: Context, function: Callable[..., Any], *types: Any, depth: int | None = None
) -> Explanation:
    """Resolve each call site below ``context(function, ...)``, without running the program.

    types: the types of the arguments; by default those of the annotations. depth: the maximal depth
    of calls; None: no limit. Raises UnsupportedPython on a Python version whose bytecode is not
    known.
    """
    refuse_values(function, "explain", "give the function first, as in ctx.explain(f, float)")
    for table in context.tables:
        table.settle()
    return Explanation(context, CallTree(context).site(function, types, depth))
