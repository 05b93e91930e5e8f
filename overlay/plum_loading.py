"""Importing plum, which is done late, and unnoticed."""

from __future__ import annotations

import importlib
import random
import sys
from types import ModuleType

__all__ = ["plum"]


def plum() -> ModuleType:
    """The module. What it imports draws random numbers, of which the program notices nothing."""
    if "plum" not in sys.modules:
        state = random.getstate()
        importlib.import_module("plum")
        random.setstate(state)
    return sys.modules["plum"]
