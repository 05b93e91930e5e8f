"""Translation of the instructions of CPython 3.14 and 3.15 to those of 3.12 and 3.13.

New instructions are recognised by name, so code without them is unchanged. An instruction or a
sequence is translated only to one of equal meaning: the values that it leaves on the stack, and
those that the handlers of its region find there, are equal but for slots that hold NULL.
"""

from __future__ import annotations

import dis
import importlib
import opcode
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Any

from overlay.core.own_builtins import __builtins__

__all__ = ["common_constant", "made", "rewritten", "translated", "unthreaded"]

_OP = dis.opmap
_COMMON: Sequence[Any] = getattr(opcode, "_common_constants", ())
_SYMBOLS = [symbol for _, symbol in getattr(opcode, "_nb_ops", ())]
_SUBSCRIPT = "[]"  # as an operator of BINARY_OP
_SPECIAL = {1: "BEFORE_WITH", 3: "BEFORE_ASYNC_WITH"}  # by which __exit__ is loaded

# Older instructions of equal meaning and stack effect. A borrowed reference differs from another
# only in its reference count; NOT_TAKEN is there for branch events.
_WORDS = {
    "LOAD_FAST_BORROW": "LOAD_FAST",
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": "LOAD_FAST_LOAD_FAST",
    "LOAD_SMALL_INT": "LOAD_CONST",
    "LOAD_COMMON_CONSTANT": "LOAD_CONST",
    "NOT_TAKEN": "NOP",
}
# GET_ITER's argument in ``yield from`` (3.15)
_YIELDS_FROM = 3

# An instruction before sequences are rewritten: its name, argument, and decoded argument (of a
# jump, the index of its target).
Row = tuple[str, int, Any]


def made() -> dict[str, type]:
    """The types of the objects that the instructions of template strings make."""
    if "BUILD_TEMPLATE" not in _OP:
        return {}
    types = importlib.import_module("string.templatelib")
    return {"BUILD_TEMPLATE": types.Template, "BUILD_INTERPOLATION": types.Interpolation}


def common_constant(arg: int) -> Any:
    """The constant that LOAD_COMMON_CONSTANT pushes."""
    return _COMMON[arg]


def translated(op: int, name: str, arg: int, value: Any) -> tuple[int, str, Any]:
    """Translate one instruction: an opcode with its stack effect, the older name, the value."""
    if name == "BINARY_OP":
        is_subscript = arg < len(_SYMBOLS) and _SYMBOLS[arg] == _SUBSCRIPT
        return op, "BINARY_SUBSCR" if is_subscript else name, value
    if name == "GET_ITER" and arg == _YIELDS_FROM:
        return op, "GET_YIELD_FROM_ITER", value
    word = _WORDS.get(name)
    if word is None:
        return op, name, value
    if name == "LOAD_COMMON_CONSTANT":
        value = common_constant(arg)
    return _OP.get(word, op), word, value


def rewritten(rows: Sequence[Row]) -> Iterator[tuple[int, int, str]]:
    """Yield the translations of sequences: index, an opcode with the stack effect, older name."""
    for at, (name, arg, _) in enumerate(rows):
        if name == "LOAD_SPECIAL" and arg in _SPECIAL:
            yield from _with_statement(at, rows)
        elif name == "IS_OP" and _is_guard(at, rows):
            yield from _never_inlined(at, rows)


def _with_statement(at: int, rows: Sequence[Row]) -> Iterator[tuple[int, int, str]]:
    """Translate the beginning of a ``with`` statement. Its six instructions turn ``manager`` into
    ``exit, receiver, entered`` on the stack, their translation into ``NULL, exit, entered``."""
    names = [row[0] for row in rows[at - 1 : at + 5]]
    if names != ["COPY", "LOAD_SPECIAL", "SWAP", "SWAP", "LOAD_SPECIAL", "CALL"]:
        return
    yield at - 1, _OP["PUSH_NULL"], "PUSH_NULL"
    # [manager, NULL] -> [NULL, manager]
    yield at, _OP["NOP"], "NOP"
    yield at + 1, _OP["SWAP"], "SWAP"
    yield at + 2, _OP["NOP"], "NOP"
    yield at + 3, _OP["NOP"], "NOP"
    yield at + 4, _OP["LOAD_SPECIAL"], _SPECIAL[rows[at][1]]


def _is_guard(at: int, rows: Sequence[Row]) -> bool:
    """Whether ``IS_OP`` guards an inlined call of ``all``, ``any``, ``tuple``, ``list`` or ``set``
    on a generator expression: a loop replaces the call while the name holds the builtin."""
    names = [row[0] for row in rows[at - 2 : at + 2]]
    return (
        names == ["COPY", "LOAD_CONST", "IS_OP", "POP_JUMP_IF_FALSE"]
        and rows[at - 2][1] == 1
        and any(rows[at - 1][2] is builtin for builtin in (all, any, tuple, list, set))
    )


def _never_inlined(at: int, rows: Sequence[Row]) -> Iterator[tuple[int, int, str]]:
    """Skip the inlined loop, as if the name held another function. The call that follows is what
    the source has, and means the same."""
    for place in (at - 2, at - 1, at):
        yield place, _OP["NOP"], "NOP"
    yield at + 1, _OP["JUMP_FORWARD"], "JUMP_FORWARD"
    for place in range(at + 2, rows[at + 1][2]):
        yield place, _OP["NOP"], "NOP"


# ---- jumps of `and` and `or` ----------------------------------------------------------------

_OTHERWISE = {"POP_JUMP_IF_TRUE": "POP_JUMP_IF_FALSE", "POP_JUMP_IF_FALSE": "POP_JUMP_IF_TRUE"}


def unthreaded(code: CodeType) -> CodeType:
    """Undo the jump threading of `and` and `or`, so that their jumps nest as up to CPython 3.13.

    In ``(a or b) and c``, a threaded jump goes from a true ``a`` past the test of ``a or b`` into
    the right side of `and`, the middle of another path. Here it goes to that test, which is true
    again. This is for readers of control flow: the meaning is equal if a truth value is the same
    on each test.
    """
    rows = [row for row in dis.get_instructions(code) if row.opname != "NOT_TAKEN"]
    place = {row.offset: i for i, row in enumerate(rows)}
    made = bytearray(code.co_code)
    for i, row in enumerate(rows):
        if row.opname not in _OTHERWISE or not _tests_copy(rows, i):
            continue
        last = place.get(row.argval, 0) - 1
        if last > i and rows[last].opname == _OTHERWISE[row.opname] and _tests_copy(rows, last):
            low = row.arg - (row.argval - rows[last - 2].offset) // 2
            assert low >= 0  # the test that is the new target is after the jump
            _write_argument(made, row.offset, low)
    return code.replace(co_code=bytes(made))


def _tests_copy(rows: Sequence[dis.Instruction], at: int) -> bool:
    """Whether a jump tests the truth of a copy of a value that stays on the stack."""
    before = rows[max(at - 2, 0) : at]
    return [row.opname for row in before] == ["COPY", "TO_BOOL"] and before[0].arg == 1


def _write_argument(made: bytearray, offset: int, value: int) -> None:
    """Set an instruction's argument to a smaller one; its EXTENDED_ARG prefixes stay, with the
    higher bits."""
    made[offset + 1] = value & 0xFF
    extended = _OP["EXTENDED_ARG"]
    while (value := value >> 8) or (offset >= 2 and made[offset - 2] == extended):
        offset -= 2
        made[offset + 1] = value & 0xFF
