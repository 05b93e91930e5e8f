"""Markers: functions of the program whose calls a plugin rewrites in LLVM.

A plugin names its markers (``Plugin.markers``) and defines ``marked``, which is given the LLVM
module of each function that calls one. It removes these calls, or replaces them by others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from overlay.core.own_builtins import __builtins__

__all__ = ["MarkedCall", "MarkedFunction", "MarkedModule"]


@dataclass(frozen=True)
class MarkedFunction:
    """A compiled function of the program. types: numba's types of its arguments, and last of its
    result."""

    function: Callable[..., Any]
    types: tuple[Any, ...]


@dataclass(frozen=True)
class MarkedCall:
    """A call of a marker. instruction: the llvmlite instruction in the module. where:
    ``file:line``."""

    instruction: Any
    marker: Callable[..., Any]
    where: str


@dataclass(frozen=True)
class MarkedModule:
    """The LLVM module of a function that calls markers.

    module: an ``llvmlite.ir.Module``, to be edited in place. calls: the calls of the plugin's
    markers in it. functions: the Python function and types of each symbol that is compiled so far,
    among them the functions that the markers call.
    """

    module: Any
    calls: tuple[MarkedCall, ...]
    functions: Mapping[str, MarkedFunction]

    def symbols_of(self, function: Callable[..., Any]) -> dict[str, MarkedFunction]:
        """The LLVM symbols of a Python function: one for each combination of types."""
        return {s: f for s, f in self.functions.items() if f.function is function}
