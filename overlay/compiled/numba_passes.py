"""The passes that a world adds to numba's pipeline.

*Bind* puts what stands for a target in place of the callable that the program mentions, before
numba looks for calls that it knows. *Resolve* runs when the types are known: each call goes to the
one method, body or numba function that it enters, and each operator that a method was found for
becomes a call. What is left is numba's own representation with no trace of overlays, so that code
which reaches no method is what plain ``@njit`` makes.
"""

from __future__ import annotations

import operator
import types as python_types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numba.core import ir, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir_utils import guard, require
from numba.core.typed_passes import PreLowerStripPhis
from numba.core.untyped_passes import InlineInlinables, IRProcessing

from overlay.compiled.numba_internals import (
    BoundCallee,
    CalleeType,
    InForce,
    InnerDispatcher,
    MakesBaseType,
    Native,
    ReadsContext,
    Type,
    Typed,
    Unpacked,
    is_dispatcher,
    refused,
    type_of_constant,
)
from overlay.errors import NotCompilable, OverlayError
from overlay.location import shown

if TYPE_CHECKING:
    from overlay.compiled.world import Body, Outcome, World

__all__ = ["compiler_for"]

# Calls and operators that numba writes for an instruction, not for a call in the program.
IMPLICIT_CALLS: Final = (bool, slice, str, tuple)
IMPLICIT_OPERANDS: Final = {
    "binop": ("build_string", "format_value", "format_simple", "list_extend"),
    "unary": ("contains_op",),
}


def compiler_for(world: World, body: Body | None) -> type[CompilerBase]:
    """The pipeline that compiles a function in a world; ``body`` says what call_next is in it."""
    return type("WorldCompiler", (_WorldCompiler,), {"world": world, "body": body})


class _WorldCompiler(CompilerBase):
    world: World
    body: Body | None

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(Bind, IRProcessing)
        passes.add_pass_after(BindInlined, InlineInlinables)
        passes.add_pass_after(Resolve, PreLowerStripPhis)
        passes.finalize()
        return [passes]


# ---- before types are known ---------------------------------------------------------------


@register_pass(mutates_CFG=False, analysis_only=False)
class Bind(FunctionPass):
    """Put what stands for a target in place of each callable that is mentioned."""

    _name = "overlay_bind"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        binding = _Binding(state)
        try:
            for block in state.func_ir.blocks.values():
                block.body = [new for old in block.body for new in binding.bound(old)]
        except OverlayError as error:
            raise refused(binding.world, error) from error
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class BindInlined(Bind):
    """The same for what numba has inlined since, and for closures that it made functions of."""

    _name = "overlay_bind_inlined"


class _Binding:
    """Rewrites statements of which no types are known."""

    def __init__(self, state: Any) -> None:
        self.world: World = state.pipeline.world
        self.body: Body | None = state.pipeline.body
        self.func_ir = state.func_ir
        self.nested = set(_nested_codes(state.func_id.code))
        overlaid = self.world.overlays
        self.operators = [
            fn for fn in (operator.add, operator.not_, operator.getitem) if overlaid(fn)
        ]
        self.counts = any(map(overlaid, (operator.add, operator.sub, operator.setitem)))

    def bound(self, statement: Any) -> list[Any]:
        value = getattr(statement, "value", None)
        if isinstance(statement, ir.Assign):
            if isinstance(value, (ir.Global, ir.FreeVar)):
                self._mentioned(statement, value.value, value.name)
            elif isinstance(value, ir.Expr) and value.op == "getattr":
                self._attribute(statement, value)
            elif isinstance(value, ir.Expr) and value.op == "call":
                self._context(statement, value)
            elif isinstance(value, ir.Expr) and self.operators:
                return self._operator(statement, value)
        return [statement]

    def _mentioned(self, assign: Any, value: Any, name: str) -> None:
        if not callable(value) or _is_implicit_call(assign.target.name, value):
            return
        if is_dispatcher(value) and value.py_func.__code__ in self.nested:
            stand_in = self.world.dispatcher(value, self.body)  # call_next is ours in a closure
        elif value is np.array and self.counts:
            stand_in = Native(value)  # else numba counts with + in np.array([... for ... in ...])
        else:
            stand_in = self.world.stand_in(value, self.body)
            if isinstance(stand_in, InnerDispatcher):
                return  # numba may inline it
        if stand_in is not None:
            self._replace(assign, name, stand_in)

    def _replace(self, assign: Any, name: str, value: Any) -> None:
        _redefine(self.func_ir, assign, ir.Global(f"overlay.{name}", value, assign.loc))

    def _attribute(self, assign: Any, expr: Any) -> None:
        found = guard(self._metadata, expr)
        if found is not None:
            self._replace(assign, "metadata", found[0])
            return
        found = guard(self._of_module, expr)
        if found is not None:
            self._mentioned(assign, found[0], expr.attr)

    def _of_module(self, expr: Any) -> tuple[Any]:
        """The value of ``module.name``, in a tuple."""
        owner = self.func_ir.get_definition(expr.value)
        if isinstance(owner, (ir.Global, ir.FreeVar)):
            module = owner.value
        else:
            require(isinstance(owner, ir.Expr) and owner.op == "getattr")
            (module,) = self._of_module(owner)
        require(isinstance(module, python_types.ModuleType) and hasattr(module, expr.attr))
        return (getattr(module, expr.attr),)

    def _context(self, assign: Any, expr: Any) -> None:
        called = guard(self.func_ir.get_definition, expr.func)
        if isinstance(called, ir.Global) and isinstance(called.value, ReadsContext):
            self._replace(assign, "context", None if self.world.is_bare else InForce())

    def _metadata(self, expr: Any) -> tuple[Any]:
        """The value of ``current_context().metadata``, or of an attribute of it, in a tuple."""
        owner = self.func_ir.get_definition(expr.value)
        require(isinstance(owner, ir.Global))
        if isinstance(owner.value, InForce):
            require(expr.attr == "metadata")
            return (self.world.metadata,)
        require(owner.name == "overlay.metadata" and hasattr(owner.value, expr.attr))
        return (getattr(owner.value, expr.attr),)

    def _operator(self, assign: Any, expr: Any) -> list[Any]:
        """Leave to numba what it wrote for an instruction: unpacking, the pieces of an f-string,
        ``(*a, *b)``, the ``not`` of ``not in``."""
        if expr.op == "static_getitem" and expr.index_var is None:
            expr.index = Unpacked(expr.index)
        if expr.op not in IMPLICIT_OPERANDS or expr.fn not in self.operators:
            return [assign]
        operands = _operands(expr)
        names = [var.name for var in operands if var.name.startswith("$")]
        implicit = any(part in name for name in names for part in IMPLICIT_OPERANDS[expr.op])
        if not implicit or assign.target.name.startswith("$binop"):
            return [assign]
        native = _mention(self.func_ir, assign, Native(expr.fn))
        _redefine(self.func_ir, assign, ir.Expr.call(native.target, operands, (), assign.loc))
        return [native, assign]


def _nested_codes(code: Any) -> Iterator[Any]:
    for constant in code.co_consts:
        if isinstance(constant, python_types.CodeType):
            yield constant
            yield from _nested_codes(constant)


def _is_implicit_call(target: str, value: Any) -> bool:
    is_known = any(value is known for known in IMPLICIT_CALLS)
    return is_known and target.startswith("$") and "load_" not in target


# ---- when types are known -----------------------------------------------------------------


@register_pass(mutates_CFG=False, analysis_only=False)
class Resolve(FunctionPass):
    """Send every call to what it enters; leave no trace where that is numba's own."""

    _name = "overlay_resolve"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        resolution = _Resolution(state)
        for block in state.func_ir.blocks.values():
            block.body = [new for old in block.body for new in resolution.resolved(old)]
        return True


class _Resolution:
    """Rewrites statements of which the types are known."""

    def __init__(self, state: Any) -> None:
        self.world: World = state.pipeline.world
        self.func_ir = state.func_ir
        self.typemap: dict[str, Type] = state.typemap
        self.calltypes: dict[Any, Any] = state.calltypes

    def resolved(self, statement: Any) -> list[Any]:
        kind = type(statement)
        if kind in STATEMENTS:
            fn, operands = STATEMENTS[kind]
            return self._operator(statement, fn, operands(statement)) or [statement]
        if kind is not ir.Assign:
            return [statement]
        value = statement.value
        if isinstance(value, (ir.Global, ir.FreeVar)):
            return self._mentioned(statement)
        if not isinstance(value, ir.Expr):
            return [statement]
        if value.op == "getattr":
            return self._mentioned(statement)
        if value.op == "call":
            return self._call(statement, value)
        operands = _operands(value)
        return (operands and self._operator(statement, value.fn, operands)) or [statement]

    def _mentioned(self, assign: Any) -> list[Any]:
        ty = self.typemap[assign.target.name]
        if isinstance(ty, types.Dispatcher) and isinstance(ty.dispatcher, InnerDispatcher):
            self._set(assign, ty.dispatcher)
        elif isinstance(ty, BoundCallee):  # its calls take the receiver from the definition
            return [ir.Assign(ir.Const(None, assign.loc), assign.target, assign.loc)]
        return [assign]

    def _set(self, assign: Any, value: Any) -> None:
        _redefine(self.func_ir, assign, ir.Global("overlay", value, assign.loc))

    # ---- operators ----

    def _operator(self, statement: Any, fn: Any, operands: tuple[Any, ...]) -> list[Any] | None:
        """The call that an operator is, where a method was found for it."""
        if not self.world.overlays(fn):
            return None
        callee = self.world.callee(fn)._numba_type_
        args = tuple(self.typemap[var.name] for var in operands)
        outcome = callee.outcome(args, {})
        if outcome.method is None:
            return None
        sig = callee.get_call_type(self.world.typing, args, {})
        assign = statement
        if isinstance(statement, ir.Assign):
            self.calltypes.pop(statement.value, None)
        else:
            self.calltypes.pop(statement, None)
            target = statement.target.scope.redefine("$overlay_unused", statement.loc)
            self.typemap[target.name] = sig.return_type
            assign = ir.Assign(ir.Const(None, statement.loc), target, statement.loc)
        return self._enter(assign, outcome, sig, operands)

    # ---- calls ----

    def _call(self, assign: Any, expr: Any) -> list[Any]:
        ty = self.typemap[expr.func.name]
        for var in expr.args:
            if isinstance(self.typemap[var.name], BoundCallee):
                raise self._unknown(expr, self.typemap[var.name], "handed on as an argument")
        if isinstance(ty, MakesBaseType):
            self._set(assign, Typed(self.typemap[assign.target.name]))
            return [assign]
        if isinstance(ty, CalleeType):
            return self._call_of_callee(assign, ty, expr.args)
        if isinstance(ty, BoundCallee):
            return self._call_of_attribute(assign, ty)
        return [assign]

    def _call_of_callee(self, assign: Any, ty: CalleeType, args: Sequence[Any]) -> list[Any]:
        expr = assign.value
        sig = self.calltypes.pop(expr)
        outcome = ty.outcome(*self._types(args, expr))
        kws: Mapping[str, Any] = dict(expr.kws)
        inserted: list[Any] = []
        if kws and outcome.method is not None:
            if expr.vararg is not None:
                raise self._unknown(expr, ty, "called with both *arguments and keywords")
            args, kws = ty.callee.positional(args, kws)
            inserted = [self._constant(assign, a) for a in args if not isinstance(a, ir.Var)]
            defaults = iter(inserted)
            args = [a if isinstance(a, ir.Var) else next(defaults).target for a in args]
        return inserted + self._enter(assign, outcome, sig, args, kws, expr.vararg)

    def _call_of_attribute(self, assign: Any, ty: BoundCallee) -> list[Any]:
        expr = assign.value
        bound = guard(self.func_ir.get_definition, expr.func)
        if not (isinstance(bound, ir.Expr) and bound.op == "getattr"):
            raise self._unknown(expr, ty, "chosen when the program runs")
        args, kws = self._types(expr.args, expr)
        if ty.is_base(args, kws):
            method = self._define(assign, ir.Expr.getattr(bound.value, bound.attr, assign.loc), ty.base)
            expr.func = method.target
            return [method, assign]
        if isinstance(ty.function, CalleeType):
            return self._call_of_callee(assign, ty.function, (bound.value, *expr.args))
        sig = self.calltypes.pop(expr)
        function = self._define(assign, ir.Global("overlay", ty.function.dispatcher, assign.loc), ty.function)
        call = ir.Expr.call(function.target, (bound.value, *expr.args), expr.kws, expr.loc, vararg=expr.vararg)
        self.calltypes[call] = sig
        _redefine(self.func_ir, assign, call)
        return [function, assign]

    def _enter(
        self,
        assign: Any,
        outcome: Outcome,
        sig: Any,
        args: Sequence[Any],
        kws: Mapping[str, Any] = {},
        vararg: Any = None,
    ) -> list[Any]:
        """Make ``assign`` the call of what was found."""
        found = outcome.callee
        if isinstance(found, Native):
            value, ty = found.value, found._numba_type_
        else:
            value, ty = found, found.type_of_call(sig)
        function = self._define(assign, ir.Global("overlay", value, assign.loc), ty)
        call = ir.Expr.call(function.target, tuple(args), tuple(kws.items()), assign.loc, vararg=vararg)
        self.calltypes[call] = sig
        _redefine(self.func_ir, assign, call)
        return [function, assign]

    def _types(self, args: Sequence[Any], expr: Any) -> tuple[tuple[Type, ...], dict[str, Type]]:
        given = tuple(self.typemap[var.name] for var in args)
        if expr.vararg is not None:
            given += tuple(self.typemap[expr.vararg.name].types)
        return given, {name: self.typemap[var.name] for name, var in expr.kws}

    def _constant(self, assign: Any, value: Any) -> Any:
        return self._define(assign, ir.Const(value, assign.loc), type_of_constant(value))

    def _define(self, assign: Any, value: Any, ty: Type) -> Any:
        made = _mention(self.func_ir, assign, value)
        self.typemap[made.target.name] = ty
        return made

    def _unknown(self, expr: Any, ty: Type, reason: str) -> Exception:
        error = NotCompilable(
            f"{ty} is {reason}, where compiled code cannot tell which method it enters",
            where=shown(expr.loc.filename, expr.loc.line),
            help="call it where it is named, with positional arguments",
        )
        return refused(self.world, error)


# ---- representation -----------------------------------------------------------------------


def _operands(expr: Any) -> tuple[Any, ...]:
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


def _redefine(func_ir: Any, assign: Any, value: Any) -> None:
    definitions = func_ir._definitions[assign.target.name]
    definitions[:] = [value if old is assign.value else old for old in definitions] or [value]
    assign.value = value


def _mention(func_ir: Any, assign: Any, value: Any) -> Any:
    """An assignment of a constant, or of an expression, to a new variable before ``assign``."""
    if isinstance(value, Native):
        value = ir.Global("overlay", value, assign.loc)
    target = assign.target.scope.redefine("$overlay", assign.loc)
    func_ir._definitions[target.name] = [value]
    return ir.Assign(value, target, assign.loc)
