"""The C part, which intercepts calls of targets. ``intercept`` is None where it was not built, or
was built for another Python; ``why_not`` says why."""

import importlib
from typing import Any

__all__ = ["intercept", "why_not"]

intercept: Any = None
why_not: str | None = None
try:
    intercept = importlib.import_module("overlay._native.intercept")
except ImportError as error:
    why_not = str(error)
