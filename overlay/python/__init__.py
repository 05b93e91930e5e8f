"""The Python engine: ordinary code, written by anyone, under a context.

Importing it raises UnsupportedPython where the running Python's instructions are not known.
"""

from overlay.python.supported import require_supported

require_supported()

from overlay.python.engine import PythonEngine  # noqa: E402 (it reads the instruction tables)

__all__ = ["PythonEngine"]
