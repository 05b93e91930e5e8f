"""Instructions that apply functions without calling them, as each version of Python has them."""

from __future__ import annotations

import dis
import operator
import sys
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

from overlay.code.operators import BINARY, COMPARE, UNARY

__all__ = ["APPLIED", "applied"]

# What stands on the stack at an instruction: see traps.h.
_NOTHING, _INERT, _BINARY, _UNARY, _CONTAINS, _SET, _GET_SLICE, _SET_SLICE = range(8)
_TRUTH, _IDENTITY, _NEGATION, _INLINED = range(8, 12)

_POSITIVE = 5  # intrinsic function of one argument
_SUBSCRIPT = 26  # of BINARY_OP, from 3.14 on

_SHAPES: dict[str, tuple[int, Callable[..., Any]]] = {
    "BINARY_SUBSCR": (_BINARY, operator.getitem),
    "DELETE_SUBSCR": (_BINARY, operator.delitem),
    "STORE_SUBSCR": (_SET, operator.setitem),
    "BINARY_SLICE": (_GET_SLICE, operator.getitem),
    "STORE_SLICE": (_SET_SLICE, operator.setitem),
    "CONTAINS_OP": (_CONTAINS, operator.contains),
    **{name: (_UNARY, function) for name, function in UNARY.items()},
}
_BUILTINS: tuple[Any, ...] = (any, all, tuple, list, set)
_OF_ONE_ARGUMENT: tuple[Any, ...] = (str, type, tuple)
APPLIED: list[Any] = [
    *(*BINARY, *COMPARE.values(), *UNARY.values(), operator.not_, operator.is_, operator.is_not),
    *(operator.contains, operator.getitem, operator.setitem, operator.delitem),
    *(*_BUILTINS, str, type, super),
]
"""All functions that instructions apply."""


def applied(code: CodeType) -> Iterator[tuple[int, int, Any, int]]:
    """The instructions that apply a target: offset, shape, target, and whether they negate.

    One that may call one of several is told for each.
    """
    before = None
    for ins in dis.get_instructions(code):
        name, arg = ins.opname, ins.arg or 0
        if name in _SHAPES:
            yield ins.offset, *_SHAPES[name], 0
        elif name == "BINARY_OP":
            if arg < len(BINARY):
                yield ins.offset, _BINARY, BINARY[arg], 0
            elif arg == _SUBSCRIPT:
                yield ins.offset, _BINARY, operator.getitem, 0
        elif name == "COMPARE_OP":
            yield ins.offset, _BINARY, COMPARE[ins.argval], 0
        elif name == "CALL_INTRINSIC_1" and arg == _POSITIVE:
            yield ins.offset, _UNARY, operator.pos, 0
        elif name == "IS_OP":
            if before is not None and before.opname == "LOAD_COMMON_CONSTANT":
                builtin: Any = before.argval
                if any(builtin is one for one in _BUILTINS):
                    yield ins.offset, _INLINED, builtin, 0
            else:
                yield ins.offset, _IDENTITY, operator.is_not if arg else operator.is_, arg
        elif name == "UNARY_NOT":
            if sys.version_info < (3, 13):
                yield ins.offset, _TRUTH, operator.not_, 0
            elif before is not None and before.opname == "TO_BOOL":
                yield before.offset, _TRUTH, operator.not_, 0
            else:
                yield ins.offset, _NEGATION, operator.not_, 0
        elif name == "CALL" and arg == 1:
            for builtin in _OF_ONE_ARGUMENT:
                yield ins.offset, _INERT, builtin, 0
        elif name == "LOAD_SUPER_ATTR":
            yield ins.offset, _INERT, super, 0
        before = ins
