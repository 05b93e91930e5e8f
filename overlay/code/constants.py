"""What a program's globals and closure variables hold, as far as that does not change."""

from __future__ import annotations

import dis
import sys
import weakref
from collections.abc import Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any

from overlay.code.decoding import decoded
from overlay.code.known_values import Known, attribute_of, global_value
from overlay.core.target import attributes_of, mro_of

__all__ = [
    "Captured",
    "attribute",
    "captured_by",
    "global_constant",
    "nested",
    "stored_attributes",
    "stored_in",
]

_STORES = ("STORE_GLOBAL", "DELETE_GLOBAL")
_CELLS = ("STORE_DEREF", "DELETE_DEREF")
# how many modules' names are kept
_MOST = 200
# by the identity of a module's namespace: that, how many names it had, and those that are rebound
_rebound: dict[int, tuple[Any, int, frozenset[str]]] = {}

# by class: the names of the attributes that its methods set
_attributes: weakref.WeakKeyDictionary[type, set[str]] = weakref.WeakKeyDictionary()


class Captured:
    """Stands in a closure variable or a default of a function that an analysis has made: the
    abstract value that it holds."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def global_constant(namespace: dict[str, Any], name: str) -> tuple[Any] | None:
    """What a global or builtin name holds, alone in a tuple; None where there is nothing, or
    where a function of its module binds it anew (``global name``)."""
    found = global_value(namespace, name)
    if not isinstance(found, Known) or name in _rebound_in(namespace):
        return None
    return (found.object,)


def attribute(owner: Any, name: str) -> tuple[Any] | None:
    """What an attribute of a module holds, or a function or class that is an attribute of a
    class; None for what is not there, may change or is computed."""
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
    """The values of a function's closure variables, those left out that it binds anew itself."""
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
    """The names of the attributes that the methods of a class set, of whatever object. The
    class's own class is ``type``."""
    found = _attributes.get(cls)
    if found is None:
        functions = (f for base in mro_of(cls) for f in list(attributes_of(base).values()))
        codes = (code for function in functions for code in _codes_of(function))
        found = {n for code in codes for n in stored_in(code, ("STORE_ATTR", "DELETE_ATTR"))}
        _attributes[cls] = found
    return found


def stored_in(code: CodeType, instructions: tuple[str, ...] = _CELLS) -> set[str]:
    """The names that code and what is nested in it binds by these instructions."""
    ops = {dis.opmap[name] for name in instructions}
    # most code has none of these, which is told sooner than what its instructions are
    codes = (each for each in (code, *nested(code)) if not ops.isdisjoint(each.co_code[::2]))
    return {ins.value for each in codes for ins in decoded(each) if ins.op in ops}


def nested(code: CodeType) -> Iterator[CodeType]:
    """The code of the functions that are defined in this, at any depth."""
    for constant in code.co_consts:
        if type(constant) is CodeType:
            yield constant
            yield from nested(constant)


def _rebound_in(namespace: dict[str, Any]) -> frozenset[str]:
    known = _rebound.get(id(namespace))
    if known is not None and known[0] is namespace and known[1] == len(namespace):
        return known[2]
    names = {name for code in _codes(namespace) for name in stored_in(code, _STORES)}
    if len(_rebound) >= _MOST:
        _rebound.clear()
    found = frozenset(names)
    _rebound[id(namespace)] = namespace, len(namespace), found
    return found


def _codes(namespace: Mapping[str, Any]) -> Iterator[CodeType]:
    """The code of a module: all of it, or, where nothing can load it, of what it holds."""
    loader: Any = namespace.get("__loader__")
    name = namespace.get("__name__")
    if hasattr(type(loader), "get_code") and sys.modules.get(str(name)) is not None:
        try:
            code = loader.get_code(name)
        except (ImportError, OSError, SyntaxError):
            code = None
        if code is not None:
            yield from nested(code)
            return
    for value in list(namespace.values()):
        yield from _codes_of(value)


def _codes_of(value: Any) -> Iterator[CodeType]:
    if type(value) is FunctionType:
        yield value.__code__
        if "__wrapped__" in value.__dict__:
            yield from _codes_of(value.__dict__["__wrapped__"])
    elif type(value) in (staticmethod, classmethod):
        yield from _codes_of(value.__func__)
    elif type(value) is type:
        for each in list(attributes_of(value).values()):
            if type(each) is not type:
                yield from _codes_of(each)
