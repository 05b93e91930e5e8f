"""Attributes: properties and other descriptors, ``__getattribute__``, ``__getattr__``,
``__setattr__`` and ``__delattr__`` that are Python functions."""

from __future__ import annotations

import array
import collections
import datetime
import decimal
import functools
import io
from collections.abc import Callable
from types import (
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    ModuleType,
    SimpleNamespace,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any

from overlay.python.implicit.protocols import (
    MISSING,
    ORDINARY,
    PLAIN,
    bases_of,
    in_python,
    invoke,
    lookup,
)
from overlay.target import attributes_of

if TYPE_CHECKING:
    from overlay.python.callees import Callees

__all__ = ["Attributes"]

_CLASS_READS: Any = type.__dict__["__getattribute__"]
_SUPER_READS: Any = super.__dict__["__getattribute__"]
_MODULE_READS: Any = vars(ModuleType)["__getattribute__"]
# Classes in C that read and write attributes as ``object`` does, by slots of their own.
_AS_OBJECT = (
    *(BaseException, bytearray, bytes, complex, dict, enumerate, filter, float, frozenset, int),
    *(list, map, memoryview, object, property, range, reversed, set, slice, str, tuple, zip),
    *(array.array, collections.deque, collections.defaultdict, datetime.date, datetime.datetime),
    *(datetime.time, datetime.timedelta, datetime.tzinfo, decimal.Context, decimal.Decimal),
    *(functools.partial, io.FileIO, SimpleNamespace),
)
_READS = frozenset(id(vars(T).get("__getattribute__")) for T in _AS_OBJECT) - {id(None)}
_WRITES = frozenset(id(vars(T).get("__setattr__")) for T in _AS_OBJECT) - {id(None)}
_DELETES = frozenset(id(vars(T).get("__delattr__")) for T in (*_AS_OBJECT, type)) - {id(None)}
_CLASS_WRITES: Any = type.__dict__["__setattr__"]
_PROPERTY_READS: Any = property.__dict__["__get__"]
_PROPERTY_WRITES: Any = property.__dict__["__set__"]
_PROPERTY_DELETES: Any = property.__dict__["__delete__"]
# Kinds of class attributes, by id, that are read without a function of the program.
_QUIET = frozenset(
    map(
        id,
        (
            *(FunctionType, staticmethod, classmethod, MethodDescriptorType),
            *(WrapperDescriptorType, GetSetDescriptorType, MemberDescriptorType),
        ),
    )
)
_fget: Any = property.__dict__["fget"].__get__
_fset: Any = property.__dict__["fset"].__get__
_fdel: Any = property.__dict__["fdel"].__get__
_name_of: Any = AttributeError.__dict__["name"].__get__
_object_of: Any = AttributeError.__dict__["obj"].__get__
_class_of_super: Any = super.__dict__["__thisclass__"].__get__
_object_of_super: Any = super.__dict__["__self__"].__get__
_start_of_super: Any = super.__dict__["__self_class__"].__get__


class Attributes:
    """Reads, writes and deletes attributes.

    A resolver for a name gives the function to call in place of the native instruction, or None
    where that calls no function of the program.
    """

    def __init__(self, callees: Callees) -> None:
        self.callees = callees
        self._made: dict[tuple[str, str], Callable[..., Any]] = {}

    def _function(self, what: str, name: str, make: Callable[[str], Any]) -> Any:
        found = self._made.get((what, name))
        if found is None:
            found = self._made[what, name] = make(name)
        return found

    def resolver(self, name: str) -> Callable[[Any], Any]:
        """Of ``x``: what to call on it for ``x.name``, or None."""
        return self._function("load", name, self._make_resolver)

    def resolver_method(self, name: str) -> Callable[[Any], Any]:
        """The same for ``x.name(...)``: errors of descriptors are not told what was read."""
        return self._function("method", name, functools.partial(self._make_resolver, method=True))

    def resolver_super(self, name: str) -> Callable[[Any, Any, Any], Any]:
        """The same for ``super(cls, x).name``, of ``super``, the class and the object; None
        where another stands under the name ``super``."""

        def make(name: str) -> Any:
            def read(made_by: Any, cls: Any, owner: Any) -> Any:
                return self.read(made_by(cls, owner), name)

            def of(made_by: Any, cls: Any, owner: Any) -> Any:
                return read if made_by is super else None

            return of

        return self._function("super", name, make)

    def resolver_store(self, name: str) -> Callable[[Any, Any], Any]:
        """The same for ``x.name = value``, of both."""
        return self._function("store", name, self._make_store)

    def resolver_delete(self, name: str) -> Callable[[Any], Any]:
        """The same for ``del x.name``."""
        return self._function("delete", name, self._make_delete)

    def _make_resolver(self, name: str, *, method: bool = False) -> Callable[[Any], Any]:
        resolve, plain, quiet, root, missing = self._resolve, PLAIN, _QUIET, object, MISSING
        of_root: Any = root.__dict__.get(name, missing)

        def of(x: Any) -> Any:
            kind = type(x)
            if id(kind) in plain:
                return None
            if type(kind) is not type and id(type(kind)) not in ORDINARY:
                return resolve(x, kind, name, load, by_descriptor)
            attribute = missing
            for base in kind.__mro__:  # one pass: this is what costs most in all
                if base is root:
                    attribute = of_root if attribute is missing else attribute
                    break
                names = base.__dict__
                if "__getattribute__" in names or "__getattr__" in names:
                    return resolve(x, kind, name, load, by_descriptor)
                if attribute is missing and name in names:
                    attribute = names[name]
            if attribute is missing or id(type(attribute)) in quiet:
                return None
            return resolve(x, kind, name, load, by_descriptor)

        def load(x: Any) -> Any:
            return self._read(x, type(x), name)

        def bare(x: Any) -> Any:
            return self._asked(x, type(x), name)

        by_descriptor = bare if method else None
        return of

    def _resolve(
        self, x: Any, kind: Any, name: str, load: Callable[[Any], Any], by_descriptor: Any
    ) -> Any:
        """load: reads by the whole protocol. by_descriptor: what does so where a descriptor
        gives the method to call, or None."""
        if kind is ModuleType:
            return None if name in x.__dict__ else load
        attribute = lookup(kind, name)
        quiet = id(type(attribute)) in _QUIET
        reads = lookup(kind, "__getattribute__")
        if id(reads) in _READS:
            if quiet:
                return None
            get = MISSING if attribute is MISSING else lookup(type(attribute), "__get__")
            if lookup(kind, "__getattr__") is not MISSING:
                return load
            if get is _PROPERTY_READS:
                getter = _fget(attribute)
                if getter is None:
                    return None
                return self._getter(name) if by_descriptor is None else self.callees[getter]
            return (by_descriptor or load) if in_python(get) else None
        if reads is _CLASS_READS:
            return load if self._class_takes_part(x, kind, name) else None
        if kind is super:
            return load if self._super_takes_part(x, name) else None
        hooked = in_python(reads) or lookup(kind, "__getattr__") is not MISSING
        return load if hooked else None

    def _getter(self, name: str) -> Callable[[Any], Any]:
        """Reads a property that has a getter."""
        return self._function("property", name, self._make_getter)

    def _make_getter(self, name: str) -> Callable[[Any], Any]:
        def get(x: Any) -> Any:
            try:
                return self.callees[_fget(lookup(type(x), name))](x)
            except AttributeError as error:
                _say_where(error, x, name)
                raise

        return get

    def _class_takes_part(self, cls: Any, meta: Any, name: str) -> bool:
        if lookup(cls, name) is MISSING and lookup(meta, "__getattr__") is not MISSING:
            return True
        found = (lookup(meta, name), lookup(cls, name))
        kinds = [type(attribute) for attribute in found if attribute is not MISSING]
        getters = [lookup(kind, "__get__") for kind in kinds if id(kind) not in _QUIET]
        return any(get is _PROPERTY_READS or in_python(get) for get in getters)

    def _make_store(self, name: str) -> Callable[[Any, Any], Any]:
        root, missing = object, MISSING

        def of(x: Any, value: Any) -> Any:
            kind = type(x)
            attribute = missing
            if type(kind) is not type and id(type(kind)) not in ORDINARY:
                return resolve(kind, lookup(kind, name))
            for base in kind.__mro__:
                if base is root:
                    break
                names = base.__dict__
                if "__setattr__" in names:
                    return resolve(kind, lookup(kind, name))
                if attribute is missing and name in names:
                    attribute = names[name]
            if attribute is missing or id(type(attribute)) in _QUIET:
                return None
            return resolve(kind, attribute)

        def resolve(kind: Any, attribute: Any) -> Any:
            writes = lookup(kind, "__setattr__")
            if in_python(writes):
                return write
            change = MISSING if attribute is MISSING else lookup(type(attribute), "__set__")
            if change is _PROPERTY_WRITES and id(writes) in _WRITES:
                setter = _fset(attribute)
                return None if setter is None else self.callees[setter]
            return write if change is not MISSING else None

        def write(x: Any, value: Any) -> None:
            self.write(x, name, value)

        return of

    def _make_delete(self, name: str) -> Callable[[Any], Any]:
        def of(x: Any) -> Any:
            kind = type(x)
            attribute = MISSING if id(kind) in PLAIN else lookup(kind, name)
            if in_python(lookup(kind, "__delattr__")):
                return remove
            change = MISSING if attribute is MISSING else lookup(type(attribute), "__delete__")
            return None if change is MISSING else remove

        def remove(x: Any) -> None:
            self.remove(x, name)

        return of

    # ---- reading ----

    def read(self, x: Any, name: Any) -> Any:
        """``getattr(x, name)``."""
        kind = type(x)
        if id(kind) in PLAIN or type(name) is not str:
            return getattr(x, name)
        return self._read(x, kind, name)

    def _read(self, x: Any, kind: Any, name: str) -> Any:
        try:
            return self._asked(x, kind, name)
        except AttributeError as error:
            _say_where(error, x, name)
            raise

    def _asked(self, x: Any, kind: Any, name: str) -> Any:
        reads = lookup(kind, "__getattribute__")
        hook = lookup(kind, "__getattr__")
        if hook is MISSING:
            if in_python(reads):
                return invoke(self.callees, reads, x, name)
            return self._found(x, kind, name, reads, getattr)
        try:
            if in_python(reads):
                return invoke(self.callees, reads, x, name)
            return self._found(x, kind, name, reads, reads)
        except AttributeError:
            pass
        return invoke(self.callees, hook, x, name)

    def by(self, reads: Any, x: Any, name: Any) -> Any:
        """Read by a slot of a C type, with no hook after it."""
        if type(name) is not str:
            return reads(x, name)
        return self._found(x, type(x), name, reads, reads)

    def _found(
        self, x: Any, kind: Any, name: str, reads: Any, native: Callable[[Any, str], Any]
    ) -> Any:
        """Reading by a C function. native: does that where no function takes part."""
        if id(reads) in _READS:
            return self._of_instance(x, kind, name, native)
        if reads is _CLASS_READS:
            return self._of_class(x, kind, name, native)
        if reads is _SUPER_READS:
            return self._of_super(x, name, native)
        if reads is _MODULE_READS:
            return self._of_module(x, kind, name, native)
        return native(x, name)

    def _of_instance(self, x: Any, kind: Any, name: str, native: Any) -> Any:
        attribute = lookup(kind, name)
        if attribute is MISSING:
            return native(x, name)
        descriptor = type(attribute)
        if id(descriptor) in _QUIET:
            return native(x, name)
        get = lookup(descriptor, "__get__")
        if get is MISSING:
            return native(x, name)
        if get is _PROPERTY_READS:
            return self.of_property(attribute, x, lambda: native(x, name))
        if not in_python(get) or (not _is_data(descriptor) and _in_own(x, kind, name)):
            return native(x, name)
        return invoke(self.callees, get, attribute, x, kind)

    def of_property(self, attribute: property, x: Any, native: Callable[[], Any]) -> Any:
        """Read a property of ``x``."""
        getter = _fget(attribute)
        return native() if getter is None else self.callees[getter](x)

    def _of_class(self, cls: Any, meta: Any, name: str, native: Any) -> Any:
        outer = lookup(meta, name)
        get = MISSING if outer is MISSING else lookup(type(outer), "__get__")
        if get is not MISSING and _is_data(type(outer)):
            return self._of_instance(cls, meta, name, native)
        attribute = lookup(cls, name)
        if attribute is not MISSING:
            inner = lookup(type(attribute), "__get__")
            if in_python(inner):
                return invoke(self.callees, inner, attribute, None, cls)
            return native(cls, name)
        if in_python(get):
            return invoke(self.callees, get, outer, cls, meta)
        return native(cls, name)

    def _super_takes_part(self, x: Any, name: str) -> bool:
        found = _super_attribute(x, name)
        if found is MISSING or id(type(found)) in _QUIET:
            return False
        get = lookup(type(found), "__get__")
        return get is _PROPERTY_READS or in_python(get)

    def _of_super(self, x: Any, name: str, native: Any) -> Any:
        attribute = _super_attribute(x, name)
        if attribute is MISSING:
            return native(x, name)
        owner, start = _object_of_super(x), _start_of_super(x)
        get = lookup(type(attribute), "__get__")
        if get is _PROPERTY_READS and owner is not start:
            return self.of_property(attribute, owner, lambda: native(x, name))
        if in_python(get):
            return invoke(self.callees, get, attribute, None if owner is start else owner, start)
        return native(x, name)

    def _of_module(self, x: Any, kind: Any, name: str, native: Any) -> Any:
        own: dict[str, Any] = vars(ModuleType)["__dict__"].__get__(x) or {}
        hook = dict.get(own, "__getattr__")
        if hook is None or name in own or lookup(kind, name) is not MISSING:
            return self._of_instance(x, kind, name, native)
        return self.callees[hook](name)

    # ---- writing ----

    def write(self, x: Any, name: Any, value: Any) -> None:
        """``setattr(x, name, value)``."""
        kind = type(x)
        writes = lookup(kind, "__setattr__")
        if in_python(writes):
            invoke(self.callees, writes, x, name, value)
        else:
            self.written(x, name, value, setattr, writes)

    def written(self, x: Any, name: Any, value: Any, native: Any, writes: Any) -> None:
        """Write the way of ``writes``, a C function. native: does that where no function of
        the program takes part."""
        attribute = self._written_through(x, name, writes)
        change = MISSING if attribute is MISSING else lookup(type(attribute), "__set__")
        setter = None
        if change is _PROPERTY_WRITES:
            setter = _fset(attribute)
        if setter is not None:
            self.callees[setter](x, value)
        elif in_python(change):
            invoke(self.callees, change, attribute, x, value)
        else:
            native(x, name, value)

    def remove(self, x: Any, name: Any) -> None:
        """``delattr(x, name)``."""
        deletes = lookup(type(x), "__delattr__")
        if in_python(deletes):
            invoke(self.callees, deletes, x, name)
        else:
            self.removed(x, name, delattr, deletes)

    def removed(self, x: Any, name: Any, native: Any, deletes: Any) -> None:
        """Delete the way of ``deletes``, a C function."""
        attribute = self._written_through(x, name, deletes)
        change = MISSING if attribute is MISSING else lookup(type(attribute), "__delete__")
        remover = None
        if change is _PROPERTY_DELETES:
            remover = _fdel(attribute)
        if remover is not None:
            self.callees[remover](x)
        elif in_python(change):
            invoke(self.callees, change, attribute, x)
        else:
            native(x, name)

    def _written_through(self, x: Any, name: Any, writes: Any) -> Any:
        """The class attribute that may take part, or MISSING."""
        if type(name) is not str or id(writes) not in _WRITES | _DELETES | {id(_CLASS_WRITES)}:
            return MISSING
        return lookup(type(x), name)


def _say_where(error: AttributeError, x: Any, name: str) -> None:
    """What the interpreter adds to an error that does not say what was read."""
    if _name_of(error) is None and _object_of(error) is None:
        error.name, error.obj = name, x


def _is_data(descriptor: type) -> bool:
    changes = (lookup(descriptor, name) for name in ("__set__", "__delete__"))
    return any(change is not MISSING for change in changes)


def _in_own(x: Any, kind: type, name: str) -> bool:
    """Whether an object's own dictionary has the name."""
    holder = lookup(kind, "__dict__")
    if type(holder) is not GetSetDescriptorType:
        return False
    return dict.__contains__(holder.__get__(x), name)


def _super_attribute(x: Any, name: str) -> Any:
    """What ``super(...)`` finds under a name, as the class holds it, or MISSING."""
    start = _start_of_super(x)
    if name == "__class__" or start is None:
        return MISSING
    mro = bases_of(start)
    after = [i for i, base in enumerate(mro) if base is _class_of_super(x)]
    for base in mro[after[0] + 1 :] if after else ():
        held = attributes_of(base)
        if name in held:
            return held[name]
    return MISSING
