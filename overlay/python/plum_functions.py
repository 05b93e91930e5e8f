"""plum's generic functions inside a context: resolved by plum, their methods' bodies mapped."""

from __future__ import annotations

import sys
from types import MethodType
from typing import TYPE_CHECKING, Any

from overlay.target import type_attribute

if TYPE_CHECKING:
    from overlay.python.callees import Callees

__all__ = ["Resolved", "is_function", "of_bound"]


def is_function(callee: Any) -> bool:
    """Whether it is a plum generic function."""
    plum = sys.modules.get("plum")
    return plum is not None and type(callee) is plum.Function


def of_bound(method: MethodType) -> Any | None:
    """The generic function below ``obj.method`` where a class's method is a plum function."""
    inner = method.__func__
    if type(inner).__module__ != "plum._function" or type(inner).__name__ != "_BoundFunction":
        return None
    found = type_attribute(type(method.__self__), inner.__name__)
    return found if is_function(found) else None


class Resolved:
    """Stands in the callee map for a generic function."""

    def __init__(self, function: Any, callees: Callees) -> None:
        self.function = function
        self.callees = callees

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from plum import convert

        _ = self.function.methods  # registers what is pending
        method, return_type = self.function.resolve_method(args)
        result = self.callees[method](*args, **kwargs)
        return result if return_type is Any else convert(result, return_type)
