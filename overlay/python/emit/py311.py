"""CPython 3.11: the layout of 3.12, with ``LOAD_METHOD`` and ``PRECALL``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bytecode import Bytecode, Instr
from bytecode.instr import InstrLocation

from overlay.python.emit.common import Edits, Emitter
from overlay.python.emit.py312 import Emitter312


class Emitter311(Emitter312):
    """CPython 3.11."""

    JUMP_IF_FALSE = "POP_JUMP_FORWARD_IF_FALSE"
    CALLS = frozenset({"PRECALL"})
    LOAD_CHECKED = "LOAD_FAST"

    def is_method_load(self, ins: Instr) -> bool:
        return ins.name == "LOAD_METHOD"

    def load_attr(self, name: str, at: InstrLocation | None) -> Instr:
        return Instr("LOAD_ATTR", name, location=at)

    def invoke(self, count: int, at: InstrLocation | None) -> list[Instr]:
        return [Instr("PRECALL", count, location=at), Instr("CALL", count, location=at)]

    def rewrite_operator(
        self, index: int, code: Bytecode, dispatcher: Callable[[Any], Any | None], edits: Edits
    ) -> None:
        Emitter.rewrite_operator(self, index, code, dispatcher, edits)
