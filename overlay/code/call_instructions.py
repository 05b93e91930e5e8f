"""Statements of the instructions that define functions, call, and apply operators."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from types import CodeType

from overlay.code.body import Make
from overlay.code.decoding import OPERATORS, Instruction, operator_of, take_call
from overlay.code.stack_instructions import other
from overlay.code.statements import NULL, Statements

__all__ = ["CALL_INSTRUCTIONS"]

_SLICES = ("BINARY_SLICE", "STORE_SLICE")


# ---- functions ----


def _make_function(to: Statements, ins: Instruction) -> None:
    code = to.constants.get(to.stack.pop())
    flags = [flag for flag in (8, 4, 2, 1) if ins.arg & flag]
    held = {flag: to.stack.pop() for flag in flags}
    name = to.fresh()
    if isinstance(code, CodeType):
        known = {*to.scope.cells, *to.scope.free}
        captured = tuple(each if each in known else None for each in code.co_freevars)
        to.statements.append(Make(name, code, captured, where=to.where))
        for flag, value in held.items():
            _set_attribute(to, flag, value)
    to.stack.append(name)


def _set_function_attribute(to: Statements, ins: Instruction) -> None:
    function, value = to.stack.pop(), to.stack.pop()
    _set_attribute(to, ins.arg, value)
    to.stack.append(function)


def _set_attribute(to: Statements, flag: int, value: str) -> None:
    """Record an attribute, by its flag, of the function that was defined last."""
    defaults = to.items(value) if flag == 1 else ()
    for place, statement in reversed(list(enumerate(to.statements))):
        if isinstance(statement, Make):
            if flag == 1:
                statement = replace(statement, defaults=defaults)
            elif flag == 2:
                statement = replace(statement, named=value)
            to.statements[place] = statement
            return


# ---- calls ----


def _call(to: Statements, ins: Instruction) -> None:
    first, second, args, named, star, mapping = take_call(ins, to.stack, NULL)
    callee = second if first == NULL else first
    receiver = [] if NULL in (first, second) else [second]
    names = ins.value or () if named is None else to.constants.get(named)
    if star is not None and mapping is None and None not in to.items(star):
        args = [name for name in to.items(star) if name is not None]
    if args is None or names is None:
        spread = () if star is None else (star,)
        kwargs = [] if mapping is None else [("**", mapping)]
        to.stack.append(to.apply(None, callee, *spread, kwargs=kwargs, native=ins.name))
        return
    given = [*receiver, *args]
    count = len(given) - len(names)
    kwargs = list(zip(names, given[count:], strict=True))
    to.stack.append(to.apply(callee, *given[:count], kwargs=kwargs))


# ---- operators ----


def _operate(to: Statements, ins: Instruction) -> None:
    """Replace the operands by the result."""
    found = operator_of(ins)
    if found is None:  # another intrinsic function than an operator
        other(to, ins)
        return
    function, order = found
    args = [to.stack[-1 - place] for place in order]
    to.take(len(order))
    if ins.name in _SLICES:
        args[1:3] = [to.apply(slice, *args[1:3])]
    result = to.apply(function, *args)
    if ins.name == "CONTAINS_OP" and ins.arg:
        result = to.apply(operator.not_, result, native=ins.name)
    if not ins.name.startswith(("STORE", "DELETE")):
        to.stack.append(result)


CALL_INSTRUCTIONS: dict[str, Callable[[Statements, Instruction], None]] = {
    "MAKE_FUNCTION": _make_function,
    "SET_FUNCTION_ATTRIBUTE": _set_function_attribute,
    **dict.fromkeys(("CALL", "CALL_KW", "CALL_FUNCTION_EX"), _call),
    **dict.fromkeys(OPERATORS, _operate),
}
