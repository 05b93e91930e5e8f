"""Blocks, statements, branches and stores of ``overlay.ir``, on top of numba's IR of a function."""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Final

from numba.core import ir
from numba.core.ir_utils import build_definitions, get_definition, guard
from numba.core.unsafe import eh

from overlay.code.dominance import reachable
from overlay.compiled.numba.control_flow import where_of
from overlay.compiled.numba.dispatchers import InnerDispatcher
from overlay.compiled.numba.inserted_calls import InsertedCalls
from overlay.compiled.numba.numba_types import StandIn
from overlay.contexts.context import call_next
from overlay.core.short_repr import a_or_an
from overlay.ir import (
    UNKNOWN,
    BasicBlock,
    BranchPoint,
    Call,
    Edge,
    FlowGraph,
    IRStatement,
    Place,
    Store,
    Variable,
    takes,
)

__all__ = [
    "LOOKUPS",
    "NumbaFlow",
    "handles_exceptions",
    "of_program",
    "operands_read",
    "print_as_call",
]

OPERATIONS: Final = {
    "call": "conversion",  # where it is none of the program
    "binop": "operator",
    "unary": "operator",
    "inplace_binop": "update",
    "getitem": "operator",
    "static_getitem": "operator",
    "typed_getitem": "operator",
    "getattr": "attribute",
    "build_tuple": "build",
    "build_list": "build",
    "build_set": "build",
    "build_map": "build",
    "getiter": "iterator",
    "iternext": "advance",
    "pair_first": "item",
    "pair_second": "item",
    "exhaust_iter": "item",
    "cast": "copy",
    "phi": "copy",
}
ENDS: Final = {
    ir.Branch: "branch",
    ir.Jump: "jump",
    ir.Return: "return",
    ir.Raise: "raise",
    ir.StaticRaise: "raise",
    ir.DynamicRaise: "raise",
    ir.TryRaise: "raise",
    ir.StaticTryRaise: "raise",
    ir.DynamicTryRaise: "raise",
}
STORES: Final = (ir.SetItem, ir.StaticSetItem, ir.DelItem, ir.SetAttr, ir.DelAttr)
VALUES: Final = {
    ir.Arg: "argument",
    ir.Const: "constant",
    ir.Global: "constant",
    ir.FreeVar: "constant",
    ir.Var: "copy",
    ir.Yield: "yield",
}


# Calls of functions that find an item of a dict of functions.
LOOKUPS: Final = (operator.getitem, dict.get)


class NumbaFlow(FlowGraph):
    """The part of the IR of one function that inspects and edits its flow."""

    func_ir: Any
    _reader: Any
    _inserted: InsertedCalls
    _analysis: Any

    @abstractmethod
    def call_of(self, assign: Any) -> Call | None:
        """The call that an assignment makes, or None."""

    def _edges_to(self, expr: Any) -> tuple[Edge, ...]:
        """The edges that all paths to a call take."""
        for label, block in self.func_ir.blocks.items():
            if any(getattr(each, "value", None) is expr for each in block.body):
                return self.edges_to(label)
        return ()

    def blocks(self) -> tuple[BasicBlock, ...]:
        return _Flow(self.func_ir, self.call_of).blocks()

    @property
    def handles_exceptions(self) -> bool:
        return handles_exceptions(self.func_ir)

    def _has(self, name: str) -> bool:
        return self._inserted.has(name) or super()._has(name)

    @takes(Call)
    def callees(self, call: Call) -> tuple[Any, ...]:
        _, expr = call.native
        if call.target is not UNKNOWN or expr.op != "call":
            return () if call.target is UNKNOWN else (call.target,)
        return tuple(dict.fromkeys(self._reader.functions(expr.func)))

    @takes(IRStatement)
    def remove(self, *statements: IRStatement) -> None:
        gone = {id(each.native) for each in statements}
        names = {each.result.name for each in statements if each.result is not None}
        left = [s for b in self.func_ir.blocks.values() for s in b.body if id(s) not in gone]
        assigned = {each.target.name for each in left if isinstance(each, ir.Assign)}
        for each in statements:
            if each.native.is_terminator:
                raise self._inserted.cannot(
                    f"remove {a_or_an(each.operation)}", each.where, "see ir.jump for branches"
                )
        for each in left:
            lost = [name for name in operands_read(each) if name in names - assigned]
            if lost:
                raise self._inserted.cannot(
                    f"remove the assignment of {lost[0]}, which is read",
                    where_of(each),
                    "remove its readers too",
                )
        self._analysis = None
        for block in self.func_ir.blocks.values():
            block.body = [each for each in block.body if id(each) not in gone]
        self._redefined()

    @takes(BranchPoint, Place)
    def jump(self, branch: BranchPoint, block: BasicBlock | int) -> None:
        label = block.label if isinstance(block, BasicBlock) else block
        found = self.func_ir.blocks.get(branch.block)
        end = None if found is None else found.terminator
        known = isinstance(end, ir.Branch) and end.cond.name == branch.condition.name
        if found is None or not known or label not in self.func_ir.blocks:
            raise self._inserted.cannot(
                f"jump to block {label} in place of a branch, one of which is no longer in it",
                branch.where,
                "call ir.branches() again after an edit",
            )
        self._analysis = None
        found.body[-1] = ir.Jump(label, end.loc)
        keep_reached(self.func_ir)
        self._redefined()

    def _redefined(self) -> None:
        self.func_ir._definitions = build_definitions(self.func_ir.blocks)


class _Flow:
    """Reads the blocks of one function. call_of: the call that an assignment makes, or None."""

    def __init__(self, func_ir: Any, call_of: Callable[[Any], Call | None]) -> None:
        self.func_ir = func_ir
        self.call_of = call_of

    def blocks(self) -> tuple[BasicBlock, ...]:
        return tuple(
            BasicBlock(label, self._statements(label, block), self._edges(label, block.body[-1]))
            for label, block in sorted(self.func_ir.blocks.items())
        )

    def _statements(self, label: int, block: Any) -> tuple[IRStatement, ...]:
        return tuple(
            self._statement(label, each) for each in block.body if not isinstance(each, ir.Del)
        )

    def _statement(self, label: int, each: Any) -> IRStatement:
        where = where_of(each)
        reads = tuple(Variable(name) for name in operands_read(each))
        if not isinstance(each, ir.Assign):
            store = _store(each, where)
            operation = "store" if store is not None else ENDS.get(type(each), "other")
            branch = self._branch(label, each) if isinstance(each, ir.Branch) else None
            return IRStatement(
                operation, None, reads, label, where, store=store, branch=branch, native=each
            )
        value, result = each.value, Variable(each.target.name)
        is_expr = isinstance(value, ir.Expr)
        operation = (
            OPERATIONS.get(value.op, "other") if is_expr else VALUES.get(type(value), "other")
        )
        call = self.call_of(each)
        if call is not None and operation == "conversion":
            operation = "operator" if _is_lookup(call) else "call"
        store = None
        if not result.name.startswith("$") and operation != "argument":
            given = Variable(value.name) if isinstance(value, ir.Var) else None
            store = Store("variable", result, None, given, where)
        name = value.attr if operation == "attribute" else None
        constant = of_program(value.value) if operation == "constant" else UNKNOWN
        return IRStatement(
            operation,
            result,
            reads,
            label,
            where,
            name,
            call,
            store,
            constant=constant,
            native=each,
        )

    # ---- edges ----

    def _edges(self, label: int, end: Any) -> tuple[Edge, ...]:
        if isinstance(end, ir.Branch):
            branch = self._branch(label, end)
            return (branch.yes, branch.no)
        return tuple(Edge(label, target) for target in end.get_targets())

    def _branch(self, label: int, end: Any) -> BranchPoint:
        condition, test = Variable(end.cond.name), self._test(end.cond)
        where = where_of(end)
        yes, no = (
            Edge(label, target, condition, truth, test, where)
            for target, truth in ((end.truebr, True), (end.falsebr, False))
        )
        return BranchPoint(label, condition, yes, no, test, where)

    def _test(self, var: Any) -> Call | None:
        """The call whose truth a variable holds."""
        while True:
            found = guard(get_definition, self.func_ir, var)
            if not isinstance(found, ir.Expr):
                return None
            call = self.call_of(ir.Assign(found, var, found.loc))
            if call is not None or found.op != "call" or len(found.args) != 1:
                return call
            (var,) = found.args  # of ``bool``, by which the branch tests it


def _is_lookup(call: Call) -> bool:
    return any(call.target is each for each in LOOKUPS)


def _store(each: Any, where: str) -> Store | None:
    """The store to an item or an attribute that a statement makes."""
    if isinstance(each, ir.StoreMap):
        key, value = Variable(each.key.name), Variable(each.value.name)
        return Store("item", Variable(each.dct.name), key, value, where)
    if not isinstance(each, STORES):
        return None
    key = each.attr if isinstance(each, (ir.SetAttr, ir.DelAttr)) else each.index
    kind = "attribute" if isinstance(key, str) and hasattr(each, "attr") else "item"
    key = Variable(key.name) if isinstance(key, ir.Var) else key
    value = getattr(each, "value", None)
    given = None if value is None else Variable(value.name)
    return Store(kind, Variable(each.target.name), key, given, where)


def operands_read(statement: Any) -> list[str]:
    """The names of the variables that a statement reads, in their order."""
    if isinstance(statement, ir.Del):
        return []
    if not isinstance(statement, ir.Assign):
        return [var.name for var in statement.list_vars()]
    value = statement.value
    if isinstance(value, ir.Var):
        return [value.name]
    return [var.name for var in value.list_vars()] if isinstance(value, ir.Inst) else []


def print_as_call(func_ir: Any) -> None:
    """Turn numba's own print statements, which closures have, back into calls."""
    for block in func_ir.blocks.values():
        block.body = [new for old in block.body for new in _as_call(block, old)]
    func_ir._definitions = build_definitions(func_ir.blocks)


def _as_call(block: Any, statement: Any) -> list[Any]:
    if not isinstance(statement, ir.Print):
        return [statement]
    loc = statement.loc
    function, result = (block.scope.redefine(f"$overlay_{n}", loc) for n in ("print", "none"))
    call = ir.Expr.call(function, list(statement.args), (), loc, vararg=statement.vararg)
    return [ir.Assign(ir.Global("print", print, loc), function, loc), ir.Assign(call, result, loc)]


def handles_exceptions(func_ir: Any) -> bool:
    """Whether a function has a ``try``."""
    return any(
        isinstance(statement, ir.Assign)
        and isinstance(statement.value, ir.Global)
        and statement.value.value is eh.mark_try_block
        for block in func_ir.blocks.values()
        for statement in block.body
    )


def of_program(value: Any) -> Any:
    """The object that a stand-in replaces; any other value unchanged."""
    if isinstance(value, InnerDispatcher):
        return value.function
    if not isinstance(value, StandIn):
        return value
    if value.is_next:
        return call_next
    try:
        return value.in_python()
    except NotImplementedError:
        return UNKNOWN


def keep_reached(func_ir: Any) -> None:
    """Drop the unreachable blocks."""
    blocks = func_ir.blocks
    after = {label: block.terminator.get_targets() for label, block in blocks.items()}
    kept = set(reachable(after, min(blocks)))
    for label in blocks.keys() - kept:
        del blocks[label]
