"""Overlay method tables: give a call another meaning in one context, and nowhere else.

Importing this package does not import numba; ``Context.jit`` does, on first use.
"""

from typing import Any

from overlay.contexts.context import Context
from overlay.contexts.current import (
    call_next,
    current_context,
    nonoverlay,
    plugins_in_force,
    recurse,
    tables_in_force,
)
from overlay.core.errors import (
    AmbiguousMethod,
    CacheWarning,
    CheckFailed,
    MethodNotFound,
    NotCompilable,
    OverlayError,
    OverlayWarning,
    UnsupportedPython,
)
from overlay.core.table import Method, MethodTable
from overlay.generics.declared import generic
from overlay.plugins.known_functions import known_function
from overlay.plugins.plugin import Plugin
from overlay.tools.install import install

__all__ = [
    "AmbiguousMethod",
    "CacheWarning",
    "CheckFailed",
    "Context",
    "Method",
    "MethodNotFound",
    "MethodTable",
    "NotCompilable",
    "OverlayError",
    "OverlayWarning",
    "Plugin",
    "UnsupportedPython",
    "call_next",
    "current_context",
    "generic",
    "install",
    "known_function",
    "load_ipython_extension",
    "nonoverlay",
    "plugins_in_force",
    "recurse",
    "tables_in_force",
]


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext overlay``: the magics ``%overlay`` and ``%%overlay``."""
    from overlay.tools.magics import load

    load(shell)
