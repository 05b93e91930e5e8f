"""Table of the handlers that turn instructions into statements, by instruction name."""

from __future__ import annotations

from collections.abc import Callable

from overlay.code.call_instructions import CALL_INSTRUCTIONS
from overlay.code.container_instructions import CONTAINER_INSTRUCTIONS
from overlay.code.decoding import Instruction
from overlay.code.effects import INERT
from overlay.code.stack_instructions import STACK_INSTRUCTIONS, other
from overlay.code.statements import Statements

__all__ = ["INSTRUCTIONS", "put_down"]

INSTRUCTIONS: dict[str, Callable[[Statements, Instruction], None]] = {
    **STACK_INSTRUCTIONS,
    **CALL_INSTRUCTIONS,
    **CONTAINER_INSTRUCTIONS,
}


def put_down(to: Statements, ins: Instruction) -> None:
    """Add the statements of an instruction that does not jump."""
    known = INSTRUCTIONS.get(ins.name)
    if known is not None:
        known(to, ins)
    elif ins.op in INERT:
        to.follow(ins)
    else:
        other(to, ins)
