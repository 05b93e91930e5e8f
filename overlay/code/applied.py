"""Instructions that apply a function without a call, and call instructions, on each version of
Python."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

from overlay.code.operators import BINARY, COMPARE, UNARY
from overlay.code.py314 import common_constant
from overlay.code.versions import (
    DICT_ALWAYS_PASSED,
    EMPTY_PLACE_FIRST,
    EXIT_HAS_RECEIVER,
    NOT_TAKES_BOOL,
)
from overlay.core.own_builtins import __builtins__, own_copy

__all__ = ["APPLIED", "INLINED", "applied", "calls"]

_dis: Any = own_copy("dis")
# Layout of the operands on the stack at an instruction: see traps.h.
_NOTHING, _INERT, _BINARY, _UNARY, _CONTAINS, _SET, _GET_SLICE, _SET_SLICE = range(8)
_TRUTH, _IDENTITY, _NEGATION, INLINED = range(8, 12)
_TEXT, _FORMATTED, _CALL, _CALL_ALL = range(12, 16)

_POSITIVE = 5  # intrinsic function of one argument
_SUBSCRIPT = 26  # of BINARY_OP, from 3.14 on

_SHAPES: dict[str, tuple[int, Callable[..., Any]]] = {
    "BINARY_SUBSCR": (_BINARY, operator.getitem),
    "DELETE_SUBSCR": (_BINARY, operator.delitem),
    "STORE_SUBSCR": (_SET, operator.setitem),
    "BINARY_SLICE": (_GET_SLICE, operator.getitem),
    "STORE_SLICE": (_SET_SLICE, operator.setitem),
    "CONTAINS_OP": (_CONTAINS, operator.contains),
    "FORMAT_WITH_SPEC": (_FORMATTED, format),
    **{name: (_UNARY, function) for name, function in UNARY.items()},
}
_BUILTINS: tuple[Any, ...] = (any, all, tuple, list, set)
_LOADS_FOR_CALL = ("LOAD_ATTR", "LOAD_GLOBAL", "LOAD_SUPER_ATTR")  # if their lowest bit is set
_CONVERSIONS: dict[int, Any] = {1: str, 2: repr, 3: ascii}
_OF_ONE_ARGUMENT: tuple[Any, ...] = (str, type, tuple)
APPLIED: list[Any] = [
    *(*BINARY, *COMPARE.values(), *UNARY.values(), operator.not_, operator.is_, operator.is_not),
    *(operator.contains, operator.getitem, operator.setitem, operator.delitem),
    *(*_BUILTINS, str, type, super, format, repr, ascii),
]
"""All functions that instructions apply."""


def applied(code: CodeType) -> Iterator[tuple[int, int, Any, int]]:
    """Yield the instructions that apply a target: offset, shape, target, argument.

    The argument says whether the result is negated, or for a conversion to a string the distance
    of the operand from the end of the stack. An instruction with several possible targets is
    yielded once for each.
    """
    before = None
    for ins in _dis.get_instructions(code):
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
        elif name == "FORMAT_SIMPLE":
            yield ins.offset, _TEXT, format, 1
        elif name == "CONVERT_VALUE":
            yield ins.offset, _TEXT, _CONVERSIONS[arg], 1
        elif name == "FORMAT_VALUE":  # 3.12: a conversion, and whether there is a specification
            conversion, specified = arg & 3, bool(arg & 4)
            if conversion:
                yield ins.offset, _TEXT, _CONVERSIONS[conversion], 1 + specified
            else:
                yield ins.offset, _FORMATTED if specified else _TEXT, format, 1
        elif name == "CALL_INTRINSIC_1" and arg == _POSITIVE:
            yield ins.offset, _UNARY, operator.pos, 0
        elif name == "IS_OP":
            if before is not None and before.opname == "LOAD_COMMON_CONSTANT":
                builtin: Any = common_constant(before.arg or 0)
                if any(builtin is one for one in _BUILTINS):
                    yield ins.offset, INLINED, builtin, 0
            else:
                yield ins.offset, _IDENTITY, operator.is_not if arg else operator.is_, arg
        elif name == "UNARY_NOT":
            if not NOT_TAKES_BOOL:
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


def calls(code: CodeType) -> Iterator[tuple[int, int, int]]:
    """Yield the instructions for calls written in the source: offset, shape, and the distance of
    the call's lowest slot from the end of the stack."""
    before: list[Any] = []  # the last four
    for ins in _dis.get_instructions(code):
        name, arg = ins.opname, ins.arg or 0
        if name == "CALL" and not _is_of_with(arg, before):
            yield ins.offset, _CALL, arg + 2
        elif name == "CALL_KW":
            yield ins.offset, _CALL, arg + 3
        elif name == "CALL_FUNCTION_EX":
            has_dict = DICT_ALWAYS_PASSED or bool(arg & 1)
            yield ins.offset, _CALL_ALL, 2 + has_dict + (not EMPTY_PLACE_FIRST)
        before = [*before[-3:], ins]


def _is_of_with(arg: int, before: list[Any]) -> bool:
    """Whether a call after these instructions is a ``with`` statement's own call of ``__enter__``,
    ``__exit__``, or their asynchronous forms."""
    if before and before[-1].opname == "LOAD_SPECIAL":
        return True
    are_none = [_is_none(ins) for ins in before[-3:]]
    if not EXIT_HAS_RECEIVER:  # the first of three arguments lies there
        return arg == 2 and are_none == [True] * 3
    pushes_callee = len(before) == 4 and (
        before[0].opname == "PUSH_NULL"
        or (before[0].opname in _LOADS_FOR_CALL and bool((before[0].arg or 0) & 1))
    )
    return arg == 3 and are_none == [True] * 3 and not pushes_callee


def _is_none(ins: Any) -> bool:
    if ins.opname == "LOAD_COMMON_CONSTANT":
        return common_constant(ins.arg or 0) is None
    return ins.opname == "LOAD_CONST" and ins.argval is None
