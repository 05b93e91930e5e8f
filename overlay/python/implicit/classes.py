"""Classes: the statement, and ``type`` that makes them. ``__mro_entries__``, ``__prepare__``,
metaclasses, ``__set_name__`` and ``__init_subclass__`` that are Python functions."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from overlay.location import is_ours
from overlay.python.construction import TYPE_CALL
from overlay.python.implicit.protocols import (
    MISSING,
    PLAIN,
    derives,
    in_python,
    invoke,
    lookup,
    shown_type,
)
from overlay.target import attributes_of

if TYPE_CHECKING:
    from overlay.python.implicit import Implicit

__all__ = ["Classes"]

_BUILD: Any = builtins.__build_class__
_NEW: Any = type.__new__
_DELETES: Any = type.__dict__["__delattr__"]
_name_of: Any = type.__dict__["__name__"].__get__
_FIRST = ".made"


class Classes:
    """Makes classes as the interpreter does."""

    def __init__(self, implicit: Implicit) -> None:
        self.implicit = implicit
        self.callees = implicit.callees

    # ---- the statement ----

    def statement(self, builder: Any) -> Any:
        """What a class statement is to call in place of ``__build_class__``."""
        return self.build if builder is _BUILD else self.callees[builder]

    def build(self, body: Any, name: Any, /, *bases: Any, **keywords: Any) -> Any:
        """``__build_class__``: it runs the body itself, with a metaclass that calls the real one
        in the context."""
        resolved = self._resolved(bases)
        metaclass = _metaclass(resolved, keywords)
        namespace = self._prepared(metaclass, name, resolved, keywords)

        def make(filled: Any) -> Any:
            if resolved is not bases:
                self.implicit.items.set(filled, "__orig_bases__", bases)
            return self.callees[metaclass](name, resolved, filled, **keywords)

        return _BUILD(body, name, metaclass=_Metaclass(make, namespace))

    # under this name it stands in the interpreter's messages
    build.__module__, build.__qualname__ = _BUILD.__module__, _BUILD.__qualname__

    def _resolved(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        """The bases with ``__mro_entries__`` asked; the same tuple where none has it."""
        found, changed = list[Any](), False
        for base in bases:
            if _is_class(base):
                found.append(base)
                continue
            try:
                entries = self.implicit.attributes.read(base, "__mro_entries__")
            except AttributeError:
                found.append(base)
                continue
            given = self.callees[entries](bases)
            if not derives(type(given), tuple):
                raise TypeError("__mro_entries__ must return a tuple")
            found.extend(given)
            changed = True
        return tuple(found) if changed else bases

    def _prepared(
        self, metaclass: Any, name: Any, bases: tuple[Any, ...], keywords: Mapping[str, Any]
    ) -> Any:
        """The namespace for the body."""
        try:
            prepare = self.implicit.attributes.read(metaclass, "__prepare__")
        except AttributeError:
            return {}
        namespace = self.callees[prepare](name, bases, **keywords)
        if lookup(type(namespace), "__getitem__") is MISSING:
            shown = _name_of(metaclass) if _is_class(metaclass) else "<metaclass>"
            raise TypeError(
                f"{shown}.__prepare__() must return a mapping, not {shown_type(namespace)}"
            )
        return namespace

    # ---- type ----

    def make(self, metaclass: Any, /, *args: Any, **keywords: Any) -> Any:
        """``type.__call__`` of a metaclass that makes and initialises classes as ``type`` does."""
        if len(args) != 3:
            return TYPE_CALL(metaclass, *args, **keywords)
        made = self.new(metaclass, *args, **keywords)
        kind = type(made)
        if derives(kind, metaclass):
            init = lookup(kind, "__init__")
            if in_python(init):
                invoke(self.callees, init, made, *args, **keywords)
            else:
                init(made, *args, **keywords)
        return made

    def new(self, metaclass: Any, /, *args: Any, **keywords: Any) -> Any:
        """``type.__new__``."""
        if not _is_class(metaclass) or not _defines(args):
            return _NEW(metaclass, *args, **keywords)
        name, bases, namespace = args
        chosen = _winner(metaclass, bases)
        if chosen is not metaclass and lookup(chosen, "__new__") is not _NEW:
            new = self.implicit.attributes.read(chosen, "__new__")
            return self.callees[new](chosen, *args, **keywords)
        namespace = _with_module(namespace)
        named = any(map(_is_told_its_name, namespace.values()))
        if not named and not any(in_python(lookup(base, "__init_subclass__")) for base in bases):
            return _NEW(metaclass, name, bases, namespace, **keywords)
        made = _unfinished(chosen, name, bases, namespace)
        self._name(made)
        found = self.implicit.attributes.read(super(made, made), "__init_subclass__")
        self.callees[found](**keywords)
        return made

    def _name(self, cls: Any) -> None:
        """Tell what the class holds its name."""
        for key, value in dict(attributes_of(cls)).items():
            kind = type(value)
            found = MISSING if id(kind) in PLAIN else lookup(kind, "__set_name__")
            if found is MISSING:
                continue
            try:
                invoke(self.callees, found, value, cls, key)
            except BaseException as error:
                where = f"'{shown_type(value)}' instance {key!r} in '{_name_of(cls)}'"
                error.add_note(f"Error calling __set_name__ on {where}")
                raise


class _Metaclass:
    """What ``__build_class__`` asks for a namespace and calls when the body has run."""

    __slots__ = ("make", "namespace")

    def __init__(self, make: Callable[[Any], Any], namespace: Any) -> None:
        self.make = make
        self.namespace = namespace

    def __prepare__(self, name: Any, bases: Any) -> Any:
        return self.namespace

    def __call__(self, name: Any, bases: Any, namespace: Any) -> Any:
        return self.make(namespace)


class _Stop(Exception):
    """Ends the making of a class before functions of the program are called."""


class _First:
    """Stands first in a class, so that it is the first to be told its name."""

    __slots__ = ("owner",)

    def __init__(self) -> None:
        self.owner: Any = None

    def __set_name__(self, owner: Any, name: str) -> None:
        self.owner = owner
        raise _Stop


def _with_module(namespace: Any) -> dict[str, Any]:
    """A copy of the namespace, with the module of the code that makes the class."""
    filled: dict[str, Any] = dict.copy(namespace)
    frame: Any = sys._getframe(1)
    while frame is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    if "__module__" not in filled and frame is not None and "__name__" in frame.f_globals:
        filled["__module__"] = frame.f_globals["__name__"]
    return filled


def _unfinished(
    metaclass: Any, name: Any, bases: tuple[Any, ...], namespace: dict[str, Any]
) -> Any:
    """A class that ``type.__new__`` has made, less its last steps, which call functions of the
    program: what the class holds is told its name, and a base of the new class."""
    first = _First()
    try:
        _NEW(metaclass, name, bases, {_FIRST: first, **namespace})
    except BaseException:
        if first.owner is None:
            raise
    _DELETES(first.owner, _FIRST)
    return first.owner


def _is_class(x: Any) -> bool:
    return issubclass(type(x), type)


def _defines(args: tuple[Any, ...]) -> bool:
    """Whether these are a class's name, bases and namespace."""
    if len(args) != 3 or type(args[1]) is not tuple:
        return False
    return issubclass(type(args[2]), dict) and all(map(_is_class, args[1]))


def _is_told_its_name(value: Any) -> bool:
    kind = type(value)
    return id(kind) not in PLAIN and in_python(lookup(kind, "__set_name__"))


def _metaclass(bases: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The metaclass of a statement, taken from its keywords."""
    metaclass = keywords.pop("metaclass", MISSING)
    if metaclass is MISSING:
        metaclass = type(bases[0]) if bases else type
    return _winner(metaclass, bases) if _is_class(metaclass) else metaclass


def _winner(metaclass: Any, bases: tuple[Any, ...]) -> Any:
    """The most derived of the metaclasses."""
    for base in bases:
        kind = type(base)
        if derives(metaclass, kind):
            continue
        if not derives(kind, metaclass):
            raise TypeError(
                "metaclass conflict: the metaclass of a derived class must be a (non-strict) "
                "subclass of the metaclasses of all its bases"
            )
        metaclass = kind
    return metaclass
