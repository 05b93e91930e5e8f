"""Importing plum, which is done late, and unnoticed."""

from __future__ import annotations

import importlib
from types import ModuleType

__all__ = ["plum"]

_loaded: list[ModuleType] = []


def plum() -> ModuleType:
    """The module. What it imports draws random numbers, of which the program notices nothing."""
    if not _loaded:
        import random  # plum's own imports load it anyway

        state = random.getstate()
        _loaded.append(importlib.import_module("plum"))  # waits where another thread imports it
        random.setstate(state)
    return _loaded[0]
