"""Fingerprints: content hashes of all that a compilation reads of the program.

A fingerprint reads a function as numba does: its code, and the globals, closure variables and
defaults that it mentions, by value. Functions that are *entered* are read in the same way; of
others only what a call needs: code without line numbers, and defaults. Equal content gives an
equal digest in every process, whatever its memory addresses. The path of an entered function's
file is part of its content, if the file exists.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, Final

from overlay.code.digest import Digest, Handler, NotHashable
from overlay.code.held_functions import holds_functions
from overlay.core.location import name_of, shown
from overlay.core.own_builtins import __builtins__
from overlay.core.target import attributes_of, mro_of

__all__ = [
    "DEEP",
    "ENTERED",
    "MENTIONED",
    "MISSING",
    "Fingerprint",
    "asked_of_class",
    "code_of_file",
    "content_of",
    "names_in",
]

# Modes of reading a function. DEEP: it runs at compile time, so all that it may call is read too.
MENTIONED, ENTERED, DEEP = range(3)
# Packages whose functions are identified by name: their versions are part of the cache key.
VERSIONED: Final = ("numba", "llvmlite", "overlay")
MISSING: Final = object()
# of a class's __flags__
HEAP_TYPE: Final = 1 << 9
IMMUTABLE_TYPE: Final = 1 << 8


class Fingerprint(Digest):
    """Content hash of functions and of the values that they read.

    how: gives the mode in which to read a function, from the function and the number of those
    found before it. kinds: by type, handlers of values that are neither Python's nor numpy's own.
    holds: whether compiled code can hold a value; of other values only the type is added.
    """

    def __init__(
        self,
        how: Callable[[FunctionType, int], int],
        kinds: Mapping[type, Handler] = {},
        holds: Callable[[Any], bool] = lambda value: True,
    ) -> None:
        super().__init__(kinds)
        self.how = how
        self.holds = holds
        self.steps: list[int] = []  # the mode in which each function was read
        self.entered: list[FunctionType] = []
        self._numbers: dict[tuple[int, bool, bool], int] = {}
        self._deep: list[bool] = []
        self._must: set[int] = set()  # those that are entered in any case
        self._reading_deep = False

    def digest(self) -> str:
        """Return the digest, after reading the functions that are still pending."""
        self.read()
        return self._hash.hexdigest()

    # ---- functions ----

    def read(self) -> None:
        """Read the functions that are pending."""
        while len(self.steps) < len(self.functions):
            number = len(self.steps)
            function = self.functions[number]
            step = DEEP if self._deep[number] else self.how(function, number)
            step = max(step, ENTERED) if number in self._must else step
            self.steps.append(step)
            self._place = _described(function)
            self._reading_deep = step == DEEP and not _is_versioned(function.__module__)
            self.write("function", step, str(function.__module__), function.__qualname__)
            if step == MENTIONED or (step == DEEP and not self._reading_deep):
                self._mention(function)
            else:
                self.entered.append(function)
                self._enter(function)
        self._reading_deep = False

    def function(self, function: FunctionType, deep: bool = False, enters: bool = False) -> None:
        """Add a function by its number; it is read later."""
        key = id(function), deep or self._reading_deep, enters
        if key not in self._numbers:
            self._numbers[key] = len(self.functions)
            self.functions.append(function)
            self._deep.append(key[1])
            if enters:
                self._must.add(self._numbers[key])
        self.write("number", self._numbers[key])

    def _mention(self, function: FunctionType) -> None:
        """Add the code and defaults of a function that is not entered, without line numbers."""
        self.code(function.__code__, lines=False)
        self._defaults(function)

    def _enter(self, function: FunctionType) -> None:
        code = function.__code__
        self.code(code)
        self.write(code.co_filename if code_of_file(code) else "")
        self._defaults(function)
        names = sorted(set(names_in(code)))
        holders: list[Any] = []
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            holders.append(self._read("closure variable", name, content_of(cell)))
        builtins: dict[str, Any] = function.__builtins__
        for name in names:
            value = function.__globals__.get(name, MISSING)
            if value is not MISSING:
                holders.append(self._read("global", name, value))
            elif name in builtins:
                self._read("builtin", name, builtins[name])
        self._members(holders, names)

    def _read(self, kind: str, name: str, value: Any) -> Any:
        """Add a value that a function reads under a name, and return the value."""
        place = self._place
        self._place = f"the {kind} {name!r} of {place}"
        self.write(kind, name)
        before, met = self._hash.copy(), len(self.functions)
        has_functions = holds_functions(value)
        try:
            told = self._reading_deep or has_functions
            if value is MISSING or (type(value) is dict and not told):
                self.write("not held", type(value).__name__)  # no dict of other items is
            else:
                self.value(value)
        except NotHashable:
            if self._reading_deep or has_functions or self.holds(value):
                raise
            self._hash = before
            self._forget(met)
            self.write("not held")
            self.class_named(type(value))
        self._place = place
        return value

    def _forget(self, count: int) -> None:
        """Drop the pending functions after the first ``count``."""
        del self.functions[count:], self._deep[count:]
        self._numbers = {key: n for key, n in self._numbers.items() if n < count}
        self._must = {n for n in self._must if n < count}

    def _members(self, holders: list[Any], names: list[str]) -> None:
        """Add the attributes that functions read from the modules and classes they mention."""
        seen: set[int] = set()
        for holder in holders:
            is_class = issubclass(type(holder), type)
            if id(holder) in seen or not (type(holder) is ModuleType or is_class):
                continue
            seen.add(id(holder))
            if is_class:
                for members, asked in asked_of_class(holder, names):
                    for name in sorted(asked & members.keys()):
                        holders.append(self._read("member", name, members[name]))
                continue
            for name in (n for n in names if n in vars(holder)):
                if _is_versioned(holder.__name__):
                    self.write("member", name)
                else:
                    holders.append(self._read("member", name, vars(holder)[name]))

    def _defaults(self, function: FunctionType) -> None:
        for value in function.__defaults__ or ():
            self._read("default", "", value)
        for name, value in (function.__kwdefaults__ or {}).items():
            self._read("default", name, value)


# ---- code ---------------------------------------------------------------------------------


def code_of_file(code: CodeType) -> bool:
    """Whether a code object's file exists: other code is identified by content alone."""
    return os.path.isfile(code.co_filename)


def names_in(code: CodeType) -> Iterator[str]:
    """Yield the names that a function's code, and code nested in it, may look up."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)


def asked_of_class(kind: Any, names: Iterable[str]) -> Iterator[tuple[Any, set[str]]]:
    """Yield the mutable classes in an MRO, as their attributes, with the names looked up in each.
    The lookup of a name ends at the first class that has it."""
    line = mro_of(kind) or ()
    wanted = {name for name in names if any(name in attributes_of(base) for base in line)}
    for base in line:
        if not wanted:
            return
        if base.__flags__ & HEAP_TYPE and not base.__flags__ & IMMUTABLE_TYPE:
            yield attributes_of(base), set(wanted)
        wanted -= attributes_of(base).keys()


def content_of(cell: CellType) -> Any:
    """The content of a closure cell; MISSING if it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def _is_versioned(module: str | None) -> bool:
    return module is not None and module.partition(".")[0] in VERSIONED


def _described(function: FunctionType) -> str:
    code = function.__code__
    return f"{name_of(function)} [{shown(code.co_filename, code.co_firstlineno)}]"
