"""Markers: functions of the program that stand for what a plugin does with LLVM.

A plugin names its markers (``Plugin.markers``) and defines ``marked``, which is given the LLVM
module of each function in which one is called. It takes the calls out, or puts others in their
place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from overlay.core.own_builtins import __builtins__  # noqa: F401

__all__ = ["MarkedCall", "MarkedFunction", "MarkedModule"]


@dataclass(frozen=True)
class MarkedFunction:
    """A compiled function of the program. types: of its arguments, and last of its result, as
    numba has them."""

    function: Callable[..., Any]
    types: tuple[Any, ...]


@dataclass(frozen=True)
class MarkedCall:
    """A call of a marker. instruction: llvmlite's, in the module. where: ``file:line``."""

    instruction: Any
    marker: Callable[..., Any]
    where: str


@dataclass(frozen=True)
class MarkedModule:
    """The LLVM module of a function that calls markers.

    module: an ``llvmlite.ir.Module``, to be edited in place. calls: those of the plugin's markers
    that are in it. functions: the Python function and types behind each symbol that is compiled by
    now, what the markers call among them.
    """

    module: Any
    calls: tuple[MarkedCall, ...]
    functions: Mapping[str, MarkedFunction]

    def symbols_of(self, function: Callable[..., Any]) -> dict[str, MarkedFunction]:
        """The symbols that a Python function has in LLVM: one for each combination of types."""
        return {s: f for s, f in self.functions.items() if f.function is function}
