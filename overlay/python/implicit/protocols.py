"""What the protocols of the language have in common: special methods looked up as the
interpreter looks them up, and called through the callee map."""

from __future__ import annotations

import abc
import enum
import types
from collections.abc import Callable
from types import FunctionType, WrapperDescriptorType
from typing import TYPE_CHECKING, Any

from overlay.target import attributes_of, module_of, mro_of

if TYPE_CHECKING:
    from overlay.python.callees import Callees

__all__ = [
    "MISSING",
    "ORDINARY",
    "PLAIN",
    "Given",
    "bases_of",
    "bound",
    "derives",
    "in_python",
    "invoke",
    "is_slot",
    "lookup",
    "python_function",
    "shown_type",
]

MISSING: Any = object()
_HEAP_TYPE = 1 << 9
_name_of: Any = type.__dict__["__name__"].__get__
_flags_of: Any = type.__dict__["__flags__"].__get__

# Builtin types, by id, whose special methods all are C functions and stay so.
PLAIN = frozenset(
    map(
        id,
        (
            *(int, float, complex, bool, str, bytes, bytearray, list, tuple, dict, set),
            *(frozenset, range, slice, type(None), type(...), type(NotImplemented)),
            *(types.FunctionType, types.BuiltinFunctionType, types.MethodType),
            *(types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType),
            *(types.CodeType, types.MethodDescriptorType, types.WrapperDescriptorType),
        ),
    )
)
# What the attributes of classes are where a protocol is implemented in C.
_NATIVE = frozenset(
    map(
        id,
        (
            *(types.WrapperDescriptorType, types.MethodDescriptorType, type(None)),
            *(types.ClassMethodDescriptorType, types.BuiltinFunctionType),
            *(types.GetSetDescriptorType, types.MemberDescriptorType),
        ),
    )
)


# Metaclasses, by id, whose classes have ``__dict__`` and ``__mro__`` of ``type``: reading these
# as attributes is quicker, but others may have them from functions of the program.
ORDINARY = frozenset(map(id, (type, abc.ABCMeta, enum.EnumType)))


def lookup(kind: type, name: str) -> Any:
    """An attribute as slots look it up, or MISSING: it may be None."""
    if type(kind) is not type and id(type(kind)) not in ORDINARY:
        return _lookup_quietly(kind, name)
    for base in kind.__mro__:
        found = base.__dict__
        if name in found:
            return found[name]
    return MISSING


def _lookup_quietly(kind: type, name: str) -> Any:
    for base in mro_of(kind):
        found = attributes_of(base)
        if name in found:
            return found[name]
    return MISSING


def bases_of(kind: type) -> tuple[type, ...]:
    """A class and those that it derives from, in the order of its look-ups."""
    return kind.__mro__ if id(type(kind)) in ORDINARY else mro_of(kind)


def in_python(attribute: Any) -> bool:
    """Whether what a class has for a special method is other than a C function or None."""
    return attribute is not MISSING and id(type(attribute)) not in _NATIVE


def python_function(kind: type, name: str) -> Any:
    """A special method of a class, or MISSING where there is none or it is a C function."""
    found = lookup(kind, name)
    return found if in_python(found) else MISSING


def is_slot(attribute: Any) -> bool:
    """Whether it wraps a slot of a type in C."""
    return type(attribute) is WrapperDescriptorType


def derives(kind: type, base: type) -> bool:
    """Whether a class has another among its bases, or is it; no ``__subclasscheck__`` runs."""
    return any(each is base for each in bases_of(kind))


def bound(callees: Callees, attribute: Any, owner: Any) -> Callable[..., Any]:
    """A special method bound to its object, to be called in the context."""
    if type(attribute) is FunctionType:
        return types.MethodType(callees[attribute], owner)
    get = lookup(type(attribute), "__get__")
    if get is MISSING:
        return callees[attribute]
    return callees[callees[get](attribute, owner, type(owner))]


def invoke(callees: Callees, attribute: Any, owner: Any, *args: Any) -> Any:
    """Call a special method of an object in the context."""
    if type(attribute) is FunctionType:
        known = callees.known.get(id(attribute))
        if known is not None and known.forms is None and known.of() is attribute:
            return known.form(None)(owner, *args)
        return callees[attribute](owner, *args)
    if is_slot(attribute):
        return callees[attribute](owner, *args)
    return bound(callees, attribute, owner)(*args)


def shown_type(value: Any) -> str:
    """A type as the interpreter's messages name it."""
    kind: Any = type(value)
    name, module = _name_of(kind), module_of(kind)
    return name if _flags_of(kind) & _HEAP_TYPE or module == "builtins" else f"{module}.{name}"


class Given:
    """What a special method returned, to be checked by the native function that asks for it:
    its errors are the interpreter's own."""

    __slots__ = ("result",)

    def __init__(self, result: Any) -> None:
        self.result = result

    def _give(self, *ignored: Any) -> Any:
        return self.result

    __bool__ = __len__ = __int__ = __float__ = __complex__ = __index__ = _give
    __str__ = __repr__ = __format__ = __bytes__ = __iter__ = __aiter__ = __await__ = _give
    __hash__ = __length_hint__ = __dir__ = _give  # type: ignore[assignment]
