"""The instructions, jumps and exception regions of a code object, by index.

The formats are those of CPython 3.12 to 3.15.
"""

from __future__ import annotations

import dis
import opcode
from types import CodeType
from typing import Any, NamedTuple

from overlay.core.own_builtins import __builtins__

__all__ = ["CACHES", "COMPREHENSIONS", "EXTENDED_ARG", "JUMPS", "Listing", "Region"]

EXTENDED_ARG = dis.EXTENDED_ARG
_COUNTS: Any = getattr(opcode, "_inline_cache_entries")  # noqa: B009 (a list, or by name)
CACHES: list[int] = (
    list(_COUNTS)
    if isinstance(_COUNTS, list)
    else [_COUNTS.get(name, 0) for name in opcode.opname[:256]]
)
# END_ASYNC_FOR has its loop's end as argument, for branch events, but does not jump there.
JUMPS = frozenset(
    op
    for op in (*dis.hasjrel, *dis.hasjabs)
    if op < 256 and not opcode.opname[op].endswith("END_ASYNC_FOR")
)
BACKWARD = frozenset(op for op in JUMPS if "BACKWARD" in opcode.opname[op])
# Names of code objects that the enclosing code runs in place.
COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})


class Region(NamedTuple):
    """An exception region: instructions from ``start`` to before ``end``, handled at ``target``;
    all by index. depth: of the stack that the handler keeps. lasti: whether the offset of the
    raising instruction is pushed too."""

    start: int
    end: int
    target: int
    depth: int
    lasti: bool


class Listing:
    """The instructions of a code object, as parallel lists: opcodes, arguments, and starts in
    units of two bytes (with the code's end as one more).

    targets: of each jump, by index, the index of its target.
    """

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.ops: list[int] = []
        self.args: list[int] = []
        self.starts: list[int] = []
        self._read(code.co_code)
        self.index = {start: k for k, start in enumerate(self.starts)}
        self.targets = {
            k: self.index[self._target(k)] for k, op in enumerate(self.ops) if op in JUMPS
        }
        self.regions = [
            Region(self.index[a], self.index[b], self.index[target], depth, lasti)
            for a, b, target, depth, lasti in _read_regions(code.co_exceptiontable)
        ]

    def _read(self, raw: bytes) -> None:
        ops, args, starts = self.ops, self.args, self.starts
        at = start = high = 0
        end = len(raw)
        while at < end:
            op = raw[at]
            arg = raw[at + 1] | high
            if op == EXTENDED_ARG:
                high = arg << 8
                at += 2
                continue
            ops.append(op)
            args.append(arg)
            starts.append(start)
            at += 2 + 2 * CACHES[op]
            start = at >> 1
            high = 0
        starts.append(end >> 1)

    def _target(self, k: int) -> int:
        distance = self.args[k]
        return self.starts[k + 1] + (-distance if self.ops[k] in BACKWARD else distance)


def _read_regions(table: bytes) -> list[tuple[int, int, int, int, bool]]:
    numbers = list[int]()
    value = 0
    for byte in table:
        value = value << 6 | byte & 63
        if not byte & 64:
            numbers.append(value)
            value = 0
    rows = (numbers[i : i + 4] for i in range(0, len(numbers), 4))
    return [(a, a + size, target, d >> 1, bool(d & 1)) for a, size, target, d in rows]
