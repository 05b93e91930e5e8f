"""Instances of Python classes that the program makes: attributes, methods, operators."""

from __future__ import annotations

import functools
import inspect
from abc import ABCMeta
from collections.abc import Mapping, Sequence
from types import FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any

from overlay.code.contents import DUNDERS, REFLECTED
from overlay.code.record import attribute_held
from overlay.core.short_repr import a_or_an
from overlay.interpretations.autodiff.reverse.made_objects import (
    METHODS,
    contents_of,
    made,
    named_items,
    set_named,
)
from overlay.interpretations.autodiff.reverse.reverse_program import (
    ExceptionOf,
    KnownBefore,
    MadeObject,
    MethodOf,
)
from overlay.interpretations.autodiff.reverse.structure import Unreadable

if TYPE_CHECKING:
    from overlay.interpretations.autodiff.reverse.calling import Calling

__all__ = [
    "MISSING",
    "attribute_of_super",
    "by_operator",
    "get_attribute",
    "initialised",
    "is_instance",
    "is_made_by_call",
    "make_instance",
    "set_attribute",
    "set_directly",
]

MISSING = object()


_MADE_IN_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_OWN = ("__getattribute__", "__getattr__", "__setattr__", "__new__")


def is_instance(operand: Any) -> bool:
    """Whether an operand is an instance, made by the program, of a class written in Python."""
    return isinstance(operand, MadeObject) and operand.cls not in (list, dict)


def is_made_by_call(cls: type) -> bool:
    """Whether a call of a class makes an instance that is followed: it is an exception, or is not
    written in C."""
    return issubclass(cls, BaseException) or bool(cls.__flags__ & _MADE_IN_PYTHON)


def make_instance(
    lifter: Calling, cls: type, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """A new instance of a class."""
    if issubclass(cls, BaseException):
        known = not kwargs and all(isinstance(a, KnownBefore) for a in args)
        return ExceptionOf(cls, tuple(a.value for a in args) if known else ())
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return _named_tuple(lifter, cls, args, kwargs)
    own = [base for base in cls.__mro__ if base is not object]
    if type(cls) not in (type, ABCMeta) or not all(b.__flags__ & _MADE_IN_PYTHON for b in own):
        raise Unreadable(f"it makes {a_or_an(cls.__name__)}, whose class is not written in Python")
    changed = [n for n in _OWN if any(n in vars(b) and not _is_frozen(b, n) for b in own)]
    if changed:
        raise Unreadable(f"it makes {a_or_an(cls.__name__)}, whose class defines {changed[0]}")
    found = made(lifter, cls, (), ())
    start = _of_class(lifter, cls, "__init__")
    if start is not object.__init__:
        lifter.call_in_force(start, [found, *args], dict(kwargs))
    elif args or kwargs:
        raise Unreadable(f"{cls.__name__} takes no arguments")
    return found


def _is_frozen(base: type, name: str) -> bool:
    """Whether a method is the one by which a frozen dataclass refuses to be changed."""
    return name == "__setattr__" and getattr(base, "__dataclass_params__", None) is not None


def _named_tuple(lifter: Calling, cls: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    fields: tuple[str, ...] = cls._fields
    held = {**dict(zip(fields, args, strict=False)), **kwargs}
    for name, default in cls._field_defaults.items():
        held.setdefault(name, lifter.constant(default))
    if len(args) > len(fields) or held.keys() != set(fields):
        raise Unreadable(f"{cls.__name__} is made with other arguments than it takes")
    return made(lifter, cls, (held[name] for name in fields))


def _of_class(lifter: Calling, cls: type, name: str) -> Any:
    """An attribute of a class, as it stands there; ``MISSING`` if there is none."""
    found = inspect.getattr_static(cls, name, MISSING)
    lifter.attributes.append((cls, name, attribute_held(cls, name)))
    return found


# ---- attributes ---------------------------------------------------------------------------


def get_attribute(lifter: Calling, owner: MadeObject, name: str) -> Any:
    """An attribute of an object that the program made."""
    cls: Any = owner.cls
    if cls in (list, dict):
        function = getattr(cls, name, None)
        if function not in METHODS:
            raise Unreadable(f"it reads {name!r} of {a_or_an(cls.__name__)} that it made")
        return MethodOf(function, owner)
    if name == "__class__":
        return KnownBefore(cls)
    found = _of_class(lifter, cls, name)
    if isinstance(found, property):
        return lifter.call_in_force(found.fget, [owner], {})
    contents = contents_of(lifter, owner)
    fields = _fields_of(cls)
    held = dict(zip(contents.keys or fields, contents.items, strict=False))
    if name in held:
        return held[name]
    if isinstance(found, functools.cached_property):
        value = lifter.call_in_force(found.func, [owner], {})
        _set(lifter, owner, name, value)
        return value
    return _bound(lifter, found, owner, cls, name)


def _fields_of(cls: Any) -> tuple[str, ...]:
    """The fields of a named tuple; none for other classes."""
    return getattr(cls, "_fields", ())


def _bound(lifter: Calling, found: Any, owner: Any, cls: type, name: str) -> Any:
    if found is MISSING or isinstance(found, MemberDescriptorType):
        raise Unreadable(f"{a_or_an(cls.__name__)} may have no attribute {name!r} here")
    if isinstance(found, FunctionType):
        return MethodOf(found, owner)
    if isinstance(found, staticmethod):
        return KnownBefore(found.__func__)
    if isinstance(found, classmethod):
        return MethodOf(found.__func__, KnownBefore(cls))
    if hasattr(type(found), "__get__"):
        raise Unreadable(f"it reads {name!r} of {a_or_an(cls.__name__)}, which is computed")
    return lifter.constant(found)


def set_attribute(lifter: Calling, owner: Any, name: str, value: Any) -> None:
    """Lift ``owner.name = value``."""
    if not is_instance(owner) or issubclass(owner.cls, tuple):
        raise Unreadable(
            f"it sets the attribute {name!r} of an object that it did not create",
            help="make the object in the function, or keep the value in a variable",
        )
    found = _of_class(lifter, owner.cls, name)
    if isinstance(found, property) and found.fset is not None:
        lifter.call_in_force(found.fset, [owner, value], {})
        return
    if hasattr(type(found), "__set__") and not isinstance(found, MemberDescriptorType):
        raise Unreadable(f"it sets {name!r} of {a_or_an(owner.cls.__name__)}, which is computed")
    frozen = getattr(owner.cls, "__dataclass_params__", None)
    if frozen is not None and frozen.frozen:
        raise Unreadable(f"it sets {name!r} of {a_or_an(owner.cls.__name__)}, which is frozen")
    _set(lifter, owner, name, value)


def _set(lifter: Calling, owner: MadeObject, name: str, value: Any) -> None:
    set_named(lifter, owner, {**named_items(lifter, owner), name: value})


def set_directly(lifter: Calling, owner: Any, name: KnownBefore, value: Any) -> Any:
    """Lift ``object.__setattr__``, by which a frozen dataclass is initialised."""
    if not is_instance(owner):
        raise Unreadable("it sets an attribute of an object that it did not create")
    _set(lifter, owner, name.value, value)
    return KnownBefore(None)


def attribute_of_super(lifter: Calling, cls: Any, receiver: Any, name: str) -> Any:
    """An attribute of ``super()``."""
    if not is_instance(receiver) or not isinstance(cls, KnownBefore):
        raise Unreadable("it calls super() of an object that it did not create")
    order = receiver.cls.__mro__
    for base in order[order.index(cls.value) + 1 :]:
        if name in vars(base):
            if base is object:
                return MethodOf(vars(base)[name], receiver)
            return _bound(lifter, _of_class(lifter, base, name), receiver, base, name)
    raise Unreadable(f"super() has no attribute {name!r}")


# ---- operators ----------------------------------------------------------------------------


def by_operator(lifter: Calling, function: Any, args: Sequence[Any]) -> Any:
    """The result of an operator by the method of an instance among its operands; ``MISSING`` if
    there is none."""
    direct, reflected = DUNDERS.get(function, ()), REFLECTED.get(function)
    calls = [(args[0], name, list(args[1:])) for name in direct if args and _has(args[0], name)]
    if reflected is not None and len(args) == 2 and _has(args[1], reflected):
        back = (args[1], reflected, [args[0]])
        below = is_instance(args[0]) and args[1].cls is not args[0].cls
        calls.insert(0 if below and issubclass(args[1].cls, args[0].cls) else len(calls), back)
    for receiver, name, others in calls:
        found = lifter.call_method(receiver, name, others)
        if found != KnownBefore(NotImplemented):
            return found
    return MISSING


def _has(operand: Any, name: str) -> bool:
    if not is_instance(operand):
        return False
    found = inspect.getattr_static(operand.cls, name, None)
    return isinstance(found, FunctionType)


def initialised(lifter: Calling, owner: Any) -> Any:
    """Lift ``object.__init__``, which does nothing."""
    return KnownBefore(None)
