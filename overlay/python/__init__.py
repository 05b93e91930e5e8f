"""The Python engine: ordinary code, written by anyone, under a context."""

from overlay.python.engine import PythonEngine

__all__ = ["PythonEngine"]
