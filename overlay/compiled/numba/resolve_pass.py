"""*Resolve*: the pass that runs when the types are known.

Each call goes to the one method, body or numba function that it enters, and each operator that a
method was found for becomes a call. What is left is numba's own representation with no trace of
overlays, so that code which reaches no method is what plain ``@njit`` makes.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from numba.core import ir, types
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir_utils import get_definition, guard
from numba.core.typing.templates import signature

from overlay.compiled.numba.context_state import Box
from overlay.compiled.numba.context_values import (
    ContextType,
    Enters,
    KnownType,
    MakesBaseType,
    attribute_of,
    handed_to,
)
from overlay.compiled.numba.crossing import Crossing
from overlay.compiled.numba.dispatchers import InnerDispatcher
from overlay.compiled.numba.exception_chains import DivisionType, is_division, name_places
from overlay.compiled.numba.made_contexts import MadeContextType
from overlay.compiled.numba.numba_types import (
    BoundCallee,
    CalleeType,
    Native,
    Type,
    Typed,
    Unpacked,
    refused,
    type_of_constant,
)
from overlay.core.errors import NotCompilable
from overlay.core.location import shown

if TYPE_CHECKING:
    from overlay.compiled.world import World

__all__ = ["Resolution", "Resolve", "defined_before", "new_variable", "operands_of", "redefine"]


@register_pass(mutates_CFG=False, analysis_only=False)
class Resolve(FunctionPass):
    """Send every call to what it enters; leave no trace where that is numba's own."""

    _name = "overlay_resolve"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        resolution = Resolution(state)
        for block in state.func_ir.blocks.values():
            block.body = [new for old in block.body for new in resolution.resolved(old)]
        if resolution.world.makes_code:
            name_places(state.func_ir)
        if resolution.crossing.is_crossed or any(
            callee.enters_methods for callee in resolution.entered
        ):
            state.pipeline.enters_methods()
        return True


class Resolution:
    """Rewrites statements of which the types are known."""

    def __init__(self, state: Any) -> None:
        self.world: World = state.pipeline.world
        self.func_ir = state.func_ir
        self.typemap: dict[str, Type] = state.typemap
        self.calltypes: dict[Any, Any] = state.calltypes
        self.entered: list[InnerDispatcher] = []
        self.crossing = Crossing(self)

    def resolved(self, statement: Any) -> list[Any]:
        kind = type(statement)
        if kind in STATEMENTS:
            fn, operands = STATEMENTS[kind]
            return self._operator(statement, fn, operands(statement)) or [statement]
        if kind is ir.SetAttr:
            return self._set_attribute(statement)
        if kind is not ir.Assign:
            return [statement]
        value = statement.value
        if isinstance(value, (ir.Global, ir.FreeVar)):
            return self._mentioned(statement)
        if not isinstance(value, ir.Expr):
            return [statement]
        if value.op == "getattr":
            return self._attribute(statement, value)
        if value.op == "call":
            return self._call(statement, value)
        if value.op == "static_getitem" and isinstance(value.index, Unpacked):
            value.index = int(value.index)
        operands = operands_of(value)
        if not operands:
            return [statement]
        return (
            self._operator(statement, value.fn, operands)
            or self.crossing.joined(statement, operands)
            or self._division(statement, value)
        )

    def _mentioned(self, assign: Any) -> list[Any]:
        ty = self.typemap[assign.target.name]
        if isinstance(ty, types.RecursiveCall) and not self.world.makes_code:
            ty = ty.dispatcher_type
        if isinstance(ty, types.Dispatcher) and isinstance(ty.dispatcher, InnerDispatcher):
            self.set(assign, ty.dispatcher)
        elif isinstance(ty, CalleeType) and isinstance(assign.value, ir.Expr):
            self.set(assign, ty.callee)  # a static method
        elif isinstance(ty, BoundCallee):  # its calls take the receiver from the definition
            return [ir.Assign(ir.Const(None, assign.loc), assign.target, assign.loc)]
        return [assign]

    def _attribute(self, assign: Any, expr: Any) -> list[Any]:
        owner = self.typemap[expr.value.name]
        if isinstance(owner, types.ClassInstanceType) and expr.attr in owner.jit_props:
            getter = self.world.dispatcher(owner.jit_props[expr.attr]["get"])
            sig = types.Dispatcher(getter).get_call_type(self.world.typing, (owner,), {})
            return self._enter(assign, getter, sig, (expr.value,))
        made = self.crossing.attribute(assign)
        if made is not None:
            return made
        if isinstance(owner, MadeContextType):
            owner = ContextType(owner.template)
        if not isinstance(owner, (ContextType, KnownType)):
            return self._mentioned(assign)
        found = attribute_of(self.world, owner, expr.attr)
        if not isinstance(found, Box):
            self.set(assign, found)
            return [assign]
        ty = found.load._numba_type_
        function = self._define(assign, ir.Global("overlay", found.load, assign.loc), ty)
        sig = self.world.typing.resolve_function_type(ty, (), {})
        self.become_call(assign, function, (), {}, None, sig)
        return [function, assign]

    def set(self, assign: Any, value: Any) -> None:
        """Make ``assign`` assign a constant."""
        redefine(self.func_ir, assign, ir.Global("overlay", value, assign.loc))

    # ---- operators ----

    def _operator(self, statement: Any, fn: Any, operands: tuple[Any, ...]) -> list[Any] | None:
        """The call that an operator is, where a method was found for it."""
        args = tuple(self.typemap[var.name] for var in operands)
        entered, sig = self._entered_by_operator(fn, args)
        if entered is None:
            return None
        assign = statement
        if isinstance(statement, ir.Assign):
            self.calltypes.pop(statement.value, None)
        else:
            self.calltypes.pop(statement, None)
            assign = self._result_unused(statement, sig)
        return self._enter(assign, entered, sig, operands)

    def _division(self, assign: Any, expr: Any) -> list[Any]:
        """A division of numbers, made to say where it stands when it raises."""
        fn = expr._kws.get("immutable_fn", expr.fn)
        numbers = all(isinstance(self.typemap[v.name], types.Number) for v in operands_of(expr))
        if not (numbers and is_division(fn) and self.world.makes_code):
            return [assign]
        sig, ty = self.calltypes.pop(expr), DivisionType(fn)
        function = self._define(assign, ir.Global("overlay", Typed(ty), assign.loc), ty)
        self.become_call(assign, function, operands_of(expr), {}, None, sig)
        return [function, assign]

    def _entered_by_operator(self, fn: Any, args: tuple[Type, ...]) -> tuple[Any, Any]:
        """What an operator enters that is not numba's own, and the signature of that call."""
        if self.world.overlays(fn):
            callee = self.world.stand_ins.callee(fn)._numba_type_
            outcome = callee.outcome(args, {})
            if outcome.method is not None:
                return outcome.callee, callee.get_call_type(self.world.typing, args, {})
        body = self.world.implementation(fn, args, {})
        if body is None:
            return None, None
        return body, types.Dispatcher(body).get_call_type(self.world.typing, args, {})

    def _result_unused(self, statement: Any, sig: Any) -> Any:
        target = new_variable(statement)
        self.typemap[target.name] = sig.return_type
        return ir.Assign(ir.Const(None, statement.loc), target, statement.loc)

    def _set_attribute(self, statement: Any) -> list[Any]:
        """``instance.attr = value``, where that calls the setter of a jitclass."""
        owner = self.typemap[statement.target.name]
        properties = getattr(owner, "jit_props", {}).get(statement.attr, {})
        if "set" not in properties:
            return [statement]
        sig = self.calltypes.pop(statement)
        setter = self.world.dispatcher(properties["set"])
        assign = self._result_unused(statement, sig)
        return self._enter(assign, setter, sig, (statement.target, statement.value))

    # ---- calls ----

    def _call(self, assign: Any, expr: Any) -> list[Any]:
        ty = self.typemap[expr.func.name]
        self._note(ty)
        for var in expr.args:
            if isinstance(self.typemap[var.name], BoundCallee):
                raise self.unknown(expr, self.typemap[var.name], "handed on as an argument")
        if isinstance(ty, MakesBaseType):
            self.set(assign, Typed(self.typemap[assign.target.name]))
            return [assign]
        made = self.crossing.call(assign)
        if made is not None:
            return made
        if isinstance(ty, Enters):
            return self._enter_context(assign, ty)
        if isinstance(ty, CalleeType):
            return self._call_of_callee(assign, ty, expr.args, self.calltypes.pop(expr))
        if isinstance(ty, BoundCallee):
            return self._call_of_attribute(assign, ty)
        if isinstance(ty, (types.Function, types.ClassType)):
            return self._call_of_numba(assign, ty)
        if isinstance(ty, types.RecursiveCall):
            return self._call_again(assign, ty.dispatcher_type.dispatcher)
        return [assign]

    def _call_again(self, assign: Any, dispatcher: Any) -> list[Any]:
        """A call of a function that waits for this one, for other types. numba calls it by a name
        that is made of the types; code that came from another world has another name."""
        expr = assign.value
        sig = self.calltypes[expr]
        code = dispatcher.codes.get(sig.args) if isinstance(dispatcher, InnerDispatcher) else None
        if code is None or code.result.signature.args == sig.args:
            return [assign]
        del self.calltypes[expr]
        return self._enter(assign, dispatcher, sig, expr.args, dict(expr.kws), expr.vararg)

    def _call_of_numba(self, assign: Any, ty: Type) -> list[Any]:
        expr = assign.value
        body = self.world.implementation(ty, *self._types(expr.args, expr))
        if body is None:
            return [assign]
        sig = self.calltypes.pop(expr)
        return self._enter(assign, body, sig, expr.args, dict(expr.kws), expr.vararg)

    def _enter_context(self, assign: Any, ty: Enters) -> list[Any]:
        """A call of a context, or of ``recurse``: one of the function among its arguments."""
        expr = assign.value
        function = ty.entered(self.world, self.types_of(expr)[0])
        sig = self.calltypes.pop(expr)
        sig = sig.replace(args=sig.args[ty.dropped :])
        inner = ty.world_inside(self.world, self.types_of(expr)[0])
        before, given = self.spread(assign)
        args = [self._handed(assign, inner, a, before) for a in given[ty.dropped :]]
        expr.kws = [(name, self._handed(assign, inner, a, before)) for name, a in expr.kws]
        if isinstance(function, CalleeType):
            return before + self._call_of_callee(assign, function, args, sig)
        value = Typed(function)
        if isinstance(function, types.Dispatcher):
            value = function.dispatcher
        called = self._define(assign, ir.Global("overlay", value, assign.loc), function)
        self.become_call(assign, called, args, dict(expr.kws), None, sig)
        return [*before, called, assign]

    def _handed(self, assign: Any, inner: World, argument: Any, before: list[Any]) -> Any:
        """The variable that stands for an argument in another world. before: what has to be put
        before the call for it."""
        ty = self.typemap[argument.name]
        local = handed_to(inner, ty, self.world)
        if local is ty:
            return argument
        value = local.dispatcher if isinstance(local, types.Dispatcher) else Typed(local)
        before.append(self._define(assign, ir.Global("overlay", value, assign.loc), local))
        return before[-1].target

    def spread(self, assign: Any) -> tuple[list[Any], list[Any]]:
        """The positional arguments of a call, those of ``*arguments`` among them, and what has to
        stand before the call, which has no ``*arguments`` any more."""
        expr = assign.value
        if expr.vararg is None:
            return [], list(expr.args)
        whole, expr.vararg = expr.vararg, None
        taken = [self._item(assign, whole, i) for i in range(len(self.typemap[whole.name]))]
        expr.args = [*expr.args, *(each.target for each in taken)]
        return taken, list(expr.args)

    def _item(self, assign: Any, whole: Any, index: int) -> Any:
        """The assignment of one item of a tuple to a new variable."""
        ty = self.typemap[whole.name]
        item = ir.Expr.static_getitem(whole, index, None, assign.loc)
        self.calltypes[item] = signature(ty.types[index], ty, types.literal(index))
        return self._define(assign, item, ty.types[index])

    def _call_of_callee(
        self, assign: Any, ty: CalleeType, args: Sequence[Any], sig: Any
    ) -> list[Any]:
        expr = assign.value
        outcome = ty.outcome(*self._types(args, expr))
        kws: Mapping[str, Any] = dict(expr.kws)
        inserted: list[Any] = []
        if kws and outcome.method is not None:
            if expr.vararg is not None:
                raise self.unknown(expr, ty, "called with both *arguments and keywords")
            args, kws = ty.callee.positional(args, kws)
            inserted = [self._constant(assign, a) for a in args if not isinstance(a, ir.Var)]
            defaults = iter(inserted)
            args = [a if isinstance(a, ir.Var) else next(defaults).target for a in args]
        return inserted + self._enter(assign, outcome.callee, sig, args, kws, expr.vararg)

    def _call_of_attribute(self, assign: Any, ty: BoundCallee) -> list[Any]:
        expr = assign.value
        bound = guard(get_definition, self.func_ir, expr.func)
        if not (isinstance(bound, ir.Expr) and bound.op == "getattr"):
            raise self.unknown(expr, ty, "chosen when the program runs")
        args, kws = self._types(expr.args, expr)
        if ty.is_base(args, kws):
            base = ir.Expr.getattr(bound.value, bound.attr, assign.loc)
            method = self._define(assign, base, ty.base)
            expr.func = method.target
            return [method, assign]
        if isinstance(ty.function, CalleeType):
            args = (bound.value, *expr.args)
            return self._call_of_callee(assign, ty.function, args, self.calltypes.pop(expr))
        sig = self.calltypes.pop(expr)
        body = ir.Global("overlay", ty.function.dispatcher, assign.loc)
        function = self._define(assign, body, ty.function)
        args = (bound.value, *expr.args)
        self.become_call(assign, function, args, dict(expr.kws), expr.vararg, sig)
        return [function, assign]

    def _enter(
        self,
        assign: Any,
        found: Any,
        sig: Any,
        args: Sequence[Any],
        kws: Mapping[str, Any] = {},
        vararg: Any = None,
    ) -> list[Any]:
        """Make ``assign`` the call of what was found."""
        if isinstance(found, Native):
            value, ty = found.value, found._numba_type_
        else:
            value, ty = found, found.type_of_call(sig)
        function = self._define(assign, ir.Global("overlay", value, assign.loc), ty)
        self.become_call(assign, function, args, kws, vararg, sig)
        return [function, assign]

    def become_call(
        self, assign: Any, function: Any, args: Any, kws: Any, vararg: Any, sig: Any
    ) -> None:
        call = ir.Expr.call(
            function.target, list(args), list(kws.items()), assign.loc, vararg=vararg
        )
        self.calltypes[call] = sig
        redefine(self.func_ir, assign, call)

    def _note(self, ty: Type) -> None:
        """A function of the program is called."""
        dispatcher = getattr(ty, "dispatcher", None)
        if isinstance(dispatcher, InnerDispatcher):
            self.entered.append(dispatcher)

    def types_of(self, expr: Any) -> tuple[tuple[Type, ...], dict[str, Type]]:
        """The types of the arguments of a call."""
        return self._types(expr.args, expr)

    def _types(self, args: Sequence[Any], expr: Any) -> tuple[tuple[Type, ...], dict[str, Type]]:
        given = tuple(self.typemap[var.name] for var in args)
        if expr.vararg is not None:
            given += tuple(self.typemap[expr.vararg.name].types)
        return given, {name: self.typemap[var.name] for name, var in expr.kws}

    def _constant(self, assign: Any, value: Any) -> Any:
        return self._define(assign, ir.Const(value, assign.loc), type_of_constant(value))

    def defined(self, assign: Any, value: Any) -> Any:
        """An assignment of a stand-in to a new variable before ``assign``."""
        return self._define(assign, ir.Global("overlay", value, assign.loc), value._numba_type_)

    def _define(self, assign: Any, value: Any, ty: Type) -> Any:
        made = defined_before(self.func_ir, assign, value)
        self.typemap[made.target.name] = ty
        self._note(ty)
        return made

    def unknown(self, expr: Any, ty: Type, reason: str) -> Exception:
        error = NotCompilable(
            f"{ty} is {reason}, where compiled code cannot tell which method it enters",
            where=shown(expr.loc.filename, expr.loc.line),
            help="call it where it is named, with positional arguments",
        )
        return refused(self.world, error)


# ---- representation -----------------------------------------------------------------------


def operands_of(expr: Any) -> tuple[Any, ...]:
    """The variables that an operator is applied to, in the order of the operator's function."""
    return OPERANDS[expr.op](expr) if expr.op in OPERANDS else ()


OPERANDS: Final[dict[str, Callable[[Any], tuple[Any, ...]]]] = {
    "binop": lambda e: (e.lhs, e.rhs),
    "inplace_binop": lambda e: (e.lhs, e.rhs),
    "unary": lambda e: (e.value,),
    "getitem": lambda e: (e.value, e.index),
    "static_getitem": lambda e: () if e.index_var is None else (e.value, e.index_var),
}
STATEMENTS: Final[dict[type, tuple[Any, Callable[[Any], tuple[Any, ...]]]]] = {
    ir.SetItem: (operator.setitem, lambda s: (s.target, s.index, s.value)),
    ir.StaticSetItem: (operator.setitem, lambda s: (s.target, s.index_var, s.value)),
    ir.DelItem: (operator.delitem, lambda s: (s.target, s.index)),
}


_numbers = itertools.count(1)


def new_variable(statement: Any) -> Any:
    """A variable that numba has no other of, also where it copies blocks (``literal_unroll``)."""
    return ir.Var(statement.target.scope, f"$overlay.{next(_numbers)}", statement.loc)


def redefine(func_ir: Any, assign: Any, value: Any) -> None:
    """Make ``assign`` assign another value."""
    definitions = func_ir._definitions[assign.target.name]
    definitions[:] = [value if old is assign.value else old for old in definitions] or [value]
    assign.value = value


def defined_before(func_ir: Any, assign: Any, value: Any) -> Any:
    """An assignment of a constant, or of an expression, to a new variable before ``assign``."""
    if isinstance(value, Native):
        value = ir.Global("overlay", value, assign.loc)
    target = new_variable(assign)
    func_ir._definitions[target.name] = [value]
    return ir.Assign(value, target, assign.loc)
