"""Overlay method tables: give a call another meaning in one context, and nowhere else.

Importing this package does not import numba; ``Context.jit`` does, on first use.
"""

from overlay.context import Context, call_next, current_context, nonoverlay
from overlay.errors import (
    AmbiguousMethod,
    MethodNotFound,
    NotCompilable,
    OverlayError,
    UnsupportedPython,
)
from overlay.table import Method, MethodTable

__all__ = [
    "AmbiguousMethod",
    "Context",
    "Method",
    "MethodNotFound",
    "MethodTable",
    "NotCompilable",
    "OverlayError",
    "UnsupportedPython",
    "call_next",
    "current_context",
    "nonoverlay",
]
