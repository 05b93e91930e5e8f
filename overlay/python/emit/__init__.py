"""The instruction sequences of each Python minor version; nothing else knows them.

``emitter()`` gives the module for the running interpreter. Each module offers the same
functions, documented in ``overlay.python.emit.common.Emitter``.
"""

from __future__ import annotations

import sys

from overlay.errors import UnsupportedPython
from overlay.python.emit.common import Emitter

__all__ = ["SUPPORTED", "Emitter", "emitter"]

SUPPORTED = ((3, 11), (3, 12), (3, 13))


def emitter(version: tuple[int, int] = sys.version_info[:2]) -> Emitter:
    """The emitter for a Python version; UnsupportedPython where there is none."""
    if version == (3, 11):
        from overlay.python.emit.py311 import Emitter311

        return Emitter311()
    if version == (3, 12):
        from overlay.python.emit.py312 import Emitter312

        return Emitter312()
    if version == (3, 13):
        from overlay.python.emit.py313 import Emitter313

        return Emitter313()
    known = ", ".join(f"{major}.{minor}" for major, minor in SUPPORTED)
    raise UnsupportedPython(
        f"overlays in ordinary code are not supported on Python {version[0]}.{version[1]}",
        notes=[("supported", known)],
        help="run on a supported version, or compile with ctx.jit",
    )
