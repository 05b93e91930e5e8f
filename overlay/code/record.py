"""Record of all that a function has read of the program: globals, closures, code, attributes of
modules and classes, methods of generic functions.

By it, compiled code and inverses tell whether they are out of date.
"""

from __future__ import annotations

import gc
import reprlib
import sys
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final, NamedTuple

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
from overlay.code.held_functions import (
    arrays_in,
    changeable_in,
    contents_of,
    fields_of,
    holds_functions,
)
from overlay.core.location import shown
from overlay.core.own_builtins import __builtins__
from overlay.core.short_repr import a_or_an, counted
from overlay.core.target import attributes_of, generic_state, mro_of

__all__ = ["Change", "FunctionReads", "attribute_held", "is_same", "same_items", "told_code"]

# Types of constants that are compared by value.
PLAIN: Final = (bool, int, float, complex, str, bytes)
MOST_ITEMS: Final = 20_000
# In bytes: the contents of arrays up to this size are compared at each check for changes.
SMALL_ARRAY: Final = 512
# The most items of a tuple or an array that a change shows.
MOST_SHOWN: Final = 8


class Change(NamedTuple):
    """A change of something that a function has read.

    text: says what has changed. kind: ``"global"``, ``"attribute"`` of a module or class,
    ``"closure"``, ``"code"``, ``"defaults"``, ``"methods"`` of a generic function or of a table,
    ``"elements"`` of an array, ``"contents"`` of a container, or ``"request"``. before, after: the
    values in words; "" where they are not known.
    """

    text: str
    kind: str
    before: str = ""
    after: str = ""

    def __str__(self) -> str:
        return self.text


class FunctionReads:
    """Record of one function's reads: every name, with the value that it had.

    values: all values read. spaces: the namespaces, globals first, then those of modules and
    classes, each with the names that were looked up. generic: generic functions, with their
    methods. arrays: the small ones, with their contents. containers: lists, dicts and instances of
    dataclasses that hold functions, with their contents. What code may fail for that mentions it is
    kept apart: names that classes do not have, and instances that hold no functions.
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
        self._absent: list[tuple[type, set[str]]] = []  # names that classes do not have
        self._look_up(function.__globals__, names)
        self.cells = [(cell, content_of(cell)) for cell in function.__closure__ or ()]
        self.values += [content for _, content in self.cells]
        for value in self.values:  # grows as it goes
            if type(value) is ModuleType:
                self._look_up(vars(value), names & vars(value).keys())
            elif issubclass(type(value), type):
                self._absent.append((value, {name for name in names if not _has(value, name)}))
                for attributes, asked in asked_of_class(value, names):
                    self._look_up(dict_behind(attributes), asked)
            elif is_generic(value) and not any(value is each for each, _ in self.generic):
                self.generic.append((value, methods_behind(value)))
        read = (*self.values, *self._all_defaults())
        small = {id(a): a for value in read for a in arrays_in(value) if _is_small_array(a)}
        self.arrays = [(array, array.tobytes()) for array in small.values()]
        held = [v for v in read if holds_functions(v)]
        changeable = {id(c): c for value in held for c in changeable_in(value)}
        self.containers = [(each, contents_of(each)) for each in changeable.values()]
        others = [v for v in read if fields_of(v) is not None and not holds_functions(v)]
        changeable = {id(c): c for value in others for c in changeable_in(value)}
        self._others = [(each, contents_of(each)) for each in changeable.values()]
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

    def changes(self) -> Iterator[Change]:
        """The changes of what it has read."""
        function, own_name = self.function, self.function.__qualname__
        if function.__code__ is not self.code:
            places = (told_code(self.code), told_code(function.__code__))
            yield Change(f"the code of {own_name} was replaced", "code", *places)
        by_name = function.__kwdefaults__ or {}
        if function.__defaults__ is not self.defaults or not same_items(by_name, self.by_name):
            before = (*(self.defaults or ()), *self.by_name.values())
            after = (*(function.__defaults__ or ()), *by_name.values())
            text = f"the defaults of {own_name} were replaced"
            yield Change(text, "defaults", told(before), told(after))
        for namespace, values in self.spaces.values():
            kind = "global" if namespace is function.__globals__ else "attribute"
            for name, value in values.items():
                now = namespace.get(name, MISSING)
                if not is_same(now, value):
                    text = f"{name} in {_name_of_space(namespace)} was rebound"
                    yield Change(text, kind, told(value), told(now))
        for each, methods in self.generic:
            now = methods_behind(each)
            if not same_items(dict(enumerate(now)), dict(enumerate(methods))):
                both = [f"{counted(len(held) // 2, 'method')}" for held in (methods, now)]
                yield Change(f"the methods of {each.__name__} changed", "methods", *both)
        names = self.code.co_freevars
        for name, (cell, value) in zip(names, self.cells, strict=True):
            now = content_of(cell)
            if not is_same(now, value):
                text = f"{name} of {own_name} was rebound"
                yield Change(text, "closure", told(value), told(now))
        for array, content in self.arrays:
            if array.tobytes() != content:
                text = f"the elements of an array that {own_name} reads changed"
                yield Change(text, "elements", _told_content(content, array), told(array))
        for container, content in self.containers:
            now = contents_of(container)
            if not same_items(now, content):
                text = (
                    f"the contents of {a_or_an(type(container).__name__)} that {own_name} "
                    "reads changed"
                )
                yield Change(text, "contents", told_items(content), told_items(now))

    def altered(self, values: Iterable[Any] | None = None) -> bool:
        """Whether the contents of one of these values, or of any, have changed or may have."""
        wanted = self._contents if values is None else map(id, values)
        found = (self._contents[key] for key in wanted if key in self._contents)
        return any(digest is None or _digest(value) != digest for value, digest in found)

    def alterations(self) -> Iterator[Change]:
        """The changes of the contents of containers, and of larger arrays, that it has read."""
        name, small = self.function.__qualname__, {id(array) for array, _ in self.arrays}
        for key, (value, _) in self._contents.items():
            if key not in small and self.altered([value]):
                text = f"the contents of {a_or_an(type(value).__name__)} that {name} reads changed"
                yield Change(text, "contents")

    def outdated(self) -> bool:
        """Whether the function would read anything different now."""
        return self.changed() or self.altered() or self._became_valid()

    def _became_valid(self) -> bool:
        """Return whether a use that a compilation refused may be valid now: of an attribute that a
        class had not, or of an instance of a dataclass that held no functions."""
        return any(_has(kind, name) for kind, names in self._absent for name in names) or any(
            not same_items(contents_of(each), before) for each, before in self._others
        )


def told(value: Any) -> str:
    """A description of a value, without running code of the program."""
    if value is MISSING:
        return "nothing"
    kind = type(value)
    if kind is FunctionType:
        return f"{value.__qualname__} at {told_code(value.__code__)}"
    if kind is ModuleType:
        return f"module {value.__name__}"
    if kind is tuple and len(value) <= MOST_SHOWN:
        return f"({', '.join(map(told, value))})"
    if kind is np.ndarray:
        return told_array(value)
    if value is None or any(kind is each for each in PLAIN):
        return reprlib.repr(value)
    return a_or_an(kind.__name__)


def told_code(code: CodeType) -> str:
    """The place of code."""
    return shown(code.co_filename, code.co_firstlineno)


def told_items(items: dict[Any, Any]) -> str:
    """The items of a container, each with its place there."""
    if len(items) > MOST_SHOWN:
        return f"{counted(len(items), 'item')}"
    return ", ".join(f"{told(place)}: {told(value)}" for place, value in items.items())


def told_array(array: np.ndarray[Any, Any]) -> str:
    """The elements of a small array of numbers; of another its type and shape."""
    if array.dtype.hasobject or array.size > MOST_SHOWN:
        return f"array of {array.dtype} with shape {array.shape}"
    return str(array.tolist())


def _told_content(content: bytes, array: np.ndarray[Any, Any]) -> str:
    """A description of the former content of an array."""
    if not content or len(content) != array.nbytes:  # it was resized
        return ""
    return told_array(np.frombuffer(content, array.dtype).reshape(array.shape))


def _name_of_space(namespace: dict[str, Any]) -> str:
    module = namespace.get("__name__")
    return module if type(module) is str else f"a class of {namespace.get('__module__')}"


def _is_small_array(value: Any) -> bool:
    return type(value) is np.ndarray and value.nbytes <= SMALL_ARRAY and not value.dtype.hasobject


def _has_contents(value: Any) -> bool:
    return is_copied(value) or type(value) is dict


def _has(kind: type, name: str) -> bool:
    return any(name in attributes_of(base) for base in mro_of(kind) or ())


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
        return found.digest()
    except NotHashable:
        return ""  # cached code cannot depend on such contents


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


def same_items(one: dict[Any, Any], other: dict[Any, Any]) -> bool:
    """Whether two dicts have the same keys and values, in the same order."""
    pairs = zip(one.items(), other.items(), strict=True)
    return len(one) == len(other) and all(
        is_same(name, key) and is_same(value, found) for (name, value), (key, found) in pairs
    )
