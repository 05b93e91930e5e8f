"""Abstract values for code that is read without running it: a known object, or a known type."""

from __future__ import annotations

import builtins
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

from overlay.core.own_builtins import __builtins__
from overlay.core.target import type_attribute

__all__ = [
    "EXIT",
    "NULL",
    "UNKNOWN",
    "BoundFunction",
    "Known",
    "KnownAttribute",
    "Made",
    "OfType",
    "Super",
    "Value",
    "WrittenOut",
    "attribute_of",
    "declared_types",
    "global_value",
    "join",
    "own_attribute",
    "type_of",
]


@dataclass(frozen=True, eq=False)
class Value:
    """Abstract value: nothing is known of it."""


@dataclass(frozen=True, eq=False)
class Known(Value):
    """A known object."""

    object: Any


@dataclass(frozen=True, eq=False)
class OfType(Value):
    """A value of a known type: a class, or another type that an annotation can express."""

    type: Any


@dataclass(frozen=True, eq=False)
class WrittenOut(OfType):
    """A dict display, with the abstract value of each item that has a string key."""

    items: Mapping[str, Value]


@dataclass(frozen=True, eq=False)
class Made(Value):
    """A function that the code defines, with the abstract values of its free variables."""

    code: CodeType
    cells: Mapping[str, Value]
    namespace: dict[str, Any]


@dataclass(frozen=True, eq=False)
class BoundFunction(Value):
    """A bound method: a function and its receiver."""

    function: Value
    receiver: Value


@dataclass(frozen=True, eq=False)
class KnownAttribute(Value):
    """An attribute with a known name, of an unknown object."""

    name: str


@dataclass(frozen=True, eq=False)
class Super(Value):
    """``super()`` of a class, for a receiver."""

    above: type
    receiver: Value


_LAZY: Any = getattr(types, "LazyImportType", None)  # CPython 3.15

UNKNOWN = Value()
NULL = Value()  # the empty slot beside a callable
EXIT = Value()  # the __exit__ that a `with` block will call

_FUNCTIONS = (
    FunctionType,
    MethodDescriptorType,
    WrapperDescriptorType,
    BuiltinFunctionType,
)
_DATA = (property, GetSetDescriptorType, MemberDescriptorType)


def join(one: Value, other: Value) -> Value:
    """The join of two abstract values: what holds for both."""
    if one is other:
        return one
    if isinstance(one, Known) and isinstance(other, Known) and one.object is other.object:
        return one
    if isinstance(one, Made) and isinstance(other, Made) and one.code is other.code:
        return one
    if isinstance(one, BoundFunction) and isinstance(other, BoundFunction):
        function = join(one.function, other.function)
        receiver = join(one.receiver, other.receiver)
        if function is one.function and receiver is one.receiver:
            return one
        return BoundFunction(function, receiver) if isinstance(function, (Known, Made)) else UNKNOWN
    if (
        isinstance(one, KnownAttribute)
        and isinstance(other, KnownAttribute)
        and one.name == other.name
    ):
        return one
    kind = type_of(one)
    if kind is None or kind is not type_of(other):
        return UNKNOWN
    # `one` itself if it says no more than its type: callers detect changes by identity
    return one if type(one) is OfType else OfType(kind)


def type_of(value: Value) -> Any | None:
    """The type of a value, or None if it is not known."""
    if isinstance(value, OfType):
        return value.type
    if isinstance(value, Known):
        return type(value.object)
    if isinstance(value, Made):
        return FunctionType
    return MethodType if isinstance(value, BoundFunction) else None


def global_value(namespace: Mapping[str, Any], name: str) -> Value:
    """The current value of a global variable or builtin."""
    if name in namespace:
        return _held(namespace, name)
    held: Any = namespace.get("__builtins__", builtins)
    found: Any = held if isinstance(held, dict) else vars(held)
    return Known(found[name]) if name in found else UNKNOWN


def _held(namespace: Mapping[str, Any], name: str) -> Value:
    """The value of a name in a namespace. A lazy import that is not loaded yet is unknown:
    reading code imports nothing."""
    found = namespace[name]
    return UNKNOWN if _LAZY is not None and type(found) is _LAZY else Known(found)


# ---- attributes ---------------------------------------------------------------------------


def attribute_of(owner: Value, name: str) -> Value:
    """The value of an attribute, looked up without running any code of the program."""
    if isinstance(owner, Known):
        return _of_object(owner, name)
    if isinstance(owner, OfType) and isinstance(owner.type, type):
        return _of_instance(owner.type, owner, name)
    if isinstance(owner, Super):
        return _of_super(owner, name)
    if isinstance(owner, BoundFunction) and name == "__func__":
        return owner.function
    return KnownAttribute(name)


def _of_object(owner: Known, name: str) -> Value:
    kind: Any = type(owner.object)
    if issubclass(kind, ModuleType):
        # the module's own __dict__: a module's __getattr__ is the program's code
        held: dict[str, Any] = object.__getattribute__(owner.object, "__dict__")
        return _held(held, name) if name in held else KnownAttribute(name)
    if issubclass(kind, type):
        found = type_attribute(owner.object, name)
        if found is not None:
            return bound_to(found, None, owner, name)
    elif type(own := own_attribute(owner.object, name)) is Known and not isinstance(
        type_attribute(kind, name), _DATA
    ):
        return own
    return _of_instance(kind, owner, name)


def own_attribute(thing: Any, name: str) -> Value:
    """The value of a name in an object's own ``__dict__``."""
    try:
        held = object.__getattribute__(thing, "__dict__")
    except (AttributeError, TypeError):
        return UNKNOWN
    return Known(held[name]) if type(held) is dict and name in held else UNKNOWN


def _of_instance(kind: type, owner: Value, name: str) -> Value:
    found = type_attribute(kind, name)
    if found is not None:
        return bound_to(found, owner, Known(kind), name)
    hint = declared_types(kind).get(name)
    return KnownAttribute(name) if hint is None else OfType(hint)


def _of_super(owner: Super, name: str) -> Value:
    receiver = owner.receiver
    kind = type_of(receiver)
    of_class = isinstance(receiver, Known) and isinstance(receiver.object, type)
    below: Any = receiver.object if of_class and isinstance(receiver, Known) else kind
    mro: Sequence[type] = getattr(below, "__mro__", ())
    start = mro.index(owner.above) + 1 if owner.above in mro else len(mro)
    for base in mro[start:]:
        if name in base.__dict__:
            return bound_to(base.__dict__[name], None if of_class else receiver, receiver, name)
    return KnownAttribute(name)


def bound_to(found: Any, receiver: Value | None, cls: Value, name: str) -> Value:
    """The value of a class's attribute when it is read through an instance, ``receiver``, or if
    that is None through the class."""
    kind: Any = type(found)
    if kind is staticmethod:
        return Known(found.__func__)
    if kind is classmethod:
        return BoundFunction(Known(found.__func__), cls)
    if kind is ClassMethodDescriptorType:
        return BoundFunction(Known(found), cls)
    if kind in _FUNCTIONS and (receiver is None or kind is BuiltinFunctionType):
        return Known(found)
    if kind in _FUNCTIONS and receiver is not None:
        return BoundFunction(Known(found), receiver)
    if receiver is None and kind not in (*_DATA, MethodWrapperType):
        return Known(found) if type_attribute(kind, "__get__") is None else KnownAttribute(name)
    if kind is property:
        hint = declared_types(found.fget).get("return")
        return KnownAttribute(name) if hint is None else OfType(hint)
    return KnownAttribute(name)


# ---- annotations --------------------------------------------------------------------------


def declared_types(thing: Any) -> dict[str, type]:
    """The annotations of a function or class that are classes; empty if they cannot be read."""
    kind: Any = type(thing)
    if kind is not FunctionType and not issubclass(kind, type):
        return {}
    hints: dict[str, Any]
    try:
        hints = typing.get_type_hints(thing)
    except (NameError, AttributeError, SyntaxError, TypeError):
        return {}
    return {
        name: hint
        for name, hint in hints.items()
        if isinstance(hint, type) and typing.get_origin(hint) is None
    }
