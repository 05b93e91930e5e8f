"""Forms of what stands in the callee map, by the shape of the call."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from overlay.code.own_builtins import __builtins__  # noqa: F401

__all__ = ["Forms", "forms_of", "with_forms"]

_FORMS = "__overlay_forms__"


Forms = Callable[[int | None], Callable[..., Any]]


def with_forms(function: Callable[..., Any], forms: Forms) -> Callable[..., Any]:
    """``function`` itself, marked: ``forms(n)`` is what to call with n positional arguments
    and no others, ``forms(None)`` with any."""
    function.__dict__[_FORMS] = forms
    return function


def forms_of(found: Any) -> Forms | None:
    """The forms of what stands in the map, if it has any."""
    return found.__dict__.get(_FORMS) if type(found) is FunctionType else None
