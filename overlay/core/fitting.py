"""Check that a method fits its target: some call of the target must be able to reach it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from overlay.core.errors import OverlayError
from overlay.core.location import caller, location_of
from overlay.core.own_builtins import __builtins__
from overlay.core.target import POSITIONAL, describe, generic_state, read_signature, type_attribute

if TYPE_CHECKING:
    from overlay.core.method import Method

__all__ = ["refuse_misfit"]

_EMPTY = inspect.Parameter.empty


def refuse_misfit(method: Method) -> None:
    """Raise OverlayError where no call that the target accepts can reach the method.

    Targets with an unknown or open signature pass.
    """
    target = method.target
    signature = None if isinstance(target, str) else _own_signature(target)
    if signature is None or _meet(signature, method):
        return
    raise OverlayError(
        f"no call of {describe(target)}{_names(signature)} can reach the method "
        f"{method.where}, which takes {_names(_signature_of(method.function))}",
        where=caller(),
        notes=[
            ("target", f"{describe(target)}{signature}   {location_of(target)}"),
            ("method", str(method)),
        ],
        help="give the method parameters for the arguments that the target takes",
    )


def _meet(signature: inspect.Signature, method: Method) -> bool:
    """Whether some call fits both."""
    parameters = signature.parameters.values()
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, POSITIONAL)]
    keywords = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    own = method.declared
    required = sum(p.default is _EMPTY for p in positional)
    most = len(positional)
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        most = max(most, len(own.positional)) + 1
    open_to_names = any(p.kind is p.VAR_KEYWORD for p in parameters)
    names = [p.name for p in positional]
    forced = {p.name for p in keywords if p.default is _EMPTY}
    free = {p.name for p in keywords}
    for count in range(required, most + 1):
        needed = {p.name for p in own.positional[count:] if p.required and p.by_name}
        moved = own.moved(count, names)
        needed |= {p.name for p in own.keyword_only.values() if p.required} - set(moved or ())
        if not (open_to_names or needed <= free):
            continue
        if own.bind(count, tuple(needed | forced), names) is not None:
            return True
    return False


def _own_signature(target: Any) -> inspect.Signature | None:
    """The signature of a target's own code, or None where that is unknown or open: a decorator's
    ``__wrapped__`` may describe another function than the one called.
    """
    kind: Any = type(target)
    if type_attribute(kind, "__overlay_key__") is not None or _is_generic(target):
        return None
    if issubclass(kind, type) and not _has_constructor(target):
        return None  # an overlay may well be its constructor
    return _signature_of(getattr(target, "py_func", target))


def _has_constructor(cls: type) -> bool:
    """Whether a class defines ``__init__`` or ``__new__``."""
    inherited = object.__dict__
    return any(type_attribute(cls, n) is not inherited[n] for n in ("__init__", "__new__"))


def _is_generic(target: Any) -> bool:
    """Whether a target is a generic function, whose methods may take different arguments."""
    kind: Any = type(target)
    return kind.__module__.startswith("plum") or generic_state(target) is not None


def _signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    if type(function) is FunctionType:
        plain = FunctionType(
            function.__code__, {}, "f", function.__defaults__, function.__closure__
        )
        plain.__kwdefaults__ = function.__kwdefaults__
        function = plain
    owner: Any = getattr(function, "__self__", None)
    if type(function) is BuiltinFunctionType and type(owner) is ModuleType:
        return _of_builtin(function)
    return read_signature(function)


_of_builtin = functools.lru_cache(64)(read_signature)  # it is parsed each time


def _names(signature: inspect.Signature | None) -> str:
    if signature is None:
        return "(...)"
    plain = [p.replace(annotation=_EMPTY) for p in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=_EMPTY))
