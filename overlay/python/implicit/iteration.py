"""Iteration over objects whose ``__iter__``, ``__next__`` or ``__getitem__`` are Python
functions, in a form that native instructions and C functions take."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from overlay.python.implicit.protocols import (
    MISSING,
    PLAIN,
    Given,
    derives,
    in_python,
    invoke,
    is_slot,
    lookup,
    python_function,
)

if TYPE_CHECKING:
    from overlay.python.implicit import Implicit

__all__ = ["Iteration"]

LATER: Final = object()


class Iteration:
    """Makes iterators for instructions to run through.

    An iterator in C, a generator or what has no iterator is given back as it is: the native
    instruction goes on with it, with its own errors.
    """

    def __init__(self, implicit: Implicit) -> None:
        self.implicit = implicit
        self.callees = implicit.callees

    def entered(self, x: Any) -> Any:
        """For ``for`` and unpacking: ``x``, or an iterator over it that enters."""
        kind = type(x)
        if id(kind) in PLAIN:
            return x
        found = lookup(kind, "__iter__")
        if found is MISSING:
            return self._of_sequence(x, kind)
        if in_python(found):
            result = invoke(self.callees, found, x)
            return self.steps(result) if _is_iterator(result) else Given(result)
        return self.steps(x) if is_slot(found) else x

    def source(self, x: Any) -> Any:
        """``iter(x)``, by the function of the program if there is one."""
        found = python_function(type(x), "__iter__")
        if found is MISSING:
            return _Sequence(self, x) if lookup(type(x), "__iter__") is MISSING else iter(x)
        result = invoke(self.callees, found, x)
        return result if _is_iterator(result) else iter(Given(result))

    def rest(self, iterator: Any) -> Any:
        """An iterator for native code that makes a list of it."""
        kind = type(iterator)
        if id(kind) in PLAIN or not in_python(lookup(kind, "__next__")):
            return iterator
        names = tuple(name for name in _LENGTHS if lookup(kind, name) is not MISSING)
        return _RESTS[names](self.implicit, iterator)

    def steps(self, iterator: Any) -> Any:
        """The same iterator for native code, with its ``__next__`` in the context."""
        kind = type(iterator)
        if id(kind) in PLAIN or not in_python(lookup(kind, "__next__")):
            return iterator
        return map(self.step, itertools.repeat(iterator))

    def step(self, iterator: Any) -> Any:
        """What ``__next__`` gives, which is looked up at each step."""
        found = python_function(type(iterator), "__next__")
        return next(iterator) if found is MISSING else invoke(self.callees, found, iterator)

    def _of_sequence(self, x: Any, kind: Any) -> Any:
        if python_function(kind, "__getitem__") is MISSING:
            return x
        return _Sequence(self, x)

    def sized(self, x: Any) -> Any:
        """For C functions that make a container: they ask for the length too."""
        kind = type(x)
        if id(kind) in PLAIN:
            return x
        names = ("__iter__", "__len__", "__length_hint__", "__getitem__")
        if not any(in_python(lookup(kind, name)) for name in names):
            return self.entered(x)
        if lookup(kind, "__iter__") is None:
            return x
        return _sized(self.implicit, x, kind)

    def listed(self, x: Any) -> Any:
        """For what makes a list of an iterator, which is asked for its iterator again."""
        found = self.sized(x)
        return _Listed(self.implicit, x) if isinstance(found, _Sized) else found

    def mapping(self, x: Any) -> Any:
        """For C functions that fill a dictionary."""
        kind = type(x)
        keys = MISSING if id(kind) in PLAIN else self._keys_of(x, kind)
        return self.entered(x) if keys is MISSING else _Mapping(self.implicit, x)

    def merged(self, x: Any) -> Any:
        """For ``**x``: the same, but only mappings will do."""
        kind = type(x)
        keys = MISSING if id(kind) in PLAIN else self._keys_of(x, kind)
        return x if keys is MISSING else _Mapping(self.implicit, x, keys)

    def _keys_of(self, x: Any, kind: type) -> Any:
        """What gives the keys of a mapping in code of the program, LATER where its class has them
        and nothing need be asked of it yet, or MISSING."""
        if derives(kind, dict) and lookup(kind, "__iter__") is dict.__dict__["__iter__"]:
            return MISSING
        names = ("keys", "__getitem__", "__iter__", "__getattr__", "__getattribute__")
        if not any(in_python(lookup(kind, name)) for name in names):
            return MISSING
        if lookup(kind, "keys") is not MISSING:
            return LATER
        try:
            return self.implicit.attributes.read(x, "keys")
        except AttributeError:
            return MISSING

    def delegated(self, x: Any) -> Any:
        """For ``yield from``: what can be sent to, thrown into and closed."""
        kind = type(x)
        if id(kind) in PLAIN:
            return x
        found = python_function(kind, "__iter__")
        if found is MISSING:
            return self.entered(x)
        result = invoke(self.callees, found, x)
        return self.delegate(result) if _is_iterator(result) else Given(result)

    def delegate(self, iterator: Any) -> Any:
        """An iterator for ``yield from`` or ``await`` to run."""
        found = MISSING if id(type(iterator)) in PLAIN else lookup(type(iterator), "__next__")
        return _Delegate(self.implicit, iterator) if in_python(found) else iterator

    # ---- builtin functions ----

    def iterator(self, x: Any, end: Any = MISSING) -> Any:
        """``iter(...)``: what the program gets is its own object."""
        if end is not MISSING:
            return iter(self.callees[x], end)
        found = python_function(type(x), "__iter__")
        if found is MISSING:
            return iter(x)
        result = invoke(self.callees, found, x)
        return result if _is_iterator(result) else iter(Given(result))

    def next(self, iterator: Any, default: Any = MISSING) -> Any:
        """``next(...)``."""
        steps = iterator if id(type(iterator)) in PLAIN else self.steps(iterator)
        return next(steps) if default is MISSING else next(steps, default)

    def backwards(self, x: Any) -> Any:
        """``reversed(...)``."""
        if id(type(x)) in PLAIN:
            return reversed(x)
        found = lookup(type(x), "__reversed__")
        if in_python(found):
            return invoke(self.callees, found, x)
        if found is MISSING and in_python(lookup(type(x), "__getitem__")):
            return reversed(_Indexed(self.implicit, x))
        return reversed(x)


def _is_iterator(x: Any) -> bool:
    found = lookup(type(x), "__next__")
    return found is not MISSING and found is not None


class _Entered:
    """Stands for an object in native code."""

    __slots__ = ("implicit", "of")

    def __init__(self, implicit: Implicit, of: Any) -> None:
        self.implicit = implicit
        self.of = of

    def call(self, name: str, *args: Any) -> Any:
        """One of its special methods."""
        found = lookup(type(self.of), name)
        return invoke(self.implicit.callees, found, self.of, *args)


class _Steps(_Entered):
    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return self.call("__next__")


class _Delegate(_Steps):
    """Passes on what is sent and thrown; an attribute that is missing stays so."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        found = self.implicit.attributes.read(self.of, name)
        return self.implicit.callees[found]


class _Sequence:
    """Steps through an object that has ``__getitem__`` alone, as an iterator of C does."""

    __slots__ = ("iteration", "of", "place")

    def __init__(self, iteration: Iteration, of: Any) -> None:
        self.iteration = iteration
        self.of = of
        self.place = 0

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self.of is None:
            raise StopIteration
        try:
            value = self.iteration.implicit.items.get(self.of, self.place)
        except (IndexError, StopIteration):
            self.of = None
        else:
            self.place += 1
            return value
        raise StopIteration


class _Sized(_Entered):
    __slots__ = ()

    def __iter__(self) -> Any:
        result = self.implicit.iteration.entered(self.of)
        return result if _is_iterator(result) else iter(result)


def _length(self: _Sized) -> Any:
    return self.call("__len__")


def _hint(self: _Sized) -> Any:
    return self.call("__length_hint__")


_LENGTHS: dict[str, Callable[[_Sized], Any]] = {"__len__": _length, "__length_hint__": _hint}


def _with_lengths(base: type[_Sized]) -> dict[tuple[str, ...], type[_Sized]]:
    """Classes that have as much of a length as what they stand for, by its methods."""
    names = [(), ("__len__",), ("__length_hint__",), ("__len__", "__length_hint__")]
    return {
        those: type(base.__name__, (base,), {"__slots__": (), **{n: _LENGTHS[n] for n in those}})
        for those in names
    }


_SIZED = _with_lengths(_Sized)


def _sized(implicit: Implicit, x: Any, kind: type) -> Any:
    """What stands for ``x`` with as much of a length as that has."""
    names = tuple(name for name in _LENGTHS if lookup(kind, name) is not MISSING)
    iterates = lookup(kind, "__iter__") is not MISSING
    if not iterates and lookup(kind, "__getitem__") is MISSING:
        return x
    return _SIZED[names](implicit, x)


class _Listed(_Entered):
    __slots__ = ()

    def __iter__(self) -> Any:
        iterator = self.implicit.iteration.source(self.of)
        return self.implicit.iteration.rest(iterator)


class _Rest(_Sized):
    """An iterator that is asked for its iterator, and for the length that it still has."""

    __slots__ = ()

    def __next__(self) -> Any:
        return self.implicit.iteration.step(self.of)

    def __iter__(self) -> Any:
        iterator = self.implicit.iteration.source(self.of)
        return self if iterator is self.of else iterator


class _Indexed(_Entered):
    """A sequence for C code that reads it by place."""

    __slots__ = ()

    def __len__(self) -> int:
        return self.implicit.numbers.length(self.of)

    def __getitem__(self, key: Any) -> Any:
        return self.implicit.items.get(self.of, key)


class _Mapping(_Entered):
    """A mapping for C code that copies it."""

    __slots__ = ("found",)

    def __init__(self, implicit: Implicit, of: Any, found: Any = LATER) -> None:
        super().__init__(implicit, of)
        self.found = found  # its ``keys``, where these were asked for already

    def keys(self) -> Any:
        """Its keys."""
        found = self.found
        if found is LATER:
            found = self.implicit.attributes.read(self.of, "keys")
        return self.implicit.iteration.listed(self.implicit.callees[found]())

    def __getitem__(self, key: Any) -> Any:
        return self.implicit.items.get(self.of, key)


_RESTS = _with_lengths(_Rest)
