"""Fingerprints: what a compilation reads of the program, told by content.

A fingerprint reads a function as numba does: its code, and the globals, closure variables and
defaults that it mentions, by value. Functions that are *entered* are read in the same way; of the
others only what a call of them needs to know is told. Another process that reads the same comes
to the same digest, wherever its memory and its files are.
"""

from __future__ import annotations

import enum
import hashlib
import os
import struct
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from overlay.location import name_of, shown
from overlay.target import attributes_of, mro_of

__all__ = [
    "DEEP",
    "ENTERED",
    "LARGEST_ARRAY",
    "MENTIONED",
    "Fingerprint",
    "Handler",
    "Untold",
    "code_of_file",
    "is_below",
    "is_copied",
    "tell_class",
]

# How a function is read. DEEP: it runs when code is compiled, so all that it may call counts.
MENTIONED, ENTERED, DEEP = range(3)
# Packages whose functions are told by name: their versions are part of what code is kept under.
VERSIONED: Final = ("numba", "llvmlite", "overlay")
NAMED: Final = (
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    type(np.sum),  # numpy's functions, of a class of their own
)
COPIED: Final = (np.ndarray, list, set, tuple)
# In bytes: numba does not copy larger ones, but takes their address, and such code is not kept.
LARGEST_ARRAY: Final = 10**6
MISSING: Final = object()

Handler = Callable[["Fingerprint", Any], None]


class Untold(Exception):
    """Something has no content that another process could compare.

    what: it, in words. reason: why not. help: what to do about it.
    """

    def __init__(self, what: str, reason: str, help: str) -> None:
        super().__init__(f"{what} {reason}")
        self.what, self.reason, self.help = what, reason, help


class Fingerprint:
    """Reads functions and values, and digests what it has read.

    how: says of a function that is met, with the count of those met before, how to read it.
    kinds: by type, how to read values that are not Python's or numpy's own. holds: whether
    compiled code can hold a value; of others that a function mentions the type is enough.
    """

    def __init__(
        self,
        how: Callable[[FunctionType, int], int],
        kinds: Mapping[type, Handler] = {},
        holds: Callable[[Any], bool] = lambda value: True,
    ) -> None:
        self.how = how
        self.holds = holds
        self.steps: list[int] = []  # how each function was read
        self.entered: list[FunctionType] = []
        self.functions: list[FunctionType] = []
        self.copied: dict[int, Any] = {}  # values with content that can change in place
        # told apart by identity: classes may have hashes of their own
        self._kinds = {id(kind): handler for kind, handler in {**_EXACT, **kinds}.items()}
        self._bases = {id(kind): handler for kind, handler in kinds.items()}
        self._bases.update({id(k): h for k, h in _BASES.items() if id(k) not in self._bases})
        self._hash = hashlib.sha256()
        self._numbers: dict[tuple[int, bool, bool], int] = {}
        self._deep: list[bool] = []
        self._must: set[int] = set()  # those that are entered in any case
        self._open: set[int] = set()
        self._reading_deep = False
        self._place = "the program"

    def digest(self) -> str:
        """The digest of all that was read; reads what was met and not read yet."""
        self.read()
        return self._hash.hexdigest()

    def write(self, *parts: str | bytes | int) -> None:
        """Take these into the digest."""
        for part in parts:
            data = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
            self._hash.update(b"%d:" % len(data))
            self._hash.update(data)

    # ---- functions ----

    def read(self) -> None:
        """Read the functions that were met."""
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
        """Meet a function: it is read later."""
        key = id(function), deep or self._reading_deep, enters
        if key not in self._numbers:
            self._numbers[key] = len(self.functions)
            self.functions.append(function)
            self._deep.append(key[1])
            if enters:
                self._must.add(self._numbers[key])
        self.write("number", self._numbers[key])

    def _mention(self, function: FunctionType) -> None:
        """What a call needs to know of a function that is not entered, and what it does."""
        self.code(function.__code__, lines=False)
        self._defaults(function)

    def _enter(self, function: FunctionType) -> None:
        code = function.__code__
        self.code(code)
        self.write(code.co_filename if code_of_file(code) else "")
        self._defaults(function)
        names = sorted(set(_names(code)))
        holders: list[Any] = []
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            holders.append(self._read("closure variable", name, _content(cell)))
        builtins: dict[str, Any] = function.__builtins__
        for name in names:
            value = function.__globals__.get(name, MISSING)
            if value is not MISSING:
                holders.append(self._read("global", name, value))
            elif name in builtins:
                self._read("builtin", name, builtins[name])
        self._members(holders, names)

    def _read(self, kind: str, name: str, value: Any) -> Any:
        """Something that a function mentions under a name."""
        place = self._place
        self._place = f"the {kind} {name!r} of {place}"
        self.write(kind, name)
        before, met = self._hash.copy(), len(self.functions)
        try:
            if value is MISSING or (type(value) is dict and not self._reading_deep):
                self.write("not held", type(value).__name__)  # a dict is not, whatever is in it
            else:
                self.value(value)
        except Untold:
            if self._reading_deep or self.holds(value):
                raise
            self._hash = before
            self._forget(met)
            self.write("not held")
            self.class_named(type(value))
        self._place = place
        return value

    def _forget(self, count: int) -> None:
        """Forget the functions that were met after the first ``count``."""
        del self.functions[count:], self._deep[count:]
        self._numbers = {key: n for key, n in self._numbers.items() if n < count}
        self._must = {n for n in self._must if n < count}

    def _members(self, holders: list[Any], names: list[str]) -> None:
        """What functions read of modules and classes that they mention."""
        seen: set[int] = set()
        for holder in holders:
            is_module = type(holder) is ModuleType
            if id(holder) in seen or not (is_module or issubclass(type(holder), type)):
                continue
            seen.add(id(holder))
            members: Any = vars(holder) if is_module else attributes_of(holder)
            for name in (n for n in names if n in members):
                member = members[name]
                if is_module and _is_versioned(holder.__name__):
                    self.write("member", name)
                elif is_module or type(member) is staticmethod or type(member) is FunctionType:
                    holders.append(self._read("member", name, member))

    def _defaults(self, function: FunctionType) -> None:
        for value in function.__defaults__ or ():
            self._read("default", "", value)
        for name, value in (function.__kwdefaults__ or {}).items():
            self._read("default", name, value)

    def code(self, code: CodeType, lines: bool = True) -> None:
        """The content of a code object, without the name of its file."""
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

    # ---- values ----

    def value(self, value: Any) -> None:
        """A value, by its content. Raises Untold for one that has none to tell."""
        kind = type(value)
        if is_copied(value):
            self.copied[id(value)] = value
        handler = self._kinds.get(id(kind))
        if handler is None:
            bases = set(map(id, mro_of(kind)))
            handler = next((h for base, h in self._bases.items() if base in bases), None)
        if handler is not None:
            handler(self, value)
        elif not self.at_home(value):
            raise self.untold(value)

    def at_home(self, value: Any) -> bool:
        """Tell a function that has no code of its own by the name under which a module has it;
        False where none does."""
        if module_of(type(value)).partition("_3")[0] not in ("_cython", "builtins", "numpy"):
            return False
        module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
        home = sys.modules.get(str(module))
        if home is None or vars(home).get(str(name)) is not value:
            return False
        self.write("named", "function", str(module), str(name))
        return True

    def untold(self, value: Any, reason: str = "") -> Untold:
        """The error for a value that cannot be told by content."""
        kind = type(value)
        return Untold(
            self._place,
            reason or f"is a {module_of(kind)}.{_qualname_of(kind)}, which cannot be compared",
            "use numbers, strings, tuples, arrays and functions for what compiled code reads",
        )

    def class_named(self, kind: Any) -> None:
        """A class, by its name."""
        self.write("class", module_of(kind), _qualname_of(kind))

    def items(self, kind: str, values: Iterable[Any]) -> None:
        """Values in their order."""
        found = list(values)
        self.write(kind, len(found))
        for value in found:
            self.value(value)

    def container(self, kind: str, value: Any, values: Iterable[Any]) -> None:
        """The values in a container, which may not hold itself."""
        if id(value) in self._open:
            raise self.untold(value, "contains itself")
        self._open.add(id(value))
        self.items(kind, values)
        self._open.discard(id(value))

    def without_order(self, kind: str, values: Iterable[Any]) -> None:
        """Values of which the order says nothing."""
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
            raise Untold(self._place, "is a set of functions", "use a tuple")
        self.write(kind, len(found), *sorted(found))


# ---- classes, of which no code may run ----------------------------------------------------

_qualname_of: Any = type.__dict__["__qualname__"].__get__
_module_of: Any = type.__dict__["__module__"].__get__


def module_of(kind: Any) -> str:
    """The name of a class's module."""
    return str(_module_of(kind))


def is_below(kind: Any, base: type) -> bool:
    """Whether a class is another, or derives from it."""
    return any(each is base for each in mro_of(kind))


def is_copied(value: Any) -> bool:
    """Whether it can be changed in place, or hold what can, and is copied into compiled code."""
    return any(type(value) is kind for kind in COPIED)


# ---- how values are read ------------------------------------------------------------------


def _name(fp: Fingerprint, value: Any) -> None:
    """Something written in C."""
    owner: Any = getattr(value, "__objclass__", None)
    module = getattr(value, "__module__", None) or getattr(owner, "__module__", None)
    fp.write("named", type(value).__name__, str(module), value.__qualname__)


def _builtin(fp: Fingerprint, value: Any) -> None:
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


def _method(fp: Fingerprint, value: types.MethodType) -> None:
    if not fp.at_home(value):
        fp.items("method", (value.__func__, value.__self__))


def _ufunc(fp: Fingerprint, value: Any) -> None:
    if getattr(np, value.__name__, None) is not value:
        raise fp.untold(value, "is a ufunc that is not numpy's own")
    fp.write("ufunc", value.__name__)


def _array(fp: Fingerprint, value: np.ndarray[Any, Any]) -> None:
    if value.dtype.hasobject or type(value) is not np.ndarray:
        raise fp.untold(value, "is an array of objects")
    flags = value.flags
    states = flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned
    fp.write("array", repr(value.dtype), *value.shape, *map(int, states))
    if value.nbytes <= LARGEST_ARRAY:
        fp.write(value.tobytes())


def _scalar(fp: Fingerprint, value: np.generic) -> None:
    if value.dtype.hasobject:
        raise fp.untold(value, "is an array of objects")
    fp.write("scalar", repr(value.dtype), value.tobytes())


def _tuple(fp: Fingerprint, value: tuple[Any, ...]) -> None:
    fp.class_named(type(value))
    fp.items("tuple", tuple.__iter__(value))


def tell_class(fp: Fingerprint, value: Any) -> None:
    """A class: its name, and the values that code takes from it."""
    fp.class_named(value)
    attributes = attributes_of(value)
    if is_below(value, tuple) and "_fields" in attributes:
        fp.value(attributes["_fields"])
    elif is_below(value, enum.Enum):
        for name, member in attributes["_member_map_"].items():
            fp.write(name)
            fp.value(vars(member)["_value_"])


def _member(fp: Fingerprint, value: enum.Enum) -> None:
    fp.class_named(type(value))
    fp.write(vars(value)["_name_"])
    fp.value(vars(value)["_value_"])


def _dict(fp: Fingerprint, value: dict[Any, Any]) -> None:
    fp.container("dict", value, (part for item in value.items() for part in item))


def _plain(fp: Fingerprint, value: Any) -> None:
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
# Of which objects of subclasses are too; the first that fits counts.
_BASES: Final[dict[type, Handler]] = {
    enum.Enum: _member,
    np.generic: _scalar,
    np.dtype: lambda fp, v: fp.write("dtype", repr(v)),
    tuple: _tuple,
    type: tell_class,
}


# ---- code ---------------------------------------------------------------------------------


def code_of_file(code: CodeType) -> bool:
    """Whether a code object comes from a file that is there: others are told by content alone."""
    return os.path.isfile(code.co_filename)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def _is_versioned(module: str | None) -> bool:
    return module is not None and module.partition(".")[0] in VERSIONED


def _described(function: FunctionType) -> str:
    code = function.__code__
    return f"{name_of(function)} [{shown(code.co_filename, code.co_firstlineno)}]"
