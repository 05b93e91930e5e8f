"""Control flow of a function being compiled, converted from numba's IR for analyses."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from numba.core import ir, types

from overlay.code.body import (
    Apply,
    Block,
    Body,
    Branch,
    ConstantValue,
    Copy,
    Name,
    Return,
    Statement,
)
from overlay.code.marks import advance, first, pack, pick, succeeds, unpack
from overlay.core.location import shown

__all__ = ["body_in", "where_of"]


def where_of(statement: Any) -> str:
    """``file:line`` of a statement of numba's."""
    return shown(statement.loc.filename, statement.loc.line)


def body_in(func_ir: Any, function: Any, of_program: Callable[[Any], Any], typemap: Any) -> Body:
    """Convert numba's IR of a function to a body.

    of_program: maps a constant of it to a value of the program. typemap: the types of its
    variables, or None. In the body an exception leaves the function; the entries to its handlers
    are branches there.
    """
    lowering = _Lowering(of_program, typemap or {})
    blocks = {label: lowering.block(block) for label, block in func_ir.blocks.items()}
    kind = "generator" if func_ir.is_generator else "function"
    return Body(function, _parameters(func_ir), blocks, min(blocks), kind)


def _parameters(func_ir: Any) -> tuple[str, ...]:
    found: dict[int, str] = {}
    for block in func_ir.blocks.values():
        for statement in block.body:
            if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Arg):
                found[statement.value.index] = statement.target.name
    return tuple(found.get(i, "") for i in range(func_ir.arg_count))


class _Lowering:
    """Converts numba's statements to those of analyses."""

    def __init__(self, of_program: Callable[[Any], Any], typemap: dict[str, Any]) -> None:
        self.of_program = of_program
        self.typemap = typemap

    def block(self, block: Any) -> Block:
        made: list[Statement] = []
        for statement in block.body[:-1]:
            made += self._lowered(statement)
        return Block(tuple(made), _end(block.body[-1]))

    def _lowered(self, statement: Any) -> list[Statement]:
        where = where_of(statement)
        if isinstance(statement, ir.Del):
            return []
        if isinstance(statement, ir.SetItem):
            args = statement.target.name, statement.index.name, statement.value.name
            return [Apply("$done", operator.setitem, args, (), where, statement)]
        if isinstance(statement, ir.StaticSetItem):
            args = statement.target.name, "$index", statement.value.name
            index = ConstantValue("$index", statement.index)
            return [index, Apply("$done", operator.setitem, args, (), where, statement)]
        if not isinstance(statement, ir.Assign):
            names = tuple(v.name for v in statement.list_vars())
            return [Apply("$done", None, names, (), where)]
        return self._assigned(statement.target.name, statement.value, where)

    def _assigned(self, target: str, value: Any, where: str) -> list[Statement]:
        if isinstance(value, ir.Arg):
            return []
        if isinstance(value, (ir.Const, ir.Global, ir.FreeVar)):
            return [ConstantValue(target, self.of_program(value.value))]
        if isinstance(value, ir.Var):
            return [self._copy(target, value.name, where)]
        if isinstance(value, ir.Expr):
            return self._expression(target, value, where)
        return [Apply(target, None, (), (), where)]

    def _copy(self, target: str, source: str, where: str) -> Statement:
        """``target = source``, which may convert an integer to a float."""
        converts = isinstance(self.typemap.get(target), types.Float) and not isinstance(
            self.typemap.get(source), types.Float
        )
        return Apply(target, float, (source,), (), where) if converts else Copy(target, source)

    def _expression(self, target: str, value: Any, where: str) -> list[Statement]:
        function, args = _called(value)
        if value.op == "cast":
            return [self._copy(target, value.value.name, where)]
        if value.op == "call":
            kwargs = tuple((name, v.name) for name, v in value.kws)
            spread = value.vararg is not None or value.varkwarg is not None
            called = None if spread else value.func.name
            names = tuple(v.name for v in value.args)
            return [Apply(target, called, names, kwargs, where, value)]
        if value.op == "static_getitem" and value.index_var is None:
            function = pick
        if value.op in ("static_getitem", "getattr", "exhaust_iter"):
            key = {"static_getitem": "index", "getattr": "attr", "exhaust_iter": "count"}[value.op]
            key = getattr(value, key)
            key = Name(key) if function is getattr else key
            args = (value.value.name, "$key")
            return [ConstantValue("$key", key), Apply(target, function, args, (), where, value)]
        return [Apply(target, function, tuple(v.name for v in args), (), where, value)]


def _end(last: Any) -> Branch | Return:
    if isinstance(last, ir.Branch):
        return Branch(last.cond.name, last.truebr, last.falsebr)
    if isinstance(last, ir.Jump):
        return Branch(None, last.target, last.target)
    return Return(last.value.name if isinstance(last, ir.Return) else None)


def _called(value: Any) -> tuple[Any, list[Any]]:
    """The function that an expression applies, and its operands."""
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
