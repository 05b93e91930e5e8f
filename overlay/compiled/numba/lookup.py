"""A hash table of functions by words, for lookups in compiled code.

Only Python writes it, under the lock of tables and with the GIL. Compiled code without the GIL may
read at the same time: the table has a version that is odd during a write, and a result is valid
only if the version was the same and even before and after.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from llvmlite import ir as llvm
from numba.core import cgutils

from overlay.compiled.numba.memory_words import CHARACTERS, WORD, bytes_of_text

__all__ = ["Table", "look_up"]

# 2**64 over the golden ratio: the upper bits of a product with it differ where words do.
SPREAD: Final = 0x9E3779B97F4A7C15
ALL: Final = (1 << 64) - 1
SIZE: Final = 8
# offsets in an entry: its function, its last use, and the start of its key
FUNCTION, LAST, KEY = 0, 1, 2
# offsets in the header
VERSION, HITS = 0, 1


class _LookupEntry(NamedTuple):
    function: int
    last: int


class Table:
    """Hash table from words of these kinds to functions, with at most ``limit`` entries."""

    def __init__(self, kinds: Sequence[str], limit: int) -> None:
        self.kinds = tuple(kinds)
        self.limit = limit
        self.bits = (limit * 2 - 1).bit_length()
        self.stride = KEY + len(self.kinds)
        self.evictions = 0
        self._header = (ctypes.c_uint64 * 2)()
        self._words = (ctypes.c_uint64 * (self.stride << self.bits))()
        self._entries: dict[tuple[int, ...], _LookupEntry] = {}
        self._places: dict[tuple[int, ...], int] = {}
        self._texts: dict[bytes, Any] = {}  # never freed: a thread may be reading one
        self._order = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def header(self) -> int:
        """The address of its version and hits."""
        return ctypes.addressof(self._header)

    @property
    def entries(self) -> int:
        """The address of its entries."""
        return ctypes.addressof(self._words)

    @property
    def hits(self) -> int:
        """The number of lookups in which compiled code has found an entry. Some are lost where
        several threads without the GIL count at once."""
        return self._header[HITS]

    def insert(self, address: int, function: int) -> None:
        """Map the words at an address to a function; a full table drops the least recently used
        entry."""
        used = {key: self._words[self._places[key] + LAST] for key in self._entries}
        self._entries = {k: e._replace(last=used[k]) for k, e in self._entries.items()}
        key = self._key(address)
        self._entries.pop(key, None)
        while len(self._entries) >= self.limit:
            del self._entries[min(self._entries, key=lambda each: self._entries[each].last)]
            self.evictions += 1
        self._entries[key] = _LookupEntry(function, self.hits)
        self._write()

    def clear(self) -> None:
        """Drop all entries."""
        self._entries = {}
        self._write()

    def _key(self, address: int) -> tuple[int, ...]:
        words = list((ctypes.c_uint64 * len(self.kinds)).from_address(address))
        for i, kind in enumerate(self.kinds):
            if kind == CHARACTERS:
                text = ctypes.string_at(words[i], bytes_of_text(words[i - 1]))
                held = self._texts.setdefault(text, ctypes.create_string_buffer(text, len(text)))
                words[i] = ctypes.addressof(held)
        return tuple(words)

    def _write(self) -> None:
        self._step()
        ctypes.memset(self._words, 0, ctypes.sizeof(self._words))
        self._places = {}
        for key, entry in self._entries.items():
            place = self._first_place(key)
            while self._words[place * self.stride + FUNCTION]:
                place = (place + 1) & ((1 << self.bits) - 1)
            start = self._places[key] = place * self.stride
            self._words[start : start + self.stride] = [entry.function, entry.last, *key]
        self._step()

    def _step(self) -> None:
        with self._order:  # so that processors see the writes in this order
            self._header[VERSION] += 1

    def _first_place(self, key: tuple[int, ...]) -> int:
        """First slot of a key; compiled code computes it by ``_write_first_place``."""
        mixed = 0
        for i, (kind, word) in enumerate(zip(self.kinds, key, strict=True)):
            if kind == CHARACTERS:
                text = ctypes.string_at(word, bytes_of_text(key[i - 1]))
                word = text[0] | text[-1] << 8 if text else 0
            mixed = ((mixed ^ word ^ (word >> 32)) * SPREAD) & ALL
        return mixed >> (64 - self.bits)


# ---- code generation ----------------------------------------------------------------------


def look_up(builder: Any, table: Table, words: Sequence[Any]) -> Any:
    """The function for these words, as a word, or 0; updates its last use."""
    return _LookUp(builder, table, words).write()


class _LookUp:
    """Generates the code of a lookup."""

    def __init__(self, builder: Any, table: Table, words: Sequence[Any]) -> None:
        self.builder = builder
        self.table = table
        self.words = words
        self.header = self._pointer(WORD(table.header))
        self.found = cgutils.alloca_once_value(builder, WORD(0))

    def _pointer(self, word: Any) -> Any:
        return self.builder.inttoptr(word, WORD.as_pointer())

    def _load(self, pointer: Any, index: int) -> Any:
        place = self.builder.gep(pointer, (WORD(index),))
        return self.builder.load_atomic(place, "acquire", SIZE)

    def write(self) -> Any:
        builder = self.builder
        builder.store(WORD(0), self.found)
        first = self._write_first_place()
        self.version = self._load(self.header, VERSION)
        blocks = [builder.append_basic_block(f"table.{n}") for n in ("test", "next", "end")]
        test, next_, end = blocks
        before = builder.block
        is_written = builder.trunc(self.version, llvm.IntType(1))
        builder.cbranch(is_written, end, test)

        builder.position_at_end(test)
        place = builder.phi(WORD)
        place.add_incoming(first, before)
        offset = builder.mul(place, WORD(self.table.stride * SIZE))
        entry = self._pointer(builder.add(WORD(self.table.entries), offset))
        function = self._load(entry, FUNCTION)
        with builder.if_then(builder.icmp_unsigned("==", function, WORD(0)), likely=False):
            builder.branch(end)
        with builder.if_then(self._is_same(entry)):
            self._use(entry, function)
            builder.branch(end)
        builder.branch(next_)

        builder.position_at_end(next_)
        following = builder.and_(builder.add(place, WORD(1)), WORD((1 << self.table.bits) - 1))
        place.add_incoming(following, next_)
        builder.branch(test)
        builder.position_at_end(end)
        return builder.load(self.found)

    def _use(self, entry: Any, function: Any) -> None:
        builder = self.builder
        with builder.if_then(self._is_unchanged()):
            count = builder.gep(self.header, (WORD(HITS),))
            hits = builder.add(builder.load(count), WORD(1))
            builder.store(hits, count)
            builder.store(hits, builder.gep(entry, (WORD(LAST),)))
            builder.store(function, self.found)

    def _is_unchanged(self) -> Any:
        return self.builder.icmp_unsigned("==", self._load(self.header, VERSION), self.version)

    def _is_same(self, entry: Any) -> Any:
        """Whether an entry has the words."""
        builder, same = self.builder, llvm.IntType(1)(1)
        texts: list[tuple[Any, Any, Any]] = []
        for i, (kind, word) in enumerate(zip(self.table.kinds, self.words, strict=True)):
            held = self._load(entry, KEY + i)
            if kind == CHARACTERS:
                texts.append((held, word, self._bytes(self.words[i - 1])))
            else:
                same = builder.and_(same, builder.icmp_unsigned("==", held, word))
        if not texts:
            return same
        result = cgutils.alloca_once_value(builder, llvm.IntType(1)(0))
        builder.store(llvm.IntType(1)(0), result)
        # the address of the text may have been read during a write
        with builder.if_then(builder.and_(same, self._is_unchanged())):
            equal = llvm.IntType(1)(1)
            for text in texts:
                equal = builder.and_(equal, self._same_text(*text))
            builder.store(equal, result)
        return builder.load(result)

    def _same_text(self, one: Any, other: Any, size: Any) -> Any:
        characters = llvm.IntType(8).as_pointer()
        kind = llvm.FunctionType(llvm.IntType(32), (characters, characters, WORD))
        compare = cgutils.get_or_insert_function(self.builder.module, kind, "memcmp")
        pointers = [self.builder.inttoptr(text, characters) for text in (one, other)]
        differs = self.builder.call(compare, (*pointers, size))
        return self.builder.icmp_signed("==", differs, llvm.IntType(32)(0))

    def _bytes(self, text: Any) -> Any:
        builder = self.builder
        return builder.mul(builder.lshr(text, WORD(3)), builder.and_(text, WORD(7)))

    def _write_first_place(self) -> Any:
        builder, mixed = self.builder, WORD(0)
        for i, (kind, word) in enumerate(zip(self.table.kinds, self.words, strict=True)):
            if kind == CHARACTERS:
                word = self._ends(word, self._bytes(self.words[i - 1]))
            folded = builder.xor(word, builder.lshr(word, WORD(32)))
            mixed = builder.mul(builder.xor(mixed, folded), WORD(SPREAD))
        return builder.lshr(mixed, WORD(64 - self.table.bits))

    def _ends(self, text: Any, size: Any) -> Any:
        """The first and the last byte of a text."""
        builder = self.builder
        result = cgutils.alloca_once_value(builder, WORD(0))
        builder.store(WORD(0), result)
        with builder.if_then(builder.icmp_unsigned("!=", size, WORD(0))):
            characters = builder.inttoptr(text, llvm.IntType(8).as_pointer())
            last = builder.gep(characters, (builder.sub(size, WORD(1)),))
            ends = [builder.zext(builder.load(each), WORD) for each in (characters, last)]
            builder.store(builder.or_(ends[0], builder.shl(ends[1], WORD(8))), result)
        return builder.load(result)
