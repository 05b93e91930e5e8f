"""Words of memory that tell whether a name is still bound to what compiled code has seen.

CPython keeps the value of a global in the entries of a dict, the code of a function in the
function, the content of a closure's variable in a cell. Compiled code cannot be told that one of
these is bound anew, but it can compare a word of memory with the one that was there before. The
layout is that of CPython 3.12 and 3.13; ``LAYOUT_KNOWN`` says whether the running interpreter has
it, which is tried out when this module is imported.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable, Iterator
from types import CellType, FunctionType
from typing import Any, Final

__all__ = ["LAYOUT_KNOWN", "Word", "of_cell", "of_dict", "of_function", "of_names"]

# an address, and what stood there
Word = tuple[int, int]

SIZE: Final = 8
# of a dict object: the number that changes with the dict, the keys, the values of a split table
VERSION, KEYS, VALUES = 24, 32, 40
# of a dict's keys: log2 of their size, of the indices' size in bytes, the kind (and in the same
# word the number that the interpreter gave them), the entries used
LOG2_SIZE, LOG2_INDEX_BYTES, KIND, ENTRIES_USED, INDICES = 8, 9, 10, 24, 32
GENERAL: Final = 0  # entries are hash, key and value; otherwise key and value
CONTENT: Final = 16  # of a cell object
_LOADS_A_BUILTIN: Final = (lambda: Ellipsis).__code__
_WARM: Final = 100  # calls after which code is specialised


def _at(address: int) -> int:
    return ctypes.c_uint64.from_address(address).value


def _word(address: int) -> Word:
    return address, _at(address)


def of_dict(mapping: dict[Any, Any]) -> Iterator[Word]:
    """Changes with every change of a dict."""
    yield _word(id(mapping) + VERSION)


def of_names(mapping: dict[Any, Any], names: Iterable[str]) -> Iterator[Word]:
    """Changes when one of these names is bound anew in a dict; where they cannot be found in its
    memory, with every change of it."""
    keys = _at(id(mapping) + KEYS)
    if _at(id(mapping) + VALUES):
        yield from of_dict(mapping)
        return
    found = _slots(keys)
    slots = [found.get(id(name)) for name in map(sys.intern, names) if name in mapping]
    missing = any(name not in mapping for name in names)  # a builtin may come to be hidden
    if None in slots or (missing and not _stamped(mapping, keys)):
        yield from of_dict(mapping)
        return
    yield id(mapping) + KEYS, keys  # first: the others are read where it has not changed
    yield from (_word(slot) for slot in slots if slot is not None)
    if missing:
        yield _word(keys + LOG2_SIZE)


def _stamped(mapping: dict[Any, Any], keys: int) -> bool:
    """Whether a dict's keys have a number of their own, which the next key that comes or goes
    takes away: the interpreter gives one where globals are loaded again and again."""
    load = FunctionType(_LOADS_A_BUILTIN, mapping)
    for _ in range(_WARM):
        load()
    return _at(keys + LOG2_SIZE) >> 32 != 0


def _slots(keys: int) -> dict[int, int]:
    """By the identity of a key: the address of its value."""
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
    """Changes when a closure's variable is bound anew."""
    yield _word(id(cell) + CONTENT)


def of_function(function: FunctionType) -> Iterator[Word]:
    """Changes when a function's ``__code__``, ``__defaults__`` or ``__kwdefaults__`` is set, or
    an item of the last."""
    yield from (_word(id(function) + offset) for offset in _OFFSETS)
    if function.__kwdefaults__:
        yield from of_dict(function.__kwdefaults__)


# ---- whether it is so ---------------------------------------------------------------------


def _offsets() -> tuple[int, ...]:
    """Where a function has its code and its defaults."""

    def sample(x: Any = None, *, y: Any = None) -> Any:
        return x, y

    words = [_at(id(sample) + SIZE * i) for i in range(2, 12)]
    wanted = (id(sample.__code__), id(sample.__defaults__), id(sample.__kwdefaults__))
    return tuple(SIZE * (words.index(w) + 2) for w in wanted if w in words)


def _changes(words: Iterator[Word]) -> bool:
    return any(_at(address) != before for address, before in words)


def _is_known() -> bool:
    if sys.implementation.name != "cpython" or not (3, 12) <= sys.version_info[:2] <= (3, 13):
        return False
    if len(_OFFSETS) != 3 or ctypes.sizeof(ctypes.c_void_p) != SIZE:
        return False
    value: Any = object()
    mapping: dict[Any, Any] = {"first": value, "second": value}
    cell = CellType(value)
    names, anything = list(of_names(mapping, ["second"])), list(of_dict(mapping))
    missing, content = list(of_names(mapping, ["third"])), list(of_cell(cell))
    mapping["first"] = None
    if _changes(iter(names)) or not _changes(iter(anything)):
        return False
    mapping["second"] = cell.cell_contents = None
    if not (_changes(iter(names)) and _changes(iter(content))):
        return False
    # a traced interpreter gives keys no number: then every change of the dict tells
    stamped = missing[0] != anything[0]
    if stamped and _changes(iter(missing)):
        return False
    mapping["third"] = None
    return _changes(iter(missing))


_OFFSETS: Final = _offsets() if sys.implementation.name == "cpython" else ()
LAYOUT_KNOWN: Final = _is_known()
