"""*Resolve*: the pass that runs once types are known.

It replaces each call by one of the method, body or numba function that it enters, and each operator
with a method by a call. The result is plain numba IR without a trace of overlays, so that code
which reaches no method is the same as with plain ``@njit``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numba.core import ir, types
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir_utils import get_definition, guard

from overlay.compiled import failures
from overlay.compiled.numba.barrier_calls import Crosses
from overlay.compiled.numba.chosen_functions import ChosenType
from overlay.compiled.numba.container_values import (
    ReadsType,
    is_container,
    reader_of,
    refuse,
)
from overlay.compiled.numba.context_state import Box
from overlay.compiled.numba.context_values import (
    BindsType,
    ContextType,
    Enters,
    KnownContext,
    KnownType,
    PluginClassType,
    RecursesType,
    ReplacesMadeType,
    ReplacesType,
    attribute_of,
    handed_to,
)
from overlay.compiled.numba.dispatchers import InnerDispatcher
from overlay.compiled.numba.hooks import edited
from overlay.compiled.numba.ir_edits import (
    STATEMENTS,
    TypedEdits,
    argument_types,
    operands_of,
    redefine,
)
from overlay.compiled.numba.joined_contexts import Joins
from overlay.compiled.numba.made_contexts import AttributeReader, MadeContextType, Makes, Named
from overlay.compiled.numba.numba_types import (
    BoundCallee,
    CalleeType,
    StandIn,
    Type,
    TypedStandIn,
    Unpacked,
    refused,
)
from overlay.compiled.numba.shown_ir import callable_of, target_named
from overlay.ir import UNKNOWN

if TYPE_CHECKING:
    from overlay.compiled.world import World

__all__ = ["Resolve"]


@register_pass(mutates_CFG=False, analysis_only=False)
class Resolve(FunctionPass):
    """Replace every call by its resolution; numba's own calls stay unchanged."""

    _name = "overlay_resolve"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        edits = TypedEdits(state)
        resolution = _Resolution(edits)
        for block in state.func_ir.blocks.values():
            block.body = [new for old in block.body for new in resolution.resolved(old)]
        if resolution.made_contexts.is_crossed or any(
            each.enters_methods for each in edits.entered
        ):
            state.pipeline.enters_methods()
        return True


class _Resolution:
    """Resolves typed statements: operators and attributes itself, the others through its parts."""

    def __init__(self, edits: TypedEdits) -> None:
        self.edits = edits
        self.world, self.typemap = edits.world, edits.typemap
        self.made_contexts = _MadeContexts(edits)
        self.calls = _ResolvedCalls(edits, self.made_contexts)

    def resolved(self, statement: Any) -> list[Any]:
        """The replacement of a statement."""
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
            return self.calls.resolved(statement)
        if value.op in ("getiter", "exhaust_iter") and self._is_container(value.value):
            return self._iterated(statement, value)
        if value.op == "static_getitem" and isinstance(value.index, Unpacked):
            value.index = int(value.index)
        operands = operands_of(value)
        if not operands:
            return [statement]
        return (
            self._operator(statement, value.fn, operands)
            or self.made_contexts.joined(statement, operands)
            or [statement]
        )

    def _mentioned(self, assign: Any) -> list[Any]:
        ty = self.typemap[assign.target.name]
        if isinstance(ty, types.RecursiveCall) and not self.world.makes_code:
            ty = ty.dispatcher_type
        if isinstance(ty, types.Dispatcher) and isinstance(ty.dispatcher, InnerDispatcher):
            self.edits.set(assign, ty.dispatcher)
        elif isinstance(ty, CalleeType) and isinstance(assign.value, ir.Expr):
            self.edits.set(assign, ty.callee)  # a static method
        elif isinstance(ty, BoundCallee):  # calls of it get the receiver from its definition
            return [ir.Assign(ir.Const(None, assign.loc), assign.target, assign.loc)]
        return [assign]

    # ---- attributes ----

    def _attribute(self, assign: Any, expr: Any) -> list[Any]:
        owner = self.typemap[expr.value.name]
        if isinstance(owner, types.ClassInstanceType) and expr.attr in owner.jit_props:
            getter = self.world.dispatcher(owner.jit_props[expr.attr]["get"])
            sig = types.Dispatcher(getter).get_call_type(self.world.typing, (owner,), {})
            return self.edits.enter(assign, getter, sig, (expr.value,))
        if is_container(owner) and not isinstance(self.typemap[assign.target.name], BoundCallee):
            reader = reader_of(self.world, owner, "field", 0, expr.attr)
            return self.edits.enter_anew(assign, reader, (expr.value,))
        made = self.made_contexts.attribute(assign)
        if made is not None:
            return made
        if isinstance(owner, MadeContextType):
            owner = ContextType(owner.template)
        if not isinstance(owner, (ContextType, KnownType)):
            return self._mentioned(assign)
        found = attribute_of(self.world, owner, expr.attr)
        if not isinstance(found, Box):
            self.edits.set(assign, found)
            return [assign]
        ty = found.load._numba_type_
        sig = self.world.typing.resolve_function_type(ty, (), {})
        return self.edits.call(assign, found.load, ty, sig, ())

    def _is_container(self, var: Any) -> bool:
        return is_container(self.typemap[var.name])

    def _iterated(self, assign: Any, expr: Any) -> list[Any]:
        """Iterate over the items of a container of functions, or unpack them."""
        owner = self.typemap[expr.value.name]
        if expr.op == "exhaust_iter":
            reader = reader_of(self.world, owner, "unpack", 1, expr.count)
            if reader is None:
                raise refuse(self.world, owner, f"unpacked into {expr.count} names")
            count = self.edits.define_constant(assign, expr.count)
            return [count, *self.edits.enter_anew(assign, reader, (expr.value, count.target))]
        before: list[Any] = []
        expr.value = self.edits.iterated(assign, expr.value, before)
        return [*before, assign]

    def _set_attribute(self, statement: Any) -> list[Any]:
        """``instance.attr = value``, where it calls the setter of a jitclass."""
        owner = self.typemap[statement.target.name]
        properties = getattr(owner, "jit_props", {}).get(statement.attr, {})
        if "set" not in properties:
            return [statement]
        sig = self.edits.calltypes.pop(statement)
        setter = self.world.dispatcher(properties["set"])
        assign = self.edits.result_unused(statement, sig)
        return self.edits.enter(assign, setter, sig, (statement.target, statement.value))

    # ---- operators ----

    def _operator(self, statement: Any, fn: Any, operands: tuple[Any, ...]) -> list[Any] | None:
        """The call that replaces an operator, if a method or body was found for it; else None."""
        args = tuple(self.typemap[var.name] for var in operands)
        entered, sig = self._entered_by_operator(fn, args)
        if entered is None:
            return None
        assign = statement
        if isinstance(statement, ir.Assign):
            self.edits.calltypes.pop(statement.value, None)
        else:
            self.edits.calltypes.pop(statement, None)
            assign = self.edits.result_unused(statement, sig)
        return self.edits.enter(assign, entered, sig, operands)

    def _entered_by_operator(self, fn: Any, args: tuple[Type, ...]) -> tuple[Any, Any]:
        """The callee of an operator that is not numba's own, and the signature of that call."""
        if self.world.overlays(fn):
            callee = self.world.stand_ins.callee(fn)._numba_type_
            outcome = callee.outcome(args, {})
            if outcome.method is not None:
                return outcome.callee, callee.get_call_type(self.world.typing, args, {})
        body = self.world.implementation(fn, args, {})
        if body is None:
            return None, None
        return body, types.Dispatcher(body).get_call_type(self.world.typing, args, {})


class _ResolvedCalls:
    """Resolves calls, by the type of the callee."""

    def __init__(self, edits: TypedEdits, made_contexts: _MadeContexts) -> None:
        self.edits = edits
        self.world, self.typemap = edits.world, edits.typemap
        self.calltypes = edits.calltypes
        self.made_contexts = made_contexts
        func_id, plugins = edits.func_ir.func_id, self.world.plugins
        self.edits_calls_untyped = bool(plugins) and edited(self.world, func_id, "before_inference")

    def resolved(self, assign: Any) -> list[Any]:
        """The replacement of the assignment of a call's result."""
        expr = assign.value
        ty = self.typemap[expr.func.name]
        self.edits.note(ty)
        if isinstance(ty, types.Optional):  # what dict.get gives
            function = self.edits.define(assign, expr.func, ty.type)
            self._become_call_of(assign, function.target)
            return [function, *self.resolved(assign)]
        for var in expr.args:
            if isinstance(self.typemap[var.name], BoundCallee):
                raise self.edits.unknown(expr, self.typemap[var.name], "handed on as an argument")
        if isinstance(ty, BindsType):
            return self._bound(assign)
        made = self.made_contexts.call(assign)
        if made is not None:
            return made
        if isinstance(ty, Enters):
            return self._in_context(assign, ty)
        if self._was_hidden(expr, ty):
            return self._of_value(assign, ty)
        if isinstance(ty, CalleeType):
            sig = self.calltypes.pop(expr)
            if ty.callee.context is None:
                return self._of_callee(assign, ty, expr.args, sig)
            before, given = self.edits.spread(assign)
            given = self._all_handed(assign, ty.callee.world, given, before)
            return before + self._of_callee(assign, ty, given, sig)
        if isinstance(ty, BoundCallee):
            return self._of_attribute(assign, ty)
        if isinstance(ty, ChosenType):
            return self._of_chosen(assign, ty)
        if isinstance(ty, (types.Function, types.ClassType)):
            return self._of_numba(assign, ty)
        if isinstance(ty, types.RecursiveCall):
            return self._again(assign, ty.dispatcher_type.dispatcher)
        return [assign]

    def _was_hidden(self, expr: Any, ty: Type) -> bool:
        """Whether a plugin that edits calls before types are known was not told which function this
        one calls: the function comes as a value."""
        return (
            self.edits_calls_untyped
            and isinstance(ty, (CalleeType, types.Function, types.Dispatcher))
            and target_named(self.edits.func_ir, expr.func) is UNKNOWN
        )

    def _of_value(self, assign: Any, ty: Type) -> list[Any]:
        """The call of a function that comes as a value, through one that calls it by its name: the
        plugins edit that, as they do for a function chosen at run time."""
        before, given = self.edits.spread(assign)
        args, named = argument_types(self.typemap, assign.value, given)
        chosen = ChosenType(self.world, (ty,))
        sig = chosen.get_call_type(self.world.typing, args, named)
        wanted = self.typemap[assign.target.name]
        if self.world.typing.can_convert(sig.return_type, wanted) is None:
            error = failures.edited_to_another_type(
                callable_of(ty), str(sig.return_type), str(wanted)
            )
            raise refused(self.world, error)
        del self.calltypes[assign.value]
        zero = self.edits.define(assign, ir.Const(0, assign.loc), types.intp)
        return [*before, zero, *self._of_number(assign, chosen, zero.target, given, sig)]

    def _become_call_of(self, assign: Any, function: Any) -> None:
        """Make ``assign`` a call of another variable, with the same arguments."""
        expr = assign.value
        made = ir.Expr.call(function, expr.args, expr.kws, expr.loc, vararg=expr.vararg)
        self.calltypes[made] = self.calltypes.pop(expr)
        redefine(self.edits.func_ir, assign, made)

    def _bound(self, assign: Any) -> list[Any]:
        """``nonoverlay(f)`` and ``context.wrap(f)``; one of several functions keeps its number."""
        made = self.typemap[assign.target.name]
        if not isinstance(made, ChosenType):
            self.edits.set(assign, TypedStandIn(made))
            return [assign]
        number = self.edits.define(assign, assign.value.args[0], types.intp)
        self.calltypes.pop(assign.value)
        redefine(self.edits.func_ir, assign, number.target)
        return [number, assign]

    def _again(self, assign: Any, dispatcher: Any) -> list[Any]:
        """A call of a function that is still being compiled, with other types. numba derives the
        callee's name from the types; code that came from another world has another name."""
        expr = assign.value
        sig = self.calltypes[expr]
        code = dispatcher.codes.get(sig.args) if isinstance(dispatcher, InnerDispatcher) else None
        if code is None or code.result.signature.args == sig.args:
            return [assign]
        del self.calltypes[expr]
        return self.edits.enter(assign, dispatcher, sig, expr.args, dict(expr.kws), expr.vararg)

    def _of_numba(self, assign: Any, ty: Type) -> list[Any]:
        expr = assign.value
        body = self.world.implementation(ty, *argument_types(self.typemap, expr))
        if body is None:
            before: list[Any] = []
            given = list(expr.args)  # what *arguments has is no container itself
            for i, (var, wanted) in enumerate(zip(given, self.calltypes[expr].args, strict=False)):
                if self._is_iterated(var, wanted):
                    given[i] = self.edits.iterated(assign, var, before)
            expr.args = type(expr.args)(given)
            return [*before, assign]
        sig = self.calltypes.pop(expr)
        return self.edits.enter(assign, body, sig, expr.args, dict(expr.kws), expr.vararg)

    def _is_iterated(self, var: Any, wanted: Type) -> bool:
        """Whether something is iterated over in place of a container of functions."""
        is_iterable = isinstance(wanted, (types.BaseTuple, types.Generator))
        return is_iterable and is_container(self.typemap[var.name])

    def _of_callee(self, assign: Any, ty: CalleeType, args: Sequence[Any], sig: Any) -> list[Any]:
        expr = assign.value
        outcome = ty.outcome(*argument_types(self.typemap, expr, args))
        kws: Mapping[str, Any] = dict(expr.kws)
        inserted: list[Any] = []
        if kws and outcome.method is not None:
            if expr.vararg is not None:
                raise self.edits.unknown(expr, ty, "called with both *arguments and keywords")
            args, kws = ty.callee.positional(args, kws)
            inserted = [
                self.edits.define_constant(assign, a) for a in args if not isinstance(a, ir.Var)
            ]
            defaults = iter(inserted)
            args = [a if isinstance(a, ir.Var) else next(defaults).target for a in args]
        return inserted + self.edits.enter(assign, outcome.callee, sig, args, kws, expr.vararg)

    def _of_attribute(self, assign: Any, ty: BoundCallee) -> list[Any]:
        expr = assign.value
        bound = guard(get_definition, self.edits.func_ir, expr.func)
        if not (isinstance(bound, ir.Expr) and bound.op == "getattr"):
            raise self.edits.unknown(expr, ty, "chosen when the program runs")
        args, kws = argument_types(self.typemap, expr)
        if ty.is_base(args, kws):
            base = ir.Expr.getattr(bound.value, bound.attr, assign.loc)
            method = self.edits.define(assign, base, ty.base)
            expr.func = method.target
            return [method, assign]
        sig, given = self.calltypes.pop(expr), (bound.value, *expr.args)
        if isinstance(ty.function, ReadsType):
            entered = ty.function.entered((ty.receiver, *args), kws)
            return self.edits.enter(assign, entered, sig, given)
        if isinstance(ty.function, CalleeType):
            return self._of_callee(assign, ty.function, given, sig)
        body = ty.function.dispatcher
        return self.edits.call(assign, body, ty.function, sig, given, dict(expr.kws), expr.vararg)

    def _of_chosen(self, assign: Any, ty: ChosenType) -> list[Any]:
        if self.world.target.is_device:
            raise refused(self.world, failures.chosen_on_device(ty.functions))
        sig = self.calltypes.pop(assign.value)
        before, given = self.edits.spread(assign)
        return before + self._of_number(assign, ty, assign.value.func, given, sig)

    def _of_number(
        self, assign: Any, ty: ChosenType, function: Any, given: Sequence[Any], sig: Any
    ) -> list[Any]:
        """The call of the candidate that a variable is the number of."""
        named = dict(assign.value.kws)
        entered, sig = ty.entered(sig.args, tuple(named))
        number = self.edits.define(assign, function, types.intp)
        values = number.target, *given, *named.values()
        return [number, *self.edits.enter(assign, entered, sig, values)]

    # ---- in another context ----

    def _in_context(self, assign: Any, ty: Enters) -> list[Any]:
        """Resolve a call of a context, or of ``recurse``, to a call of the function in its
        arguments."""
        expr = assign.value
        args, _ = argument_types(self.typemap, expr)
        function, inner = ty.entered(self.world, args), ty.world_inside(self.world, args)
        sig = self.calltypes.pop(expr)
        sig = sig.replace(args=sig.args[ty.dropped :])
        before, given = self.edits.spread(assign)
        handed = self._all_handed(assign, inner, given[ty.dropped :], before)
        if isinstance(function, CalleeType):
            return before + self._of_callee(assign, function, handed, sig)
        if isinstance(function, ChosenType):
            chosen = given[ty.dropped - 1]
            return before + self._of_number(assign, function, chosen, handed, sig)
        value = TypedStandIn(function)
        if isinstance(function, types.Dispatcher):
            value = function.dispatcher
        return before + self.edits.call(assign, value, function, sig, handed, dict(expr.kws))

    def _all_handed(
        self, assign: Any, inner: World, given: Sequence[Any], before: list[Any]
    ) -> list[Any]:
        """The variables for the arguments of a call in another world; those that are given by name
        are replaced in the call."""
        expr = assign.value
        expr.kws = [(name, self._handed(assign, inner, a, before)) for name, a in expr.kws]
        return [self._handed(assign, inner, a, before) for a in given]

    def _handed(self, assign: Any, inner: World, argument: Any, before: list[Any]) -> Any:
        """The variable for an argument in another world. before: collects the statements to put
        before the call for it."""
        ty = self.typemap[argument.name]
        local = handed_to(inner, ty, self.world)
        if local is ty:
            return argument
        if isinstance(local, ChosenType):  # it keeps its number
            before.append(self.edits.define(assign, argument, types.intp))
            before.append(self.edits.define(assign, before[-1].target, local))
            return before[-1].target
        value = local.dispatcher if isinstance(local, types.Dispatcher) else TypedStandIn(local)
        before.append(self.edits.define(assign, ir.Global("overlay", value, assign.loc), local))
        return before[-1].target


class _MadeContexts:
    """Resolves statements that make, read or enter contexts known only at run time.

    is_crossed: whether a call passes through a barrier.
    """

    def __init__(self, edits: TypedEdits) -> None:
        self.edits = edits
        self.typemap = edits.typemap
        self.is_crossed = False

    def attribute(self, assign: Any) -> list[Any] | None:
        """The replacement of an attribute of such a context; None for other attributes."""
        expr = assign.value
        owner = self.typemap[expr.value.name]
        if not isinstance(owner, MadeContextType):
            return None
        if expr.attr != "replace" and expr.attr not in dict(owner.fields):
            return None
        reads = AttributeReader(self.typemap[assign.target.name])
        return self._become(assign, reads, [Named((expr.attr,))], [expr.value])

    def joined(self, assign: Any, operands: tuple[Any, ...]) -> list[Any] | None:
        """The replacement of ``outer | inner``; None for other operators."""
        both = self.typemap[assign.target.name]
        if len(operands) != 2 or not isinstance(both, (ContextType, MadeContextType)):
            return None
        if isinstance(both, MadeContextType):
            return self._become(assign, Joins(both), [], list(operands))
        self.edits.calltypes.pop(assign.value, None)
        self.edits.set(assign, KnownContext(both.engine))
        return [assign]

    def call(self, assign: Any) -> list[Any] | None:
        """The replacement of a call that makes such a context or plugin, or enters a context; None
        for other calls."""
        expr = assign.value
        function = self.typemap[expr.func.name]
        if isinstance(function, (ReplacesType, ReplacesMadeType, PluginClassType)):
            return self._make(assign)
        if isinstance(function, MadeContextType):
            spread, given = self.edits.spread(assign)
            return spread + self._enter(assign, expr.func, given)
        if not isinstance(function, RecursesType):
            return None
        if not isinstance(argument_types(self.typemap, expr)[0][0], MadeContextType):
            return None
        spread, given = self.edits.spread(assign)
        return spread + self._enter(assign, given[0], given[1:])

    def _make(self, assign: Any) -> list[Any]:
        expr, made = assign.value, self.typemap[assign.target.name]
        args = [*expr.args, *(var for _, var in expr.kws)]
        if not isinstance(made, MadeContextType):
            return self._become(assign, Makes(made), [], args)
        names = Named(tuple(name for name, _ in expr.kws))
        return self._become(assign, Makes(made), [names], [expr.func, *args])

    def _enter(self, assign: Any, context: Any, rest: list[Any]) -> list[Any]:
        """Call the first of ``rest`` with the others, through a barrier."""
        self.is_crossed = True
        expr, made = assign.value, self.typemap[context.name]
        args = [*rest[1:], *(var for _, var in expr.kws)]
        given = [self.typemap[var.name] for var in args]
        count = len(args) - len(expr.kws)
        barrier = self.edits.world.barriers.stand_in(
            made,
            self.typemap[rest[0].name],
            given[:count],
            dict(zip((name for name, _ in expr.kws), given[count:], strict=True)),
            is_base=context is not expr.func,
        )
        return self._become(assign, Crosses(), [barrier], [context, *args])

    def _become(self, assign: Any, ty: Any, constants: list[StandIn], args: list[Any]) -> list[Any]:
        """Make ``assign`` a call of a callable of this type, with constants and variables."""
        self.edits.calltypes.pop(assign.value, None)
        inserted = [self.edits.define_stand_in(assign, each) for each in constants]
        args = [*(each.target for each in inserted), *args]
        sig = ty.get_call_type(None, tuple(self.typemap[var.name] for var in args), {})
        return inserted + self.edits.call(assign, TypedStandIn(ty), ty, sig, args)
