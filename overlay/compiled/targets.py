"""What compiled code is made for: the processor that Python runs on, or a device beside it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

__all__ = ["Target"]


class Target(ABC):
    """What the engine has to know of the machine that code is made for.

    name: as ``ctx.jit(f, target=...)`` has it. is_device: whether it is another machine than the
    one that runs Python; its own compiler then makes the code, of programs in which each call goes
    to what it enters.
    """

    name: str
    is_device: bool

    @property
    @abstractmethod
    def typing(self) -> Any:
        """What types the callables and operators that are numba's own there: a typing context."""

    @abstractmethod
    def owns(self, value: Any) -> bool:
        """Whether it is a function or class that the target's compiler alone knows the meaning of,
        and that stands for nothing else when Python runs it."""

    @abstractmethod
    def function_of(self, value: Any) -> Any | None:
        """The Python function to be entered for something that was compiled for this machine alone,
        or that is another function on each; None for what is no such thing."""
