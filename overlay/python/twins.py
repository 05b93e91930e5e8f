"""Functions with other code."""

from __future__ import annotations

from types import CodeType, FunctionType

from overlay.python.own_builtins import __builtins__  # noqa: F401

__all__ = ["copied"]


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
