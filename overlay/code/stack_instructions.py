"""Statements of the instructions for constants, the stack, variables, modules and attributes."""

from __future__ import annotations

import builtins
import dis
import sys
from collections.abc import Callable

from overlay.code import marks
from overlay.code.body import Copy, Name
from overlay.code.decoding import Instruction
from overlay.code.statements import NULL, Statements

__all__ = ["STACK_INSTRUCTIONS", "other"]


def other(to: Statements, ins: Instruction) -> None:
    """Add a step for an unknown instruction; its result is the topmost value that it pushes."""
    before = set(to.stack)
    taken = to.taken(ins)
    if ins.name == "END_SEND":
        taken = (taken[0], taken[-1])  # from 3.15 on there is a slot between them
    if ins.name.startswith(("CALL_INTRINSIC", "STORE")) or ins.name in _AWAITING:
        native = ins.value if ins.name.startswith("CALL_INTRINSIC") else ins.name
        given = to.apply(marks.other, *taken, native=native)
    else:
        given = to.apply(marks.other, native=ins.name)
    if to.stack and to.stack[-1] not in before:
        to.stack[-1] = given


# which say what is awaited, and take what it gives
_AWAITING = ("GET_AWAITABLE", "END_SEND", "GET_AITER")


# ---- constants, and the stack itself ----


def _stay(to: Statements, ins: Instruction) -> None:
    pass


def _constant(to: Statements, ins: Instruction) -> None:
    if type(ins.value) is slice:  # constant-folded: read like a slice made at run time
        given = ins.value.start, ins.value.stop, ins.value.step
        count = 2 if ins.value.step is None else 3
        to.stack.append(to.apply(slice, *map(to.constant, given[:count])))
    else:
        to.stack.append(to.constant(ins.value))


def _build_class(to: Statements, ins: Instruction) -> None:
    to.stack.append(to.constant(builtins.__build_class__))


def _null(to: Statements, ins: Instruction) -> None:
    to.stack.append(NULL)


def _swap(to: Statements, ins: Instruction) -> None:
    stack = to.stack
    stack[-1], stack[-ins.arg] = stack[-ins.arg], stack[-1]


def _copy(to: Statements, ins: Instruction) -> None:
    to.stack.append(to.stack[-ins.arg])


# ---- variables ----


def _locals(to: Statements, ins: Instruction) -> None:
    """Load and store locals; one instruction may do two of these."""
    names = ins.value if type(ins.value) is tuple else (ins.value,)
    parts = [part for part in ins.name.split("_") if part in ("LOAD", "STORE")]
    for part, name in zip(parts, names, strict=True):
        if part == "STORE":
            to.store(name)
        else:
            is_unknown = name in to.scope.stored and name not in to.scope.cells
            to.stack.append(to.fresh() if is_unknown else name)


def _delete(to: Statements, ins: Instruction) -> None:
    to.apply(marks.other, native=ins.name, instruction=ins.value)


def _load_and_clear(to: Statements, ins: Instruction) -> None:
    kept = to.fresh()
    to.statements.append(Copy(kept, ins.value, to.where))
    to.stack.append(kept)


def _load_global(to: Statements, ins: Instruction) -> None:
    found = to.scope.constant(ins.value)
    if found is None:
        to.push(to.apply(marks.outer, native=ins.value), ins)
    else:
        to.push(to.constant(found[0], ins.value), ins)


def _store_name(to: Statements, ins: Instruction) -> None:
    to.store(_own(ins.value))


def _load_name(to: Statements, ins: Instruction) -> None:
    """Load, in the body of a class or module, its own variable or the module's."""
    _load_global(to, ins)
    to.stack.append(to.apply(marks.named, _own(ins.value), to.stack.pop()))


def _load_name_of_scope(to: Statements, ins: Instruction) -> None:
    to.stack.pop()  # the namespace
    _load_name(to, ins)


def _load_free_of_scope(to: Statements, ins: Instruction) -> None:
    """Load, in a class body, its own variable or the enclosing function's."""
    to.stack.pop()  # the namespace
    _load_cell(to, ins)
    to.stack.append(to.apply(marks.named, _own(ins.value), to.stack.pop()))


def _own(name: str) -> str:
    """The variable of a name in the body of a class or module, distinct from a closure variable of
    that name."""
    return f".{name}"


def _load_cell(to: Statements, ins: Instruction) -> None:
    if ins.value in to.scope.free or ins.value in to.scope.cells:
        to.stack.append(ins.value)
    elif ins.value in to.code.co_freevars:
        to.stack.append(to.apply(marks.outer, native=ins.value))
    else:
        to.stack.append(to.fresh())


def _store_cell(to: Statements, ins: Instruction) -> None:
    if ins.value in to.scope.stored:
        to.store(ins.value)
    else:
        other(to, ins)


# ---- modules and attributes ----


def _import(to: Statements, ins: Instruction) -> None:
    names, level = to.stack.pop(), to.stack.pop()
    to.apply(marks.other, native=ins.name)
    top = to.constants.get(names, names) is None
    plain = to.constants.get(level) == 0
    name = ins.value.partition(".")[0] if top else ins.value
    found = plain and name in sys.modules
    to.stack.append(to.constant(sys.modules[name]) if found else to.fresh())


def _import_from(to: Statements, ins: Instruction) -> None:
    to.stack.append(to.apply(getattr, to.stack[-1], to.constant(Name(ins.value))))


def _load_attribute(to: Statements, ins: Instruction) -> None:
    owner = to.stack.pop()
    to.push(to.apply(getattr, owner, to.constant(Name(ins.value))), ins)


def _store_attribute(to: Statements, ins: Instruction) -> None:
    value, owner = to.take(2)
    to.apply(setattr, owner, to.constant(Name(ins.value)), value)


def _load_of_super(to: Statements, ins: Instruction) -> None:
    to.push(to.apply(marks.of_super, *to.take(3), native=ins.value), ins)


_LOCALS = [name for name in dis.opmap if name.startswith(("LOAD_FAST", "STORE_FAST"))]
STACK_INSTRUCTIONS: dict[str, Callable[[Statements, Instruction], None]] = {
    **dict.fromkeys(_LOCALS, _locals),
    "DELETE_FAST": _delete,
    "LOAD_FAST_AND_CLEAR": _load_and_clear,
    "LOAD_CONST": _constant,
    "LOAD_BUILD_CLASS": _build_class,
    "PUSH_NULL": _null,
    "SWAP": _swap,
    "COPY": _copy,
    "TO_BOOL": _stay,
    "LOAD_GLOBAL": _load_global,
    "LOAD_NAME": _load_name,
    "STORE_NAME": _store_name,
    "LOAD_FROM_DICT_OR_GLOBALS": _load_name_of_scope,
    "LOAD_FROM_DICT_OR_DEREF": _load_free_of_scope,
    "LOAD_CLOSURE": _load_cell,
    "LOAD_DEREF": _load_cell,
    "STORE_DEREF": _store_cell,
    "IMPORT_NAME": _import,
    "IMPORT_FROM": _import_from,
    "LOAD_ATTR": _load_attribute,
    "STORE_ATTR": _store_attribute,
    "LOAD_SUPER_ATTR": _load_of_super,
}
