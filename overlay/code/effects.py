"""Stack effects of instructions on an abstract stack: which slots they leave unchanged. A slot
holds whatever the caller knows of its value."""

from __future__ import annotations

import dis
from typing import Any

from overlay.core.own_builtins import __builtins__

__all__ = ["FINAL", "INERT", "follow", "jumped"]

_OP = dis.opmap

# Instructions that leave the stack unchanged.
_STILL = {
    *("NOP", "RESUME", "KW_NAMES", "MAKE_CELL", "COPY_FREE_VARS", "SETUP_ANNOTATIONS"),
    *("DELETE_FAST", "DELETE_NAME", "DELETE_GLOBAL", "DELETE_DEREF"),
}
# Instructions that pop and do not push, so that no other slot changes.
_POPS = {
    *("POP_TOP", "STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF", "RETURN_VALUE"),
    *("LIST_APPEND", "SET_ADD", "MAP_ADD", "LIST_EXTEND", "SET_UPDATE", "DICT_UPDATE"),
    *("DICT_MERGE", "DELETE_ATTR", "DELETE_SUBSCR", "STORE_SUBSCR", "STORE_ATTR", "STORE_SLICE"),
    *("POP_EXCEPT", "STORE_FAST_STORE_FAST", "STORE_FAST_MAYBE_NULL", "END_FOR", "POP_ITER"),
    *(name for name in _OP if name.startswith("POP_JUMP_")),
}
# Instructions with no effect but on the stack, and no result.
_INERT = {
    *("NOP", "RESUME", "KW_NAMES", "MAKE_CELL", "COPY_FREE_VARS", "POP_TOP", "POP_EXCEPT"),
    *("END_FOR", "POP_ITER", "PUSH_EXC_INFO", "RETURN_GENERATOR"),
}
INERT = frozenset(_OP[name] for name in _INERT if name in _OP)
_FINAL = {
    *("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"),
    *("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"),
}
FINAL = frozenset(_OP[name] for name in _FINAL if name in _OP)
_KEEPING = frozenset(_OP[name] for name in (*_POPS, *_STILL) if name in _OP)
# Instructions that replace the top of the stack by one or more slots.
_REPLACED = {
    *("UNPACK_SEQUENCE", "UNPACK_EX", "LOAD_ATTR", "GET_ITER", "PUSH_EXC_INFO"),
    *("BEFORE_WITH", "BEFORE_ASYNC_WITH", "LOAD_SPECIAL"),
}
_REPLACING = frozenset(_OP[name] for name in _REPLACED if name in _OP)


def follow(op: int, arg: int, stack: list[Any], unknown: Any = None) -> None:
    """Apply to ``stack`` the effect of an instruction that does not jump; the slots that it pushes
    are ``unknown``."""
    effect = dis.stack_effect(op, arg if op >= dis.HAVE_ARGUMENT else None, jump=False)
    if op in _REPLACING:
        stack[-1:] = [unknown] * (effect + 1)
    elif effect < 0 and op in _KEEPING:
        del stack[effect:]
    elif effect > 0:
        stack.extend([unknown] * effect)
    elif op not in _KEEPING:
        depth = len(stack) + effect
        del stack[effect - 1 :]
        stack.extend([unknown] * (depth - len(stack)))


def jumped(op: int, arg: int, stack: list[Any], unknown: Any = None) -> list[Any]:
    """The stack at the target of a jump; the slots that the instruction pushes are ``unknown``."""
    taken = list(stack)
    if op in FINAL:  # an unconditional jump
        return taken
    effect = dis.stack_effect(op, arg, jump=True)
    if effect < 0:
        del taken[effect:]
    elif taken:
        taken[-1:] = [unknown] * (effect + 1)
    return taken
