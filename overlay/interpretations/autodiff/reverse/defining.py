"""Functions defined by generated source."""

from __future__ import annotations

import itertools
import linecache
import os
from collections.abc import Callable
from typing import Any

from overlay.core.jitted import seal

__all__ = ["defined"]

_serials = itertools.count(1)


def defined(name: str, source: str, space: dict[str, Any]) -> Callable[..., Any]:
    """The function defined by some source, which is registered for debuggers and tracebacks."""
    file = os.path.join(os.path.dirname(__file__), f"<{name} {next(_serials)}>")
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), space)
    return seal(space[name])
