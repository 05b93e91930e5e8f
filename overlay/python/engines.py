"""Which engine runs code in a stack of contexts.

Targets are intercepted (``interception``) wherever that is possible. Operators on builtin types,
plugins and the few functions that the interpreter has instructions for need rewritten code
(``engine``), which is made for some versions of Python only.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from overlay import _native
from overlay.code.versions import is_readable, require_interceptable, require_rewritable
from overlay.errors import UnsupportedPython
from overlay.target import describe

if TYPE_CHECKING:
    from overlay.stack import Stack

__all__ = ["can_intercept", "engine_for", "intercepts"]


def engine_for(stack: Stack) -> Any:
    """A new engine. Raises UnsupportedPython where this Python has none for these tables."""
    if _wants_interception() and not stack.plugins:
        require_interceptable()
        if _native.intercept is None:
            raise _without_extension()
        from overlay.python.interception import InterceptingEngine, obstacles

        found = obstacles(stack)
        if not found:
            return InterceptingEngine(stack)
        notes = [("intercepted, but for", f"{describe(t)}: {why}") for t, why in found[:5]]
    else:
        notes = []
    require_rewritable(notes=notes)
    from overlay.python.engine import PythonEngine

    return PythonEngine(stack)


def can_intercept(stack: Stack) -> bool:
    """Whether the targets of a stack can be intercepted."""
    if not _wants_interception() or stack.plugins or _native.intercept is None:
        return False
    if not is_readable():
        return False
    from overlay.python.interception import obstacles

    return not obstacles(stack)


def intercepts(engine: Any) -> bool:
    """Whether an engine, or None, intercepts its targets."""
    return getattr(engine, "pins", False)


def _wants_interception() -> bool:
    # the other engine, as an oracle for this one
    return os.environ.get("OVERLAY_ENGINE") != "rewriting"


def _without_extension() -> UnsupportedPython:
    return UnsupportedPython(
        "overlays in ordinary code, ctx(f), need the part of overlay in C, which is not there",
        notes=[("overlay._native", _native.why_not or "")],
        help="install overlay from a wheel, or again where a C compiler and Python's headers are; "
        "or compile with ctx.jit, or declare functions generic",
    )
