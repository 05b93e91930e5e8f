"""What plugins put around calls where code is interpreted: ``Plugin.around``."""

from __future__ import annotations

import functools
import typing
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any

from overlay.code.own_builtins import __builtins__  # noqa: F401
from overlay.context import Context, call_next, nonoverlay
from overlay.location import is_ours
from overlay.plugin import put_around
from overlay.python.entering import is_asked_about
from overlay.python.frameless import may_lose_frame
from overlay.python.twins import copied
from overlay.python.unseen import unseen
from overlay.target import BUILTINS, type_attribute
from overlay.wrapping import Wrapped

if TYPE_CHECKING:
    from overlay.python.callees import Callees

__all__ = ["with_around"]

# What is asked about when the function below it is, and classes that look at their caller.
_HOLDERS = (MethodType, staticmethod, classmethod)
_GENERIC = ("ParamSpec", "TypeAliasType", "TypeVar", "TypeVarTuple")
_LOOKING: Any = (super, type, *(getattr(typing, n) for n in _GENERIC if hasattr(typing, n)))
_OURS: Any = (Context, Wrapped, nonoverlay)
_METHODS = (MethodDescriptorType, ClassMethodDescriptorType)
# Slots of C classes, reached through ``super()`` and constructors.
_SLOTS = (WrapperDescriptorType, MethodWrapperType)


def with_around(callees: Callees, callee: Any, run: Any) -> Any:
    """What to call in place of ``callee``, for which ``run`` stands: the same, with what the
    plugins put around it. It leaves no frame, if it is a function that runs through."""
    if not _is_a_call(callee):
        return run
    found = put_around(callees.engine.plugins, callee, run)
    if type(found) is not FunctionType or found is run or not may_lose_frame(found.__code__):
        return found
    return unseen(copied(found, found.__code__))


def _is_a_call(callee: Any) -> bool:
    """Whether plugins are asked about it: not where they are asked about what it stands for, nor
    about what belongs to contexts, or looks at the frame that calls it."""
    kind: Any = type(callee)
    if kind in _HOLDERS or kind in _SLOTS or kind in _OURS or issubclass(kind, functools.partial):
        return False
    if kind is FunctionType:
        return callee is not call_next and not is_ours(callee.__code__.co_filename)
    if kind in _METHODS:
        return True
    if kind in BUILTINS:
        return _is_asked_about_builtin(callee)
    if issubclass(kind, type):
        return not issubclass(callee, _LOOKING) and callee not in _OURS
    return type(type_attribute(kind, "__call__")) is not FunctionType


def _is_asked_about_builtin(function: Any) -> bool:
    owner: Any = function.__self__
    if type(function) is BuiltinFunctionType and type(owner) is ModuleType:
        return is_asked_about(function)
    holder: Any = owner if issubclass(type(owner), type) else type(owner)
    below = type_attribute(holder, function.__name__)
    return function.__name__ != "__new__" and type(below) not in _METHODS
