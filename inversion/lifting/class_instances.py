"""Instances of Python classes that the function makes: attributes, methods, operators."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import warnings
from abc import ABCMeta
from collections.abc import Sequence
from types import FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any

import numpy as np

from inversion.errors import NotInvertible
from inversion.lifting.heap import change, contents_of, is_mutable, made, thawed
from inversion.lifting.lifted_values import (
    CONTAINERS,
    BoundMethod,
    CallSite,
    HeapObject,
    KnownObject,
    Named,
    Tupled,
    Value,
    Values,
    is_known,
    plain,
    record,
    refused,
    shown_kind,
    value_of,
)
from inversion.program.trees import fields_of, is_dataclass, is_record
from overlay.code.contents import DUNDERS, ON_CLASSES, REFLECTED
from overlay.code.record import attribute_held
from overlay.core.short_repr import a_or_an
from overlay.core.target import describe
from primitives.arrays.domain import is_array

if TYPE_CHECKING:
    from inversion.lifting.lifter import Lifter

__all__ = [
    "PLAIN_MANAGERS",
    "attribute_of_super",
    "by_operator",
    "get_attribute",
    "instance_call",
    "is_instance",
    "method_of",
    "set_attribute",
]

MADE_IN_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE
OWN = ("__getattribute__", "__getattr__", "__setattr__", "__new__")
MISSING = object()
PLAIN_MANAGERS = (np.errstate, contextlib.nullcontext, warnings.catch_warnings)
"""Classes of context managers that only change settings."""


def is_instance(value: Value) -> bool:
    """Return whether a value is an instance of a class that is written in Python."""
    if isinstance(value, (HeapObject, Tupled)):
        return bool(value.kind.__flags__ & MADE_IN_PYTHON) and value.kind not in NOT_FOLLOWED
    return False


NOT_FOLLOWED: tuple[Any, ...] = (*CONTAINERS, *ON_CLASSES)


def instance_call(
    lifter: Lifter, site: CallSite, target: Any, args: Values, kwargs: Named
) -> Value | None:
    """A new instance of a class written in Python, or the result of a function of instances; None
    for another call.
    """
    if target is type and len(args) == 1 and not isinstance(args[0].kind, str):
        return KnownObject(np.ndarray if is_array(args[0].kind) else args[0].kind)
    if isinstance(target, type) and issubclass(target, PLAIN_MANAGERS):
        known = all(map(is_known, (*args, *kwargs.values())))
        named = {name: plain(value) for name, value in kwargs.items()} if known else {}
        return KnownObject(target(*map(plain, args), **named)) if known else None
    if isinstance(target, type):
        return _instance(lifter, site, target, args, kwargs)
    if target is object.__setattr__ and isinstance(args[0], HeapObject):
        _set(lifter, site, args[0], plain(args[1]), args[2])
        return KnownObject(None)
    if target is object.__init__:
        return KnownObject(None)
    if target is dataclasses.replace and args and is_instance(args[0]):
        held = {**_fields(lifter, site, args[0]), **kwargs}
        return lifter.call(site, (args[0].kind,), (), held)
    if target is dataclasses.astuple and is_instance(args[0]):
        return Tupled(tuple, tuple(_fields(lifter, site, args[0]).values()))
    if target is dataclasses.asdict and is_instance(args[0]):
        held = _fields(lifter, site, args[0])
        return made(lifter.known, dict, held.values(), tuple(held))
    return None


def _fields(lifter: Lifter, site: CallSite, owner: Value) -> dict[str, Value]:
    """The fields of an instance of a dataclass, with their values."""
    made: Any = owner.kind
    return {
        field.name: get_attribute(lifter, site, owner, field.name)
        for field in dataclasses.fields(made)
        if field.init
    }


def _instance(
    lifter: Lifter, site: CallSite, cls: Any, args: Values, kwargs: Named
) -> Value | None:
    if is_record(cls) and not _has_factory(cls):
        found = record(site, cls, args, kwargs)
        return thawed(lifter.known, found) if is_mutable(cls) else found
    own = [base for base in cls.__mro__ if base is not object]
    in_python = all(base.__flags__ & MADE_IN_PYTHON for base in own)
    if type(cls) not in (type, ABCMeta) or not in_python:
        return None
    changed = [n for n in OWN if any(n in vars(b) and not _is_frozen(b, n) for b in own)]
    if changed and not all(_is_python(cls, name) for name in changed):
        return None
    if changed:
        what = f"an instance of {describe(cls)}, which defines {changed[0]}"
        raise refused(what, site.where, f"make it of a class without {changed[0]}")
    found = made(lifter.known, cls, (), ())
    start = _of_class(lifter, cls, "__init__")
    if start is not object.__init__:
        lifter.call(site, (start,), (found, *args), kwargs)
    elif args or kwargs:
        raise NotInvertible(
            f"{describe(cls)} takes no arguments", where=site.where, help="define its __init__"
        )
    return found


def _is_python(cls: type, name: str) -> bool:
    found = inspect.getattr_static(cls, name)
    return isinstance(found, (FunctionType, staticmethod))


def _has_factory(cls: Any) -> bool:
    if not is_dataclass(cls):
        return False
    return any(f.default_factory is not dataclasses.MISSING for f in dataclasses.fields(cls))


def _is_frozen(base: type, name: str) -> bool:
    """Return whether a method is the one with which a frozen dataclass refuses changes."""
    return name == "__setattr__" and getattr(base, "__dataclass_params__", None) is not None


def _of_class(lifter: Lifter, cls: type, name: str) -> Any:
    """An attribute of a class, without binding; ``MISSING`` if there is none."""
    found = inspect.getattr_static(cls, name, MISSING)
    if found is not MISSING:
        lifter.attributes.append((cls, name, attribute_held(cls, name)))
    return found


# ---- attributes ---------------------------------------------------------------------------


def get_attribute(lifter: Lifter, site: CallSite, owner: Value, name: str) -> Value:
    """An attribute of an instance."""
    cls: Any = owner.kind
    if name == "__class__":
        return KnownObject(cls)
    if name in ("_replace", "_asdict", "_fields") and hasattr(cls, "_fields"):
        return _of_named_tuple(lifter, owner, name)
    found = _of_class(lifter, cls, name)
    if isinstance(found, property):
        return lifter.call(site, (found.fget,), (owner,), {})
    held = named_items(lifter, site, owner)
    if name in held:
        return held[name]
    if isinstance(found, functools.cached_property) and isinstance(owner, HeapObject):
        value = lifter.call(site, (found.func,), (owner,), {})
        _set(lifter, site, owner, name, value)
        return value
    if found is MISSING or isinstance(found, MemberDescriptorType):
        raise NotInvertible(
            f"cannot invert the attribute {name!r} of {a_or_an(shown_kind(owner))}",
            where=site.where,
            help="it has no such attribute on this execution path; set it before",
        )
    return _bound(found, owner, cls, site, name)


def _of_named_tuple(lifter: Lifter, owner: Value, name: str) -> Value:
    if name == "_fields":
        return value_of(fields_of(owner.kind))
    function = _replaced if name == "_replace" else _as_dict
    return BoundMethod(function, owner)


def _replaced(owner: Any, **changes: Any) -> Any:
    """``_replace`` of a named tuple. It is lifted."""
    return type(owner)(**{**dict(zip(type(owner)._fields, owner, strict=True)), **changes})


def _as_dict(owner: Any) -> Any:
    """``_asdict`` of a named tuple. It is lifted."""
    return dict(zip(type(owner)._fields, owner, strict=True))


def named_items(lifter: Lifter, site: CallSite, owner: Value) -> dict[str, Value]:
    """The attributes of an instance."""
    found = owner
    if isinstance(owner, HeapObject):
        found = contents_of(lifter.known, owner, site.where)
    assert isinstance(found, Tupled)
    names = found.keys if found.keys is not None else fields_of(owner.kind)
    return dict(zip(names, found.items, strict=False))


def _bound(found: Any, owner: Value, cls: type, site: CallSite, name: str) -> Value:
    if isinstance(found, FunctionType):
        return BoundMethod(found, owner)
    if isinstance(found, staticmethod):
        static: Any = found
        return KnownObject(static.__func__)
    if isinstance(found, classmethod):
        of_class: Any = found
        return BoundMethod(of_class.__func__, KnownObject(cls))
    if hasattr(found, "py_func"):
        return BoundMethod(found, owner)
    if hasattr(type(found), "__get__"):
        if getattr(cls, name, None) is getattr(tuple, name, MISSING):
            return BoundMethod(found, owner)
        what = f"the attribute {name!r} of {a_or_an(cls.__name__)}, which is computed"
        raise refused(what, site.where, "make it a property or a method")
    return value_of(found)


def set_attribute(lifter: Lifter, site: CallSite, owner: Value, name: str, value: Value) -> None:
    """Set an attribute of an instance that the function made."""
    if not isinstance(owner, HeapObject) or not is_instance(owner):
        raise refused(
            f"assignment to the attribute {name!r} of {a_or_an(shown_kind(owner))}",
            site.where,
            "make the object in the function, or keep the value in a variable",
        )
    found = _of_class(lifter, owner.kind, name)
    if isinstance(found, property) and found.fset is not None:
        lifter.call(site, (found.fset,), (owner, value), {})
        return
    computed = hasattr(type(found), "__set__") and not isinstance(found, MemberDescriptorType)
    if computed or not is_mutable(owner.kind):
        help = "make a new object with the other value, or keep it under another name"
        raise refused(f"assignment to {name!r}, which is computed or frozen", site.where, help)
    _set(lifter, site, owner, name, value)


def _set(lifter: Lifter, site: CallSite, owner: HeapObject, name: str, value: Value) -> None:
    held = {**named_items(lifter, site, owner), name: value}
    contents = Tupled(owner.kind, tuple(held.values()), tuple(held))
    change(lifter.known, owner, contents, site.where)


def attribute_of_super(
    lifter: Lifter, site: CallSite, cls: Value, receiver: Value, name: str
) -> Value:
    """An attribute of ``super()``."""
    above = plain(cls)
    of_class = isinstance(receiver, KnownObject)
    if not is_instance(receiver) and not (of_class and isinstance(receiver.value, type)):
        help = "make the object in the function"
        raise refused("super() of what the function did not make", site.where, help)
    own = receiver.value if of_class else receiver.kind
    order = own.__mro__
    for base in order[order.index(above) + 1 :]:
        if name in vars(base):
            found = vars(base)[name]
            if base is object:
                return BoundMethod(found, receiver)
            if isinstance(found, property):
                return lifter.call(site, (found.fget,), (receiver,), {})
            return _bound(found, receiver, own, site, name)
    help = f"define {name} in a class above"
    raise refused(f"the attribute {name!r} of super(), which is not there", site.where, help)


def method_of(value: Value, name: str) -> Any:
    """A method, written in Python, of the class of an instance, or None."""
    if not is_instance(value):
        return None
    found = inspect.getattr_static(value.kind, name, None)
    return found if isinstance(found, FunctionType) else None


# ---- operators ----------------------------------------------------------------------------


def by_operator(
    lifter: Lifter, site: CallSite, targets: Sequence[Any], args: Values
) -> Value | None:
    """The result of an operator by the method of an instance among its operands, or None."""
    target = targets[0]
    if not args or type(target).__hash__ is None or not any(map(is_instance, args)):
        return None
    calls = [
        (method, args)
        for name in (("__str__", "__repr__") if target is str else DUNDERS.get(target, ()))
        if (method := method_of(args[0], name)) is not None
    ]
    back = REFLECTED.get(target)
    if back is not None and len(args) == 2:
        method = method_of(args[1], back)
        if method is not None:
            below = args[1].kind is not args[0].kind and issubclass(args[1].kind, _class(args[0]))
            calls.insert(0 if below else len(calls), (method, args[::-1]))
    for method, given in calls:
        found = lifter.call(site, (method,), given, {})
        if found != KnownObject(NotImplemented):
            return lifter.truth(site, found) if target is bool else found
    return None


def _class(value: Value) -> type:
    return value.kind if isinstance(value.kind, type) else object
