"""Record of all that a function has read of the program: globals, closures, code, attributes of
modules and classes, methods of generic functions.

By it, compiled code and inverses tell whether they are out of date.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any, Final

import numpy as np

from overlay.code.digest import NotHashable, is_copied
from overlay.code.fingerprint import (
    MENTIONED,
    MISSING,
    Fingerprint,
    asked_of_class,
    content_of,
    names_in,
)
from overlay.code.held_functions import changeable_in, contents_of, holds_functions
from overlay.core.own_builtins import __builtins__
from overlay.core.target import generic_state

__all__ = ["FunctionReads", "attribute_held", "is_same"]

# Types of constants that are compared by value.
PLAIN: Final = (bool, int, float, complex, str, bytes)
MOST_ITEMS: Final = 20_000
# In bytes: the contents of arrays up to this size are compared at each check for changes.
SMALL_ARRAY: Final = 512


class FunctionReads:
    """Record of one function's reads: every name, with the value that it had.

    values: all values read. spaces: the namespaces, globals first, then those of modules and
    classes, each with the names that were looked up. generic: generic functions, with their
    methods. arrays: the small ones, with their contents. containers: lists, dicts and instances of
    dataclasses that hold functions, with their contents.
    """

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.code = function.__code__
        self.defaults = function.__defaults__
        self.by_name = dict(function.__kwdefaults__ or {})
        self.values: list[Any] = []
        self.spaces: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        self.generic: list[tuple[Any, tuple[Any, ...]]] = []
        names = set(names_in(function.__code__))
        self._look_up(function.__globals__, names)
        self.cells = [(cell, content_of(cell)) for cell in function.__closure__ or ()]
        self.values += [content for _, content in self.cells]
        for value in self.values:  # grows as it goes
            if type(value) is ModuleType:
                self._look_up(vars(value), names & vars(value).keys())
            elif issubclass(type(value), type):
                for attributes, asked in asked_of_class(value, names):
                    self._look_up(dict_behind(attributes), asked)
            elif is_generic(value) and not any(value is each for each, _ in self.generic):
                self.generic.append((value, methods_behind(value)))
        small = {id(v): v for v in self.values if _is_small_array(v)}
        self.arrays = [(array, array.tobytes()) for array in small.values()]
        held = [v for v in (*self.values, *self._all_defaults()) if holds_functions(v)]
        changeable = {id(c): c for value in held for c in changeable_in(value)}
        self.containers = [(each, contents_of(each)) for each in changeable.values()]
        self._contents = {id(v): (v, _digest(v)) for v in self.values if _has_contents(v)}

    def _all_defaults(self) -> tuple[Any, ...]:
        return (*(self.defaults or ()), *self.by_name.values())

    def _look_up(self, namespace: dict[str, Any], names: set[str]) -> None:
        """Record the values of names in a namespace, each once."""
        _, found = self.spaces.setdefault(id(namespace), (namespace, {}))
        new = {name: namespace.get(name, MISSING) for name in names - found.keys()}
        found.update(new)
        self.values += new.values()

    def changed(self) -> bool:
        """Whether a name has been rebound, a small array's elements have changed, or the function
        has other code or defaults."""
        return next(self.changes(), None) is not None

    def changes(self) -> Iterator[str]:
        """A description of what has changed."""
        function, own_name = self.function, self.function.__qualname__
        if function.__code__ is not self.code:
            yield f"the code of {own_name} was replaced"
        if function.__defaults__ is not self.defaults or not _same_items(
            function.__kwdefaults__ or {}, self.by_name
        ):
            yield f"the defaults of {own_name} were replaced"
        for namespace, values in self.spaces.values():
            for name, value in values.items():
                if not is_same(namespace.get(name, MISSING), value):
                    yield f"{name} in {_name_of_space(namespace)} was rebound"
        for each, methods in self.generic:
            if not _same_items(dict(enumerate(methods_behind(each))), dict(enumerate(methods))):
                yield f"the methods of {each.__name__} changed"
        names = self.code.co_freevars
        for name, (cell, value) in zip(names, self.cells, strict=True):
            if not is_same(content_of(cell), value):
                yield f"{name} of {own_name} was rebound"
        for array, content in self.arrays:
            if array.tobytes() != content:
                yield f"the elements of an array that {own_name} reads changed"
        for container, content in self.containers:
            if not _same_items(contents_of(container), content):
                kind = type(container).__name__
                yield f"the functions in a {kind} that {own_name} reads changed"

    def altered(self, values: Iterable[Any] | None = None) -> bool:
        """Whether the contents of one of these values, or of any, have changed or may have."""
        wanted = self._contents if values is None else map(id, values)
        found = (self._contents[key] for key in wanted if key in self._contents)
        return any(digest is None or _digest(value) != digest for value, digest in found)

    def outdated(self) -> bool:
        """Whether the function would read anything different now."""
        return self.changed() or self.altered()


def _name_of_space(namespace: dict[str, Any]) -> str:
    module = namespace.get("__name__")
    return module if type(module) is str else f"a class of {namespace.get('__module__')}"


def _is_small_array(value: Any) -> bool:
    return type(value) is np.ndarray and value.nbytes <= SMALL_ARRAY and not value.dtype.hasobject


def _has_contents(value: Any) -> bool:
    return is_copied(value) or type(value) is dict


def is_generic(value: Any) -> bool:
    """Whether a value is a generic function, ours or plum's."""
    plum: Any = sys.modules.get("plum")
    return generic_state(value) is not None or (plum is not None and type(value) is plum.Function)


def methods_behind(function: Any) -> tuple[Any, ...]:
    """The base methods of a generic function, flat: signature, function, signature, function."""
    state = generic_state(function)
    held = (function if state is None else state.plum_function).methods
    return tuple(part for each in held for part in (each.signature, each.implementation))


def dict_behind(attributes: Any) -> dict[str, Any]:
    """The dict behind a class's ``mappingproxy``."""
    (found,) = gc.get_referents(attributes)
    return found


def _digest(value: Any) -> str | None:
    """The digest of a container's contents; None if there are too many items, "" if they have no
    stable content."""
    if type(value) is not np.ndarray and len(value) > MOST_ITEMS:
        return None
    found = Fingerprint(lambda _function, _number: MENTIONED)
    try:
        found.value(value)
    except NotHashable:
        return ""  # cached code cannot depend on such contents
    return found.digest()


def attribute_held(thing: Any, name: str) -> Any:
    """An attribute of an object, in a form to compare with later ones: of a bound method, which is
    a new object on each read, the function."""
    found = getattr(thing, name, MISSING)
    return found.__func__ if type(found) is MethodType else found


def is_same(one: Any, other: Any) -> bool:
    """Whether code that was made for one value is valid for another."""
    if one is other:
        return True
    kind = type(one)  # compared by identity: its metaclass may have an ``__eq__`` of its own
    plain = kind is type(other) and any(kind is each for each in PLAIN)
    return plain and (one == other and repr(one) == repr(other))


def _same_items(one: dict[Any, Any], other: dict[Any, Any]) -> bool:
    return one.keys() == other.keys() and all(is_same(one[name], other[name]) for name in one)
