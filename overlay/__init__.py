"""Overlay method tables: give a call another meaning in one context, and nowhere else.

Importing this package does not import numba; ``Context.jit`` does, on first use.
"""

from typing import Any

from overlay.contexts.context import Context, compiled_method
from overlay.contexts.current import (
    call_next,
    current_context,
    nonoverlay,
    plugins_in_force,
    recurse,
    tables_in_force,
)
from overlay.core import late_binding
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

__getattr__, __dir__ = late_binding.lazy_names(
    __name__, {}, modules=("analysis", "contracts", "interpretations", "ir", "kernels")
)


# ---- higher layers, imported when lower modules ask for them ------------------------------


late_binding.compiled_method.bind(lambda: compiled_method)


@late_binding.python_engine.bind
def _():
    from overlay.python.engines import engine_for

    return engine_for


@late_binding.can_intercept.bind
def _():
    from overlay.python.engines import can_intercept

    return can_intercept


@late_binding.compiled_context.bind
def _():
    from overlay.compiled import CompiledContext

    return CompiledContext


@late_binding.is_kernel.bind
def _():
    from overlay.compiled import is_kernel

    return is_kernel


@late_binding.failure_in.bind
def _():
    from overlay.compiled.failures import failure_in

    return failure_in


@late_binding.misses_methods.bind
def _():
    from overlay.compiled import misses_methods

    return misses_methods


@late_binding.explain.bind
def _():
    from overlay.inspect.explain import explain

    return explain


@late_binding.drawing.bind
def _():
    from overlay.inspect.html import drawing

    return drawing


@late_binding.read_ir.bind
def _():
    from overlay.compiled.numba.shown_ir import read

    return read


def load_ipython_extension(shell: Any) -> None:
    """Load the extension for IPython, ``%load_ext overlay``: the magics ``%overlay`` and
    ``%%overlay``.

    Parameters
    ----------
    shell : InteractiveShell
        The shell of IPython, which calls this.

    Examples
    --------
    >>> from overlay import load_ipython_extension
    >>> callable(load_ipython_extension)  # in IPython: %load_ext overlay
    True
    """
    from overlay.tools.magics import load

    load(shell)
