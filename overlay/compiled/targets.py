"""Targets of code generation: the processor that Python runs on, or a device beside it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

__all__ = ["Target"]


class Target(ABC):
    """Interface to the machine that code is generated for.

    name: the value of ``ctx.jit(f, target=...)``. is_device: whether it is another machine than the
    one that runs Python; its own compiler then generates the code, of programs whose calls are all
    resolved.
    """

    name: str
    is_device: bool

    @property
    @abstractmethod
    def typing(self) -> Any:
        """numba's typing context there: the types of its own callables and operators."""

    @abstractmethod
    def owns(self, value: Any) -> bool:
        """Whether a function or class has a meaning to the target's compiler alone, and no
        substitute when Python runs it."""

    @abstractmethod
    def function_of(self, value: Any) -> Any | None:
        """The Python function behind an object that was compiled for this machine alone, or whose
        function differs from machine to machine; None for any other object."""
