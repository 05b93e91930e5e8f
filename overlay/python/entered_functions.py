"""Functions that the interpreter enters through specialised instructions, without a call:
``__init__`` from 3.13 on; on 3.14 the getters of properties, too.

Existing classes are examined when a function becomes a target. The C part notices targets that are
assigned to a class later, and classes that are derived from others; ``object.__init_subclass__``
reports new classes with builtin bases."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator
from types import FunctionType
from typing import Any

from overlay import _native
from overlay.code.versions import ENTERS_GETTERS, ENTERS_INIT
from overlay.core.own_builtins import __builtins__
from overlay.core.table import LOCK
from overlay.core.target import attributes_of, mro_of

__all__ = ["called_functions", "subclasses"]


def subclasses(of: type) -> Iterator[type]:
    """A class and all its subclasses, by identity, since a metaclass may define how they are
    compared."""
    left: list[Any] = [of]
    seen = {id(of)}
    while left:
        cls = left.pop()
        yield cls
        for each in type.__subclasses__(cls):
            if id(each) not in seen:
                seen.add(id(each))
                left.append(each)


class _CalledFunctions:
    """The functions that the interpreter has to call explicitly, each with the classes that
    define it; and the classes whose ``__init__`` it has to call.
    """

    def __init__(self) -> None:
        self._held: dict[int, tuple[Any, list[type]]] = {}
        self._getters: dict[int, list[type]] = {}  # the classes with a property of it

    def add(self, targets: Iterable[Any]) -> None:
        """Make the interpreter call these functions, and ``__init__`` of these classes. For
        functions all classes are scanned once."""
        if not ENTERS_INIT:
            return
        with LOCK:
            self._note_met()
            functions: dict[int, Any] = {}
            for target in targets:
                if id(target) in self._held:
                    continue
                if type(target) is FunctionType:
                    self._held[id(target)] = target, []
                    functions[id(target)] = target
                elif issubclass(type(target), type):
                    self._held[id(target)] = target, [target]
                    _call_init(target, called=True)
            if functions:
                self._look(functions)

    def _look(self, functions: Container[int]) -> None:
        for cls in subclasses(object):
            self._look_at(cls, functions)

    def look_at_new(self, cls: type, *_: Any) -> None:
        """Handle a new class, which may define some of these functions."""
        with LOCK:
            self._look_at(cls, self._held)

    def _note_met(self) -> None:
        """Record the classes to which such functions were assigned since, or whose subclasses
        define them."""
        intercept: Any = _native.intercept
        for target, cls, is_init in intercept.take_met():
            if id(target) not in self._held:
                continue
            if is_init:
                self._held[id(target)][1].append(cls)
            else:
                self._getters.setdefault(id(target), []).append(cls)

    def _look_at(self, cls: type, functions: Container[int]) -> None:
        intercept: Any = _native.intercept
        intercept.watch_class(cls)
        attributes = attributes_of(cls)
        init: Any = attributes.get("__init__")
        if id(init) in functions:
            self._held[id(init)][1].append(cls)
            _call_init(cls, called=True)
        if ENTERS_GETTERS:
            held: Any = attributes.values()
            for getter in [v.fget for v in held if type(v) is property and id(v.fget) in functions]:
                self._getters.setdefault(id(getter), []).append(cls)
                intercept.without_version(cls, True)

    def remove(self, target: Any) -> None:
        """Stop forcing calls of a function or class that is no longer a target."""
        if not ENTERS_INIT:
            return
        intercept: Any = _native.intercept
        with LOCK:
            self._note_met()
            _, classes = self._held.pop(id(target), (None, ()))
            getters = self._getters.pop(id(target), ())
            others = {id(cls) for held in self._getters.values() for cls in held}
            for cls in getters:
                if id(cls) not in others:
                    intercept.without_version(cls, False)
            if not classes:
                return
            definers = {id(cls) for _, held in self._held.values() for cls in held}
            for cls in classes:
                _call_init(cls, called=False, but=definers)


def _call_init(cls: type, *, called: bool, but: Collection[int] = ()) -> None:
    intercept: Any = _native.intercept
    for below in subclasses(cls):
        if not any(id(base) in but for base in mro_of(below) or ()):
            intercept.call_init(below, called)


called_functions = _CalledFunctions()
