"""Attributes of abstract objects: methods, properties, stored values."""

from __future__ import annotations

import enum
import functools
import inspect
import types
from types import FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any

import numpy as np

from overlay.analysis.abstract_values import TOP, ItemValues, KnownValue
from overlay.analysis.attribute_names import (
    MissingAttribute,
    generic_lookup,
    in_class,
    is_of_program,
)
from overlay.analysis.kind_functions import ClassOf, Exactly, Kinds, MethodOfObject, one
from overlay.code import constants
from overlay.core.errors import closest, near_names
from overlay.core.target import attributes_of, mro_of, type_attribute

if TYPE_CHECKING:
    from overlay.analysis.checked_types import CheckedTypes

__all__ = ["Attributes", "text_of"]

_METHODS = (
    FunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
)
_FIELD: Any = type(vars(inspect.Attribute)["name"])  # of a named tuple
_OF_ARRAYS = {
    **{"T": one(np.ndarray), "shape": one(tuple), "ndim": one(int), "size": one(int)},
    **{"nbytes": one(int), "itemsize": one(int)},
}
# by the class of a method: that of the method bound to an object
_BOUND = {
    FunctionType: types.MethodType,
    types.MethodDescriptorType: types.BuiltinMethodType,
    types.WrapperDescriptorType: types.MethodWrapperType,
}
_PARTS = ("real", "imag", "numerator", "denominator")  # of numbers
_EXACT_DATA = (int, str, bool, float, bytes, types.NoneType)


class Attributes:
    """Reads and writes of attributes in a domain."""

    def __init__(self, domain: CheckedTypes) -> None:
        self._domain = domain

    def subject(self, value: Any) -> tuple[Any, bool] | None:
        """The subject of the lookup of an attribute: an object and True, or the only class of
        objects and False; None if it is not known."""
        if isinstance(value, KnownValue):
            return value.value, True
        if isinstance(value, ItemValues):
            return tuple, False
        if isinstance(value, Kinds) and len(value.types) == 1:
            return next(iter(value.types)), False
        bound = (
            _BOUND.get(type(value.function.value)) if isinstance(value, MethodOfObject) else None
        )
        return None if bound is None else (bound, False)

    def getter(self, value: Any, name: Any) -> Any:
        """The function of a property that a read of an attribute runs, also of a cached one that
        nothing else sets; None if there is none."""
        cls, text = self._class_of(value), text_of(name)
        if cls is None or text is None or not generic_lookup(cls):
            return None
        found: Any = type_attribute(cls, text)
        if type(found) is functools.cached_property and type(found.func) is FunctionType:
            return None if self._domain.stored.may_store(cls, text) else found.func
        getter: Any = found.fget if type(found) is property else None
        return getter if type(getter) is FunctionType else None

    def read(self, value: Any, name: Any) -> Any:
        """The value of an attribute; TOP if it is not known."""
        text = text_of(name)
        if text is None:
            return self._unknown(value)
        if isinstance(value, KnownValue):
            known = constants.attribute(value.value, text)
            if known is not None:
                return self._domain.constant(known[0])
            if type(value.value) is types.ModuleType or isinstance(value.value, type):
                return self._of_class_object(value.value, text)
        cls = self._class_of(value)
        if cls is None or not generic_lookup(cls):
            return self._unknown(value)
        found = type_attribute(cls, text)
        if text == "__class__":
            return KnownValue(cls)
        if type(found) is enum.property and text in ("name", "value"):
            return self._of_member(value, text)
        if cls is np.ndarray and text in _OF_ARRAYS:
            return _OF_ARRAYS[text]
        if text in _PARTS and cls in (bool, int, float, complex) and found is not None:
            return one(int if cls in (bool, int) else float)
        if isinstance(found, _METHODS):
            return self._method(value, cls, text, found)
        if type(found) is classmethod:
            return MethodOfObject(KnownValue(found.__func__), KnownValue(cls))
        if type(found) is staticmethod:
            return self._domain.constant(found.__func__)
        if found is None or type(found) in (MemberDescriptorType, _FIELD):
            return self._stored(value, cls, text, found)
        if type(found) in _EXACT_DATA:
            held = self._stored(value, cls, text, found)
            return self._domain.join(held, self._data(cls, text, found))
        return self._unknown(value)

    def _of_member(self, value: Any, name: str) -> Any:
        """The name or the value of a member of an enumeration."""
        if isinstance(value, KnownValue):
            return self._domain.constant(getattr(value.value, f"_{name}_"))
        return one(str) if name == "name" else self._unknown(value)

    def _unknown(self, value: Any) -> Any:
        self._domain.handed((value,))
        return TOP

    def _of_class_object(self, owner: Any, name: str) -> Any:
        member = member_of(owner, name)
        if member is not None:
            return KnownValue(member)
        if isinstance(owner, type) and type_attribute(type(owner), name) is None:
            found = type_attribute(owner, name)
            if type(found) is classmethod:
                return MethodOfObject(KnownValue(found.__func__), KnownValue(owner))
            if type(found) in _EXACT_DATA:
                return self._data(owner, name, found)
        return TOP

    def _data(self, cls: type, name: str, found: Any) -> Any:
        """The abstract value of plain data in a class, which code may rebind."""
        return TOP if self._domain.stored.may_store(cls, name) else self._domain.constant(found)

    def _method(self, value: Any, cls: type, name: str, found: Any) -> Any:
        if is_of_program(cls) and self._domain.stored.stores(cls, name):
            return self._unknown(value)
        return MethodOfObject(KnownValue(found), value)

    def _stored(self, value: Any, cls: type, name: str, found: Any) -> Any:
        """The value that is stored in an object under a name."""
        if not is_of_program(cls) or not isinstance(value, Kinds):
            return TOP
        return self._domain.contents.read(value.sites, f".{name}")

    def write(self, value: Any, name: Any, item: Any) -> None:
        """Store an item in an attribute."""
        cls, text = self._class_of(value), text_of(name)
        plain = (
            cls is not None
            and text is not None
            and isinstance(value, Kinds)
            and type(type_attribute(cls, "__setattr__")) is types.WrapperDescriptorType
            and type(type_attribute(cls, text)) in (MemberDescriptorType, *_EXACT_DATA)
        )
        if not plain:
            self._domain.handed((item,) if cls is None else (value, item))
            return
        self._domain.contents.write(value.sites, f".{text}", item)

    def of_super(self, above: Any, receiver: Any, name: str) -> Any:
        """An attribute of ``super()``."""
        after = above.value if isinstance(above, KnownValue) else None
        is_class = isinstance(receiver, KnownValue) and isinstance(receiver.value, type)
        cls = receiver.value if is_class else self._class_of(receiver)
        if not isinstance(after, type) or cls is None or after not in mro_of(cls):
            return self._unknown(receiver)
        order = mro_of(cls)
        above_it = order[order.index(after) + 1 :]
        if not any(name in attributes_of(base) for base in above_it):
            self._check_super(cls, above_it, name, is_class)
        for base in above_it:
            found = attributes_of(base).get(name)
            if found is None:
                continue
            if type(found) is staticmethod:
                return self._domain.constant(found.__func__)
            if name == "__new__":
                return self._domain.constant(found)
            if type(found) is classmethod:
                return MethodOfObject(KnownValue(found.__func__), KnownValue(cls))
            if isinstance(found, _METHODS) and not is_class:
                return MethodOfObject(KnownValue(found), receiver)
            break
        return self._unknown(receiver)

    def _check_super(self, cls: type, above: tuple[type, ...], name: str, is_class: bool) -> None:
        """Raise MissingAttribute if ``super()`` certainly has no attribute that these classes, of
        a receiver of class ``cls``, do not have."""
        if is_class or in_class(super, name) or self._domain.stored.may_store(cls, name):
            return
        near = near_names(name, (each for base in above for each in attributes_of(base)))
        raise MissingAttribute(
            f"super() of an object of class {cls.__qualname__} has no attribute {name!r}",
            notes=closest(near),
            help="correct the spelling, or set it in a base class",
        )

    def _class_of(self, value: Any) -> Any:
        if isinstance(value, ClassOf):
            return None
        found = self.subject(value)
        if found is None:
            return None
        return type(found[0]) if found[1] else found[0]


def member_of(cls: Any, name: str) -> Any:
    """The member of an enumeration that an attribute of its class is; None for others."""
    if not isinstance(cls, enum.EnumType):
        return None
    return type.__getattribute__(cls, "_member_map_").get(name)


def text_of(name: Any) -> str | None:
    """The name that a value represents; None if it is not known."""
    text = name.only if isinstance(name, Exactly) else None
    text = name.value if isinstance(name, KnownValue) else text
    return str(text) if isinstance(text, str) else None
