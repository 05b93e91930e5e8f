"""numba's control flow of a function, as analyses see it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from numba.core import errors, ir
from numba.core.compiler import run_frontend

from overlay.analysis.body import (
    Apply,
    Block,
    Body,
    Branch,
    Constant,
    Copy,
    Name,
    Return,
    advance,
    first,
    pack,
    pick,
    succeeds,
    unpack,
)
from overlay.compiled import failures
from overlay.errors import NotCompilable
from overlay.location import location_of, name_of, shown

__all__ = ["body_of"]

# generators and coroutines
_SUSPENDED = 0x20 | 0x80 | 0x100 | 0x200

Statement = Constant | Copy | Apply


def body_of(function: Callable[..., Any]) -> Body:
    """The body of a Python or @njit function. Raises NotCompilable where numba cannot read it,
    where it suspends, and where it handles exceptions, whose ways are not in its blocks."""
    plain: Any = getattr(function, "py_func", function)
    code = getattr(plain, "__code__", None)
    if code is None or code.co_flags & _SUSPENDED or code.co_exceptiontable:
        raise _unreadable(plain, "it has no Python body, is a generator, or has try or with in it")
    try:
        func_ir: Any = run_frontend(plain, inline_closures=True)
    except (errors.NumbaError, errors.UnsupportedBytecodeError, NotImplementedError) as error:
        raise _unreadable(plain, *failures.shortened(str(error))) from error
    except Exception as error:  # numba's own bytecode reader fails in many ways
        raise _unreadable(plain, repr(error)) from error
    blocks = {label: _block(block) for label, block in func_ir.blocks.items()}
    return Body(plain, _parameters(func_ir), blocks, min(blocks))


def _unreadable(function: Any, *reasons: str) -> NotCompilable:
    return NotCompilable(
        f"cannot read the code of {name_of(function)}",
        where=location_of(function),
        notes=[("reason", line) for line in reasons],
        help="analyse a function of the Python that numba knows, without try, with and yield",
    )


def _parameters(func_ir: Any) -> tuple[str, ...]:
    found: dict[int, str] = {}
    for block in func_ir.blocks.values():
        for statement in block.body:
            if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Arg):
                found[statement.value.index] = statement.target.name
    return tuple(found.get(i, "") for i in range(func_ir.arg_count))


def _block(block: Any) -> Block:
    made: list[Statement] = []
    for statement in block.body[:-1]:
        made += _lowered(statement)
    return Block(tuple(made), _end(block.body[-1]))


def _end(last: Any) -> Branch | Return:
    if isinstance(last, ir.Branch):
        return Branch(last.cond.name, last.truebr, last.falsebr)
    if isinstance(last, ir.Jump):
        return Branch(None, last.target, last.target)
    return Return(last.value.name if isinstance(last, ir.Return) else None)


def _lowered(statement: Any) -> list[Statement]:
    where = shown(statement.loc.filename, statement.loc.line)
    if isinstance(statement, ir.Del):
        return []
    if isinstance(statement, ir.SetItem):
        args = statement.target.name, statement.index.name, statement.value.name
        return [Apply("$done", operator.setitem, args, (), where)]
    if isinstance(statement, ir.StaticSetItem):
        args = statement.target.name, "$index", statement.value.name
        index = Constant("$index", statement.index)
        return [index, Apply("$done", operator.setitem, args, (), where)]
    if not isinstance(statement, ir.Assign):
        names = tuple(v.name for v in statement.list_vars())
        return [Apply("$done", None, names, (), where)]
    return _assigned(statement.target.name, statement.value, where)


def _assigned(target: str, value: Any, where: str) -> list[Statement]:
    if isinstance(value, ir.Arg):
        return []
    if isinstance(value, (ir.Const, ir.Global, ir.FreeVar)):
        return [Constant(target, value.value)]
    if isinstance(value, ir.Var):
        return [Copy(target, value.name)]
    if isinstance(value, ir.Expr):
        return _expression(target, value, where)
    return [Apply(target, None, (), (), where)]


def _expression(target: str, value: Any, where: str) -> list[Statement]:
    function, args = _called(value)
    if value.op == "cast":
        return [Copy(target, value.value.name)]
    if value.op == "call":
        kwargs = tuple((name, v.name) for name, v in value.kws)
        spread = value.vararg is not None or value.varkwarg is not None
        called = None if spread else value.func.name
        return [Apply(target, called, tuple(v.name for v in value.args), kwargs, where)]
    if value.op == "static_getitem" and value.index_var is None:
        function = pick
    if value.op in ("static_getitem", "getattr", "exhaust_iter"):
        key = {"static_getitem": "index", "getattr": "attr", "exhaust_iter": "count"}[value.op]
        key = getattr(value, key)
        key = Name(key) if function is getattr else key
        args = (value.value.name, "$key")
        return [Constant("$key", key), Apply(target, function, args, (), where)]
    return [Apply(target, function, tuple(v.name for v in args), (), where)]


def _called(value: Any) -> tuple[Any, list[Any]]:
    """The function that an expression stands for, and its operands."""
    if value.op in ("binop", "inplace_binop"):
        return value.fn, [value.lhs, value.rhs]
    if value.op == "unary":
        return value.fn, [value.value]
    if value.op == "getitem":
        return operator.getitem, [value.value, value.index]
    one = {"getiter": iter, "iternext": advance, "pair_first": first, "pair_second": succeeds}
    if value.op in one:
        return one[value.op], [value.value]
    fixed = {"static_getitem": operator.getitem, "getattr": getattr, "build_tuple": pack}
    fixed["exhaust_iter"] = unpack
    items = list(value.items) if value.op == "build_tuple" else []
    return fixed.get(value.op), items
