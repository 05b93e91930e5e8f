"""Attributes that objects certainly have, and those that they certainly lack."""

from __future__ import annotations

import enum
import functools
import importlib.machinery
import itertools
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from types import (
    CodeType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any

from overlay.code.constants import codes_of_module, nested, stored_in
from overlay.code.decoding import decoded
from overlay.core.errors import OverlayError
from overlay.core.target import attributes_of, mro_of, type_attribute

__all__ = [
    "MissingAttribute",
    "StoredNames",
    "generic_lookup",
    "has_attribute",
    "in_class",
    "is_of_program",
    "names_of",
    "plain_lookup",
]

_STORES = ("STORE_ATTR", "DELETE_ATTR")
# classes whose ``__getattribute__`` does the same as that of ``object``
_GENERIC: frozenset[type] = frozenset(
    (
        *(object, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset),
        *(range, slice, type(None), deque, BaseException, FunctionType, type(len), enumerate, zip),
        *(map, filter, reversed, GeneratorType, CoroutineType, property, staticmethod),
        *(classmethod, MethodWrapperType),
    )
)
# attributes that sys may have later, since the interpreter or the user sets them, or has on other
# platforms, which code asks for by a test that the checker may not follow
_MAYBE_OF_SYS = frozenset(
    (
        *("ps1", "ps2", "last_exc", "last_type", "last_value", "last_traceback", "tracebacklimit"),
        *("getwindowsversion", "winver", "dllhandle", "getandroidapilevel", "abiflags"),
        *("getdlopenflags", "setdlopenflags"),
    )
)
_MOST = 20_000  # the number of code objects whose names are cached
_GLOBALS = ("STORE_GLOBAL", "DELETE_GLOBAL")
# code that uses one of these may set an attribute of any name
_WRITERS = frozenset(("setattr", "__setattr__", "__dict__", "vars"))


@functools.lru_cache(_MOST)
def _writes_elsewhere(code: CodeType) -> bool:
    """Whether code may store an attribute of a computed name on another object than its first
    argument, which is ``self`` in a method."""
    if "setattr" not in code.co_names:
        return False
    for ins, after in itertools.pairwise(decoded(code)):
        if ins.value == "setattr" and ins.name.startswith("LOAD"):
            first = after.value[0] if type(after.value) is tuple else after.value
            if code.co_argcount == 0 or first != code.co_varnames[0]:
                return True
    return False


@functools.lru_cache(_MOST)
def _stored(code: CodeType) -> frozenset[str]:
    """The names of the attributes that code stores."""
    return frozenset(stored_in(code, _STORES))


class MissingAttribute(OverlayError):
    """An object has no attribute of a name. is_none: whether the object is None."""

    is_none = False


class StoredNames:
    """Names of the attributes that code stores, by module.

    Modules are added as functions of them are analysed. A module whose code may store an attribute
    of a computed name is in ``writers``: nothing is said of objects of its classes.
    """

    def __init__(self) -> None:
        self._names: dict[tuple[int, int], tuple[Any, frozenset[str] | None]] = {}
        self.names: set[str] = set()

    def add(self, namespace: dict[str, Any]) -> None:
        """Add the names that the code of a module stores."""
        self._of(namespace)

    def _of(self, namespace: dict[str, Any]) -> frozenset[str] | None:
        known = self._names.get((id(namespace), len(namespace)))
        if known is None:
            codes = list(codes_of_module(namespace))
            names = {name for code in codes for name in _stored(code)}
            self.names |= names
            writes = any(map(_writes_elsewhere, codes))
            known = namespace, None if writes else frozenset(names)
            self._names[id(namespace), len(namespace)] = known
        return known[1]

    def binds(self, namespace: dict[str, Any], name: str) -> bool:
        """Whether some code of a module binds a global name when it runs."""
        return any(name in stored_in(code, _GLOBALS) for code in codes_of_module(namespace))

    def stores(self, cls: type, name: str) -> bool:
        """Whether some code that is known sets an attribute of this name, by its name."""
        for base in mro_of(cls):
            namespace = _namespace_of(base)
            if namespace is not None:
                self._of(namespace)
        return name in self.names

    def may_store(self, cls: type, name: str) -> bool:
        """Whether some code that is known may set an attribute of this name on an object of a
        class, or on the class."""
        for base in mro_of(cls):
            namespace = _namespace_of(base)
            if base.__module__ == enum.__name__:
                continue  # it sets attributes while a class is made alone
            if namespace is None:
                if is_of_program(base):
                    return True
            elif self._of(namespace) is None:
                return True
            for value in list(attributes_of(base).values()):
                if isinstance(value, FunctionType) and self._of_function(value, name):
                    return True
        return name in self.names

    def _of_function(self, function: FunctionType, name: str) -> bool:
        """Whether a method may store the name on its object."""
        codes = (function.__code__, *nested(function.__code__))
        if any(not _WRITERS.isdisjoint(code.co_names) for code in codes):
            return True
        return name in _stored(function.__code__)


def _namespace_of(cls: type) -> dict[str, Any] | None:
    """The namespace of the module that defines a class; None for a builtin class."""
    if not is_of_program(cls):
        return None
    name = str(attributes_of(cls).get("__module__"))
    for value in list(attributes_of(cls).values()):
        if isinstance(value, FunctionType) and value.__globals__.get("__name__") == name:
            return value.__globals__
    module = sys.modules.get(name)
    return None if module is None else vars(module)


def is_of_program(cls: type) -> bool:
    """Whether a class is made by a ``class`` statement or at run time, not in C: on the heap, and
    not immutable."""
    return bool(cls.__flags__ & 1 << 9) and not cls.__flags__ & 1 << 8


def has_attribute(value: Any, name: str, stored: StoredNames, *, known: bool) -> bool | None:
    """Whether an object has an attribute; None if that is not certain.

    known: whether ``value`` is the object itself; else it is its class. No code of the program
    runs.
    """
    kind = type(value) if known else value
    if type(value) is ModuleType and known:
        found = _of_module(value, name)
        is_set = name in stored.names or (value is sys and name in _MAYBE_OF_SYS)
        return None if is_set and not found else found
    if in_class(kind, name):
        return True
    if known and isinstance(value, type):
        if (
            type_attribute(kind, "__getattr__")
            or kind.__getattribute__ is not type.__getattribute__
        ):
            return None
        if in_class(value, name):
            return True
        return None if stored.may_store(value, name) else False
    if not plain_lookup(kind):
        return None
    if known and name in _own_attributes(value):
        return True
    if kind.__dictoffset__ == 0:
        return None if is_of_program(kind) and name in stored.names else False
    return None if stored.may_store(kind, name) else False


def in_class(cls: type, name: str) -> bool:
    """Whether a class or one of its bases has an attribute."""
    return any(name in attributes_of(base) for base in mro_of(cls))


def plain_lookup(cls: type) -> bool:
    """Whether attributes of objects of a class are looked up in the class and the object alone."""
    return type_attribute(cls, "__getattr__") is None and generic_lookup(cls)


def generic_lookup(cls: type) -> bool:
    """Whether a class has the ``__getattribute__`` of ``object``, or that of a class in C which is
    known to be the same."""
    owner = next(base for base in mro_of(cls) if "__getattribute__" in attributes_of(base))
    return owner in _GENERIC


def _own_attributes(value: Any) -> Iterable[str]:
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return ()


def _of_module(module: ModuleType, name: str) -> bool | None:
    namespace = vars(module)
    if name in namespace or in_class(ModuleType, name):
        return True
    if "__getattr__" in namespace:
        return None
    if any(name in stored_in(code, _GLOBALS) for code in codes_of_module(namespace)):
        return None  # a function of the module binds it
    path = namespace.get("__path__")
    if path is not None:
        full = f"{module.__name__}.{name}"
        if full in sys.modules or importlib.machinery.PathFinder.find_spec(full, path):
            return None
    return False


def names_of(value: Any, *, known: bool) -> Iterator[str]:
    """The names of the attributes of an object, or of the objects of a class, with those that the
    methods of the class store."""
    if type(value) is ModuleType:
        yield from vars(value)
        return
    kind = type(value) if known else value
    if known:
        yield from _own_attributes(value)
    for base in (*(mro_of(value) if known and isinstance(value, type) else ()), *mro_of(kind)):
        yield from attributes_of(base)
    for base in mro_of(kind):
        for method in list(attributes_of(base).values()):
            if isinstance(method, FunctionType):
                yield from sorted(_stored(method.__code__))
