"""The instruction sequences of each Python minor version; nothing else knows them."""

from __future__ import annotations

import functools
import sys

from overlay.code.versions import require_rewritable
from overlay.python.emit.common import Emitter

__all__ = ["Emitter", "emitter"]


@functools.cache
def emitter(version: tuple[int, int] = sys.version_info[:2]) -> Emitter:
    """The emitter for a Python version, the same each time; UnsupportedPython where there is
    none."""
    require_rewritable(version)
    if version == (3, 12):
        from overlay.python.emit.py312 import Emitter312

        return Emitter312()
    from overlay.python.emit.py313 import Emitter313

    return Emitter313()
