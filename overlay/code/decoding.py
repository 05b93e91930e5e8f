"""Instructions decoded alike on every Python version: the meaning of their arguments, the layout
of a call's slots, the operator that they apply."""

from __future__ import annotations

import dis
import opcode
import operator
from collections.abc import Callable, Iterable, Sequence
from dis import Positions
from types import CodeType
from typing import Any, NamedTuple, TypeVar

from overlay.code import py314
from overlay.code.listing import CACHES, Listing
from overlay.code.operators import BINARY, COMPARE, UNARY
from overlay.code.versions import (
    DICT_ALWAYS_PASSED,
    EMPTY_PLACE_FIRST,
    FLAGS,
    INDEX_ABOVE_ITERATOR,
)
from overlay.core.own_builtins import __builtins__

__all__ = [
    "MADE",
    "OPERATORS",
    "Instruction",
    "TakenCall",
    "call_slots",
    "decoded",
    "decoded_listing",
    "iterator_place",
    "iterator_slots",
    "made_by",
    "operator_of",
    "take_call",
]

T = TypeVar("T")

# loads that push two slots for a call if the lowest bit of their argument is set
_FLAGGED = {"LOAD_GLOBAL", "LOAD_SUPER_ATTR", "LOAD_ATTR"}
_CALLS = {"CALL", "CALL_KW", "CALL_FUNCTION_EX"}

# The types of the objects that instructions make.
MADE: dict[str, type] = {
    **{"BUILD_LIST": list, "BUILD_TUPLE": tuple, "BUILD_SET": set, "BUILD_SLICE": slice},
    **{"BUILD_MAP": dict, "BUILD_CONST_KEY_MAP": dict, "BUILD_STRING": str},
    **{"FORMAT_VALUE": str, "FORMAT_SIMPLE": str, "FORMAT_WITH_SPEC": str, "CONVERT_VALUE": str},
    **py314.made(),
}


class Instruction(NamedTuple):
    """One instruction. op: an opcode with the same effect on the stack, mostly its own.
    arg: as it is encoded. value: the decoded argument: a constant, a name, the names of two
    variables, the name of an intrinsic function; for a call, the names of its keywords if an
    earlier instruction has them. for_call: whether it pushes two slots: a callable, and a
    receiver or NULL. at: its position in the source."""

    op: int
    name: str
    arg: int
    value: Any
    for_call: bool
    at: Positions


def decoded(code: CodeType) -> list[Instruction]:
    """The instructions of a code object, with the indices of a ``Listing``: without prefixes and
    caches."""
    return decoded_listing(Listing(code))


def decoded_listing(listing: Listing) -> list[Instruction]:
    """The instructions of a ``Listing``. The value of a jump is the index of its target."""
    code, starts, targets = listing.code, listing.starts, listing.targets
    found: list[Instruction] = []
    positions = [*code.co_positions()]
    keywords: tuple[str, ...] = ()
    for k, op in enumerate(listing.ops):
        arg, name = listing.args[k], dis.opname[op]
        read = _VALUES.get(name)
        value: Any = arg if read is None else read(code, arg)
        if k in targets:
            value = targets[k]
        elif name == "KW_NAMES":
            keywords = value
        elif name in _CALLS:
            value, keywords = keywords, ()
        elif name == "LOAD_ASSERTION_ERROR":
            name, value = "LOAD_CONST", AssertionError
        else:
            op, name, value = py314.translated(op, name, arg, value)
        at = Positions(*positions[starts[k + 1] - 1 - CACHES[listing.ops[k]]])
        found.append(Instruction(op, name, arg, value, name in _FLAGGED and bool(arg & 1), at))
    for at, op, name in py314.rewritten([(i.name, i.arg, i.value) for i in found]):
        found[at] = found[at]._replace(op=op, name=name)
    return found


def made_by(ins: Instruction) -> str:
    """The name of an instruction that makes an object; for one with several uses, such as
    FORMAT_VALUE of 3.12, the name of the instruction that has this use alone."""
    if ins.name != "FORMAT_VALUE":
        return ins.name
    if ins.arg & 4:
        return "FORMAT_WITH_SPEC"
    return "CONVERT_VALUE" if ins.arg & 3 else "FORMAT_SIMPLE"


def conversion_of(ins: Instruction) -> Any:
    """The function that an instruction converts a value with before it is formatted, or None."""
    if ins.name in ("CONVERT_VALUE", "FORMAT_VALUE"):
        return {1: str, 2: repr, 3: ascii}.get(ins.arg & 3)
    return None


# ---- decoded arguments --------------------------------------------------------------------


def _constant(code: CodeType, arg: int) -> Any:
    return code.co_consts[arg]


def _variable(code: CodeType, arg: int) -> Any:
    return _name_of_variable(code, arg)


def _two_variables(code: CodeType, arg: int) -> Any:
    return _name_of_variable(code, arg >> 4), _name_of_variable(code, arg & 15)


def _comparison(code: CodeType, arg: int) -> Any:
    return dis.cmp_op[arg >> FLAGS["COMPARE_OP"]]


def _name(flags: int) -> Callable[[CodeType, int], Any]:
    return lambda code, arg: code.co_names[arg >> flags]


def _intrinsic(names: Sequence[str]) -> Callable[[CodeType, int], Any]:
    return lambda code, arg: names[arg]


def _named(ops: Iterable[int]) -> list[str]:
    return [dis.opname[op] for op in ops]


_name_of_variable: Any = getattr(CodeType, "_varname_from_oparg")  # noqa: B009 (for dis)
_intrinsics: Any = opcode
# By the name of an instruction, the decoder of its argument; other arguments need none.
_VALUES: dict[str, Callable[[CodeType, int], Any]] = {
    **dict.fromkeys(_named(dis.hasconst), _constant),
    **{name: _name(FLAGS.get(name, 0)) for name in _named(dis.hasname)},
    **dict.fromkeys(_named((*dis.haslocal, *dis.hasfree)), _variable),
    **{name: _two_variables for name in dis.opmap if name.count("_FAST") == 2},
    **dict.fromkeys(_named(dis.hascompare), _comparison),
    "CALL_INTRINSIC_1": _intrinsic(_intrinsics._intrinsic_1_descs),
    "CALL_INTRINSIC_2": _intrinsic(_intrinsics._intrinsic_2_descs),
}


# ---- calls --------------------------------------------------------------------------------


class TakenCall[T](NamedTuple):
    """The operands of a call, popped from the stack: two slots, the lower one ``first``. args: the
    arguments, None if they are unpacked. names: the slot with the names of keywords, if there is
    one. star: the tuple of unpacked arguments. mapping: of unpacked keyword arguments."""

    first: T
    second: T
    args: list[T] | None
    names: T | None = None
    star: T | None = None
    mapping: T | None = None


def call_slots[T](callee: T, null: T) -> list[T]:
    """The two slots that a load for a call pushes if there is no receiver."""
    return [null, callee] if EMPTY_PLACE_FIRST else [callee, null]


def take_call[T](ins: Instruction, stack: list[T], null: T) -> TakenCall[T]:
    """Pop the operands of a call. null: the stack's representation of NULL."""
    if ins.name != "CALL_FUNCTION_EX":
        names = stack.pop() if ins.name == "CALL_KW" else None
        count = len(stack) - ins.arg
        args = stack[count:]
        del stack[count:]
        second, first = stack.pop(), stack.pop()
        return TakenCall(first, second, args, names)
    mapping = stack.pop() if DICT_ALWAYS_PASSED or ins.arg & 1 else null
    star, second, first = stack.pop(), stack.pop(), stack.pop()
    return TakenCall(first, second, None, None, star, None if mapping is null else mapping)


# ---- iterators ----------------------------------------------------------------------------


def iterator_slots[T](iterator: T, null: T) -> list[T]:
    """The slots that GET_ITER pushes."""
    return [iterator, null] if INDEX_ABOVE_ITERATOR else [iterator]


def iterator_place() -> int:
    """The distance of FOR_ITER's iterator from the top of the stack."""
    return 1 if INDEX_ABOVE_ITERATOR else 0


# ---- operators ----------------------------------------------------------------------------

# The operator functions, and the distances of their operands from the top of the stack.
_PLAIN_OPERATORS: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    **{name: (function, (0,)) for name, function in UNARY.items()},
    "UNARY_NOT": (operator.not_, (0,)),
    "CONTAINS_OP": (operator.contains, (0, 1)),
    "BINARY_SUBSCR": (operator.getitem, (1, 0)),
    "BINARY_SLICE": (operator.getitem, (2, 1, 0)),
    "DELETE_SUBSCR": (operator.delitem, (1, 0)),
    "STORE_SUBSCR": (operator.setitem, (1, 0, 2)),
    "STORE_SLICE": (operator.setitem, (2, 1, 0, 3)),
}
# The instructions that apply operators; CALL_INTRINSIC_1 does so for some arguments only.
OPERATORS = (*_PLAIN_OPERATORS, "BINARY_OP", "COMPARE_OP", "IS_OP", "CALL_INTRINSIC_1")


def operator_of(ins: Instruction) -> tuple[Callable[..., Any], tuple[int, ...]] | None:
    """The operator function that an instruction applies, and the distances of its operands from
    the top of the stack; None if it applies none."""
    if ins.name == "BINARY_OP":
        return BINARY[ins.arg], (1, 0)
    if ins.name == "COMPARE_OP":
        return COMPARE[ins.value], (1, 0)
    if ins.name == "IS_OP":
        return (operator.is_not if ins.arg else operator.is_), (1, 0)
    if ins.name == "CALL_INTRINSIC_1" and ins.value == "INTRINSIC_UNARY_POSITIVE":
        return operator.pos, (0,)
    return _PLAIN_OPERATORS.get(ins.name)
