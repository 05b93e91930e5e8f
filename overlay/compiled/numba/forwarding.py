"""Calls with ``*arguments``, before types are known.

numba makes one tuple of all arguments of ``f(a, *rest)``. What is named in the call is taken out
of it again: a function in a tuple is one of which numba may not know that it is called.
"""

from __future__ import annotations

import itertools
import operator
from typing import Any

from numba.core import ir
from numba.core.ir_utils import guard, require

__all__ = ["take_out"]

_numbers = itertools.count(1)


def take_out(func_ir: Any) -> None:
    """Give the first arguments of calls by position where the call names them."""
    unused: set[str] = set()
    for block in func_ir.blocks.values():
        block.body = [new for old in block.body for new in _taken_out(func_ir, old, unused)]
    if unused:
        for block in func_ir.blocks.values():
            block.body = [each for each in block.body if _target(each) not in unused]


def _target(statement: Any) -> str | None:
    return statement.target.name if isinstance(statement, ir.Assign) else None


def _taken_out(func_ir: Any, statement: Any, unused: set[str]) -> list[Any]:
    """A statement, or what becomes of it. unused: of tuples that no call asks for any more."""
    call = getattr(statement, "value", None)
    if not (isinstance(call, ir.Expr) and call.op == "call" and call.vararg is not None):
        return [statement]
    tuples: set[str] = set()
    parts = guard(_parts, func_ir, call.vararg, tuples)
    if parts is None or call.args:
        return [statement]
    unused |= tuples
    first, *rest = parts
    call.args = list(first.items)
    call.vararg = rest.pop(0) if rest else None
    added: list[Any] = []
    for part in rest:
        added.append(_sum(func_ir, call.vararg, part, statement))
        call.vararg = added[-1].target
    return [*added, statement]


def _parts(func_ir: Any, var: Any, tuples: set[str]) -> list[Any]:
    """The expression of the first tuple of those of which a variable is the sum, which holds what
    a call names, and the variables that are the others. tuples: takes the names of the sums."""
    definitions = func_ir._definitions[var.name]
    require(len(definitions) == 1 and var.name.startswith("$"))  # else the program may use it too
    (found,) = definitions
    tuples.add(var.name)
    if isinstance(found, ir.Var):
        return _parts(func_ir, found, tuples)
    require(isinstance(found, ir.Expr))
    if found.op == "binop":
        require(found.fn is operator.add and _is_written_by_numba(found))
        return [*_parts(func_ir, found.lhs, tuples), found.rhs]
    require(found.op == "build_tuple" and bool(found.items))
    # a name that is bound again before the call would mean something else there
    require(all(len(func_ir._definitions[item.name]) == 1 for item in found.items))
    return [found]


def _is_written_by_numba(add: Any) -> bool:
    names = add.lhs.name, add.rhs.name
    return any("list_extend" in name or "list_append" in name for name in names)


def _sum(func_ir: Any, one: Any, other: Any, statement: Any) -> Any:
    """The assignment of two tuples' sum to a variable."""
    scope, loc = statement.target.scope, statement.loc
    target = ir.Var(scope, f"$overlay_list_extend.{next(_numbers)}", loc)
    value = ir.Expr.binop(operator.add, one, other, loc)
    func_ir._definitions[target.name] = [value]
    return ir.Assign(value, target, loc)
