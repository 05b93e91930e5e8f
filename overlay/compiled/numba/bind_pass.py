"""*Bind*: the pass that runs before types are known.

It replaces callables of the program by stand-ins for targets, before numba looks for calls that it
knows. *Resolve*, in ``resolve_pass``, settles the calls.

numba packs all arguments of ``f(a, *rest)`` into one tuple. Arguments named in the call are
unpacked first: numba may not know that a function in a tuple is called.
"""

from __future__ import annotations

import builtins
import inspect
import itertools
import operator
import re
import types as python_types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numba.core import ir
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir_utils import get_definition, guard, require

from overlay.code.held_functions import holds_functions, is_plain_tuple
from overlay.code.operators import GIVES_BOOL
from overlay.compiled import failures
from overlay.compiled.numba.chosen_functions import UncalledObject
from overlay.compiled.numba.context_state import Box
from overlay.compiled.numba.context_values import KnownContext, KnownStandIn
from overlay.compiled.numba.dispatchers import InnerDispatcher, note_inlined
from overlay.compiled.numba.folding import FOLDED, Folding
from overlay.compiled.numba.held_bodies import enter_block
from overlay.compiled.numba.held_containers import HeldContainers
from overlay.compiled.numba.ir_edits import defined_before, operands_of, redefine
from overlay.compiled.numba.numba_types import (
    Native,
    Unpacked,
    Written,
    has_code,
    is_dispatcher,
    is_held,
    refused,
)
from overlay.compiled.numba.numba_typing import is_written_by_numba
from overlay.core.errors import OverlayError
from overlay.core.target import BUILTINS, DESCRIPTORS, is_below
from overlay.plugins.plugin import Plugin

if TYPE_CHECKING:
    from overlay.compiled.world import World
    from overlay.core.dispatch import MethodChain

__all__ = ["Bind", "BindInlined", "BindUnrolled"]

# Parts of the operands' names in operations that numba generates for an instruction.
IMPLICIT_OPERANDS: Final = {
    "binop": ("build_string", "format_value", "format_simple", "list_extend"),
    "unary": ("contains_op",),
}
# The name that numba gives to ``bool`` where it tests a condition.
TEST_OF_BRANCH: Final = re.compile(r"\$?bool\d+(\.\d+)?")
# The names that numba gives to ``append`` and the like where it builds a list or a set.
ATTRIBUTE_OF_DISPLAY: Final = re.compile(
    r"(?:^\$|_v)\d+(?:list_append|list_extend|set_add|set_update)[._]\d+"
)
# Operators that numba generates.
WRITTEN_FOR: Final = (operator.add, *GIVES_BOOL)


@register_pass(mutates_CFG=False, analysis_only=False)
class Bind(FunctionPass):
    """Replace each callable in the code by its stand-in."""

    _name = "overlay_bind"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        take_out(state.func_ir)
        binding = _Binding(state)
        try:
            HeldContainers(binding.world, state.func_ir, state.args).replace_reads()
            for block in state.func_ir.blocks.values():
                block.body = [new for old in block.body for new in binding.bound(old)]
        except OverlayError as error:
            made = refused(binding.world, error)
            made.loc = binding.loc
            raise made from error
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class BindInlined(Bind):
    """Run *Bind* on code that numba inlined later, and on closures that numba made functions."""

    _name = "overlay_bind_inlined"


@register_pass(mutates_CFG=False, analysis_only=False)
class BindUnrolled(FunctionPass):
    """Exempt the tests by which ``literal_unroll`` selects the code for an item from overlays."""

    _name = "overlay_bind_unrolled"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        binding, blocks = _Binding(state), state.func_ir.blocks.values()
        has_tests = any(binding.is_test(each) for block in blocks for each in block.body)
        if not (has_tests and binding.world.overlays(operator.contains)):
            return False
        for block in blocks:
            block.body = [new for old in block.body for new in binding.without_tests(old)]
        return True


class _Binding:
    """Rewrites statements before types are known."""

    def __init__(self, state: Any) -> None:
        self.world: World = state.pipeline.world
        self.chain: MethodChain | None = state.pipeline.chain
        self.func_ir = state.func_ir
        self.folding = Folding(self.world, state.func_ir)
        self.names = state.func_id.func.__globals__
        self.nested = set(_nested_codes(state.func_id.code))
        self.loc = state.func_ir.loc

    def bound(self, statement: Any) -> list[Any]:
        self.loc = statement.loc
        value = getattr(statement, "value", None)
        if not isinstance(statement, ir.Assign):
            return [statement]
        if isinstance(value, (ir.Global, ir.FreeVar)):
            if is_below(type(value.value), Plugin):
                self._replace(statement, FOLDED, KnownStandIn(value.value))
            else:
                return self._mentioned(statement, value.value, value.name)
            return [statement]
        if isinstance(value, ir.Const):
            enter_block(self.world, value.value)
        if not isinstance(value, ir.Expr):
            return [statement]
        folded = self.folding.stand_in(value)
        if folded is not None:
            return self._constant(statement, folded[0])
        if value.op == "getattr":
            return self._attribute(statement, value)
        if value.op == "build_tuple":
            return self._tuple(statement, value)
        return self._operator(statement, value)

    def _constant(self, assign: Any, value: Any) -> list[Any]:
        if isinstance(value, Box):
            return self._call_native(assign, value.load, ())
        if callable(value) and not isinstance(value, KnownContext):
            self._replace(assign, FOLDED, value)
            return self._mentioned(assign, value, FOLDED)
        if isinstance(value, tuple) and holds_functions(value):
            return self._built(assign, value, FOLDED)
        self._replace(assign, FOLDED, value)
        return [assign]

    def _mentioned(self, assign: Any, value: Any, name: str) -> list[Any]:
        """The assignment of an object of the program, which replaces this one."""
        if isinstance(value, tuple) and holds_functions(value):
            return self._built(assign, value, name)
        if callable(value) and not _is_implicit_call(assign.target.name, value):
            self._bind(assign, value, name)
        return [assign]

    def _built(self, assign: Any, value: tuple[Any, ...], name: str) -> list[Any]:
        """The statements that build a tuple with functions of its items."""
        if not is_plain_tuple(value):
            use = "read by methods of its class"
            raise failures.functions_held(value, use, (assign.loc.filename, assign.loc.line))
        before: list[Any] = []
        items: list[Any] = []
        for i, item in enumerate(value):
            each = ir.Global(f"{name}[{i}]", item, assign.loc)
            before += self.bound(defined_before(self.func_ir, assign, each))
            items.append(before[-1].target)
        if hasattr(value, "_fields"):
            kind = defined_before(self.func_ir, assign, Native(type(value)))
            before.append(kind)
            made = ir.Expr.call(kind.target, items, (), assign.loc)
        else:
            made = ir.Expr.build_tuple(items, assign.loc)
        redefine(self.func_ir, assign, made)
        return [*before, *self.bound(assign)]

    def _tuple(self, assign: Any, expr: Any) -> list[Any]:
        """A tuple in which functions are targets; numba would make addresses of them."""
        before: list[Any] = []
        items: list[Any] = []
        for var in expr.items:
            found = guard(get_definition, self.func_ir, var)
            value = found.value if isinstance(found, (ir.Global, ir.FreeVar)) else None
            if callable(value) and isinstance(self.world.stand_ins.of(value), InnerDispatcher):
                target = ir.Global("overlay", self.world.stand_ins.callee(value), assign.loc)
                before.append(defined_before(self.func_ir, assign, target))
                var = before[-1].target
            items.append(var)
        if before:
            redefine(self.func_ir, assign, ir.Expr.build_tuple(items, assign.loc))
        return [*before, assign]

    def _bind(self, assign: Any, value: Any, name: str) -> None:
        """Replace a callable of the program by its stand-in."""
        if is_dispatcher(value) and value.py_func.__code__ in self.nested:
            stand_in = self.world.dispatcher(value, self.chain)  # for the method's call_next
        elif value is np.array and not self._is_replaced(value) and self._counts():
            stand_in = Native(value)  # else numba counts with + in np.array([... for ... in ...])
        else:
            stand_in = self.world.stand_ins.of(value, self.chain)
            note_inlined(self.world, [value])
            if isinstance(stand_in, InnerDispatcher):
                return  # numba may inline it
            if stand_in is None and type(value) is type and not is_held(value):
                stand_in = KnownStandIn(value)
            elif stand_in is None and not (has_code(value) or is_held(value)):
                is_item = name not in self.names and name not in vars(builtins)
                if is_item or type(value) not in (*BUILTINS, *DESCRIPTORS):
                    stand_in = UncalledObject(value)
        if stand_in is not None:
            self._replace(assign, f"overlay.{name}", stand_in)

    def _is_replaced(self, value: Any) -> bool:
        """Whether a callable has a method other than those of interpretations."""
        if not self.world.overlays(value):
            return False
        return any(table.find(value) for table in self.world.tables if not table.interprets)

    def _counts(self) -> bool:
        """Whether numba would count the items of an array that it builds through an overlaid
        operator."""
        operators = operator.add, operator.sub, operator.setitem
        return any(list(map(self.world.overlays, operators)))

    def _replace(self, assign: Any, name: str, value: Any) -> None:
        redefine(self.func_ir, assign, ir.Global(name, value, assign.loc))

    def _attribute(self, assign: Any, expr: Any) -> list[Any]:
        if ATTRIBUTE_OF_DISPLAY.search(assign.target.name):
            expr.attr = Written(expr.attr)
        found = guard(self._of_owner, expr)
        if found is None:
            return [assign]
        if isinstance(self._definition(expr), KnownStandIn):  # a class that numba does not know
            redefine(self.func_ir, assign, ir.Global(expr.attr, found[0], assign.loc))
        return self._mentioned(assign, found[0], expr.attr)

    def _definition(self, expr: Any) -> Any:
        owner = guard(get_definition, self.func_ir, expr.value)
        return owner.value if isinstance(owner, (ir.Global, ir.FreeVar)) else None

    def _of_owner(self, expr: Any) -> tuple[Any]:
        """The value of ``module.name``, or of ``Class.name`` where that is a function without a
        class parameter, in a tuple."""
        owner = get_definition(self.func_ir, expr.value)
        if isinstance(owner, (ir.Global, ir.FreeVar)):
            holder = owner.value.value if isinstance(owner.value, KnownStandIn) else owner.value
        else:
            require(isinstance(owner, ir.Expr) and owner.op == "getattr")
            (holder,) = self._of_owner(owner)
        if type(holder) is type:
            found = inspect.getattr_static(holder, expr.attr, None)
            found = found.__func__ if type(found) is staticmethod else found
            require(isinstance(found, python_types.FunctionType))
            return (found,)
        require(isinstance(holder, python_types.ModuleType) and hasattr(holder, expr.attr))
        return (getattr(holder, expr.attr),)

    def _operator(self, assign: Any, expr: Any) -> list[Any]:
        """Exempt operations that numba generated for an instruction from overlays: unpacking, the
        pieces of an f-string, ``(*a, *b)``, the ``not`` of ``not in``."""
        if expr.op == "static_getitem" and expr.index_var is None:
            if self.world.overlays(operator.getitem):
                expr.index = Unpacked(expr.index)
            return [assign]
        if expr.op not in IMPLICIT_OPERANDS or not self._is_overlaid(expr.fn):
            return [assign]
        operands = operands_of(expr)
        names = [var.name for var in operands if var.name.startswith("$")]
        implicit = any(part in name for name in names for part in IMPLICIT_OPERANDS[expr.op])
        if implicit and not assign.target.name.startswith("$binop"):
            return self._call_native(assign, expr.fn, operands)
        if expr.fn in GIVES_BOOL:
            expr.of_program = True  # copies of the expression have it too
            given = defined_before(self.func_ir, assign, expr)
            return [given, *self._call_native(assign, bool, (given.target,))]
        return [assign]

    def without_tests(self, statement: Any) -> list[Any]:
        """The statements that replace one after ``literal_unroll``, of whose tests of membership
        those of the program are marked."""
        if not self.is_test(statement):
            return [statement]
        expr = statement.value
        return self._call_native(statement, expr.fn, operands_of(expr))

    def is_test(self, statement: Any) -> bool:
        """Whether a statement is a test of membership that is not marked as the program's."""
        expr = getattr(statement, "value", None)
        is_test = isinstance(expr, ir.Expr) and expr.op == "binop" and expr.fn is operator.contains
        return is_test and "of_program" not in expr._kws

    def _is_overlaid(self, fn: Any) -> bool:
        return any(fn is each for each in WRITTEN_FOR) and self.world.overlays(fn)

    def _call_native(self, assign: Any, function: Any, operands: tuple[Any, ...]) -> list[Any]:
        native = function if isinstance(function, Native) else Native(function)
        native = defined_before(self.func_ir, assign, native)
        redefine(self.func_ir, assign, ir.Expr.call(native.target, operands, (), assign.loc))
        return [native, assign]


def _nested_codes(code: Any) -> Iterator[Any]:
    for constant in code.co_consts:
        if isinstance(constant, python_types.CodeType):
            yield constant
            yield from _nested_codes(constant)


def _is_implicit_call(target: str, value: Any) -> bool:
    if value is bool and TEST_OF_BRANCH.fullmatch(target):
        return True
    return is_written_by_numba(value) and target.startswith("$") and "load_" not in target


# ---- calls with ``*arguments`` -------------------------------------------------------------

_numbers = itertools.count(1)


def take_out(func_ir: Any) -> None:
    """Pass the first arguments of calls by position where the call names them."""
    unused: set[str] = set()
    for block in func_ir.blocks.values():
        block.body = [new for old in block.body for new in _taken_out(func_ir, old, unused)]
    if unused:
        for block in func_ir.blocks.values():
            block.body = [each for each in block.body if _target(each) not in unused]


def _target(statement: Any) -> str | None:
    return statement.target.name if isinstance(statement, ir.Assign) else None


def _taken_out(func_ir: Any, statement: Any, unused: set[str]) -> list[Any]:
    """The replacement of a statement. unused: collects the names of tuples without a use."""
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
    """The expression of the first tuple in the sum that a variable holds, with the arguments that a
    call names, then the variables of the others. tuples: collects the names of the sums."""
    definitions = func_ir._definitions[var.name]
    require(len(definitions) == 1 and var.name.startswith("$"))  # else the program may use it, too
    (found,) = definitions
    tuples.add(var.name)
    if isinstance(found, ir.Var):
        return _parts(func_ir, found, tuples)
    require(isinstance(found, ir.Expr))
    if found.op == "binop":
        require(found.fn is operator.add and _is_written_by_numba(found))
        return [*_parts(func_ir, found.lhs, tuples), found.rhs]
    require(found.op == "build_tuple" and bool(found.items))
    # a name that is rebound before the call would have another value there
    require(all(len(func_ir._definitions[item.name]) == 1 for item in found.items))
    return [found]


def _is_written_by_numba(add: Any) -> bool:
    names = add.lhs.name, add.rhs.name
    return any("list_extend" in name or "list_append" in name for name in names)


def _sum(func_ir: Any, one: Any, other: Any, statement: Any) -> Any:
    """An assignment of the sum of two tuples to a variable."""
    scope, loc = statement.target.scope, statement.loc
    target = ir.Var(scope, f"$overlay_list_extend.{next(_numbers)}", loc)
    value = ir.Expr.binop(operator.add, one, other, loc)
    func_ir._definitions[target.name] = [value]
    return ir.Assign(value, target, loc)
