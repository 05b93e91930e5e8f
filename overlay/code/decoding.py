"""Instructions in words that say the same on every Python version: what their arguments stand
for, how a call's slots are laid out, which operator they apply."""

from __future__ import annotations

import dis
import operator
import sys
from collections.abc import Callable, Iterator
from dis import Positions
from types import CodeType
from typing import Any, NamedTuple, TypeVar

from overlay.code.operators import BINARY, COMPARE, UNARY
from overlay.code.own_builtins import __builtins__  # noqa: F401

__all__ = ["Instruction", "call_slots", "decoded", "operator_of", "take_call"]

T = TypeVar("T")

_NULL_FIRST = sys.version_info < (3, 13)
# loads of which the lowest bit of the argument says that they push two slots for a call
_FLAGGED = {"LOAD_GLOBAL", "LOAD_SUPER_ATTR", "LOAD_ATTR"}
_CALLS = {"CALL", "CALL_KW", "CALL_FUNCTION_EX"}


class Instruction(NamedTuple):
    """One instruction. arg: as it is encoded. value: what that stands for: a constant, a name,
    the names of two variables, that of an intrinsic function; for a call, the names of its
    keywords as far as an instruction before it tells them. for_call: whether it pushes two
    slots: a callable, and a receiver or NULL. at: its place in the source."""

    name: str
    arg: int
    value: Any
    for_call: bool
    at: Positions


def decoded(code: CodeType) -> Iterator[Instruction]:
    """The instructions of a code object, as a ``Listing`` counts them: without prefixes and
    caches."""
    keywords: tuple[str, ...] = ()
    for ins in dis.get_instructions(code):
        name, arg, value = ins.opname, ins.arg or 0, ins.argval
        if name == "EXTENDED_ARG":
            continue
        if name == "KW_NAMES":
            keywords = code.co_consts[arg]
        elif name in _CALLS:
            value, keywords = keywords, ()
        elif name.startswith("CALL_INTRINSIC_"):
            value = ins.argrepr
        for_call = name in _FLAGGED and bool(arg & 1)
        yield Instruction(name, arg, value, for_call, ins.positions or Positions())


# ---- calls --------------------------------------------------------------------------------


def call_slots[T](callee: T, null: T) -> list[T]:
    """What a load that is for a call pushes where there is no receiver."""
    return [null, callee] if _NULL_FIRST else [callee, null]


def take_call[T](ins: Instruction, stack: list[T]) -> tuple[T, T, list[T] | None, T | None]:
    """Pop what a call takes: its two slots, the lower one first; the arguments, None where they
    are unpacked; and the slot with the names of their keywords, where there is one."""
    names = stack.pop() if ins.name == "CALL_KW" else None
    count = 1 + (ins.arg & 1) if ins.name == "CALL_FUNCTION_EX" else ins.arg
    args = stack[len(stack) - count :]
    del stack[len(stack) - count :]
    second, first = stack.pop(), stack.pop()
    return first, second, None if ins.name == "CALL_FUNCTION_EX" else args, names


# ---- operators ----------------------------------------------------------------------------

# The operator functions, and how far from the top of the stack their operands lie.
_OPERATORS: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    **{name: (function, (0,)) for name, function in UNARY.items()},
    "UNARY_NOT": (operator.not_, (0,)),
    "CONTAINS_OP": (operator.contains, (0, 1)),
    "BINARY_SUBSCR": (operator.getitem, (1, 0)),
    "BINARY_SLICE": (operator.getitem, (2, 1, 0)),
    "DELETE_SUBSCR": (operator.delitem, (1, 0)),
    "STORE_SUBSCR": (operator.setitem, (1, 0, 2)),
    "STORE_SLICE": (operator.setitem, (2, 1, 0, 3)),
}


def operator_of(ins: Instruction) -> tuple[Callable[..., Any], tuple[int, ...]] | None:
    """The operator function that an instruction applies, and how far from the top of the stack
    its operands lie; None where it applies none."""
    if ins.name == "BINARY_OP":
        return BINARY[ins.arg], (1, 0)
    if ins.name == "COMPARE_OP":
        return COMPARE[ins.value], (1, 0)
    if ins.name == "IS_OP":
        return (operator.is_not if ins.arg else operator.is_), (1, 0)
    if ins.name == "CALL_INTRINSIC_1" and ins.value == "INTRINSIC_UNARY_POSITIVE":
        return operator.pos, (0,)
    return _OPERATORS.get(ins.name)
