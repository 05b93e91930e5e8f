"""Builtins for the engine's own code.

A program may replace those of everybody (``builtins.len``, ``builtins.__import__``), and be
called back at every use of them. A module that imports ``__builtins__`` from here has its own.
"""

import builtins

__all__ = ["__builtins__"]

__builtins__ = dict(vars(builtins))
