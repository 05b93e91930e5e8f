"""CPython 3.13: ``[callable, self | NULL, args...] CALL n``, and ``CALL_KW``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bytecode import Bytecode, Instr
from bytecode.instr import InstrLocation

from overlay.python.emit.common import Edits, Emitter, Stack, Tag, previous
from overlay.python.emit.py312 import rewrite_unary_plus

MAPPED_WHERE_PUSHED = frozenset({"method", "static method", "global"})


class Emitter313(Emitter):
    """CPython 3.13."""

    CALLS = frozenset({"CALL", "CALL_KW"})

    def is_method_load(self, ins: Instr) -> bool:
        return ins.name in ("LOAD_ATTR", "LOAD_SUPER_ATTR") and ins.arg[0]

    def global_call_slots(self, index: int) -> Stack:
        return [Tag("global", index), Tag("null", index)]

    def rewrite_call(
        self,
        index: int,
        code: Bytecode,
        stack: Stack,
        new_site: Callable[[int | None], Any],
        edits: Edits,
    ) -> None:
        ins = code[index]
        at = ins.location
        if ins.name == "CALL_FUNCTION_EX":
            edits.insert(index, self.map_deep(3 + (ins.arg & 1), new_site(None), at))
            return
        keywords = ins.name == "CALL_KW"
        arity = None if keywords else ins.arg
        depth = ins.arg + 2 + keywords
        first, second = stack[-depth], stack[-depth + 1]
        kind = None if first is None else first.kind
        if kind in ("exit", "build class") or (kind == "function" and second is None):
            return
        at_null = kind not in MAPPED_WHERE_PUSHED and second is not None and second.kind == "null"
        producer = second if at_null else first if kind in MAPPED_WHERE_PUSHED else None
        if producer is not None and not edits.once(producer.index):
            return
        if kind == "method" and first is not None:
            load = code[first.index]
            swap = Instr("SWAP", 2, location=load.location)
            site = self.map_top(new_site(None), load.location)
            edits.replace(first.index, [load, swap, *site, swap])
        elif kind in ("static method", "global") and first is not None:
            load = code[first.index]
            plain = Instr(load.name, (False, *load.arg[1:]), location=load.location)
            null = Instr("PUSH_NULL", location=load.location)
            site = self.map_top(new_site(arity), load.location)
            edits.replace(first.index, [plain, *site, null])
        elif at_null and second is not None:
            edits.insert(second.index, self.map_top(new_site(arity), at))
        else:
            edits.insert(index, self.map_deep(depth, new_site(None), at))

    def call(self, count: int, function: Any, at: InstrLocation | None) -> list[Instr]:
        rotate = Instr("SWAP", count + 1, location=at)
        order = [Instr("SWAP", 2, location=at), Instr("SWAP", 3, location=at)]
        return [
            Instr("LOAD_CONST", function, location=at),
            rotate,
            Instr("PUSH_NULL", location=at),
            rotate,
            *(order if count == 3 else []),
            Instr("CALL", count, location=at),
        ]

    def as_bool(self, at: InstrLocation | None) -> list[Instr]:
        return [Instr("TO_BOOL", location=at)]

    def negated(self, at: InstrLocation | None) -> list[Instr]:
        return [Instr("TO_BOOL", location=at), Instr("UNARY_NOT", location=at)]

    def rewrite_not(self, index: int, code: Bytecode, function: Any | None, edits: Edits) -> None:
        before = previous(code, index)
        if before is not None and code[before].name == "TO_BOOL" and function is not None:
            edits.replace(before, [])
            super().rewrite_not(index, code, function, edits)

    def rewrite_operator(
        self, index: int, code: Bytecode, dispatcher: Callable[[Any], Any | None], edits: Edits
    ) -> None:
        rewrite_unary_plus(self, index, code, dispatcher, edits)
        super().rewrite_operator(index, code, dispatcher, edits)
