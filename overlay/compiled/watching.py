"""Detection of changes in the parts of the program that compiled code has read.

A ``ReadsWatch`` records what was read, and lists words of memory that compiled code can compare
with their former content.

CPython stores the value of a global in the entries of a dict, the code of a function in the
function, the content of a closure's variable in a cell. Compiled code is not notified when one of
these is rebound, but it can compare a word of memory with its former content. The layout is that of
CPython 3.12 to 3.15; ``LAYOUT_KNOWN`` says whether the running interpreter has it, which is tested
when this module is imported. Where the layout is unknown, ``ALWAYS`` is used: a word that
always differs, so that Python is called before every call.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable, Iterator, Sequence
from types import CellType, FunctionType
from typing import Any, Final

from overlay.code.record import Change, FunctionReads
from overlay.code.versions import is_readable
from overlay.core.jitted import is_sealed
from overlay.core.target import generic_state

__all__ = [
    "ALWAYS",
    "LAYOUT_KNOWN",
    "ReadsWatch",
    "Word",
    "of_array",
    "of_cell",
    "of_count",
    "of_dict",
    "of_function",
    "of_names",
    "of_readings",
]


class ReadsWatch:
    """The names and objects that a set of functions has read."""

    def __init__(self) -> None:
        self._readings: dict[int, FunctionReads] = {}
        self._of_function: dict[int, FunctionReads] = {}

    def add(self, function: FunctionType) -> FunctionReads:
        """Record a compiled function; return its reads."""
        known = self._of_function.get(id(function))
        if known is None or known.outdated():
            known = self._of_function[id(function)] = FunctionReads(function)
            self.include(known)
        return known

    def include(self, reading: FunctionReads) -> None:
        """Record the reads of code that is reused."""
        self._readings[id(reading)] = reading

    def words(self) -> Iterator[Word]:
        """The words of memory that differ once any of the reads may have changed."""
        return of_readings(list(self._readings.values()))

    def changed(self) -> bool:
        """Whether one of the functions would read a different value now."""
        return any(reading.changed() for reading in self._readings.values())

    def changes(self) -> Iterator[Change]:
        """The changes of what the functions read."""
        return (each for reading in self._readings.values() for each in reading.changes())

    def outdated(self) -> bool:
        """Whether one of the functions would read something else now, contents of containers
        included."""
        return any(reading.outdated() for reading in self._of_function.values())

    def altered(self, values: Iterable[Any]) -> bool:
        """Whether one of these objects, which were copied into code at compilation, may have other
        contents now."""
        given = list(values)
        return any(reading.altered(given) for reading in self._readings.values())


# ---- words of memory -----------------------------------------------------------------------


# an address, and its former content
Word = tuple[int, int]

SIZE: Final = 8
# offsets in a dict object: the keys, the values of a split table
KEYS, VALUES = 32, 40
# offsets in a dict's keys: log2 of the indices' size in bytes, the kind, the number of free entries
# (which each new one lowers, and nothing raises), the entries used
LOG2_INDEX_BYTES, KIND, USABLE, ENTRIES_USED, INDICES = 9, 10, 16, 24, 32
GENERAL: Final = 0  # a kind of keys: entries are hash, key and value; otherwise key and value
CONTENT: Final = 16  # offset in a cell object

_ZERO: Final = ctypes.c_uint64(0)
ALWAYS: Final[Word] = (ctypes.addressof(_ZERO), 1)


def _at(address: int) -> int:
    return ctypes.c_uint64.from_address(address).value


def _word(address: int) -> Word:
    return address, _at(address)


def of_dict(mapping: dict[Any, Any]) -> Iterator[Word]:
    """Words that change when any key of a dict is rebound, added or removed."""
    return _of_keys(mapping, list(mapping), grows=True)


def of_names(mapping: dict[Any, Any], names: Iterable[str]) -> Iterator[Word]:
    """Words that change when one of these names is rebound in a dict."""
    wanted = list(names)
    there = [name for name in wanted if name in mapping]
    # where one is missing, a new entry may hide a builtin
    return _of_keys(mapping, there, grows=len(there) < len(wanted))


def _of_keys(mapping: dict[Any, Any], wanted: list[Any], *, grows: bool) -> Iterator[Word]:
    keys = _at(id(mapping) + KEYS)
    found = {} if _at(id(mapping) + VALUES) else _slots(keys)
    own = {key: id(key) for key in mapping if type(key) is str}
    slots = [found.get(own.get(key, 0)) for key in wanted]
    if None in slots:
        yield ALWAYS
        return
    yield id(mapping) + KEYS, keys  # first: the others are read only if it has not changed
    yield from (_word(slot) for slot in slots if slot is not None)
    if grows:
        yield _word(keys + USABLE)


def _slots(keys: int) -> dict[int, int]:
    """Maps the identity of a key to the address of its value."""
    size = ctypes.c_uint8.from_address(keys + LOG2_INDEX_BYTES).value
    is_general = ctypes.c_uint8.from_address(keys + KIND).value == GENERAL
    width, key = (3, 1) if is_general else (2, 0)
    count = _at(keys + ENTRIES_USED)
    first = keys + INDICES + (1 << size)
    entries = (ctypes.c_uint64 * (width * count)).from_address(first)
    return {
        entries[i]: first + SIZE * (i + 1) for i in range(key, width * count, width) if entries[i]
    }


def of_cell(cell: CellType) -> Iterator[Word]:
    """Words that change when a closure's variable is rebound."""
    yield _word(id(cell) + CONTENT)


def of_count(count: ctypes.c_uint64) -> Word:
    """The word of a counter that changes are counted with."""
    return ctypes.addressof(count), count.value


def of_array(array: Any) -> Iterator[Word]:
    """Words that change when an element of an array does."""
    if array.nbytes < SIZE or not array.flags.c_contiguous:
        yield ALWAYS if array.nbytes else of_count(_ZERO)
        return
    first, last = array.ctypes.data, array.nbytes - SIZE
    yield from (_word(first + at) for at in (*range(0, last, SIZE), last))


def of_function(function: FunctionType) -> Iterator[Word]:
    """Words that change when a function's ``__code__``, ``__defaults__`` or ``__kwdefaults__`` is
    set, or an item of the last."""
    yield from (_word(id(function) + offset) for offset in _OFFSETS)
    if function.__kwdefaults__:
        yield from of_dict(function.__kwdefaults__)


def of_readings(readings: Sequence[FunctionReads]) -> Iterator[Word]:
    """Words that change when anything that functions have read may have changed."""
    spaces: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
    for reading in readings:
        function, its = reading.function, reading.spaces.values()
        if is_sealed(function):
            its = [space for space in its if space[0] is not function.__globals__]
        else:
            yield from of_function(function)
        for namespace, values in its:
            spaces.setdefault(id(namespace), (namespace, {}))[1].update(values)
    for namespace, names in spaces.values():
        yield from of_names(namespace, names)
    for cell in {id(c): c for r in readings for c, _ in r.cells}.values():
        yield from of_cell(cell)
    for each in {id(g): g for r in readings for g, _ in r.generic}.values():
        state = generic_state(each)
        yield ALWAYS if state is None else of_count(state.changes)
    for each in {id(a): a for r in readings for a, _ in r.arrays}.values():
        yield from of_array(each)
    if any(reading.containers for reading in readings):
        yield ALWAYS


# ---- test of the layout -------------------------------------------------------------------


def _offsets() -> tuple[int, ...]:
    """The offsets of the code and the defaults in a function object."""

    def sample(x: Any = None, *, y: Any = None) -> Any:
        return x, y

    words = [_at(id(sample) + SIZE * i) for i in range(2, 12)]
    wanted = (id(sample.__code__), id(sample.__defaults__), id(sample.__kwdefaults__))
    return tuple(SIZE * (words.index(w) + 2) for w in wanted if w in words)


def _changes(words: Iterable[Word]) -> bool:
    return any(_at(address) != before for address, before in words)


def _is_known() -> bool:
    if not is_readable() or len(_OFFSETS) != 3 or ctypes.sizeof(ctypes.c_void_p) != SIZE:
        return False
    value: Any = object()
    mapping: dict[Any, Any] = {"first": value, "second": value}
    cell = CellType(value)
    names, anything = list(of_names(mapping, ["second"])), list(of_dict(mapping))
    missing, content = list(of_names(mapping, ["third"])), list(of_cell(cell))
    if _changes([*names, *anything, *missing, *content]):
        return False
    mapping["first"] = None
    if _changes([*names, *missing]) or not _changes(anything):
        return False
    mapping["second"] = cell.cell_contents = None
    if _changes(missing) or not (_changes(names) and _changes(content)):
        return False
    anything = list(of_dict(mapping))
    mapping["third"] = None
    return _changes(missing) and _changes(anything)


_OFFSETS: Final = _offsets() if sys.implementation.name == "cpython" else ()
LAYOUT_KNOWN: Final = _is_known()
