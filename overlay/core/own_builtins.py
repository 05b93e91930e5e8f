"""Builtins for the engine's own code.

A program may replace the global ones (``builtins.len``, ``builtins.__import__``), and would be
called at every use of them. A module that imports ``__builtins__`` from here is unaffected.
"""

import builtins
import functools
import importlib.util
from types import ModuleType

__all__ = ["__builtins__", "own_copy"]

__builtins__ = dict(vars(builtins))


@functools.cache
def own_copy(name: str) -> ModuleType:
    """A copy of a module of the standard library that uses the builtins of this module."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        raise ImportError(f"no module {name}")
    module = importlib.util.module_from_spec(spec)
    vars(module)["__builtins__"] = __builtins__
    spec.loader.exec_module(module)
    return module
