"""Functions with other code."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from overlay.code.own_builtins import __builtins__  # noqa: F401

__all__ = ["Family", "copied"]


def copied(function: FunctionType, code: CodeType) -> FunctionType:
    """``function`` with other code."""
    copy = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    if function.__kwdefaults__ is not None:
        copy.__kwdefaults__ = function.__kwdefaults__
    if function.__qualname__ != code.co_qualname:
        copy.__qualname__ = function.__qualname__
    return copy


class Family:
    """Functions of one code, such as come anew each time that their maker runs.

    code, new: that code, and the code of their twins. last: the last such function and its twin.
    """

    __slots__ = ("_leave", "code", "keywords", "last", "new", "qualname")

    def __init__(self, code: Any, new: Any, leave: Callable[[], object]) -> None:
        self.code = code
        self.new = new
        self.keywords = bool(code.co_kwonlyargcount) if code is not None else False
        self.qualname = code.co_qualname if code is not None else ""
        self.last: tuple[Any, Any] = (None, None)
        self._leave = leave

    def reset(self) -> None:
        """Keep no function; new members are to find another family."""
        self.last = None, None
        self._leave()
