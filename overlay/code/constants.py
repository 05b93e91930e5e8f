"""Values of a program's globals, attributes and closure variables that are never rebound."""

from __future__ import annotations

import dis
import functools
import sys
import warnings
import weakref
from collections.abc import Iterator, Mapping
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from overlay.code.decoding import decoded
from overlay.code.known_values import Known, attribute_of, global_value
from overlay.core.jitted import is_dispatcher
from overlay.core.target import attributes_of, is_below, mro_of

__all__ = [
    "Captured",
    "attribute",
    "captured_by",
    "codes_of_module",
    "global_constant",
    "nested",
    "stored_attributes",
    "stored_in",
]

_STORES = ("STORE_GLOBAL", "DELETE_GLOBAL")
_CELLS = ("STORE_DEREF", "DELETE_DEREF")
# by class: the attribute with the function that an object of it wraps
_WRAPPERS: dict[type, str] = {
    **dict.fromkeys((staticmethod, classmethod, MethodType), "__func__"),
    **dict.fromkeys((functools.partial, functools.partialmethod), "func"),
    **dict.fromkeys((functools.cached_property, functools.singledispatchmethod), "func"),
    type(functools.lru_cache(lambda: None)): "__wrapped__",
}
_QUALNAME: Any = vars(type)["__qualname__"]  # read without code of a metaclass
# modules whose rebound names are cached
_MOST = 200
# by the identity of a module's namespace: the namespace, its number of names, the rebound names
_rebound: dict[int, tuple[Any, int, frozenset[str]]] = {}

# by class: the names of the attributes that its methods set
_attributes: weakref.WeakKeyDictionary[type, set[str]] = weakref.WeakKeyDictionary()


class Captured:
    """Abstract value in a closure variable or default of a function that an analysis has made."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def global_constant(namespace: dict[str, Any], name: str) -> tuple[Any] | None:
    """The value of a global or builtin name, in a tuple of one; None if it is not bound, or if a
    function of its module rebinds it (``global name``)."""
    found = global_value(namespace, name)
    if not isinstance(found, Known) or name in _rebound_in(namespace):
        return None
    return (found.object,)


def attribute(owner: Any, name: str) -> tuple[Any] | None:
    """The value of a module's attribute, or a callable that is an attribute of a class, in a tuple
    of one; None if it is missing, may change or is computed."""
    if type(owner) is ModuleType:
        namespace = vars(owner)
        if name not in namespace or name in _rebound_in(namespace):
            return None
        found = attribute_of(Known(owner), name)
        return (found.object,) if isinstance(found, Known) else None
    if not issubclass(type(owner), type):
        return None
    found = attribute_of(Known(owner), name)
    return (found.object,) if isinstance(found, Known) and callable(found.object) else None


def captured_by(function: FunctionType) -> dict[str, Any]:
    """The values of a function's closure variables, without those that it rebinds itself."""
    cells = function.__closure__ or ()
    bound = stored_in(function.__code__, _CELLS)
    found: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        try:
            value = cell.cell_contents
        except ValueError:
            continue
        if name not in bound:
            found[name] = value
    return found


def stored_attributes(cls: type) -> set[str]:
    """The names of the attributes that the methods of a class set on any object. The class's
    metaclass is ``type``."""
    found = _attributes.get(cls)
    if found is None:
        codes = (code for base in mro_of(cls) for code in _codes_of(base))
        found = {n for code in codes for n in stored_in(code, ("STORE_ATTR", "DELETE_ATTR"))}
        _attributes[cls] = found
    return found


def stored_in(code: CodeType, instructions: tuple[str, ...] = _CELLS) -> set[str]:
    """The names that code, and code nested in it, binds with these instructions."""
    ops = {dis.opmap[name] for name in instructions}
    # most code has none of these, and a test of the opcodes is faster than decoding
    codes = (each for each in (code, *nested(code)) if not ops.isdisjoint(each.co_code[::2]))
    return {ins.value for each in codes for ins in decoded(each) if ins.op in ops}


def nested(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of the functions defined in this code, at any depth."""
    for constant in code.co_consts:
        if type(constant) is CodeType:
            yield constant
            yield from nested(constant)


def _rebound_in(namespace: dict[str, Any]) -> frozenset[str]:
    known = _rebound.get(id(namespace))
    if known is not None and known[0] is namespace and known[1] == len(namespace):
        return known[2]
    names = {name for code in codes_of_module(namespace) for name in stored_in(code, _STORES)}
    if len(_rebound) >= _MOST:
        _rebound.clear()
    found = frozenset(names)
    _rebound[id(namespace)] = namespace, len(namespace), found
    return found


def codes_of_module(namespace: Mapping[str, Any]) -> Iterator[CodeType]:
    """Yield a module's code: all of it, or if no loader has it, that of its attributes."""
    loader: Any = namespace.get("__loader__")
    name = namespace.get("__name__")
    if hasattr(type(loader), "get_code") and sys.modules.get(str(name)) is not None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)  # the import has shown them
                code = loader.get_code(name)
        except (ImportError, OSError, SyntaxError):
            code = None
        if code is not None:
            yield from nested(code)
            return
    for value in list(namespace.values()):
        yield from _codes_of(value)


def _codes_of(value: Any) -> Iterator[CodeType]:
    """Yield the code of a function, or of all functions that a class or a wrapper holds."""
    todo, seen = [value], set[int]()
    while todo:
        each = todo.pop()
        kind: Any = type(each)
        if id(each) in seen:
            continue
        seen.add(id(each))
        if kind is FunctionType:
            yield each.__code__
            yield from nested(each.__code__)
            if "__wrapped__" in each.__dict__:
                todo.append(each.__dict__["__wrapped__"])
        elif is_below(kind, type):
            todo += [item for item in attributes_of(each).copy().values() if _is_part(item, each)]
        elif is_below(kind, property):
            todo += [getattr(property, name).__get__(each) for name in ("fget", "fset", "fdel")]
        elif kind in _WRAPPERS:
            todo.append(object.__getattribute__(each, _WRAPPERS[kind]))
        elif is_dispatcher(each):
            todo.append(each.py_func)


def _is_part(item: Any, cls: type) -> bool:
    """Return whether an attribute of a class is part of it: not a class that it only mentions."""
    if not is_below(type(item), type):
        return True
    if attributes_of(item).get("__module__") != attributes_of(cls).get("__module__"):
        return False
    name, outer = (_QUALNAME.__get__(each) for each in (item, cls))
    return name.startswith(f"{outer}.")
