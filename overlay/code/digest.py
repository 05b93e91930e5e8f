"""Digests of values by content: equal values have equal digests in every process.

Subclasses of ``Digest`` define the content of a function: see ``fingerprint``.
"""

from __future__ import annotations

import enum
import hashlib
import struct
import sys
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from overlay.code.held_functions import fields_of
from overlay.core.errors import reduced
from overlay.core.own_builtins import __builtins__
from overlay.core.short_repr import a_or_an
from overlay.core.target import attributes_of, is_below, mro_of

__all__ = [
    "LARGEST_ARRAY",
    "Digest",
    "Handler",
    "NotHashable",
    "is_copied",
    "tell_class",
]

NAMED: Final = (
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    type(np.sum),  # numpy's functions, of a class of their own
)
COPIED: Final = (np.ndarray, list, set, tuple)
# In bytes: numba takes the address of larger arrays instead of a copy; such code is not cached.
LARGEST_ARRAY: Final = 10**6

Handler = Callable[["Digest", Any], None]


class NotHashable(Exception):
    """A value has no stable content that another process could compare.

    what: the value, in words. reason: the reason. help: the remedy.
    """

    def __init__(self, what: str, reason: str, help: str) -> None:
        super().__init__(f"{what} {reason}")
        self.what, self.reason, self.help = what, reason, help

    __reduce__ = reduced


class Digest(ABC):
    """Hash of values by content.

    kinds: by type, handlers of values that are neither Python's nor numpy's own.
    """

    def __init__(self, kinds: Mapping[type, Handler] = {}) -> None:
        self.functions: list[FunctionType] = []
        self.copied: dict[int, Any] = {}  # values with content that can change in place
        # keyed by identity: metaclasses may define their own hashes
        self._kinds = {id(kind): handler for kind, handler in {**_EXACT, **kinds}.items()}
        self._bases = {id(kind): handler for kind, handler in kinds.items()}
        self._bases.update({id(k): h for k, h in _BASES.items() if id(k) not in self._bases})
        self._hash = hashlib.sha256()
        self._open: set[int] = set()
        self._place = "the program"

    def write(self, *parts: str | bytes | int) -> None:
        """Add parts to the digest, each with its length."""
        for part in parts:
            data = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
            self._hash.update(b"%d:" % len(data))
            self._hash.update(data)

    @abstractmethod
    def function(self, function: FunctionType) -> None:
        """Add a function to the digest."""

    def code(self, code: CodeType, lines: bool = True) -> None:
        """Add the content of a code object, without the name of its file."""
        counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount
        self.write("code", *counts, code.co_flags, code.co_name, code.co_qualname)
        self.write(code.co_code, code.co_exceptiontable)
        for names in (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars):
            self.write(len(names), *names)
        if lines:
            self.write(code.co_firstlineno, code.co_linetable)
        self.write(len(code.co_consts))
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self.code(constant, lines)
            else:
                self.value(constant)

    def value(self, value: Any) -> None:
        """Add a value by its content. Raises NotHashable if it has none that is stable."""
        kind = type(value)
        if is_copied(value):
            self.copied[id(value)] = value
        handler = self._kinds.get(id(kind))
        if handler is None:
            bases = set(map(id, mro_of(kind)))
            handler = next((h for base, h in self._bases.items() if base in bases), None)
        if handler is not None:
            handler(self, value)
        elif (fields := fields_of(value)) is not None:
            self.class_named(kind)
            self.container("fields", value, (part for item in fields.items() for part in item))
        elif not self.at_home(value):
            raise self.not_hashable(value)

    def at_home(self, value: Any) -> bool:
        """Add a function without Python code by its name in its module; return False if its
        module does not have it."""
        if module_of(type(value)).partition("_3")[0] not in ("_cython", "builtins", "numpy"):
            return False
        module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
        home = sys.modules.get(str(module))
        if home is None or vars(home).get(str(name)) is not value:
            return False
        self.write("named", "function", str(module), str(name))
        return True

    def not_hashable(self, value: Any, reason: str = "") -> NotHashable:
        """The error for a value that has no stable content hash."""
        kind = type(value)
        return NotHashable(
            self._place,
            reason
            or f"is {a_or_an(module_of(kind))}.{_qualname_of(kind)}, which cannot be compared",
            "use numbers, strings, tuples, arrays and functions for what compiled code reads",
        )

    def class_named(self, kind: Any) -> None:
        """Add a class by its name."""
        self.write("class", module_of(kind), _qualname_of(kind))

    def items(self, kind: str, values: Iterable[Any]) -> None:
        """Add values in their order."""
        found = list(values)
        self.write(kind, len(found))
        for value in found:
            self.value(value)

    def container(self, kind: str, value: Any, values: Iterable[Any]) -> None:
        """Add the values in a container, which may not contain itself."""
        if id(value) in self._open:
            raise self.not_hashable(value, "contains itself")
        self._open.add(id(value))
        self.items(kind, values)
        self._open.discard(id(value))

    def without_order(self, kind: str, values: Iterable[Any]) -> None:
        """Add values whose order is irrelevant."""
        outer, found = self._hash, list[bytes]()
        met = len(self.functions)
        for value in values:
            self._hash = hashlib.sha256()
            try:
                self.value(value)
            finally:
                inner, self._hash = self._hash, outer
            found.append(inner.digest())
        if len(self.functions) != met:
            raise NotHashable(self._place, "is a set of functions", "use a tuple")
        self.write(kind, len(found), *sorted(found))


# ---- classes, read without running their code ---------------------------------------------

_qualname_of: Any = type.__dict__["__qualname__"].__get__
_module_of: Any = type.__dict__["__module__"].__get__


def module_of(kind: Any) -> str:
    """The name of a class's module."""
    return str(_module_of(kind))


def is_copied(value: Any) -> bool:
    """Whether a value is mutable, or may contain mutable values, and is copied into compiled
    code."""
    return any(type(value) is kind for kind in COPIED)


# ---- handlers of values, by type ----------------------------------------------------------


def _name(fp: Digest, value: Any) -> None:
    """Add a callable or descriptor that is written in C, by its name."""
    owner: Any = getattr(value, "__objclass__", None)
    module = getattr(value, "__module__", None) or getattr(owner, "__module__", None)
    fp.write("named", type(value).__name__, str(module), value.__qualname__)


def _builtin(fp: Digest, value: Any) -> None:
    owner = value.__self__
    if owner is None or type(owner) is ModuleType or issubclass(type(owner), type):
        _name(fp, value)
        return
    home = sys.modules.get(module_of(type(owner)))
    if home is not None and vars(home).get(value.__name__) is value:
        fp.write("named", "method", home.__name__, value.__name__)  # as random.random is
    else:
        fp.write("bound", value.__name__)
        fp.value(owner)


def _method(fp: Digest, value: types.MethodType) -> None:
    if not fp.at_home(value):
        fp.items("method", (value.__func__, value.__self__))


def _ufunc(fp: Digest, value: Any) -> None:
    if getattr(np, value.__name__, None) is not value:
        raise fp.not_hashable(value, "is a ufunc that is not numpy's own")
    fp.write("ufunc", value.__name__)


def _array(fp: Digest, value: np.ndarray[Any, Any]) -> None:
    if value.dtype.hasobject or type(value) is not np.ndarray:
        raise fp.not_hashable(value, "is an array of objects")
    flags = value.flags
    states = flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned
    fp.write("array", repr(value.dtype), *value.shape, *map(int, states))
    if value.nbytes <= LARGEST_ARRAY:
        fp.write(value.tobytes())


def _scalar(fp: Digest, value: np.generic) -> None:
    if value.dtype.hasobject:
        raise fp.not_hashable(value, "is an array of objects")
    fp.write("scalar", repr(value.dtype), value.tobytes())


def _tuple(fp: Digest, value: tuple[Any, ...]) -> None:
    fp.class_named(type(value))
    fp.items("tuple", tuple.__iter__(value))


def tell_class(fp: Digest, value: Any) -> None:
    """Add a class: its name, and the values that code reads from it."""
    fp.class_named(value)
    attributes = attributes_of(value)
    if is_below(value, tuple) and "_fields" in attributes:
        fp.value(attributes["_fields"])
    elif is_below(value, enum.Enum):
        for name, member in attributes["_member_map_"].items():
            fp.write(name)
            fp.value(vars(member)["_value_"])


def _member(fp: Digest, value: enum.Enum) -> None:
    fp.class_named(type(value))
    fp.write(vars(value)["_name_"])
    fp.value(vars(value)["_value_"])


def _dict(fp: Digest, value: dict[Any, Any]) -> None:
    fp.container("dict", value, (part for item in value.items() for part in item))


def _plain(fp: Digest, value: Any) -> None:
    fp.write(type(value).__name__)


_EXACT: Final[dict[type, Handler]] = {
    **dict.fromkeys((type(None), type(Ellipsis), type(NotImplemented)), _plain),
    bool: lambda fp, v: fp.write("bool", int(v)),
    int: lambda fp, v: fp.write("int", hex(v)),
    float: lambda fp, v: fp.write("float", struct.pack("<d", v)),
    complex: lambda fp, v: fp.write("complex", struct.pack("<dd", v.real, v.imag)),
    str: lambda fp, v: fp.write("str", v),
    bytes: lambda fp, v: fp.write("bytes", v),
    tuple: _tuple,
    list: lambda fp, v: fp.container("list", v, v),
    dict: _dict,
    set: lambda fp, v: fp.without_order("set", v),
    frozenset: lambda fp, v: fp.without_order("frozenset", v),
    slice: lambda fp, v: fp.items("slice", (v.start, v.stop, v.step)),
    range: lambda fp, v: fp.items("range", (v.start, v.stop, v.step)),
    np.ndarray: _array,
    np.ufunc: _ufunc,
    **dict.fromkeys(NAMED, _name),
    types.BuiltinFunctionType: _builtin,
    FunctionType: lambda fp, v: fp.function(v),
    types.MethodType: _method,
    staticmethod: lambda fp, v: fp.value(v.__func__),
    ModuleType: lambda fp, v: fp.write("module", v.__name__),
    CodeType: lambda fp, v: fp.code(v),
}
# Handlers that subclasses inherit; the first that fits is used.
_BASES: Final[dict[type, Handler]] = {
    enum.Enum: _member,
    np.generic: _scalar,
    np.dtype: lambda fp, v: fp.write("dtype", repr(v)),
    tuple: _tuple,
    type: tell_class,
}
